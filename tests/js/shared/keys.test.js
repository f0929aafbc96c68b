// static/shared/keys.js: keyboard shortcuts.
import assert from "node:assert/strict";
import { describe, it } from "node:test";

class Field {
  isContentEditable = false;
  localName = "input";
  /** @param {string} type @param {string} value */
  constructor(type = "search", value = "") {
    this.type = type;
    this.value = value;
  }
  /** @param {string} selector */
  closest(selector) {
    const known = selector.split(", ").includes("input:not([type=range])");
    return known && this.type !== "range" ? this : null;
  }
}
class Page extends EventTarget {
  querySelector() {
    return null;
  }
}
const page = new Page();
const fakes = {
  document: page,
  HTMLElement: Field,
  Element: Field,
  HTMLInputElement: Field,
};
for (const [name, value] of Object.entries(fakes))
  Object.defineProperty(globalThis, name, { value, configurable: true });
const { allShortcuts, shortcutsFor } = await import("../../../static/shared/keys.js");

/** @param {string} key @param {Record<string, unknown>} [given] */
function press(key, given = {}) {
  const event = new Event("keydown", { cancelable: true });
  for (const [name, value] of Object.entries({ key, target: null, ...given }))
    Object.defineProperty(event, name, { value });
  page.dispatchEvent(event);
}

/** Presses keys that each have a shortcut; returns those that ran. @param {string[]} keys
 * @param {Record<string, unknown>} given */
function pressAll(keys, given) {
  const life = new AbortController();
  /** @type {string[]} */
  const ran = [];
  shortcutsFor(
    keys.map((key) => ({ key, label: key, run: () => ran.push(key) })),
    life.signal,
  );
  for (const key of keys) press(key, given);
  life.abort();
  return ran;
}

describe("a shortcut", () => {
  it("runs on its key and is listed until its signal aborts", () => {
    const life = new AbortController();
    let runs = 0;
    shortcutsFor([{ key: "p", label: "Plan", run: () => runs++ }], life.signal);
    press("p");
    assert.deepEqual([runs, allShortcuts().map((s) => s.label)], [1, ["Plan"]]);
    life.abort();
    press("p");
    assert.deepEqual([runs, allShortcuts()], [1, []]);
  });
  it("never fires while someone types, nor together with a modifier", () => {
    const life = new AbortController();
    let runs = 0;
    shortcutsFor([{ key: "p", label: "Plan", run: () => runs++ }], life.signal);
    press("p", { target: new Field() });
    press("p", { ctrlKey: true });
    life.abort();
    assert.equal(runs, 0);
  });
  it("leaves Enter to the switch that has the focus, but not to a slider", () => {
    const life = new AbortController();
    /** @type {string[]} */
    const ran = [];
    const keys = ["Enter", "p"].map((key) => ({ key, label: key, run: () => ran.push(key) }));
    shortcutsFor(keys, life.signal);
    for (const type of ["checkbox", "range"])
      for (const key of ["Enter", "p"]) press(key, { target: new Field(type) });
    life.abort();
    assert.deepEqual(ran, ["p", "Enter", "p"]);
  });
  it("runs once for a key that is held, unless it moves the focus", () => {
    const ran = pressAll(["u", "Enter", "j", "k", "[", "]"], { repeat: true });
    assert.deepEqual(ran, ["j", "k", "[", "]"]);
  });
  it("runs on a bracket that a keyboard has on its third level", () => {
    assert.deepEqual(pressAll(["[", "]", "p"], { altKey: true }), ["[", "]"]);
  });
  it("leaves Escape to a search field with text, which it clears", () => {
    assert.deepEqual(pressAll(["Escape"], { target: new Field("search", "heron") }), []);
    assert.deepEqual(pressAll(["Escape"], { target: new Field("search") }), ["Escape"]);
    assert.deepEqual(pressAll(["Escape"], { target: new Field("text", "heron") }), ["Escape"]);
  });
});
