// Titles that distinguish sessions: a shared beginning is cut off, and equal titles get a date. Pure.
import { timeOfDay } from "../shared/format.js";
import { titleOf } from "../shared/session-facts.js";

/** The shown part of a title, and the mark that distinguishes it from equal ones.
 * @typedef {{ text: string, mark: string }} Name */

/** A beginning is cut off if at least so many sessions share it and it has at least so many characters. */
const SHARED_BY = 3;
const SHORTEST = 12;

/** Returns the names, by id, of the sessions whose titles alone do not distinguish them.
 * @param {Iterable<Api.Session>} sessions @param {number} now milliseconds @returns {Map<string, Name>} */
export function distinctNames(sessions, now) {
  const titles = [...sessions].map((s) => /** @type {const} */ ([s.id, titleOf(s), s.last_activity]));
  const cut = withoutCommonBeginnings(titles.map(([id, title]) => [id, title]));
  /** @type {Map<string, number>} */
  const alike = new Map();
  for (const [, title] of titles) alike.set(title, (alike.get(title) ?? 0) + 1);
  /** @type {Map<string, Name>} */
  const names = new Map();
  for (const [id, title, last] of titles) {
    const twins = (alike.get(title) ?? 0) > 1;
    const text = cut.has(id) ? `… ${cut.get(id)}` : title;
    if (twins || cut.has(id)) names.set(id, { text, mark: twins ? timeOfDay(last, now) : "" });
  }
  return names;
}

/** Returns the titles by id, each without the longest beginning that at least three share; nothing is cut
 * where nothing would be left. @param {Iterable<readonly [id: string, title: string]>} titles
 * @returns {Map<string, string>} only those that were cut */
export function withoutCommonBeginnings(titles) {
  const sorted = [...titles].sort(([, a], [, b]) => (a < b ? -1 : a > b ? 1 : 0));
  const shared = sorted.slice(1).map(([, title], i) => common(sorted[i]?.[1] ?? "", title));
  /** @type {Map<string, string>} */
  const cut = new Map();
  for (const [i, [id, title]] of sorted.entries()) {
    // A run of three that holds this one: what two neighbours in a row of `shared` have in common.
    let longest = 0;
    for (let from = i - SHARED_BY + 1; from <= i; from++) {
      const run = shared.slice(Math.max(0, from), from + SHARED_BY - 1);
      if (from >= 0 && run.length === SHARED_BY - 1) longest = Math.max(longest, Math.min(...run));
    }
    const end = longest >= SHORTEST ? wordBefore(title, longest) : 0;
    if (end >= SHORTEST && title.slice(end).trim()) cut.set(id, title.slice(end).trim());
  }
  return cut;
}

/** The length of the beginning that two texts share. @param {string} a @param {string} b */
function common(a, b) {
  let n = 0;
  while (n < a.length && a[n] === b[n]) n++;
  return n;
}

/** The end of the last whole word before `end`. @param {string} text @param {number} end */
function wordBefore(text, end) {
  return end >= text.length ? end : text.slice(0, end).search(/[^\s/:,;–—-]*$/);
}
