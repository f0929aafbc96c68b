// static/session/row-heights.js: which rows of a long list are drawn, and where.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RowHeights } from "../../../static/session/row-heights.js";

describe("rows of one height", () => {
  const rows = new RowHeights(50);
  it("are placed by their index", () => {
    assert.deepEqual([rows.top(0), rows.top(100_000)], [0, 5_000_000]);
    assert.deepEqual([rows.at(0), rows.at(49), rows.at(50), rows.at(4_999_999)], [0, 0, 1, 99_999]);
  });
  it("are drawn in the view, with some around it", () => {
    const { from, to } = rows.span(2_500_000, 2_501_000, 100_000);
    assert.ok(from <= 50_000 - 40 && to >= 50_020 + 40, `${from} to ${to}`);
    assert.ok(to - from <= 160, "as many as fit, however long the list");
  });
  it("are all drawn in a short list, and no others", () => {
    assert.deepEqual(rows.span(-300, 600, 12), { from: 0, to: 12 });
    assert.deepEqual(rows.span(0, 600, 0), { from: 0, to: 0 });
    assert.deepEqual(rows.span(9_000, 9_600, 12), { from: 0, to: 12 });
  });
});

describe("an open row", () => {
  const rows = new RowHeights(50, [
    [9, 200],
    [2, 300],
  ]);
  it("moves those below it", () => {
    assert.deepEqual(
      [2, 3, 9, 10].map((i) => rows.top(i)),
      [100, 450, 750, 1_000],
    );
  });
  it("is found at any pixel of its height", () => {
    assert.deepEqual(
      [149, 300, 449, 450, 749, 999, 1_000].map((y) => rows.at(y)),
      [2, 2, 2, 3, 8, 9, 10],
    );
  });
});
