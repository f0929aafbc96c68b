// static/settings/plan-cuts.js: the cuts at which settings are tried.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { firstCut, tokensAt } from "../../../static/settings/plan-cuts.js";
import { gauge, session } from "../builders.js";

describe("the cut at which settings are first tried", () => {
  it("is the aim if a prune to it removes something, otherwise half", () => {
    const full = session({ pruned: gauge({ tokens: 200_000 }), aim_tokens: 120_000 });
    const calm = session({ pruned: gauge({ tokens: 130_000 }), aim_tokens: 120_000 });
    assert.deepEqual([firstCut(full), firstCut(calm)], [null, 50]);
    assert.equal(tokensAt(calm, 25), 32_500);
  });
});
