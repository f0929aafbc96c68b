// static/overview/alerts.js: sessions that cross their target.
import assert from "node:assert/strict";
import { it } from "node:test";
import { session } from "../builders.js";

it("a browser that forbids a page its notification keeps the page working", async () => {
  class Notification {
    static permission = "granted";
    constructor() {
      throw new TypeError("Illegal constructor");
    }
  }
  const document = { title: "Sessions" };
  Object.assign(globalThis, { Notification, document, navigator: {} });
  Object.defineProperty(globalThis, "localStorage", { value: { getItem: () => "on" }, configurable: true });
  const { isNotifying, notifyOfCrossing } = await import("../../../static/overview/alerts.js");
  assert.ok(isNotifying());
  notifyOfCrossing(session({ state: "active" }), session({ state: "warning" }));
});
