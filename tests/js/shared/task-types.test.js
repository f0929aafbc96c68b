// static/shared/task-types.js: which task type a session counts as.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ALL, AUTO, typeChoices, typeReason, typeUnder } from "../../../static/shared/task-types.js";
import { session, taskType } from "../builders.js";

/** @param {Partial<import("../../../static/shared/types.js").Settings>} given */
const settings = (given) =>
  /** @type {import("../../../static/shared/types.js").Settings} */ (
    /** @type {unknown} */ ({
      task_type: "auto",
      weights: { recency: 1 },
      keywords: [],
      task_types: {
        coding: { weights: null, keywords: null },
        chat: { weights: { recency: 2 }, keywords: [] },
      },
      ...given,
    })
  );

describe("what a session counts as", () => {
  const coding = session({ task_type: taskType("coding") });
  const chosen = session({ task_type: taskType("coding", { name: "chat", setting: "chat", own: true }) });
  it("is what it looks like, or what the settings that are tried say", () => {
    // B18
    assert.equal(typeUnder(coding, null), "coding");
    assert.equal(typeUnder(coding, settings({})), "coding");
    assert.equal(typeUnder(coding, settings({ task_type: "research" })), "research");
    assert.equal(typeUnder(chosen, settings({ task_type: "research" })), "chat");
  });
  it("is said with its reason, and with its looks where they are other", () => {
    assert.equal(typeReason(coding), "48 % of its messages are tool outputs.");
    assert.equal(
      typeReason(chosen),
      "Chosen for this session. It looks like coding: 48 % of its messages are tool outputs.",
    );
    assert.match(
      typeReason(coding, settings({ task_type: "research" })),
      /^Chosen in the settings for all sessions\. It/,
    );
    assert.equal(
      typeReason(coding, settings({ task_type: "coding" })),
      "Chosen in the settings for all sessions.",
    );
  });
});

describe("the choices of a type", () => {
  it("begin with what a session looks like and end with none", () => {
    const values = typeChoices("no type").map(([value]) => value);
    assert.deepEqual(values, [AUTO, "coding", "support", "research", "chat", ALL]);
  });
});
