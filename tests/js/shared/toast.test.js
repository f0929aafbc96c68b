// static/shared/toast.js: saying something at the bottom of the page.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toast, toastError } from "../../../static/shared/toast.js";

const page = new EventTarget();
Object.defineProperty(globalThis, "document", { value: page, configurable: true });

/** @param {() => void} act */
function said(act) {
  /** @type {any} */
  let detail = null;
  page.addEventListener("coppice:toast", (event) => (detail = /** @type {CustomEvent} */ (event).detail), {
    once: true,
  });
  act();
  return detail;
}

describe("a toast", () => {
  it("is sent to the page with its actions", () => {
    const run = () => {};
    assert.deepEqual(
      said(() => toast("Pruned.", { act: { label: "Undo", run } })),
      { message: "Pruned.", act: { label: "Undo", run } },
    );
  });
  it("of an error says what failed and why, and stays", () => {
    const detail = said(() => toastError(new Error("the store is busy"), "Could not prune"));
    assert.deepEqual(
      [detail.message, detail.kind, detail.stay],
      ["Could not prune: the store is busy", "error", true],
    );
  });
});
