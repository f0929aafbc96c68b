// static/session/list-foot.js: what the message list says besides its rows.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { listFoot, pill, selection } from "../../../static/session/list-foot.js";
import { EVERYTHING } from "../../../static/session/list-head.js";
import { message } from "../builders.js";
import { markup } from "../markup.js";

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
