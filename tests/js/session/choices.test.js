// static/session/choices.js: what the reader chose for the next prune.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Choices } from "../../../static/session/choices.js";

const [a, b, c] = [3, 12, 2].map((number) => ({ id: `m${number}`, number }));

describe("choices", () => {
  it("are requested by kind, in the order of the log", () => {
    const choices = new Choices();
    choices.put("drop", [/** @type {any} */ (b), /** @type {any} */ (c)]);
    choices.put("shorten", [/** @type {any} */ (a)]);
    assert.deepEqual(choices.request(), { drop: ["m2", "m12"], shorten: ["m3"] });
    assert.equal(choices.takes, true);
  });
  it("are of one kind each, the last that was chosen", () => {
    const choices = new Choices();
    choices.put("shorten", [{ id: "m3", number: 3 }]);
    choices.put("drop", [{ id: "m3", number: 3 }]);
    assert.deepEqual(choices.request(), { drop: ["m3"] });
  });
  it("spare what the plan takes by itself, and take back a choice to drop or shorten", () => {
    const choices = new Choices();
    choices.put("drop", [{ id: "m3", number: 3 }]);
    choices.spare({ id: "m3", number: 3 });
    assert.deepEqual(choices.request(), {});
    choices.spare({ id: "m3", number: 3 });
    assert.deepEqual(choices.request(), { spare: ["m3"] });
    assert.equal(choices.takes, false);
  });
  it("are taken back one by one, by kind, or all", () => {
    const choices = new Choices();
    choices.put("drop", [
      { id: "m3", number: 3 },
      { id: "m4", number: 4 },
    ]);
    choices.put("spare", [{ id: "m5", number: 5 }]);
    choices.forget("m3");
    assert.deepEqual(choices.request(), { drop: ["m4"], spare: ["m5"] });
    choices.forgetAll("drop");
    assert.deepEqual(choices.request(), { spare: ["m5"] });
    assert.deepEqual(choices.ids, ["m5"]);
  });
});

describe("choices in an address", () => {
  it("are the numbers of each kind", () => {
    const choices = new Choices();
    choices.put("drop", [a, b, c]);
    choices.put("spare", [{ id: "m12", number: 12 }]);
    assert.deepEqual(choices.written(), { drop: "2-3", shorten: "", spare: "12" });
  });
});
