// static/session/list-foot.js: what the message list says besides its rows.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { listFoot, pill } from "../../../static/session/list-foot.js";
import { EVERYTHING } from "../../../static/session/list-head.js";

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
    assert.match(pill(1, 100).toString(), /1 new message</);
    assert.match(pill(100, 100).toString(), /100 or more new messages/);
    assert.equal(pill(0, 100).toString(), "");
  });
});

describe("the end of the list", () => {
  it("says how much is below", () => {
    assert.match(
      listFoot({ ...end, shown: 100, more: true }, EVERYTHING).toString(),
      /100 of 1,200, more below/,
    );
    assert.equal(listFoot({ ...end, shown: 100 }, EVERYTHING).toString(), "");
  });
  it("tells a filter that nothing meets from a session without messages", () => {
    assert.match(listFoot(end, { ...EVERYTHING, q: "heron" }).toString(), /No message fits/);
    assert.match(listFoot(end, EVERYTHING).toString(), /No messages yet/);
  });
  it("says that it reads, or why it could not", () => {
    assert.match(listFoot({ ...end, page: null }, EVERYTHING).toString(), /Reading/);
    assert.match(listFoot({ ...end, error: "no answer" }, EVERYTHING).toString(), /no answer.*Try again/);
  });
});
