// static/shared/times.js: times that grow old on the page.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { agoTime, beginOf, refreshTimes } from "../../../static/shared/times.js";
import { markup } from "../markup.js";

describe("a day", () => {
  it("begins at midnight where the reader is", () => {
    const before = process.env.TZ;
    process.env.TZ = "Australia/Sydney";
    try {
      assert.equal(beginOf("2026-11-27"), "2026-11-26T13:00:00.000Z");
      assert.equal(beginOf("2026-12-31", 1), "2026-12-31T13:00:00.000Z");
    } finally {
      if (before === undefined) delete process.env.TZ;
      else process.env.TZ = before;
    }
  });
  for (const text of ["yesterday", "2026", "5", "2026-02-31", "2026-13-45", "2026-11-26T10:00Z"])
    it(`that is none stays as it is: ${text}`, () => assert.equal(beginOf(text), text));
});

describe("a time", () => {
  it("keeps the moment itself beside the words", () => {
    assert.match(
      markup(agoTime("2020-01-01T00:00:00Z")),
      /<time datetime="2020-01-01T00:00:00Z" data-ago title="[^"]+" textContent="\d+y ago">/,
    );
    assert.equal(markup(agoTime(null)), "–");
  });
  it("is written where it was updated in place since, though its words are those of before", () => {
    const { values } = /** @type {any} */ (agoTime(new Date().toISOString()));
    const written = values.find((/** @type {any} */ one) => one._$litDirective$);
    const element = { textContent: "1m ago" };
    new written._$litDirective$({ type: 3 }).update({ element, name: "textContent" }, written.values);
    assert.equal(element.textContent, "now");
  });
  it("is updated in place", () => {
    const at = { textContent: "now", getAttribute: () => "2020-01-01T00:00:00Z" };
    const [past, to_come] = [false, true].map((until) => ({ ...at, hasAttribute: () => until }));
    refreshTimes(/** @type {any} */ ({ querySelectorAll: () => [past, to_come] }));
    assert.match(past?.textContent ?? "", /y ago$/);
    assert.equal(to_come?.textContent, "now", "it has come");
  });
});
