// static/shared/times.js: times that grow old on the page.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { agoTime, refreshTimes } from "../../../static/shared/times.js";
import { markup } from "../markup.js";

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
    const time = { textContent: "now", getAttribute: () => "2020-01-01T00:00:00Z" };
    const page = /** @type {any} */ ({ querySelectorAll: () => [time] });
    refreshTimes(page);
    assert.match(time.textContent, /y ago$/);
  });
});
