// static/session/list-foot.js: what the message list says besides its rows.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { listFoot, pill } from "../../../static/session/list-foot.js";
import { EVERYTHING } from "../../../static/session/list-head.js";
import { markup } from "../markup.js";

const page = {
  messages: [],
  total: 1_200,
  next: null,
  version: 1,
  plan_id: null,
  pending: false,
  counts: {},
};
const end = { error: null, page, shown: 0, more: false };

describe("the pill", () => {
  it("counts what waits, as far as that was counted", () => {
    assert.match(markup(pill(1, 100)), /1 new message</);
    assert.match(markup(pill(100, 100)), /100 or more new messages/);
    assert.equal(markup(pill(0, 100)), "");
  });
});

describe("the end of the list", () => {
  it("says how much is below", () => {
    assert.match(
      markup(listFoot({ ...end, shown: 100, more: true }, EVERYTHING)),
      /100 of 1,200, more below/,
    );
    assert.equal(markup(listFoot({ ...end, shown: 100 }, EVERYTHING)), "");
  });
  it("tells a filter that nothing meets from a session without messages", () => {
    assert.match(markup(listFoot(end, { ...EVERYTHING, q: "heron" })), /No message fits/);
    assert.match(markup(listFoot(end, EVERYTHING)), /No messages yet/);
  });
  it("says that it reads, or why it could not", () => {
    assert.match(markup(listFoot({ ...end, page: null }, EVERYTHING)), /Reading/);
    assert.match(markup(listFoot({ ...end, error: "no answer" }, EVERYTHING)), /no answer.*Try again/);
  });
});
