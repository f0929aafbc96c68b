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
  it("is updated in place", () => {
    const time = { textContent: "now", getAttribute: () => "2020-01-01T00:00:00Z" };
    const page = /** @type {any} */ ({ querySelectorAll: () => [time] });
    refreshTimes(page);
    assert.match(time.textContent, /y ago$/);
  });
});
