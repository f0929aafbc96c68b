// static/frame/viewing.js: the controls that it disables are those that the pages have.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { it } from "node:test";

const STATIC = new URL("../../../static/", import.meta.url);
const OWN = "frame/viewing.js";

it("names only acts of the pages", () => {
  const files = readdirSync(STATIC, { recursive: true, encoding: "utf8" });
  const sources = files.filter((name) => name.endsWith(".js") && !name.startsWith("vendor") && name !== OWN);
  const pages = sources.map((name) => readFileSync(new URL(name, STATIC), "utf8")).join("\n");
  const acts = [...readFileSync(new URL(OWN, STATIC), "utf8").matchAll(/data-act="([\w-]+)"/g)];
  const unknown = acts.filter(([, act]) => !new RegExp(`^ +"?${act}"?: `, "m").test(pages));
  assert.ok(acts.length > 20);
  assert.deepEqual(
    unknown.map(([, act]) => act),
    [],
  );
});
