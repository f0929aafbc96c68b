// static/session/context-card.js: the card "What filled my context".
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { cardMarkdown, cardSvg } from "../../../static/session/context-card.js";
import { session } from "../builders.js";

const region = (/** @type {string} */ name, /** @type {number} */ tokens) =>
  /** @type {Api.Region} */ ({ name, tokens, certainty: "exact" });
const stats = /** @type {Api.Stats} */ ({
  session: session({ title: "Secret <plan>", cwd: "/home/ada/secret", turns: 12, prunes: 1 }),
  tokens: 100_000,
  limit: 200_000,
  utilizationPercent: 50,
  regions: [region("user", 20_000), region("tool", 80_000), region("summary", 0)],
});

describe("the card of a context", () => {
  it("has its parts with tokens and shares, the largest first", () => {
    const text = cardMarkdown(stats);
    assert.match(text, /50\.0.%\sfull: 100,000 of 200,000 tokens/);
    assert.ok(text.indexOf("tool results | 80,000 | 80.0") < text.indexOf("user | 20,000 | 20.0"));
    assert.doesNotMatch(text, /summary/);
  });
  it("counts one of something as one", () => {
    assert.match(cardMarkdown(stats), /12 turns · 1 prune$/m);
  });
  it("marks the parts that are estimated, and an exact total not", () => {
    const regions = stats.regions.map(
      (one) => /** @type {Api.Region} */ ({ ...one, certainty: "estimated" }),
    );
    const text = cardMarkdown({ ...stats, regions });
    assert.match(text, /full: 100,000 of/);
    assert.match(text, /tool results \| ~80,000/);
  });
  it("says nothing of title, folder or content", () => {
    for (const card of [cardMarkdown(stats), cardSvg(stats, () => "#888888")])
      assert.doesNotMatch(card, /secret/i);
  });
  it("as a picture has its name and its figures on lines of their own, which fit its width", () => {
    const full = { ...stats, tokens: 1_119_509, limit: 1_000_000, utilizationPercent: 111.95 };
    const svg = cardSvg(full, () => "#888888");
    const lines = [...svg.matchAll(/<text x="24" y="\d+"(?: font-size="(\d+)")?[^>]*>([^<]*)</g)];
    assert.equal(lines[0]?.[2], "What filled my context");
    assert.match(lines[1]?.[2] ?? "", /^112\.0.%\sfull: 1,119,509 of 1,000,000 tokens$/);
    for (const [, size = 13, words = ""] of lines) assert.ok(words.length * Number(size) * 0.62 < 592, words);
  });
  it("as a picture draws each part as wide as its share of the limit", () => {
    const svg = cardSvg(stats, (name) => (name === "tool" ? "#ffaa00" : "#0000ff"));
    assert.match(svg, /width="236\.8" height="20"\s+fill="#ffaa00"/);
    assert.match(svg, /^<svg xmlns=/);
  });
});
