// static/lib/words.js: names for what the API codes.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  operationName,
  plainReason,
  regionName,
  sourceName,
  strategyName,
  title,
} from "../../../static/lib/words.js";

describe("names", () => {
  it("stand for codes", () => {
    assert.deepEqual(
      [
        regionName("unseen"),
        sourceName("claude-code"),
        operationName("drop_first"),
        strategyName("newest_first"),
      ],
      ["not in the transcript", "Claude Code", "Marked to drop first", "Newest first"],
    );
  });
  it("of codes that nobody has named yet are the codes, readable", () => {
    assert.deepEqual(
      [regionName("novel"), strategyName("half_by_half"), title("minimum-gain")],
      ["novel", "Half by half", "Minimum gain"],
    );
  });
  it("of a fate are not said twice", () => {
    assert.deepEqual(
      [
        plainReason("dropped: score 23 below the cut at 41"),
        plainReason("summarised: covered by the summary of messages 3-120"),
        plainReason("pinned by you"),
        plainReason(null),
      ],
      ["score 23 below the cut at 41", "covered by the summary of messages 3-120", "pinned by you", ""],
    );
  });
  it("of a reason leave its count of tokens to the row", () => {
    assert.deepEqual(
      [
        "dropped: needs 424 tokens, 4 are left beside what matters more",
        "dropped: score 41, but its 1,424 tokens did not fit beside higher scores",
        "dropped: `src/a.py` was last named 9 messages ago, too little for its 22,871 tokens",
        "dropped: nothing in it was named again, for its 22,871 tokens",
        "shortened to 9 lines of its output, naming `index.md`",
      ].map(plainReason),
      [
        "does not fit into what is left beside what matters more",
        "score 41, but it did not fit beside higher scores",
        "`src/a.py` was last named 9 messages ago, too little for its size",
        "nothing in it was named again",
        "to 9 lines of its output, naming `index.md`",
      ],
    );
  });
});
