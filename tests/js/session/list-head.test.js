// static/session/list-head.js: what can be chosen in the message list.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EVERYTHING, listHead, queryOf } from "../../../static/session/list-head.js";
import { markup } from "../markup.js";

describe("the address of a session page", () => {
  it("chooses what the list shows", () =>
    assert.deepEqual(queryOf("?show=goes&sort=tokens&role=tool&find=npm"), {
      fate: "goes",
      role: "tool",
      q: "npm",
      sort: "tokens",
    }));
  it("chooses nothing that there is not", () =>
    assert.deepEqual(queryOf("?show=nonsense&sort=7&role=king"), EVERYTHING));
});

describe("the chips", () => {
  it("count, and leave out what there is none of", () => {
    const counts = { all: 9, kept: 4, protected: 2, goes: 0, shortened: 0, out: 3, errors: 0 };
    const text = markup(listHead({ ...EVERYTHING, fate: "errors" }, counts));
    const names = [...text.matchAll(/data-name="(\w+)" aria-pressed="(\w+)"/g)].map((m) => [m[1], m[2]]);
    assert.deepEqual(names, [
      ["all", "false"],
      ["protected", "false"],
      ["errors", "true"],
      ["out", "false"],
    ]);
  });
});
