// static/settings/values.js: settings while they are being edited.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  changedFields,
  faultAt,
  typed,
  valueAt,
  withValue,
  wordsOf,
} from "../../../static/settings/values.js";
import { settings as defaults } from "../builders.js";

const settings = defaults();

describe("a draft of settings", () => {
  it("is changed at a path without touching what is saved", () => {
    const next = withValue(settings, "keywords.0.share", 0.9);
    assert.deepEqual([valueAt(next, "keywords.0.share"), valueAt(settings, "keywords.0.share")], [0.9, 0.6]);
  });
  it("knows which fields differ, whatever the order of their keys", () => {
    assert.deepEqual(changedFields({ ...settings, weights: { role: 30, recency: 40 } }, settings), []);
    assert.deepEqual(changedFields(withValue(settings, "weights.role", 31), settings), ["weights"]);
  });
});

describe("what is typed", () => {
  it("is a number where it is one, and stays text for the server to refuse where it is not", () => {
    assert.deepEqual(
      ["12", " 1.5 ", "x", ""].map((text) => typed(text, false)),
      [12, 1.5, "x", ""],
    );
  });
  it("is nothing where the field may be empty", () => assert.equal(typed("", true), null));
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
  it("stands beside its field", () => assert.equal(faultAt(faults, "weights.recency"), "too large"));
  it("stands beside what holds its field", () => {
    assert.deepEqual(
      [faultAt(faults, "keywords.0", true), faultAt(faults, "keywords.1", true)],
      ["above 1", "empty"],
    );
  });
  it("stands nowhere else", () => assert.equal(faultAt(faults, "weights.role"), ""));
});
