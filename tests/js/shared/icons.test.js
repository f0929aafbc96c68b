// static/shared/icons.js: the small set of icons.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { icon } from "../../../static/shared/icons.js";
import { markup } from "../markup.js";

describe("an icon", () => {
  it("with a label is an image of that name, without one is decoration", () => {
    assert.match(markup(icon("lock", "protected")), /role="img" aria-label="protected"/);
    assert.match(markup(icon("lock")), /aria-hidden="true"/);
  });
  it("keeps its label from becoming markup", () =>
    assert.match(markup(icon("lock", '"><b>')), /aria-label="&quot;&gt;&lt;b&gt;"/));
});
