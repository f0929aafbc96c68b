// The promises of static/styles/tokens.css, computed: regions apart in every kind of vision, text and
// outlines readable.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { apart, contrast, VISIONS } from "../colours.js";

/** @typedef {import("../colours.js").Triple} Triple */

const css = readFileSync(new URL("../../../static/styles/tokens.css", import.meta.url), "utf8");
const REGIONS = ["system", "unseen", "tools", "summary", "memory", "user", "assistant", "tool"];

/** @param {string} text @returns {Triple} */
function triple(text) {
  const found = /oklch\(([\d.]+)% ([\d.]+) ([\d.]+)\)/.exec(text);
  assert.ok(found, `not an opaque OKLCH colour: ${text}`);
  return [Number(found[1]) / 100, Number(found[2]), Number(found[3])];
}

/** The value of a token in one theme, from one part of the file. @param {string} part @param {string} name
 * @param {number} theme */
function token(part, name, theme) {
  const line = new RegExp(`\\s${name}: (.+);`).exec(part)?.[1];
  if (!line) return null;
  const colours = line.match(/oklch\([^)]*\)/g) ?? [];
  return triple(colours[colours.length === 2 ? theme : 0]);
}

const [plain, rest] = css.split("@media (prefers-contrast: more)");
const [more] = rest.split("@media (forced-colors: active)");
/** @type {[string, string, number][]} */
const THEMES = [
  ["light", "", 0],
  ["dark", "", 1],
  ["light, more contrast", more, 0],
  ["dark, more contrast", more, 1],
];

for (const [theme, override, index] of THEMES) {
  /** @param {string} name @returns {Triple} */
  const colour = (name) => {
    const found = (override && token(override, name, index)) || token(plain, name, index);
    assert.ok(found, `no token ${name}`);
    return found;
  };

  describe(`the ${theme} palette`, () => {
    it("keeps text at 4.5:1 or more on every background", () => {
      const pairs = [
        [
          "--text",
          ["--bg", "--surface", "--sunken", "--raised", "--accent-soft", "--warn-soft", "--over-soft"],
        ],
        [
          "--muted",
          ["--bg", "--surface", "--sunken", "--raised", "--accent-soft", "--warn-soft", "--over-soft"],
        ],
        ["--accent", ["--bg", "--surface", "--sunken", "--accent-soft"]],
        ["--accent-text", ["--accent", "--accent-hover"]],
        ["--warn", ["--bg", "--surface", "--sunken", "--warn-soft"]],
        ["--over", ["--bg", "--surface", "--sunken", "--over-soft"]],
        ["--bg", ["--text"]],
      ];
      for (const [ink, papers] of pairs)
        for (const paper of papers) {
          const ratio = contrast(colour(String(ink)), colour(paper));
          assert.ok(ratio >= 4.5, `${ink} on ${paper} is ${ratio.toFixed(2)}:1`);
        }
    });

    it("keeps outlines of bars and controls at 3:1 or more", () => {
      const lines = [...REGIONS.map((name) => `--r-${name}-e`), "--outline", "--control"];
      for (const line of lines)
        for (const paper of ["--surface", "--bg"]) {
          const ratio = contrast(colour(line), colour(paper));
          assert.ok(ratio >= 3, `${line} on ${paper} is ${ratio.toFixed(2)}:1`);
        }
    });
  });
}

describe("the regions of a bar", () => {
  /** @param {string} name @returns {Triple} */
  const region = (name) => {
    const found = token(plain, `--r-${name}`, 0);
    assert.ok(found);
    return found;
  };

  for (const vision of VISIONS)
    it(`stay apart under ${vision} vision: neighbours by 0.12, any two by 0.085`, () => {
      for (const [i, one] of REGIONS.entries())
        for (const [j, other] of REGIONS.entries()) {
          if (j <= i) continue;
          const distance = apart(region(one), region(other), vision);
          assert.ok(distance >= (j === i + 1 ? 0.12 : 0.085), `${one} and ${other}: ${distance.toFixed(3)}`);
        }
    });

  it("differ from their neighbours in lightness by a tenth", () => {
    for (let i = 1; i < REGIONS.length; i++) {
      const step = Math.abs(region(REGIONS[i])[0] - region(REGIONS[i - 1])[0]);
      assert.ok(step >= 0.1, `${REGIONS[i - 1]} and ${REGIONS[i]} differ by ${step.toFixed(3)}`);
    }
  });
});

describe("the signals of a score", () => {
  it("are steps of one hue that no region has", () => {
    const hues = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => token(plain, `--sig-${n}`, 0)?.[2]);
    assert.equal(new Set(hues).size, 1);
    for (const name of REGIONS) {
      const found = token(plain, `--r-${name}`, 0);
      assert.ok(found && Math.abs(found[2] - Number(hues[0])) >= 30, `the hue of ${name}`);
    }
  });

  it("stay apart from their neighbours in every kind of vision", () => {
    for (let n = 2; n <= 8; n++)
      for (const vision of VISIONS) {
        const [a, b] = [token(plain, `--sig-${n - 1}`, 0), token(plain, `--sig-${n}`, 0)];
        assert.ok(a && b && apart(a, b, vision) >= 0.085, `--sig-${n - 1} and --sig-${n} under ${vision}`);
      }
  });
});
