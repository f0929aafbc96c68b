// static/shared/task-types.js: which task type a session counts as.
import "../page.js";
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { typeReason, typeUnder } from "../../../static/shared/task-types.js";
import { session, settings, taskType } from "../builders.js";

describe("the task type of a session", () => {
  const coding = session({ task_type: taskType("coding") });
  const chosen = session({ task_type: taskType("coding", { name: "chat", setting: "chat", own: true }) });
  it("is the recognised type, or that of the edited settings", () => {
    // B18
    assert.equal(typeUnder(coding, null), "coding");
    assert.equal(typeUnder(coding, settings({})), "coding");
    assert.equal(typeUnder(coding, settings({ task_type: "research" })), "research");
    assert.equal(typeUnder(chosen, settings({ task_type: "research" })), "chat");
  });
  it("has a reason, and the recognised type where it differs", () => {
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
