// static/session/cost.js: what a session costs, with its scope.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { costSentence } from "../../../static/session/cost.js";

const cost = {
  per_call: 0.67258,
  per_call_cached: 0.067258,
  at_least: false,
  calls: 103,
  spent: 6.144627,
  currency: "USD",
};

describe("the cost of a session", () => {
  it("is told for the next call with and without the cache, and for all calls so far", () => {
    // X9
    assert.equal(
      costSentence(cost),
      "Input of the next call at list price: $0.673 new, $0.067 from the cache. " +
        "103 calls so far, output included: $6.14.",
    );
  });
  it("is a lower bound where the provider charges more for so long a context", () =>
    assert.match(costSentence({ ...cost, at_least: true }), /at least \$0\.673 new, at least \$0\.067/));
  it("is not told where no price is known", () => {
    assert.equal(costSentence(null), "");
    assert.doesNotMatch(costSentence({ ...cost, spent: null }), /so far/);
  });
});
