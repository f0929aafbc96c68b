// static/session/list-head.js: what can be chosen in the message list.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EVERYTHING, listHead, queryOf } from "../../../static/session/list-head.js";
import { markup } from "../markup.js";

describe("the address of a session page", () => {
  it("chooses what the list shows", () =>
    assert.deepEqual(queryOf("?show=goes&sort=tokens&role=tool&tool=Bash&find=npm&from=20&to=35"), {
      fate: "goes",
      role: "tool",
      tool: "Bash",
      q: "npm",
      from: "20",
      to: "35",
      sort: "tokens",
    }));
  it("ignores unknown values", () =>
    assert.deepEqual(queryOf("?show=nonsense&sort=7&role=king&from=-1&to=x"), EVERYTHING));
});

describe("the chips", () => {
  it("have counts, and are left out at zero", () => {
    const counts = { all: 9, kept: 4, protected: 2, goes: 0, shortened: 0, out: 3, errors: 0 };
    const text = markup(listHead({ ...EVERYTHING, fate: "errors" }, counts, []));
    const names = [...text.matchAll(/data-name="(\w+)" aria-pressed="(\w+)"/g)].map((m) => [m[1], m[2]]);
    assert.deepEqual(names, [
      ["all", "false"],
      ["protected", "false"],
      ["errors", "true"],
      ["out", "false"],
    ]);
  });
  it("name the shown range, with a button that shows all", () => {
    assert.match(
      markup(listHead({ ...EVERYTHING, from: "20", to: "35" }, undefined, [])),
      /no-range[\s\S]*>20–35</,
    );
    assert.doesNotMatch(markup(listHead(EVERYTHING, undefined, [])), /no-range/);
  });
  it("add up the changes of a plan", () => {
    const counts = { all: 9, goes: 2, shortened: 3 };
    assert.match(markup(listHead(EVERYTHING, counts, [])), /Changes<span class="count">5</);
  });
});
