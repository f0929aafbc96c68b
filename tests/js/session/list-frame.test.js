// static/session/list-frame.js: what the message list says besides its rows.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { listFoot, listHead, pill, selection } from "../../../static/session/list-frame.js";
import { EVERYTHING } from "../../../static/session/list-query.js";
import { message } from "../builders.js";
import { markup } from "../markup.js";

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

describe("the pill", () => {
  it("counts the waiting messages", () => {
    assert.match(markup(pill(1)), /1 new message</);
    assert.equal(markup(pill(0)), "");
  });
});

describe("the selection", () => {
  it("counts messages and tokens, and offers what at least one message allows", () => {
    const long = message({ role: "tool", tool: "Bash", chars: 9_000, tokens: 2_000 });
    const shown = markup(selection([long, message({ tokens: 34 })], "exact"));
    assert.match(shown, /2 messages<\/b> selected,\s+2,034 tokens/);
    assert.deepEqual(
      [...shown.matchAll(/data-kind="(\w+)"/g)].map((m) => m[1]),
      ["drop", "shorten", "spare"],
    );
    assert.doesNotMatch(markup(selection([message()], "exact")), /data-kind="shorten"/);
    assert.equal(markup(selection([], "exact")), "");
  });
});

describe("the end of the list", () => {
  it("is empty where there are rows", () => assert.equal(markup(listFoot(true, 100, EVERYTHING, "")), ""));
  it("distinguishes a filter without matches from a session without messages", () => {
    assert.match(markup(listFoot(true, 0, { ...EVERYTHING, q: "heron" }, "")), /No message matches/);
    assert.match(markup(listFoot(true, 0, EVERYTHING, "")), /No messages yet.*as the agent writes/s);
  });
  it("gives a program the address to append messages to", () =>
    assert.match(markup(listFoot(true, 0, EVERYTHING, "http://x/m")), /No messages yet.*<code>POST .*x\/m/s));
  it("says that the list is being read", () =>
    assert.match(markup(listFoot(false, 0, EVERYTHING, "")), /Reading/));
});
