// The layout of a utilization bar, in percent of the element's width. Pure. Nothing is cut off: above 100 %
// the track shrinks to 100/utilization of the width, and the excess is drawn beside it. Shares are rounded to
// the screen's precision, so that a few more tokens start no transition.

/** @typedef {{ name: string, tokens: number, width: number }} Segment */
/** @typedef {{ track: number, segments: Segment[], reserve: number, target: number, over: { at: number,
 * width: number } | null }} GaugeLayout */
/** The limits of a gauge; `full` are the tokens of the largest gauge that has the same scale.
 * @typedef {{ limit: number, window: number, output_reserve: number, target_tokens: number, full?: number
 * }} Limits */

/** A share in steps of a twentieth of a percent: half a pixel of a bar of 1,000. @param {number} percent */
const shown = (percent) => Math.round(percent * 20) / 20;

/** @param {{ tokens: number, regions: { name: string, tokens: number }[] }} gauge @param {Limits} limits
 * @returns {GaugeLayout} `reserve` is in percent of the track, all else of the element */
export function layOut(gauge, limits) {
  const limit = Math.max(1, limits.limit);
  const filled = gauge.tokens / limit;
  const scale = 100 / Math.max(1, filled, (limits.full ?? 0) / limit);
  const segments = gauge.regions
    .filter((region) => region.tokens > 0)
    .map((region) => ({ ...region, width: shown((region.tokens / limit) * scale) }));
  return {
    track: shown(scale),
    segments,
    reserve: shown(reserveShare(limits) * 100),
    target: shown((limits.target_tokens / limit) * scale),
    over: filled > 1 ? { at: shown(scale), width: shown((filled - 1) * scale) } : null,
  };
}

/** A smaller change of a bar, in percent of the element's width, is drawn at once: a page to which messages
 * are added would otherwise lay out its bars again in most frames, for a movement of a few pixels. */
const WORTH_MOVING = 0.5;

/** Returns whether a bar changes so much that its parts move to their new places.
 * @param {GaugeLayout | null} before @param {GaugeLayout} now */
export function moves(before, now) {
  if (before === null) return true;
  const widths = new Map(before.segments.map(({ name, width }) => [name, width]));
  const steps = now.segments.map(({ name, width }) => width - (widths.get(name) ?? 0));
  return [...steps, now.track - before.track].some((step) => Math.abs(step) >= WORTH_MOVING);
}

/** The part of the limit reserved for output: 0 if the model has a separate input limit.
 * @param {Limits} limits */
export function reserveShare(limits) {
  if (limits.limit < limits.window) return 0;
  return Math.min(1, Math.max(0, limits.output_reserve / Math.max(1, limits.limit)));
}

/** The colours of a region, as a style. @param {string} name */
export const regionStyle = (name) => `--c:var(--r-${name});--e:var(--r-${name}-e)`;

/** The share of the target above which a gauge is near it: 75 % of the limit for a target of 80 %. */
const NEAR = 15 / 16;

/** fine, near the target or over it. @param {number} tokens @param {Limits} limits */
export function levelOf(tokens, limits) {
  if (tokens > limits.target_tokens) return "over";
  return tokens > limits.target_tokens * NEAR ? "near" : "fine";
}
