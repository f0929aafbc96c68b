// static/shared/prune-words.js: what plans and prunes do, in words.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  eventWords,
  prunedItems,
  prunedSentence,
  tookWords,
  totalWords,
  whatItDoes,
} from "../../../static/shared/prune-words.js";
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
    assert.equal(
      prunedSentence(operation(prune(42, 0)), "exact"),
      "42 messages pruned, 38,120 tokens freed.",
    );
    assert.equal(
      prunedSentence(operation(prune(42, 0)), "estimated"),
      "42 messages pruned, ~38,120 tokens freed.",
    );
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
    assert.equal(prunedItems(operation(prune(1, 0))), "Context pruned: 1 item removed");
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

const NONE = { files: 0, commands: 0, errors: 0, said: 0 };
const AFTER = { ...NONE, seen: true, tokens: 0, calls: 20, complete: true };
const ELSEWHERE = { ...NONE, windows: 5, files: 1, tokens: 0 };

describe("the calls after an event", () => {
  it("name only what was done again, each beside what is usual", () => {
    // X25
    const after = { ...AFTER, files: 3, errors: 1, tokens: 1879 };
    assert.equal(
      eventWords(after, ELSEWHERE, 20),
      "3 files read again (usually 1), 1 error met again (usually 0) in 20 calls; " +
        "new work after ~1,900 tokens",
    );
  });
  it("are compared with as many calls", () => {
    // X25
    const after = { ...AFTER, files: 1, calls: 10 };
    assert.equal(eventWords(after, ELSEWHERE, 20), "1 file read again (usually 0.5) in 10 calls");
  });
  it("say where there is nothing to compare with, and no zero", () => {
    // X25
    assert.equal(
      eventWords({ ...AFTER, said: 2 }, null, 20),
      "2 messages said again by the user in 20 calls; nothing to compare with",
    );
    assert.equal(eventWords(AFTER, null, 20), "nothing done again in 20 calls");
  });
  it("say that more calls are to come, and whether the work went on", () => {
    // X25
    const open = { ...AFTER, calls: 1, complete: false };
    assert.equal(eventWords(open, null, 20), "nothing done again in 1 call so far");
    assert.equal(
      eventWords({ ...open, tokens: null }, null, 20),
      "nothing done again in 1 call so far; no new work yet",
    );
    assert.equal(
      eventWords({ ...AFTER, tokens: null }, null, 20),
      "nothing done again in 20 calls; no new work",
    );
  });
  it("are not counted where the agent saw no event", () => {
    // X25
    assert.equal(
      eventWords({ ...AFTER, seen: false }, ELSEWHERE, 20),
      "the agent did not see it, so nothing is counted",
    );
  });
});

describe("the calls after all events", () => {
  const kinds = [
    { kind: "compaction", events: 4 },
    { kind: "summary", events: 2 },
    { kind: "prune", events: 1 },
  ];
  const events = { ...NONE, windows: 7, files: 1.8, said: 0.5, tokens: 4123 };

  it("are means of those with something to compare, beside it", () => {
    // X25
    const compared = { ...events, windows: 5, files: 2, said: 0 };
    const elsewhere = { ...ELSEWHERE, files: 0.3, tokens: 210 };
    assert.equal(
      totalWords({ kinds, calls: 20, events, compared, elsewhere }),
      "Within 20 calls after 4 compactions, 2 summaries, and 1 prune (5 compared), agents on average " +
        "read 2 files again (usually 0.3). New work began after ~4,100 tokens (usually ~210).",
    );
  });
  it("of one event are no means", () =>
    assert.equal(
      totalWords({
        kinds: kinds.slice(2),
        calls: 20,
        events: { ...NONE, windows: 1, files: 2, tokens: 900 },
        compared: null,
        elsewhere: null,
      }),
      "Within 20 calls after 1 prune, agents read 2 files again. New work began after ~900 tokens. " +
        "There is nothing to compare with.",
    ));
  it("say where there is nothing to compare with", () => {
    // X25
    assert.equal(
      totalWords({ kinds: kinds.slice(0, 1), calls: 20, events, compared: null, elsewhere: null }),
      "Within 20 calls after 4 compactions, agents on average read 1.8 files again and were told 0.5 " +
        "messages again. New work began after ~4,100 tokens. There is nothing to compare with.",
    );
  });
});
