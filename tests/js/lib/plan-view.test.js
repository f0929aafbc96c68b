// static/lib/plan-view.js: the plan panel as markup.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Choices } from "../../../static/lib/choices.js";
import { planBody, planTitle } from "../../../static/lib/plan-view.js";
import { gauge, message, plan, session } from "../builders.js";

/** @param {Partial<import("../../../static/lib/plan-view.js").PlanView>} given */
const body = (given) =>
  String(
    planBody({
      plan: plan(),
      session: session(),
      choices: new Choices(),
      wish: {},
      open: new Set(),
      all: new Set(),
      strategies: [],
      ...given,
    }),
  );

describe("the plan", () => {
  it("is headed by what it cuts to, or says that only what was chosen goes", () => {
    assert.equal(planTitle(plan(), session(), false), "Prune to 60\u202f%");
    assert.equal(planTitle(plan(), session(), true), "Only what you chose");
  });
  it("draws the regions that stay as the server tells them", () => {
    /** @type {import("../../../static/lib/types.js").Region[]} */
    const regions_after = [{ name: "user", tokens: 77_777, certainty: "exact" }];
    assert.match(
      body({ plan: plan({ regions_after }) }),
      /&quot;name&quot;:&quot;user&quot;,&quot;tokens&quot;:77777/,
    );
  });
  it("says of a shortened output what it took and what it will take", () => {
    const shortened = [message({ number: 7, tokens: 1_204, tokens_after: 310, fate: "shortened" })];
    const shown = body({ plan: plan({ shortened, shortened_count: 1 }), open: new Set(["shortened"]) });
    assert.match(shown, /1,204<small.*→<\/span> 310<\/small>/);
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
    assert.match(body({ choices, wish: { max_tokens: 5 } }), /No longer drop these 10 messages/);
    assert.doesNotMatch(body({ choices, wish: { max_tokens: 5 } }), /as well/);
  });
  it("cuts to no more than the whole limit, whatever it is called with", () => {
    const huge = plan({ max_tokens: 500_000 });
    assert.match(
      body({ plan: huge, session: session({ pruned: gauge({ tokens: 250_000 }) }) }),
      /value="100"/,
    );
  });
});
