// static/session/plan.js: what a plan says in words.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Choices } from "../../../static/session/choices.js";
import {
  doesSomething,
  planRequest,
  planVerb,
  rowsByCause,
  sinceSentence,
} from "../../../static/session/plan.js";
import { gauge, group, message, plan, session } from "../builders.js";

const summary = {
  messages: 40,
  first: 2,
  last: 41,
  covered_tokens: 20_000,
  most_tokens: 2_400,
  absorbed_tokens: 900,
  by_model: false,
};

describe("the plan's button", () => {
  it("says what it does", () => {
    assert.equal(planVerb(plan()), "Prune 42 messages");
    assert.equal(planVerb(plan({ shortened_count: 3 })), "Prune 42 messages, shorten 3");
    assert.equal(planVerb(plan({ removed_count: 0, shortened_count: 1 })), "Shorten 1 output");
    assert.equal(planVerb(plan({ removed_count: 0 })), "Nothing to prune");
  });
  it("counts summarised messages apart from removed ones", () => {
    const given = { removed_count: 42, shortened_count: 1, summary };
    assert.equal(planVerb(plan(given)), "Summarise 40 messages, prune 2, shorten 1");
    assert.equal(planVerb(plan({ removed_count: 40, summary })), "Summarise 40 messages");
  });
  it("does something only when messages go or are shortened", () => {
    assert.deepEqual(
      [doesSomething(plan()), doesSomething(plan({ removed_count: 0 })), doesSomething(null)],
      [true, false, false],
    );
  });
});

describe("the time since a plan was made", () => {
  it("is counted in messages", () => {
    assert.equal(sinceSentence(10, 13, false), "3 messages came since this plan was made.");
    assert.equal(sinceSentence(10, 10, false), "The session has changed since this plan was made.");
    assert.equal(sinceSentence(10, 10, true), "Settings have changed since this plan was made.");
  });
});

describe("the rows of a plan", () => {
  it("are grouped by cause, in the order of its groups", () => {
    // X1, X7
    const groups = [
      group("superseded", 3),
      group("duplicate", 2, { fate: "shortened" }),
      group("below_cut", 1),
    ];
    const removed = [message({ number: 5, cause: "below_cut" }), message({ number: 3, cause: "superseded" })];
    const shortened = [message({ number: 8, fate: "shortened", cause: "duplicate" })];
    const rows = rowsByCause(plan({ groups, removed, shortened }));
    assert.deepEqual(
      [...rows].map(([cause, some]) => [cause, some.map((m) => m.number)]),
      [
        ["superseded", [3]],
        ["duplicate", [8]],
        ["below_cut", [5]],
      ],
    );
  });
});

describe("the request for a plan", () => {
  const choices = new Choices();
  choices.put("drop", [{ id: "m3", number: 3 }]);

  it("has room for all other messages where only messages were chosen and no aim is set", () => {
    const full = session({ limit: 200_000, pruned: gauge({ tokens: 190_000 }) });
    assert.deepEqual(planRequest({}, choices, full), { max_tokens: 380_000, drop: ["m3"] });
    assert.deepEqual(planRequest({}, choices, session()), { max_tokens: 200_000, drop: ["m3"] });
  });
  it("has the chosen messages and the aim where one is set", () => {
    const options = { max_tokens: 120_000 };
    const wanted = { max_tokens: 120_000, drop: ["m3"], compare: true };
    assert.deepEqual(planRequest(options, choices, session()), wanted);
    assert.deepEqual(planRequest(options, new Choices(), session()), options);
    assert.deepEqual(planRequest({}, new Choices(), session()), {});
  });
});
