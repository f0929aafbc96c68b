// static/shared/task-types.js: which task type a session counts as, and what a type has of its own.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ownOf, placeOf, typeReason, typeUnder } from "../../../static/shared/task-types.js";
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

describe("what a type has of its own", () => {
  it("stands at its own place; what it has not is that of all sessions", () => {
    // B18
    assert.deepEqual(placeOf(settings({}), "any", "weights"), { path: "weights", follows: false });
    assert.deepEqual(placeOf(settings({}), "coding", "weights"), { path: "weights", follows: true });
    assert.deepEqual(placeOf(settings({}), "chat", "weights"), {
      path: "task_types.chat.weights",
      follows: false,
    });
  });
  it("is named, an empty list of words too", () => {
    assert.deepEqual(
      ["chat", "coding"].map((type) => ownOf(settings({}), type)),
      ["weights and keywords", ""],
    );
  });
});

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
      /^So the settings say for all sessions\. It/,
    );
    assert.equal(
      typeReason(coding, settings({ task_type: "coding" })),
      "So the settings say for all sessions.",
    );
  });
});
