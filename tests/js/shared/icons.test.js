// static/shared/icons.js: the small set of icons.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { icon } from "../../../static/shared/icons.js";

describe("an icon", () => {
  it("with a label is an image of that name, without one is decoration", () => {
    assert.match(icon("lock", "protected").toString(), /role="img" aria-label="protected"/);
    assert.match(icon("lock").toString(), /aria-hidden="true"/);
  });
  it("keeps its label from becoming markup", () =>
    assert.match(icon("lock", '"><b>').toString(), /aria-label="&quot;&gt;&lt;b&gt;"/));
});
