// static/settings/type-choice.js: the part of the settings page about task types.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { typesSection } from "../../../static/settings/type-choice.js";

const settings = /** @type {import("../../../static/shared/types.js").Settings} */ (
  /** @type {unknown} */ ({
    task_type: "auto",
    weights: { recency: 1 },
    keywords: [],
    strategy: "foresight",
    task_types: {
      coding: { weights: null, keywords: null },
      support: { weights: { recency: 2 }, keywords: [] },
      research: { weights: null, keywords: [] },
      chat: { weights: null, keywords: null },
    },
  })
);
const FORM = { settings, faults: [], limits: {} };

describe("the section on task types", () => {
  it("lets choose how a session's type is found, and whose weights are shown", () => {
    // B18
    const text = typesSection(FORM).toString();
    assert.match(text, /<option value="auto" selected>what it looks like/);
    assert.deepEqual(
      [...text.matchAll(/data-type="(\w+)"[^>]*aria-pressed="(\w+)"/g)].map((m) => `${m[1]} ${m[2]}`),
      ["any true", "coding false", "support false", "research false", "chat false"],
    );
    assert.match(text, /hold for every session whose type has none of its own/);
  });
  it("marks types that have their own, and says what", () => {
    // B18
    assert.equal(
      typesSection(FORM)
        .toString()
        .match(/\(has its own\)/g)?.length,
      2,
    );
    assert.match(
      typesSection({ ...FORM, type: "support" }).toString(),
      /It has its own weights and keywords\./,
    );
    assert.match(typesSection({ ...FORM, type: "coding" }).toString(), /It has nothing of its own/);
  });
  it("marks a type with a fault", () => {
    const faults = [{ field: "task_types.chat.keywords.0.share", message: "expected a number" }];
    assert.match(typesSection({ ...FORM, faults }).toString(), /data-type="chat" data-wrong="true"/);
  });
});
