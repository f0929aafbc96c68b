// Settings tried in the plan panel: weights and tail as settings, to plan with and to save.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Choices } from "../../../static/session/choices.js";
import { planRequest } from "../../../static/session/plan.js";
import { enter, toSave, withoutOwn } from "../../../static/session/tuning.js";
import { plan, session } from "../builders.js";

/** A field as the panel has it. @param {string} name @param {string} value */
const field = (name, value) => /** @type {HTMLInputElement} */ ({ name, value });

describe("A field of the fold", () => {
  test("tries one weight with all others as they are", () => {
    /** @type {import("../../../static/session/plan.js").PlanOptions} */
    const options = {};
    assert.ok(enter(options, plan(), field("weight.recency", "50")));
    assert.deepEqual(planRequest(options, new Choices(), session()), {
      settings: { weights: { recency: 50, role: 20, keywords: 20, length: 15, relevance: 10 } },
      compare: true,
    });
  });

  test("tries the weights of a task type at their place", () => {
    /** @type {import("../../../static/session/plan.js").PlanOptions} */
    const options = {};
    enter(options, plan({ weights: { recency: 35 }, weights_of: "support" }), field("weight.recency", "1"));
    assert.deepEqual(toSave(options), { task_types: { support: { weights: { recency: 1 } } } });
  });

  test("refuses a tail that is no whole number, and a signal that there is not", () => {
    /** @type {import("../../../static/session/plan.js").PlanOptions} */
    const options = {};
    for (const value of ["", "1.5", "-1", "10001"])
      assert.ok(!enter(options, plan(), field("fresh_tail", value)));
    assert.ok(!enter(options, plan(), field("weight.mood", "5")));
    assert.deepEqual(options, {});
    assert.ok(enter(options, plan(), field("fresh_tail", "0")));
    assert.deepEqual(toSave({ ...options, strategy: "score" }), { strategy: "score", fresh_tail: 0 });
  });
});

describe("The settings of a session's own", () => {
  test("are removed without those that are not tried here", () => {
    const own_settings = ["aim_percent", "strategy", "weights"];
    assert.deepEqual(withoutOwn(plan({ own_settings })), { strategy: null, weights: null });
  });
});
