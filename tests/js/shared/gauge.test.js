// static/shared/gauge.js: the layout of a utilization bar.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { layOut, levelOf, moves, reserveShare } from "../../../static/shared/gauge.js";

const LIMITS = { limit: 200, window: 200, output_reserve: 20, target_tokens: 160 };

describe("a bar below its limit", () => {
  const layout = layOut(
    {
      tokens: 100,
      regions: [
        { name: "user", tokens: 40 },
        { name: "tool", tokens: 60 },
        { name: "memory", tokens: 0 },
      ],
    },
    LIMITS,
  );

  it("fills the share of the limit that is used, region by region", () => {
    assert.deepEqual(
      layout.segments.map((s) => [s.name, s.width]),
      [
        ["user", 20],
        ["tool", 30],
      ],
    );
  });
  it("places the target and the output reserve", () =>
    assert.deepEqual([layout.target, layout.reserve], [80, 10]));
  it("stays within its track", () => assert.deepEqual([layout.track, layout.over], [100, null]));
});

describe("a bar of a session that grows", () => {
  /** @param {number} tokens */
  const widths = (tokens) =>
    layOut(
      { tokens, regions: [{ name: "tool", tokens }] },
      { limit: 200_000, window: 200_000, output_reserve: 0, target_tokens: 160_000 },
    ).segments.map((s) => s.width);

  it("keeps its layout while a screen would show no difference", () =>
    assert.deepEqual(widths(100_020), widths(100_000)));
  it("changes its layout where a screen shows a difference", () =>
    assert.notDeepEqual(widths(100_200), widths(100_000)));
});

describe("a bar that changes", () => {
  /** @param {number[]} tokens of each region */
  const bar = (...tokens) =>
    layOut(
      {
        tokens: tokens.reduce((sum, one) => sum + one, 0),
        regions: tokens.map((one, i) => ({ name: String(i), tokens: one })),
      },
      { limit: 200_000, window: 200_000, output_reserve: 0, target_tokens: 160_000 },
    );

  it("is drawn at once after a small change", () => assert.equal(moves(bar(100_000), bar(100_900)), false));
  it("is animated after a large change", () => {
    assert.equal(moves(bar(100_000), bar(101_100)), true);
    assert.equal(moves(bar(101_100), bar(100_000)), true);
  });
  it("is animated where one region grew as much as another shrank", () =>
    assert.equal(moves(bar(40_000, 60_000), bar(60_000, 40_000)), true));
  it("is animated where its track shrinks", () => assert.equal(moves(bar(199_900), bar(210_000)), true));
});

describe("a bar above its limit", () => {
  const layout = layOut({ tokens: 400, regions: [{ name: "tool", tokens: 400 }] }, LIMITS);

  it("exceeds its track by the excess over the limit", () =>
    assert.deepEqual([layout.track, layout.over], [50, { at: 50, width: 50 }]));
  it("keeps the target at its place within the track", () => assert.equal(layout.target, 40));
  it("is drawn in full", () => assert.equal(layout.segments[0]?.width, 100));
});

describe("the output reserve", () => {
  it("is not in the bar where the input has its own limit", () => {
    assert.equal(reserveShare({ ...LIMITS, window: 400 }), 0);
  });
});

describe("the level", () => {
  it("is near within five points of the target and over above it", () => {
    assert.deepEqual(
      [100, 151, 160, 161].map((tokens) => levelOf(tokens, LIMITS)),
      ["fine", "near", "near", "over"],
    );
    // A cap can put the target so low that five points below it are most of what it allows.
    const capped = { ...LIMITS, target_tokens: 20 };
    assert.deepEqual(
      [12, 19, 21].map((tokens) => levelOf(tokens, capped)),
      ["fine", "near", "over"],
    );
  });
});
