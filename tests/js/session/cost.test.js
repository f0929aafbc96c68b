// static/session/bars.js: what a session costs, with its scope.
import "../page.js";
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { costSentence } from "../../../static/session/bars.js";

const cost = {
  per_call: 0.67258,
  per_call_cached: 0.067258,
  at_least: false,
  free: false,
  calls: 103,
  unreported: 0,
  spent: 6.144627,
  spent_at_least: false,
  sub_agents: null,
  currency: "USD",
};

describe("the cost of a session", () => {
  it("is shown for the next call with and without the cache, and for all calls so far", () => {
    // X9
    assert.equal(
      costSentence(cost),
      "Input of the next call at standard list price: $0.673 new, $0.067 from the cache. " +
        "103 calls so far, output included: $6.14.",
    );
  });
  it("is a lower bound where the provider charges more for so long a context", () =>
    assert.match(costSentence({ ...cost, at_least: true }), /at least \$0\.673 new, at least \$0\.067/));
  it("is a lower bound where an answer was reported in part, with sub-agents apart and together", () => {
    // X9
    const sub_agents = { sessions: 2, calls: 30, unreported: 0, spent: 1.5, spent_at_least: true };
    assert.match(
      costSentence({ ...cost, sub_agents }),
      /included: \$6\.14\. 30 calls of 2 sub-agents: at least \$1\.50; together at least \$7\.64\./,
    );
  });
  it("counts the calls without reported usage", () => {
    // X9
    const missing = { ...cost, unreported: 4, spent_at_least: true };
    assert.match(costSentence(missing), /included: at least \$6\.14, and 4 calls without reported usage\.$/);
    const sub_agents = { sessions: 1, calls: 30, unreported: 1, spent: 1.5, spent_at_least: true };
    assert.match(
      costSentence({ ...cost, sub_agents }),
      /of 1 sub-agent: at least \$1\.50, and 1 call without reported usage; together at least \$7\.64\.$/,
    );
  });
  it("of sub-agents whose usage nobody reported is not left out in silence", () => {
    // X9
    const sub_agents = { sessions: 2, calls: 0, unreported: 3, spent: null, spent_at_least: true };
    assert.match(
      costSentence({ ...cost, sub_agents }),
      /\$6\.14\. 3 calls of 2 sub-agents without reported usage\.$/,
    );
  });
  it("is an estimate where the context is one", () => {
    // X9
    assert.match(costSentence(cost, "estimated"), /list price: ~\$0\.673 new, ~\$0\.067 from the cache/);
    assert.match(costSentence(cost, "estimated"), /103 calls so far, output included: \$6\.14/);
  });
  it("is nothing for a local model", () =>
    assert.equal(
      costSentence({ ...cost, free: true, per_call: 0, spent: 0 }),
      "Calls of this model cost nothing.",
    ));
  it("is what was paid where the present model has no price, or none is due", () => {
    // X9
    const paid = "103 calls so far, output included: $6.14.";
    assert.equal(costSentence({ ...cost, per_call: null, per_call_cached: null }), paid);
    assert.equal(costSentence({ ...cost, per_call: 0, per_call_cached: 0 }), paid);
    const free = { ...cost, free: true, per_call: 0, per_call_cached: 0 };
    assert.equal(costSentence(free), `Calls of this model cost nothing. ${paid}`);
    assert.equal(costSentence({ ...free, spent: 0 }), "Calls of this model cost nothing.");
  });
  it("is not shown where no price is known", () => {
    assert.equal(costSentence(null), "");
    assert.doesNotMatch(costSentence({ ...cost, spent: null }), /so far/);
  });
});
