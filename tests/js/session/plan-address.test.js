// static/session/plan.js: what is tried in a plan, in the address of its page.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import "../page.js";
import { foldsOf, NO_TRIAL, optionsOf, trialOf } from "../../../static/session/plan.js";
import { read, written } from "../../../static/shared/address.js";

describe("a trial of a plan", () => {
  it("is read back from the address that it was written into", () => {
    const options = {
      max_tokens: 40_000,
      fresh_tail: 0,
      weights: { recency: 35.5, role: 0 },
      weights_of: "chat",
    };
    const folds = { open: new Set(["old", "errors"]), all: new Set(["old"]), weighing: true };
    const search = written("?panel=plan", trialOf(options, folds), NO_TRIAL);
    const trial = read(search, NO_TRIAL);
    assert.deepEqual(optionsOf(trial), options);
    assert.deepEqual(foldsOf(trial), folds);
  });
  it("is empty for an address without it, or with invalid values", () => {
    assert.deepEqual(optionsOf(NO_TRIAL), {});
    const wrong = { ...NO_TRIAL, cut: "-1", strategy: "magic", tail: "many", weights: "recency:-4,:1" };
    assert.deepEqual(optionsOf(wrong), {});
    assert.deepEqual(written("", trialOf({}, foldsOf(NO_TRIAL)), NO_TRIAL), "");
  });
});
