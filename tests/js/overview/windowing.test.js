// static/overview/windowing.js: which rows of a long list are drawn.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Heights, windowed } from "../../../static/overview/windowing.js";

const ten = () => 10;

describe("the parts of a long list", () => {
  it("are the rows in view, with gaps as high as the others", () =>
    assert.deepEqual(windowed(100, ten, { top: 200, bottom: 230 }), [
      { gap: 200 },
      { at: 20 },
      { at: 21 },
      { at: 22 },
      { gap: 770 },
    ]));
  it("hold the row with the focus, wherever it is", () =>
    assert.deepEqual(windowed(10, ten, { top: 0, bottom: 10, keep: 5 }), [
      { at: 0 },
      { gap: 40 },
      { at: 5 },
      { gap: 40 },
    ]));
  it("of a short list are all its rows", () =>
    assert.deepEqual(windowed(2, ten, { top: -50, bottom: 900 }), [{ at: 0 }, { at: 1 }]));
  it("of an empty list are none", () => assert.deepEqual(windowed(0, ten, { top: 0, bottom: 10 }), []));
});

describe("the heights of rows", () => {
  it("are guessed from the mean of their kind", () => {
    const heights = new Heights(66);
    assert.equal(heights.of("a", "row"), 66);
    heights.note("a", "row", 60);
    heights.note("b", "row", 80);
    heights.note("p", "project", 30);
    assert.deepEqual([heights.of("a", "row"), heights.of("c", "row")], [60, 70]);
    assert.equal(heights.of("q", "project"), 30);
  });
  it("report only what changes", () => {
    const heights = new Heights(66);
    assert.equal(heights.note("a", "row", 60), true);
    assert.equal(heights.note("a", "row", 60), false);
    assert.equal(heights.note("b", "row", 0), false);
  });
  it("are forgotten when the list has another width", () => {
    const heights = new Heights(66);
    heights.note("a", "row", 60);
    heights.clear();
    assert.equal(heights.of("a", "row"), 66);
  });
});
