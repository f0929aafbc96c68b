// static/session/chart-numbers.js: what the chart draws of a timeline.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  fromFirstTotal,
  hasPrunedLine,
  hasTime,
  largestGap,
  prefersTime,
  prunedLine,
  spreadMarks,
  stacked,
  steepest,
  timeLabels,
  withEnd,
  xOfChange,
  xValues,
} from "../../../static/session/chart-numbers.js";

/** @param {number} number @param {string | null} at @param {number} [agent] */
const point = (number, at, agent = 100) => ({
  number,
  at,
  agent,
  pruned: agent,
  regions: [agent],
  cause: /** @type {Api.Cause | null} */ (null),
});
const [noon, later, evening] = ["2026-01-01T12:00:00Z", "2026-01-01T12:00:10Z", "2026-01-01T12:00:40Z"];

describe("the line of the pruned view", () => {
  it("is drawn where it has differed from the agent's context", () => {
    assert.equal(hasPrunedLine([{ ...point(1, noon), agent: null }, point(2, later)]), false);
    assert.equal(
      hasPrunedLine([point(1, noon), { ...point(2, later), pruned: 40 }, point(3, evening)]),
      true,
    );
  });
  it("leaves the areas and comes back to them, and is not drawn along them", () => {
    const points = [1, 2, 3, 4, 5, 6, 7].map((n) => point(n, null, 100 * n));
    const pruned = points.map((one) => ([3, 4].includes(one.number) ? { ...one, pruned: 40 } : one));
    assert.deepEqual(prunedLine(pruned), [null, 200, 40, 40, 500, null, null]);
    assert.deepEqual(prunedLine(points.slice(0, 2)), [null, null]);
  });
});

describe("a pause", () => {
  it("is measured as its share of the whole time", () =>
    assert.equal(largestGap([noon, later, evening]), 0.75));
  it("is zero without times", () => assert.equal(largestGap([null, noon]), 0));
});

describe("the scale of time", () => {
  it("is offered only where the points span some time", () => {
    assert.equal(hasTime([point(1, noon), point(2, later)]), true);
    assert.equal(hasTime([point(1, noon), point(2, noon)]), false);
    assert.equal(hasTime([point(1, null), point(2, null)]), false);
  });
  it("is not the default where one pause would fill it", () => {
    assert.equal(prefersTime([point(1, noon), point(2, later), point(3, evening)]), false);
    assert.equal(
      prefersTime([point(1, noon), point(2, later)].concat(point(3, "2026-01-01T12:00:19Z"))),
      false,
    );
    assert.equal(prefersTime([point(1, noon), point(2, "2026-01-01T12:00:20Z"), point(3, evening)]), false);
    assert.equal(
      prefersTime(
        [noon, "2026-01-01T12:00:15Z", "2026-01-01T12:00:28Z", evening].map((at, i) => point(i, at)),
      ),
      true,
    );
  });
  it("is not the default for points of one moment", () => {
    const times = Array.from({ length: 9 }, (_, i) => `2026-01-01T12:00:0${i}Z`);
    assert.equal(prefersTime(times.map((at, i) => point(i, at))), false);
    assert.equal(hasTime(times.map((at, i) => point(i, at))), true);
  });
  it("continues where an agent returns to an earlier message", () => {
    const [first, second, third] = xValues([point(1, noon), point(2, later), point(3, noon)], "time");
    assert.deepEqual([Number(second) - Number(first), third], [10, second]);
  });
  it("is replaced by the numbers of messages", () =>
    assert.deepEqual(xValues([point(4, noon), point(9, noon)], "messages"), [4, 9]));
});

describe("the line", () => {
  it("begins where the total is known, without a jump from earlier counts", () => {
    // X11
    const points = [point(1, noon, 11), point(2, later, 26_323), point(3, evening, 9_000)];
    assert.deepEqual(
      fromFirstTotal(points, 21_000).map((p) => p.number),
      [2, 3],
    );
  });
  it("is whole where everything is in the transcript, or no total is known yet", () => {
    const points = [point(1, noon, 11), point(2, later, 40)];
    assert.equal(fromFirstTotal(points, 0), points);
    assert.equal(fromFirstTotal(points, 900), points);
  });
});

describe("the last values", () => {
  it("have a width: that of a message, or of a part of the whole", () => {
    assert.deepEqual(withEnd([1, 2], [[10, 30]], "messages"), [
      [1, 2, 3],
      [10, 30, 30],
    ]);
    assert.deepEqual(withEnd([0, 500], [[10, 30]], "time")[0], [0, 500, 505]);
    assert.deepEqual(withEnd([0, 500], [[10, 30]], "messages")[0], [0, 500, 505]);
  });
  it("of a single point have none: it is drawn as one", () =>
    assert.deepEqual(withEnd([1], [[10]], "messages"), [[1], [10]]));
});

describe("the place of a change", () => {
  const points = [point(1, noon), point(4, later), point(9, evening)];
  const places = xValues(points, "time");
  /** @param {string | null} at @param {number | null} number */
  const placed = (at, number) => xOfChange({ at, number }, points, places, "time");
  it("is its moment on the scale of time, within the line", () => {
    assert.equal(placed(later, 9), places[1]);
    assert.equal(placed("2000-01-01T00:00:00Z", 1), places[0]);
    assert.equal(placed("2100-01-01T00:00:00Z", 9), places[2]);
  });
  it("is that of its message where it has no moment", () => {
    assert.equal(placed(null, 2), places[1]);
    assert.equal(placed(null, 12), places[2]);
    assert.equal(placed(null, null), null);
  });
  it("is its message on the scale of messages", () => {
    assert.equal(xOfChange({ at: noon, number: 6 }, points, [1, 4, 9], "messages"), 6);
    assert.equal(xOfChange({ at: noon, number: null }, points, [1, 4, 9], "messages"), null);
  });
});

describe("the labels of a time scale", () => {
  const noon = new Date(2026, 0, 1, 12).getTime() / 1000;
  const now = noon * 1000 + 1;
  it("are days where the ticks are days", () => {
    const [first, second] = timeLabels([noon, noon + 86_400], now);
    assert.notEqual(first, second);
    assert.match(String(first), /1/);
    assert.doesNotMatch(String(first), /12/);
  });
  it("do not repeat a time", () => {
    const labels = timeLabels([noon, noon + 0.2, noon + 0.4, noon + 1], now);
    assert.deepEqual(labels.slice(1, 3), ["", ""]);
    assert.notEqual(labels[3], "");
  });
  it("are times, with the day where another one begins", () => {
    const labels = timeLabels([noon, noon + 6 * 3600, noon + 12 * 3600], now);
    assert.match(String(labels[0]), /12/);
    assert.equal(labels[2], timeLabels([noon + 86_400 - 3600, noon + 2 * 86_400], now)[0]);
  });
  it("begin with the day unless it is today", () => {
    const [ticks, later] = [[noon, noon + 600], now + 86_400_000];
    assert.match(String(timeLabels(ticks, later)[0]), /^Jan 1, 12:00/);
    assert.match(String(timeLabels(ticks, now)[0]), /^12:00/);
    assert.match(String(timeLabels(ticks, later)[1]), /^12:10/);
  });
});

describe("the stack of regions", () => {
  it("is drawn from its top: each column covers the lower part of the one before", () => {
    // X19
    const points = [point(1, noon), point(2, later)].map((one, i) => ({ ...one, regions: [10 * i, 5, 1] }));
    assert.deepEqual(stacked(points, 3), [
      [6, 16],
      [5, 15],
      [0, 10],
    ]);
  });
});

describe("marks at one place", () => {
  it("stand beside each other, the last at its place", () => {
    assert.deepEqual(spreadMarks([100, 400, 400, 410], 16), [100, 362, 386, 410]);
  });

  it("stay near it, and in their order whatever the order of the operations", () => {
    assert.deepEqual(spreadMarks([300, null, 50, 50], 16), [300, null, 26, 50]);
    assert.ok(spreadMarks(Array(5).fill(50), 16).every((place) => Number(place) >= 12));
    assert.deepEqual(spreadMarks([4], 16), [4]);
    assert.ok(spreadMarks(Array(50).fill(500), 16).every((place) => Number(place) >= 400));
  });
});

describe("the largest steps", () => {
  it("are named, largest first, without those too small to see", () => {
    // X19
    const tokens = [300, 9_000, 10, 700];
    const points = tokens.map((count, i) => ({
      ...point(i + 1, noon, 10_000),
      cause: { number: i + 1, label: `step ${i}`, tokens: count },
    }));
    assert.deepEqual(
      steepest([...points, point(9, noon)], 2).map((step) => step.label),
      ["step 1", "step 3"],
    );
    assert.equal(steepest(points, 9).length, 3);
  });
});
