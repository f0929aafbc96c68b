// static/session/plan-body.js: the plan panel as markup.
import "../page.js";
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Choices } from "../../../static/session/choices.js";
import { planBody, planTitle } from "../../../static/session/plan-body.js";
import { gauge, group, message, plan, promptCache, pruneCost, session } from "../builders.js";
import { markup } from "../markup.js";

/** @param {Partial<import("../../../static/session/plan-body.js").PlanState>} given */
const body = (given) =>
  markup(
    planBody({
      plan: plan(),
      session: session(),
      choices: new Choices(),
      options: {},
      open: new Set(),
      all: new Set(),
      weighing: false,
      ...given,
    }),
  );

describe("the plan", () => {
  it("has its aim as the heading, or that only chosen messages go", () => {
    assert.equal(planTitle(plan(), session(), false), "Prune to 60\u202f%");
    assert.equal(planTitle(plan(), session(), true), "Only what you chose");
  });
  it("that does nothing says how to free tokens nevertheless, if possible", () => {
    const nothing_to_do = "the context is within the 120,000 tokens already";
    const before = { tokens: 77_419, utilization: 38.7, messages: 9 };
    const shown = body({ plan: plan({ nothing_to_do, before }) });
    assert.match(shown, /already\. To free some anyway, move <i>Cut to<\/i> below 38\.7/);
    const small = { tokens: 9_900, utilization: 4.9, messages: 9 };
    assert.doesNotMatch(body({ plan: plan({ nothing_to_do, before: small }) }), /Cut to<\/i> below/);
    const stuck = body({ plan: plan({ nothing_to_do: "everything in the context is protected" }) });
    assert.match(stuck, /is protected\./);
    assert.doesNotMatch(stuck, /Cut to<\/i> below/);
  });
  it("draws the remaining regions as the server sends them", () => {
    /** @type {Api.Region[]} */
    const regions_after = [{ name: "user", tokens: 77_777, certainty: "exact" }];
    assert.match(
      body({ plan: plan({ regions_after }) }),
      /&quot;name&quot;:&quot;user&quot;,&quot;tokens&quot;:77777/,
    );
  });
  it("says what a summary would cover, who writes it, and the most it may take", () => {
    // X1, S4
    const summary = {
      messages: 40,
      first: 2,
      last: 41,
      covered_tokens: 20_000,
      most_tokens: 2_400,
      absorbed_tokens: 900,
    };
    const groups = [group("summarised", 20_000, { messages: 40 })];
    const shown = body({ plan: plan({ groups, freed: 18_500, summary: { ...summary, by_model: false } }) });
    assert.match(
      shown,
      /Less the summary of messages 2–41<small class="muted">written by the built-in summariser/,
    );
    assert.match(shown, />2,400<small class="muted">at most/);
    assert.match(shown, /Earlier summaries, which go into it<\/span><span class="num">900/);
    assert.match(shown, /Freed <span class="muted small">at least/);
    const asked = body({ plan: plan({ groups, summary: { ...summary, by_model: true } }) });
    assert.match(asked, /written by the model, or the built-in summariser where it fails/);
  });
  it("marks estimated sums and prices of the bill", () => {
    // X9
    const cache = pruneCost();
    /** @param {Api.Gauge["certainty"]} certainty */
    const shown = (certainty) =>
      body({
        plan: plan({ cache, groups: [group("superseded", 20_000)] }),
        session: session({ pruned: { ...gauge(), certainty } }),
      });
    const [rough, known] = [shown("estimated"), shown("exact")];
    assert.match(rough, />~20,000.*class="muted"> · ~\$0\.06</s);
    assert.match(rough, />~9,000.*class="muted"> · ~\$0\.30?</s);
    assert.doesNotMatch(rough, /−/);
    assert.doesNotMatch(known, /~/);
  });
  it("says what a prune costs now and when the provider's cache is cold", () => {
    // X26
    /** @param {Partial<Api.PruneCost>} now @param {Partial<Api.PromptCache>} [state] */
    const shown = (now, state = {}) =>
      body({
        plan: plan({ cache: pruneCost(now), removed_count: 3 }),
        session: session({ cache: promptCache(state) }),
      });
    assert.match(
      shown({}),
      /cache was used.*data-ago.*and expires.*data-until.*Pruning costs nothing extra then/s,
    );
    assert.match(shown({}), /then, and the next call costs ~?\$0\.16 less\./);
    const cold = shown({ cold: true, rewrite_cost: 0, break_even_calls: 0 }, { cold: true });
    assert.match(cold, /cache has expired.*nothing extra, and the next call costs ~?\$0\.16 less\./s);
    const broken = shown({ rewritten_once: 0, rewrite_cost: 0, break_even_calls: 0 }, { changed: true });
    assert.match(
      broken,
      /something before it has changed since\s+the last one: pruning now costs nothing extra\./,
    );
    assert.doesNotMatch(shown({ saved_when_cold: null }), /provider's cache/);
    for (const free of [cold, broken]) assert.match(free, /Pays back<\/dt><dd>at once</); // as in the verdict
    assert.match(shown({ break_even_calls: 8 }), /Pays back<\/dt><dd>after 8 calls</);
  });
  it("counts the messages whose fate a trial changes", () => {
    /** @param {number} changed */
    const said = (changed) => body({ plan: plan({ changed }), options: { strategy: "score" } });
    assert.match(said(0), /No message changes fate, compared/);
    assert.match(said(1), /1 message changes fate, compared/);
    assert.match(said(2), /2 messages change fate, compared/);
  });
  it("counts the messages whose fate a choice changes, unless only what was chosen goes", () => {
    const [spared, dropped] = [new Choices(), new Choices()];
    spared.put("spare", [{ id: "m3", number: 3 }]);
    dropped.put("drop", [{ id: "m3", number: 3 }]);
    const words = /11 messages change fate, compared with the plan without your choices\./;
    /** @param {Parameters<typeof body>[0]} given */
    const shown = (given) => body({ plan: plan({ changed: 11 }), ...given });
    assert.match(shown({ choices: spared }), words);
    assert.match(shown({ choices: dropped, options: { max_tokens: 90_000 } }), words);
    assert.doesNotMatch(shown({ choices: dropped }), words);
    assert.doesNotMatch(shown({}), words);
    const tuned = shown({ choices: spared, options: { strategy: "score" } });
    assert.doesNotMatch(tuned, words);
    assert.match(tuned, /11 messages change fate, compared with the saved settings/);
  });
  it("offers the emergency path only where the context is above what is usable", () => {
    // B7, S5
    const over = { protected_tokens: 170_000, max_tokens: 120_000, message: "too much", usable: 165_904 };
    const offered = body({ plan: plan({ over_budget: { ...over, emergency: true } }) });
    assert.match(offered, /data-act="relieve">Cut to 165,904</);
    const fits = body({ plan: plan({ over_budget: { ...over, emergency: false } }) });
    assert.doesNotMatch(fits, /relieve/);
  });
  it("says of a shortened output what it took and what it will take", () => {
    const cause = "duplicate";
    const shortened = [message({ number: 7, tokens: 1_204, tokens_after: 310, fate: "shortened", cause })];
    const groups = [group(cause, 894, { fate: "shortened" })];
    /** @param {Api.Gauge["certainty"]} certainty */
    const shown = (certainty) =>
      body({
        plan: plan({ groups, shortened, shortened_count: 1 }),
        session: session({ pruned: { ...gauge(), certainty } }),
        open: new Set([cause]),
      });
    assert.match(shown("exact"), />1,204<small.*→<\/span> 310<\/small>/);
    assert.match(shown("estimated"), />~1,204<small.*→<\/span> ~310<\/small>/);
  });
  it("says why it ends below its aim", () => {
    /** @param {string} cause @param {number} freed */
    const shown = (cause, freed) =>
      body({ plan: plan({ max_tokens: 100_000, groups: [group(cause, freed, { fate: "shortened" })] }) });
    const { tokens } = plan().before;
    assert.match(shown("duplicate", tokens - 50_000), /always cleared, so this ends below\s+50\u202f%/);
    assert.doesNotMatch(shown("duplicate", tokens - 99_999), /always cleared/);
    assert.doesNotMatch(shown("score", tokens - 50_000), /always cleared/);
  });
  it("names what was chosen, one by one while they are few", () => {
    const choices = new Choices();
    choices.put("drop", [{ id: "m3", number: 3 }]);
    const few = body({ choices });
    assert.match(few, /Dropped by you/);
    assert.match(few, /No longer drop message 3/);
    assert.match(few, /Prune to 60\u202f% as well/);
    choices.put(
      "drop",
      Array.from({ length: 9 }, (_, i) => ({ id: `m${i + 10}`, number: i + 10 })),
    );
    assert.match(body({ choices, options: { max_tokens: 5 } }), /No longer drop these 10 messages/);
    assert.doesNotMatch(body({ choices, options: { max_tokens: 5 } }), /as well/);
  });
  it("cuts to the whole limit at most", () => {
    const huge = plan({ max_tokens: 500_000 });
    assert.match(
      body({ plan: huge, session: session({ pruned: gauge({ tokens: 250_000 }) }) }),
      /value="100"/,
    );
  });
});
