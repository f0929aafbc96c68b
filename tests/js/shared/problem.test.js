// static/shared/problem.js: what could not be done, and the way to try again.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { problem } from "../../../static/shared/problem.js";
import { markup } from "../markup.js";

describe("a fault", () => {
  it("says what failed and why as an alert, with a button to try again", () => {
    const box = markup(problem("Could not search", "<b>no</b>", "retry-search"));
    assert.match(box, /role="alert"/);
    assert.match(box, /<span>Could not search: &lt;b&gt;no&lt;\/b&gt;<\/span>/);
    const told = markup(problem("Could not read", "damaged; `coppice verify` names it", "retry"));
    assert.match(told, /damaged; <code>coppice verify<\/code> names it/);
    assert.match(markup(problem("Could not read", "a ` alone", "retry")), /a ` alone/);
    assert.match(box, /data-act="retry-search">Try again</);
  });
});
