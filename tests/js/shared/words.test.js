// static/shared/words.js: names for what the API codes.
import "../page.js";
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { changeOf, plainReason, regionName, strategyName, title } from "../../../static/shared/words.js";

describe("names", () => {
  it("name codes", () => {
    assert.deepEqual(
      [
        ...[regionName("unseen"), strategyName("newest_first")],
        ...[changeOf("drop_first").name, changeOf("unmark").name, changeOf("expand").name],
      ],
      [
        ...["not in the transcript", "Newest first"],
        ...["Marked to drop first", "No longer marked to drop first", "Summary expanded"],
      ],
    );
  });
  it("of unknown codes are the codes, readable", () => {
    assert.deepEqual(
      [regionName("novel"), strategyName("half_by_half"), title("minimum-gain")],
      ["novel", "Half by half", "Minimum gain"],
    );
  });
  it("of a fate are not repeated in its reason", () => {
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
});
