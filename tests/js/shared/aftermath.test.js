// static/shared/aftermath.js: what was done again after an event, in words.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { eventWords, totalWords } from "../../../static/shared/aftermath.js";

const NONE = { files: 0, commands: 0, errors: 0, said: 0 };
const AFTER = { ...NONE, seen: true, tokens: 0, calls: 20, complete: true };
const ELSEWHERE = { ...NONE, windows: 5, files: 1, tokens: 0 };

describe("the calls after an event", () => {
  it("name only what was done again, each beside what is usual", () => {
    // X25
    const after = { ...AFTER, files: 3, errors: 1, tokens: 1879 };
    assert.equal(
      eventWords(after, ELSEWHERE, 20),
      "3 files read again (1 elsewhere), 1 error met again (0 elsewhere) in 20 calls; " +
        "new work after ~1,900 tokens",
    );
  });
  it("are compared with as many calls", () => {
    // X25
    const after = { ...AFTER, files: 1, calls: 10 };
    assert.equal(eventWords(after, ELSEWHERE, 20), "1 file read again (0.5 elsewhere) in 10 calls");
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
      "In the 20 calls after 4 compactions, 2 summaries, and 1 prune (5 compared): 2 files read again " +
        "(0.3 elsewhere); new work after ~4,100 tokens (~210 elsewhere)",
    );
  });
  it("say where there is nothing to compare with", () => {
    // X25
    assert.equal(
      totalWords({ kinds: kinds.slice(0, 1), calls: 20, events, compared: null, elsewhere: null }),
      "In the 20 calls after 4 compactions: 1.8 files read again, 0.5 messages said again by the user; " +
        "new work after ~4,100 tokens; nothing to compare with",
    );
  });
});
