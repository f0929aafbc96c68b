// static/session/bars.js: what fills the context of a session.
import "../page.js";
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bars } from "../../../static/session/bars.js";
import { gauge, promptCache, session, taskType } from "../builders.js";
import { markup } from "../markup.js";

const agent = gauge({
  tokens: 176_000,
  utilization: 88,
  regions: [{ name: "tool", tokens: 176_000, certainty: "exact" }],
});
const pruned = gauge({
  tokens: 100_000,
  utilization: 50,
  regions: [{ name: "tool", tokens: 100_000, certainty: "exact" }],
});

describe("the line on the task type", () => {
  it("says what the session counts as and why, with another to choose", () => {
    // B18
    const text = markup(bars(session({ task_type: taskType("coding") })));
    assert.match(text, /Task type<\/label>/);
    assert.match(text, /<option value="" selected>Coding \(by the settings\)/);
    assert.match(text, /48 % of its messages are tool outputs\./);
    const chosen = session({ task_type: taskType("coding", { name: "chat", setting: "chat", own: true }) });
    assert.match(markup(bars(chosen)), /<option value="chat" selected>Chat</);
  });
});

describe("the bars", () => {
  const cost = {
    per_call: 0.5,
    per_call_cached: 0.05,
    at_least: false,
    calls: 0,
    spent: null,
    spent_at_least: false,
    unreported: 0,
    sub_agents: null,
    free: false,
    currency: "USD",
  };
  it("are two for a followed session, with the change of each region", () => {
    // X12
    const text = markup(bars(session({ agent, pruned })));
    assert.equal(text.match(/<context-gauge/g)?.length, 2);
    assert.match(text, /76,000 tokens less/);
    assert.match(text, /→ 100,000/);
    assert.match(text, /not the agent's own context/);
  });
  it("show no change of a region that only rounds differently in the pruned view", () => {
    /** @param {number} tokens */
    const user = (tokens) => [{ name: "user", tokens, certainty: /** @type {const} */ ("calibrated") }];
    /** @param {number} tokens in the pruned view */
    const shown = (tokens) =>
      markup(
        bars(session({ agent: gauge({ regions: user(502) }), pruned: gauge({ regions: user(tokens) }) })),
      );
    for (const tokens of [500, 501, 503, 504]) assert.doesNotMatch(shown(tokens), /→/);
    assert.match(shown(499), /→ 499/);
  });
  it("name a part that is in the pruned view only", () => {
    const summary = { name: "summary", tokens: 1_234, certainty: /** @type {const} */ ("exact") };
    const regions = [...pruned.regions, summary];
    const text = markup(bars(session({ agent, pruned: { ...pruned, regions } })));
    assert.match(text, /summary <b>0<\/b> <span>→ 1,234/);
  });
  it("say that prunes leave the agent's context as it is, unless the proxy sends them", () => {
    // X13
    /** @param {boolean} prunes */
    const through = (prunes) => ({
      prunes,
      applied: false,
      reason: "",
      subscription: false,
      calls: 1,
      pruned_calls: 0,
      paid: null,
      unpruned: null,
    });
    const untouched = /the agent's own context as it is|changes the pruned view only/;
    assert.match(markup(bars(session({ agent, pruned, proxy: through(false) }))), untouched);
    assert.doesNotMatch(markup(bars(session({ agent, pruned, proxy: through(true) }))), untouched);
  });
  it("show what calls cost, and nothing where that is not known or nothing would be sent", () => {
    // X9
    assert.match(markup(bars(session({ agent, pruned }), cost)), /class="plain cost">Input of the next call/);
    assert.doesNotMatch(markup(bars(session({ agent, pruned }), null)), /class="plain cost"/);
    assert.doesNotMatch(markup(bars(session(), { ...cost, per_call: 0 })), /class="plain cost"/);
  });
  it("price the next call as the provider's cache is now", () => {
    // X9, X26
    /** @param {Api.PromptCache | null} cache @param {Partial<Api.Cost>} [given] */
    const words = (cache, given) =>
      /next call (.*?) ·/.exec(markup(bars(session({ agent, pruned, cache }), { ...cost, ...given })))?.[1];
    assert.deepEqual(
      [words(null), words(promptCache({ cold: true })), words(promptCache())],
      ["$0.50", "$0.50", "$0.05"],
    );
    assert.equal(words(promptCache({ changed: true })), "at least $0.05");
    assert.equal(words(promptCache({ cold: true, changed: true }), { at_least: true }), "at least $0.50");
  });
  it("are one for a managed session", () =>
    assert.equal(markup(bars(session({ agent: null, pruned }))).match(/<context-gauge/g)?.length, 1));
});
