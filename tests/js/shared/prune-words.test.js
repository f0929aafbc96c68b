// static/shared/prune-words.js: what plans and prunes do, in words.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { prunedItems, prunedSentence, tookWords, whatItDoes } from "../../../static/shared/prune-words.js";
import { operation, plan } from "../builders.js";

describe("what a prune does", () => {
  it("ends a sentence, shortened outputs included", () => {
    assert.equal(whatItDoes(plan()), "removes 42 messages");
    assert.equal(whatItDoes(plan({ shortened_count: 3 })), "removes 42 messages and shortens 3 outputs");
    assert.equal(whatItDoes(plan({ removed_count: 0, shortened_count: 1 })), "shortens 1 output");
    assert.equal(whatItDoes(plan({ removed_count: 0 })), "changes nothing");
  });
});

/** @param {number} removed @param {number} shortened */
const prune = (removed, shortened) => ({ messages: removed + shortened, removed, shortened, freed: 38_120 });

describe("the result of a prune in words", () => {
  it("has the numbers of messages and tokens", () => {
    assert.equal(prunedSentence(operation(prune(42, 0))), "42 messages pruned, 38,120 tokens freed.");
    assert.equal(
      prunedSentence(operation(prune(42, 3))),
      "42 messages pruned, 3 outputs shortened, 38,120 tokens freed.",
    );
    assert.equal(
      prunedSentence(operation({ ...prune(0, 1), freed: 90 })),
      "1 output shortened, 90 tokens freed.",
    );
  });
  it("has the words of the widget's specification", () => {
    assert.equal(prunedItems(operation(prune(42, 0))), "Context pruned: 42 items removed");
    assert.equal(prunedItems(operation(prune(0, 9))), "Context pruned: 0 items removed, 9 shortened");
  });
  it("says what was removed apart from what was shortened", () => {
    assert.equal(tookWords(prune(12, 3)), "12 removed, 3 shortened");
    assert.equal(tookWords({ ...prune(12, 0), summarised: 10 }), "10 summarised, 2 removed");
    assert.equal(
      prunedSentence(operation({ ...prune(12, 0), summarised: 12 })),
      "12 messages summarised, 38,120 tokens freed.",
    );
    assert.equal(tookWords(prune(0, 3)), "3 shortened");
    assert.equal(tookWords({ messages: 15, removed: null, shortened: null }), "15 messages");
    assert.equal(tookWords(prune(0, 0)), "");
  });
});
