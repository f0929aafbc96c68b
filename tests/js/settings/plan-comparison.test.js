// static/settings/plan-comparison.js: two plans for the same cut, compared.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compared, moreThan, nearTheCut, ranked, swapped } from "../../../static/settings/plan-comparison.js";

/** @param {string} id @param {number} score */
const gone = (id, score) =>
  /** @type {any} */ ({
    ...{ id, number: Number(id), text: `text ${id}\nmore`, role: "tool", tokens: 10 * Number(id), score },
    ...{ reason: "dropped: old", calls: [] },
  });
/** @param {string} id @param {number} score */
const kept = (id, score) => ({
  ...{ id, number: Number(id), fate: "kept", reason: "kept: new", tokens: 1, score },
});
const plan = (/** @type {any[]} */ removed, /** @type {any[]} */ stays) =>
  /** @type {Api.Plan} */ (/** @type {unknown} */ ({ removed, shortened: [], kept: stays }));
const saved = plan([gone("1", 5), gone("2", 3)], [kept("3", 40)]);
const tried = plan([gone("1", 6), gone("3", 9)], [kept("2", 30)]);

describe("two plans", () => {
  it("differ in messages, each with both scores, both fates and the reason", () => {
    const [first, second, third] = swapped(compared(saved, tried));
    assert.deepEqual(
      [first?.id, first?.scores, first?.fates, first?.reason],
      ["3", [40, 9], ["kept", "goes"], "dropped: old"],
    );
    assert.deepEqual([second?.id, second?.text, third], ["2", "text 2", undefined]);
  });
  it("each rank the removed messages, lowest score first", () => {
    const all = compared(saved, tried);
    assert.deepEqual(
      [ranked(all, 0), ranked(all, 1)].map((list) => list.map((one) => one.id)),
      [
        ["2", "1"],
        ["1", "3"],
      ],
    );
  });
});

describe("the part of a ranked list that is shown", () => {
  it("has the messages that change fate, then those removed last, in the order of the list", () => {
    const rest = ["1", "2", "3", "4", "5"].map((id) => gone(id, 10 * Number(id)));
    const all = compared(plan(rest, []), plan(rest.slice(1), [kept("1", 90)]));
    assert.deepEqual(
      nearTheCut(ranked(all, 0), 3).map((one) => one.id),
      ["1", "4", "5"],
    );
  });
});

describe("the messages that are not shown", () => {
  it("count also where a plan lists its first rows only", () => {
    const all = compared(saved, tried);
    assert.equal(moreThan(1_532, ranked(all, 0), 12), 1_530);
    assert.equal(moreThan(2, ranked(all, 0), 12), 0);
    assert.equal(moreThan(2, ranked(all, 0), 1), 1);
  });
});
