// static/settings/form.js: the sections of the settings page.
import "../page.js";
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SECTIONS } from "../../../static/settings/fields.js";
import {
  fieldSection,
  keywordsSection,
  lengthSection,
  otherSection,
  rolesSection,
  weightsSection,
} from "../../../static/settings/form.js";
import { settings as defaults } from "../builders.js";
import { markup } from "../markup.js";

const settings = {
  ...defaults(),
  weights: { relevance: 10, length: 5, recency: 40, role: 20, keywords: 25, novelty: 10 },
  keywords: [{ name: "errors", share: 0.6, words: ["error", "<failed>"] }],
  response_reserve: 4096,
  counting: /** @type {const} */ ("tokenizer"),
  windows: /** @type {const} */ ("current"),
  status_line: true,
  tool_outputs_exempt: ["Read", "<b>"],
  novel_percent: 7,
};
const signals = [
  {
    name: "novelty",
    label: "New words",
    meaning: "words said for the first time",
    in_foresight: "names said first",
  },
];
const FORM = { settings, faults: [], limits: { weights: { min: 0, max: 100, step: 1 } }, signals };

describe("the weights", () => {
  it("are in the server's order, unknown signals included, with their sum", () => {
    // B16
    const text = markup(weightsSection(FORM));
    assert.deepEqual(
      [...text.matchAll(/type="range" name="weights.(\w+)"/g)].map((m) => m[1]),
      ["relevance", "length", "recency", "role", "keywords", "novelty"],
    );
    assert.match(text, /sum <b>110<\/b>/);
    assert.match(text, /New words <small class="muted">words said for the first time/);
  });
  it("show a fault beside its field", () => {
    const text = markup(
      weightsSection({
        ...FORM,
        faults: [{ field: "weights.role", message: "expected at most 100, got 900" }],
      }),
    );
    assert.match(text, /name="weights.role"[^>]*aria-invalid="true" aria-describedby="fault-weights.role"/);
    assert.match(text, /id="fault-weights.role">Expected at most 100, got 900\./);
    assert.equal(text.match(/aria-invalid="true"/g)?.length, 1);
  });
});

describe("the weights and keywords of a task type", () => {
  const own = {
    weights: { recency: 7, role: 3 },
    keywords: [{ name: "dealings", share: 0.8, words: ["refund"] }],
  };
  const types = { ...settings.task_types, support: own };
  const form = { ...FORM, settings: { ...settings, task_types: types } };
  it("have their own paths, with a button that returns to those of all sessions", () => {
    // B18
    const text = markup(weightsSection({ ...form, type: "support" }));
    assert.match(text, /<h2>Weights for support<\/h2>/);
    assert.match(text, /name="task_types.support.weights.recency"/);
    assert.match(text, /sum <b>10<\/b>/);
    assert.match(text, /data-act="follow" data-field="weights"/);
    assert.doesNotMatch(text, /weight-suggestion/);
    const words = markup(keywordsSection({ ...form, type: "support" }));
    assert.match(words, /name="task_types.support.keywords.0.words"/);
    assert.match(words, /value="refund"/);
  });
  it("follow those of all sessions where the type has none", () => {
    // B18
    for (const text of [weightsSection, keywordsSection].map((part) =>
      markup(part({ ...form, type: "coding" })),
    )) {
      assert.match(text, /Coding has the (weights|keywords) of all sessions\./);
      assert.match(text, /data-act="own"/);
      assert.doesNotMatch(text, /<input/);
    }
  });
  it("show their faults", () => {
    const faults = [{ field: "task_types.support.weights.role", message: "expected at most 100" }];
    const text = markup(weightsSection({ ...form, faults, type: "support" }));
    assert.match(text, /id="fault-task_types.support.weights.role">Expected at most 100\./);
  });
});

describe("what a strategy uses", () => {
  it("is explained for each part that Foresight does not use", () => {
    const foresight = { ...FORM, settings: { ...settings, strategy: "foresight" } };
    for (const part of [rolesSection, keywordsSection, lengthSection])
      assert.match(
        markup(part(foresight)),
        /Used only by the strategy Lowest score first; Foresight, chosen now,/,
      );
    assert.match(markup(weightsSection(foresight)), /weighs every name and line/);
    assert.match(markup(rolesSection(FORM)), /Foresight does not use it/);
  });
});

describe("a field", () => {
  /** The start tag of the field with this name. @param {unknown} shown @param {string} name */
  const tagOf = (shown, name) => new RegExp(`<\\w+[^>]* name="${name}"[^>]*>`).exec(markup(shown))?.[0] ?? "";
  it("is described by its help", () => {
    for (const [section, name] of [
      ["limits", "cap_tokens"],
      ["automatic", "automatic"],
      ["tool_outputs", "tool_outputs_exempt"],
    ]) {
      const shown = fieldSection(FORM, `${section}`);
      assert.match(tagOf(shown, `${name}`), new RegExp(`aria-describedby="help-${name}"`));
      assert.match(markup(shown), new RegExp(`id="help-${name}"`));
    }
  });
  it("that is wrong says so, and is described by the reason as well", () => {
    const faults = ["cap_tokens", "strategy", "tool_outputs_exempt.1"].map((field) => ({
      field,
      message: "expected another",
    }));
    for (const [section, name, help] of [
      ["limits", "cap_tokens", " help-cap_tokens"],
      ["keep", "strategy", ""],
      ["tool_outputs", "tool_outputs_exempt", " help-tool_outputs_exempt"],
    ]) {
      const shown = fieldSection({ ...FORM, faults }, `${section}`);
      const tag = tagOf(shown, `${name}`);
      assert.match(tag, new RegExp(`aria-invalid="true" aria-describedby="fault-${name}${help}"`));
      assert.match(markup(shown), new RegExp(`id="fault-${name}"`));
    }
  });
  it("of a list is described by the reason below its row", () => {
    const faults = [
      { field: "keywords.0.share", message: "expected at most 1" },
      { field: "length_steps.0.1", message: "expected at most 1" },
    ];
    const wrong = { ...FORM, faults };
    for (const [shown, name, row] of /** @type {const} */ ([
      [keywordsSection(wrong), "keywords.0.share", "keywords.0"],
      [lengthSection(wrong), "length_steps.0.1", "length_steps.0"],
    ])) {
      assert.match(tagOf(shown, name), new RegExp(`aria-invalid="true" aria-describedby="fault-${row}"`));
      assert.match(markup(shown), new RegExp(`id="fault-${row}"`));
    }
  });
  it("has a name that no other has, and that says what it is without those above it", () => {
    const names = Object.values(SECTIONS).flatMap(([, , fields]) => fields.map(([, label]) => label));
    assert.equal(new Set(names).size, names.length);
    for (const name of names) assert.match(name, /^[A-Z]/);
  });
});

describe("the other sections", () => {
  it("leave an empty cap empty", () =>
    assert.match(markup(fieldSection(FORM, "limits")), /name="cap_tokens" step="any" value=""/));
  it("keep words from becoming markup", () =>
    assert.match(markup(keywordsSection(FORM)), /value="error, &lt;failed&gt;"/)); // B4
  it("show a setting without a label under its own name", () => {
    const text = markup(otherSection(FORM));
    assert.match(text, /Novel<\/label>.*name="novel_percent" step="any" value="7".*%/s);
    assert.equal(text.match(/class="setting"/g)?.length, 1);
  });
  it("offer nothing that has no effect on a server", () =>
    assert.doesNotMatch(markup(Object.keys(SECTIONS).map((name) => fieldSection(FORM, name))), /counting/));
  it("show a setting as a number, a choice, a switch or words", () => {
    const text = markup(["room", "context", "tool_outputs"].map((name) => fieldSection(FORM, name)));
    assert.match(text, /type="number" name="response_reserve" step="any" value="4096"/);
    assert.match(text, /<option value="current" selected>Current/);
    assert.match(text, /role="switch" name="status_line" checked/);
    assert.match(text, /name="tool_outputs_exempt" value="Read, &lt;b&gt;"/);
  });
});
