// static/shared/preferences.js: small choices of this browser.
import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { recall, remember } from "../../../static/shared/preferences.js";

/** @param {unknown} storage */
function give(storage) {
  Object.defineProperty(globalThis, "localStorage", { value: storage, configurable: true });
}
afterEach(() => give(undefined));

describe("a choice", () => {
  it("is kept until it is taken back", () => {
    const kept = new Map();
    give({
      getItem: (/** @type {string} */ k) => kept.get(k) ?? null,
      setItem: kept.set.bind(kept),
      removeItem: kept.delete.bind(kept),
    });
    remember("theme", "dark");
    assert.equal(recall("theme"), "dark");
    remember("theme", null);
    assert.equal(recall("theme"), null);
  });
  it("holds on this page where nothing can be stored", () => {
    give(undefined);
    remember("theme", "dark");
    assert.equal(recall("theme"), "dark");
    remember("theme", null);
    assert.equal(recall("theme"), null);
  });
  it("replaces an earlier one on this page where storage is full", () => {
    const full = () => {
      throw new Error("QuotaExceededError");
    };
    give({ getItem: () => "light", setItem: full, removeItem: () => {} });
    remember("theme", "dark");
    assert.equal(recall("theme"), "dark");
    remember("theme", null);
    assert.equal(recall("theme"), "light");
  });
});
