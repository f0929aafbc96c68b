// static/shared/session-facts.js: what the pages derive from a session's row.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  gaugeOf,
  limitsOf,
  mainGauge,
  pageOf,
  titleOf,
  unseenOf,
} from "../../../static/shared/session-facts.js";
import { gauge, session } from "../builders.js";

describe("the facts of a session", () => {
  it("are of the agent's own context where there is one", () => {
    const agent = gauge({ tokens: 9 });
    assert.equal(mainGauge(session({ agent })).tokens, 9);
    assert.equal(mainGauge(session({ agent: null, pruned: gauge({ tokens: 4 }) })).tokens, 4);
  });
  it("name a session without a title by the beginning of its id", () => {
    const id = "2c5941bd-b9de-41d6-9414-221d175776f7";
    assert.equal(titleOf(session({ title: id })), "Untitled session 2c5941bd");
    assert.equal(titleOf(session({ title: `${id}.agent-aa1e905b` })), "Untitled sub-agent aa1e905b");
    assert.equal(titleOf(session({ title: null, id: "mine" })), "mine");
  });
  it("have titles without the codes of terminals", () => {
    assert.equal(titleOf(session({ title: "\u001b[1mFix\u001b[0m the\u0007\nlogin" })), "Fix the login");
    assert.equal(titleOf(session({ title: "\u0007", id: "mine" })), "mine");
  });
  it("have the address of its page, with its id encoded", () => {
    assert.equal(pageOf("a/b c"), "/sessions/a%2Fb%20c");
  });
  it("count the tokens outside the transcript", () => {
    const agent = gauge({ regions: [{ name: "unseen", tokens: 7, certainty: "exact" }] });
    assert.equal(unseenOf(session({ agent })), 7);
    assert.equal(unseenOf(session({ agent: null })), 0);
  });
});

describe("a gauge", () => {
  it("takes the target from its tokens, which a cap may have lowered", () => {
    // X10
    const capped = session({ target_percent: 80, target_tokens: 100_000, agent: gauge() });
    assert.equal(limitsOf(capped).target_percent, 50);
  });
  it("shows the agent's context unless another is given", () => {
    const [agent, pruned] = [gauge({ tokens: 9 }), gauge({ tokens: 4 })];
    assert.equal(gaugeOf(session({ agent, pruned })).gauge, agent);
    assert.equal(gaugeOf(session({ agent, pruned }), pruned).gauge, pruned);
  });
});
