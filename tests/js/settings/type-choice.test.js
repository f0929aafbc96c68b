// static/settings/type-choice.js: the part of the settings page about task types.
import "../page.js";
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { typesSection } from "../../../static/settings/form.js";
import { ownOf, placeOf } from "../../../static/settings/type-choice.js";
import { settings as defaults } from "../builders.js";
import { markup } from "../markup.js";

const settings = defaults({
  strategy: "foresight",
  task_types: {
    coding: { weights: null, keywords: null },
    support: { weights: { recency: 2 }, keywords: [] },
    research: { weights: null, keywords: [] },
    chat: { weights: null, keywords: null },
  },
});
const FORM = { settings, faults: [], limits: {}, signals: [] };

describe("the section on task types", () => {
  it("has the choice of a session's type, and of the type whose weights are shown", () => {
    // B18
    const text = markup(typesSection(FORM));
    assert.match(text, /<option value="auto" selected>What it looks like/);
    assert.deepEqual(
      [...text.matchAll(/data-type="(\w+)"[^>]*aria-pressed="(\w+)"/g)].map((m) => `${m[1]} ${m[2]}`),
      ["any true", "coding false", "support false", "research false", "chat false"],
    );
    assert.match(text, /For every session whose type has no values of its own/);
  });
  it("marks types that have their own, and says what", () => {
    // B18
    assert.equal(markup(typesSection(FORM)).match(/\(has its own\)/g)?.length, 2);
    assert.match(markup(typesSection({ ...FORM, type: "support" })), /It has its own weights and keywords\./);
    assert.match(markup(typesSection({ ...FORM, type: "coding" })), /It has nothing of its own/);
  });
  it("marks a type with a fault", () => {
    const faults = [{ field: "task_types.chat.keywords.0.share", message: "expected a number" }];
    assert.match(markup(typesSection({ ...FORM, faults })), /data-type="chat" data-wrong="true"/);
  });
});

describe("a type's own settings", () => {
  it("have their own paths; without them those of all sessions apply", () => {
    // B18
    assert.deepEqual(placeOf(settings, "any", "weights"), { path: "weights", follows: false });
    assert.deepEqual(placeOf(settings, "coding", "weights"), { path: "weights", follows: true });
    assert.deepEqual(placeOf(settings, "support", "weights"), {
      path: "task_types.support.weights",
      follows: false,
    });
  });
  it("are named, also an empty list of words", () => {
    assert.deepEqual(
      ["support", "research", "coding"].map((type) => ownOf(settings, type)),
      ["weights and keywords", "keywords", ""],
    );
  });
});
