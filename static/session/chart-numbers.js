// The numbers of the chart, from a timeline. Pure.

/** @typedef {Api.Timeline["points"][number]} Point */
/** The horizontal axis. @typedef {"time" | "messages"} Axis */

/** A pause above this share of the whole time leaves too little room for the rest. */
const DEAD_TIME = 0.5;
/** In a shorter span, a time scale is unreadable. */
const LEAST_SPAN_MS = 10_000;

/** The longest pause as a part of the whole span, 0…1. @param {(string | null)[]} times */
export function largestGap(times) {
  const ms = times.map((t) => (t ? Date.parse(t) : Number.NaN)).filter(Number.isFinite);
  const span = (ms.at(-1) ?? 0) - (ms[0] ?? 0);
  if (ms.length < 2 || span <= 0) return 0;
  let widest = 0;
  for (let i = 1; i < ms.length; i++) widest = Math.max(widest, (ms[i] ?? 0) - (ms[i - 1] ?? 0));
  return widest / span;
}

/** Returns whether the points span any time; messages of one moment, or without times, do not.
 * @param {Point[]} points */
export function hasTime(points) {
  const first = points.find((point) => point.at)?.at;
  return first !== undefined && points.some((point) => point.at && point.at !== first);
}

/** Returns whether time is the better default scale. @param {Point[]} points */
export function prefersTime(points) {
  const times = points.map((point) => Date.parse(point.at ?? "")).filter(Number.isFinite);
  const span = (times.at(-1) ?? 0) - (times[0] ?? 0);
  return span >= LEAST_SPAN_MS && largestGap(points.map((point) => point.at)) < DEAD_TIME;
}

/** The points from the first with a known total. Tokens outside the transcript are sent with every call; a
 * total far below them was counted before the first usage report, and would look like a jump.
 * @param {Point[]} points @param {number} unseen tokens that are not in the transcript */
export function fromFirstTotal(points, unseen) {
  const first = points.findIndex((point) => (point.agent ?? point.pruned ?? 0) * 2 >= unseen);
  return first > 0 ? points.slice(first) : points;
}

/** @param {Point | undefined} point */
const isApart = (point) => !!point && point.agent !== null && point.agent !== point.pruned;

/** Returns whether the pruned view has ever differed from the agent's context. @param {Point[]} points */
export const hasPrunedLine = (points) => points.some(isApart);

/** The tokens of the pruned view where it differs from the agent's context, with the points where it leaves
 * that and comes back; null elsewhere, where its line would only cover the edge of the areas.
 * @param {Point[]} points */
export const prunedLine = (points) =>
  points.map((point, i) => (points.slice(Math.max(0, i - 1), i + 2).some(isApart) ? point.pruned : null));

/** The x value of each point: seconds, or the number of its message. @param {Point[]} points
 * @param {Axis} axis */
export function xValues(points, axis) {
  const xOf = axis === "time" ? secondsOf : (/** @type {Point} */ { number }) => number;
  let last = points.map(xOf).find(Number.isFinite) ?? 0;
  return points.map((point) => {
    const x = xOf(point);
    // An agent may return to an earlier message: the line continues where it is.
    if (x > last) last = x;
    return last;
  });
}

/** The moment of a point or a change; NaN where it has none. @param {{ at: string | null }} it */
const secondsOf = ({ at }) => Date.parse(at ?? "") / 1000;

/** The share of the chart's width in which the last values hold. */
const LAST_SHARE = 0.01;

/** The columns of the chart with a place after the last one, up to which its values hold: otherwise the step
 * there, as after an undo, would have no width. @param {number[]} places
 * @param {(number | null)[][]} values of each series @param {Axis} axis
 * @returns {[number[], ...(number | null)[][]]} */
export function withEnd(places, values, axis) {
  const [first, last] = [places[0], places.at(-1)];
  if (first === undefined || last === undefined || places.length === 1) return [places, ...values];
  const end = last + Math.max((last - first) * LAST_SHARE, axis === "time" ? 0 : 1);
  return [[...places, end], ...values.map((column) => [...column, column.at(-1) ?? null])];
}

/** The x value of a change: its moment, or its message where it has none; the nearest end if outside.
 * @param {{ at: string | null, number: number | null }} change @param {Point[]} points
 * @param {ArrayLike<number>} places of the points @param {Axis} axis */
export function xOfChange({ at, number }, points, places, axis) {
  const [first, last] = [places[0] ?? 0, places[places.length - 1] ?? 0];
  const moment = axis === "time" ? secondsOf({ at }) : number;
  if (moment !== null && Number.isFinite(moment)) return Math.min(Math.max(moment, first), last);
  if (number === null) return null;
  const after = points.findIndex((point) => point.number >= number);
  return places[after] ?? last;
}

/** The columns of a stack, the highest first: each is the sum of its region and those below it, so that one
 * drawn later covers the lower part of one drawn before. @param {Point[]} points @param {number} regions how
 * many each point has @returns {number[][]} */
export function stacked(points, regions) {
  /** @type {number[][]} */
  const columns = [];
  for (let count = regions; count > 0; count--)
    columns.push(
      points.map((point) => point.regions.slice(0, count).reduce((sum, tokens) => sum + tokens, 0)),
    );
  return columns;
}

/** A step of at least this share of the largest size gets a name. */
const WORTH_NAMING = 0.02;

/** The causes of the steepest steps, the largest first. @param {Point[]} points @param {number} count */
export function steepest(points, count) {
  const most = points.reduce((top, { agent, pruned }) => Math.max(top, agent ?? pruned), 1);
  return points
    .flatMap(({ cause }) => cause ?? [])
    .filter(({ tokens }) => tokens >= most * WORTH_NAMING)
    .sort((a, b) => b.tokens - a.tokens)
    .slice(0, count);
}

/** The width of a mark, its greatest distance from its place, and the leftmost place of a visible mark, in
 * units of the text's size. */
const [MARK, ASIDE, FIRST] = [1.5, 6, 0.75];

/** Moves marks to the left where they would cover each other. Of marks at one place the last stays there.
 * @param {(number | null)[]} places in pixels @param {number} rem the pixels of a unit */
export function spreadMarks(places, rem) {
  const moved = [...places];
  let next = Number.POSITIVE_INFINITY;
  for (const [place, i] of places
    .flatMap((place, i) => (place === null ? [] : [/** @type {const} */ ([place, i])]))
    .sort(([a, i], [b, j]) => b - a || j - i)) {
    next = Math.max(Math.min(place, FIRST * rem), place - ASIDE * rem, Math.min(place, next - MARK * rem));
    moved[i] = next;
  }
  return moved;
}

const clock = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" });
const seconds = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const DAY = 86_400;
/** @param {number} one @param {number} other both milliseconds */
const isSameDay = (one, other) => new Date(one).toDateString() === new Date(other).toDateString();

/** The labels of a time scale in the reader's locale: days where the ticks are days, else times, with the day
 * where a new one begins, and before the first one unless it is today. Repeated labels are empty.
 * @param {number[]} ticks seconds @param {number} now milliseconds */
export function timeLabels(ticks, now) {
  const step = (ticks[1] ?? 0) - (ticks[0] ?? 0);
  const time = step < 60 ? seconds : clock;
  const labels = ticks.map((tick, i) => {
    const date = day.format(tick * 1000);
    if (step >= DAY) return date;
    const before = ticks[i - 1];
    if (before === undefined && !isSameDay(tick * 1000, now)) return `${date}, ${time.format(tick * 1000)}`;
    return before !== undefined && day.format(before * 1000) !== date ? date : time.format(tick * 1000);
  });
  return labels.map((label, i) => (label === labels[i - 1] ? "" : label));
}
