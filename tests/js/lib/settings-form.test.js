// static/lib/settings-form.js: the sections of the settings page.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  keywordsSection,
  limitsSection,
  otherSection,
  plainSection,
  weightsSection,
} from "../../../static/lib/settings-form.js";

/** @type {import("../../../static/lib/types.js").Settings} */
const settings = {
  weights: { relevance: 10, length: 5, recency: 40, role: 30, keywords: 25 },
  roles: { user: 0.67 },
  keywords: [{ name: "errors", share: 0.6, words: ["error", "<failed>"] }],
  length_steps: [[1000, 0.5]],
  target_percent: 80,
  aim_percent: 60,
  cap_tokens: null,
  fresh_tail: 16,
  user_words_tokens: 20_000,
  user_words_percent: 30,
  strategy: "score",
  automatic: false,
  minimum_gain_percent: 5,
  response_reserve: 4096,
  counting: "tokenizer",
  status_line: true,
  tool_outputs_exempt: ["Read", "<b>"],
  novel_percent: 7,
};
const FORM = { settings, faults: [], limits: { weights: { min: 0, max: 100, step: 1 } } };

describe("the weights", () => {
  it("stand in their known order, a new signal last, with their sum", () => {
    // B16
    const text = weightsSection(FORM).toString();
    assert.deepEqual(
      [...text.matchAll(/id="w-(\w+)"/g)].map((m) => m[1]),
      ["recency", "role", "keywords", "length", "relevance"],
    );
    assert.match(text, /sum <b>110<\/b>/);
  });
  it("carry a fault beside the field that has it", () => {
    const text = weightsSection({
      ...FORM,
      faults: [{ field: "weights.role", message: "expected at most 100, got 900" }],
    }).toString();
    assert.match(text, /name="weights.role"[^>]*aria-invalid="true" aria-describedby="fault-weights.role"/);
    assert.match(text, /id="fault-weights.role">Expected at most 100, got 900\./);
    assert.equal(text.match(/aria-invalid="true"/g)?.length, 1);
  });
});

describe("the other sections", () => {
  it("leave an empty cap empty", () =>
    assert.match(limitsSection(FORM).toString(), /name="cap_tokens" value=""/));
  it("keep words from becoming markup", () =>
    assert.match(keywordsSection(FORM).toString(), /data-words="error, &lt;failed&gt;"/)); // B4
  it("show a setting that the page has no words for under its own name", () => {
    const text = otherSection(FORM).toString();
    assert.match(text, /Novel<\/span>.*name="novel_percent" value="7".*%/s);
    assert.equal(text.match(/class="setting"/g)?.length, 1);
  });
  it("show a setting as what it is: a number, a choice, a switch, words", () => {
    const text = ["room", "context", "tool_outputs"].map((name) => plainSection(FORM, name)).join("");
    assert.match(text, /type="number" name="response_reserve" value="4096"/);
    assert.match(text, /<option value="tokenizer" selected>The model&#39;s tokenizer/);
    assert.match(text, /role="switch" name="status_line" checked/);
    assert.match(text, /name="tool_outputs_exempt" value="Read, &lt;b&gt;"/);
  });
});
