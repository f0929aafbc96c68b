// static/settings/values.js: settings while they are being edited.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  changedFields,
  changesOf,
  faultAt,
  typed,
  valueAt,
  withChanges,
  withValue,
  wordsOf,
} from "../../../static/settings/values.js";
import { settings as defaults } from "../builders.js";

const settings = defaults();

describe("edited settings", () => {
  it("are changed at a path without changing the saved ones", () => {
    const next = withValue(settings, "keywords.0.share", 0.9);
    assert.deepEqual([valueAt(next, "keywords.0.share"), valueAt(settings, "keywords.0.share")], [0.9, 0.6]);
  });
  it("differ by field, whatever the order of keys", () => {
    assert.deepEqual(changedFields({ ...settings, weights: { role: 30, recency: 40 } }, settings), []);
    assert.deepEqual(changedFields(withValue(settings, "weights.role", 31), settings), ["weights"]);
  });
  it("are sent in parts, of which the others keep what was saved elsewhere", () => {
    const mine = withValue(withValue(settings, "weights.role", 31), "keywords.0.share", 0.9);
    const changes = changesOf(mine, settings);
    assert.deepEqual(changes, { weights: { role: 31 }, keywords: mine.keywords });
    const saved = withChanges(withValue(settings, "weights.recency", 7), changes);
    assert.deepEqual(saved.weights, { ...settings.weights, recency: 7, role: 31 });
    assert.deepEqual(changesOf(settings, settings), {});
  });
});

describe("a typed value", () => {
  it("is a number if it can be, and otherwise text that the server refuses", () => {
    assert.deepEqual(
      ["12", " 1.5 ", "x", ""].map((text) => typed(text, false)),
      [12, 1.5, "x", ""],
    );
  });
  it("is null where the field may be empty", () => assert.equal(typed("", true), null));
  it("as words is split at commas and lines, each once", () => {
    assert.deepEqual(wordsOf("error, failed\n error,,CREATE:"), ["error", "failed", "CREATE:"]);
  });
});

describe("a fault", () => {
  const faults = [
    { field: "weights.recency", message: "too large" },
    { field: "keywords.0.share", message: "above 1" },
    { field: "keywords[1].words", message: "empty" },
  ];
  it("is shown beside its field", () => assert.equal(faultAt(faults, "weights.recency"), "too large"));
  it("is shown beside the group of its field", () => {
    assert.deepEqual(
      [faultAt(faults, "keywords.0", true), faultAt(faults, "keywords.1", true)],
      ["above 1", "empty"],
    );
  });
  it("is shown nowhere else", () => assert.equal(faultAt(faults, "weights.role"), ""));
});
