// The message list's arithmetic: which rows stand in which order, which wait, which belong to one unit. Pure.

/** @typedef {import("../shared/types.js").Message} Message */

/** The place of each row in its unit's bracket, for rows as they stand: start, mid, end or none.
 * @param {Message[]} messages @returns {("start" | "mid" | "end" | "none")[]} */
export function brackets(messages) {
  return messages.map((message, i) => {
    if (message.unit === null || message.unit_size < 2) return "none";
    const before = messages[i - 1]?.unit === message.unit;
    const after = messages[i + 1]?.unit === message.unit;
    if (before && after) return "mid";
    if (before) return "end";
    return after ? "start" : "none";
  });
}

/**
 * What a fresh reading from the list's beginning makes of the rows that are shown. Rows that are not in it have left.
 * If `open`, the rows are those of the reading; otherwise those that are shown stay in their places with their fresh
 * state, and new ones wait.
 *
 * @param {Message[]} shown @param {Message[]} fresh @param {boolean} open
 * @returns {{ rows: Message[], waiting: number, end: number }} `end`: so many of `fresh` the list now reaches over
 */
export function merge(shown, fresh, open) {
  const known = new Set(shown.map((m) => m.id));
  const end = fresh.findLastIndex((m) => known.has(m.id)) + 1;
  if (open || end === 0) return { rows: fresh, waiting: 0, end: fresh.length };
  const byId = new Map(fresh.map((m) => [m.id, m]));
  const rows = shown.flatMap((m) => byId.get(m.id) ?? []);
  return { rows, waiting: end - rows.length, end };
}

/** How many rows are still to be read until a reading reaches over all that are shown. @param {Message[]} shown @param {Message[]} fresh */
export function unread(shown, fresh) {
  const known = new Set(shown.map((m) => m.id));
  const end = fresh.findLastIndex((m) => known.has(m.id)) + 1;
  const added = fresh.filter((m, i) => (end === 0 || i < end) && !known.has(m.id)).length;
  return Math.max(0, shown.length + added - fresh.length);
}

/**
 * The cursor of the page after `message`, which is the `count`th in its order.
 * @param {string} sort @param {Message} message @param {number} count
 */
export function cursorAfter(sort, message, count) {
  return String(sort === "newest" || sort === "oldest" ? message.number : count);
}

/**
 * What rows that were just appended to the log make of the newest-first rows that are shown: known ones are replaced
 * in place, new ones stand in front if `open`, and wait otherwise. Those that come in push others off the end, so that
 * no more than `most` stand.
 *
 * @param {Message[]} shown @param {Message[]} appended @param {boolean} open @param {number} most
 * @returns {{ rows: Message[], waiting: number }}
 */
export function arrive(shown, appended, open, most) {
  const byId = new Map(appended.map((m) => [m.id, m]));
  const known = new Set(shown.map((m) => m.id));
  const fresh = appended.filter((m) => !known.has(m.id)).sort((a, b) => b.number - a.number);
  const kept = shown.map((m) => byId.get(m.id) ?? m);
  return open
    ? { rows: [...fresh, ...kept].slice(0, most), waiting: 0 }
    : { rows: kept, waiting: fresh.length };
}

/** The signals that are known, in the order in which they stand. */
export const SIGNAL_ORDER = ["recency", "role", "keywords", "length", "relevance"];

/** So many of them every score has. */
const ALWAYS = 4;

/** The names of the signals in the order of their weights' table. @param {Message[]} messages */
export function signalNames(messages) {
  const names = new Set(SIGNAL_ORDER.slice(0, ALWAYS));
  for (const message of messages)
    for (const name of Object.keys(message.contributions ?? {})) names.add(name);
  return [...names];
}

/** Fewer characters than an output keeps when it is shortened by hand: beginning, end and a mark. */
const SHORT_CHARS = 1_600;

/** Whether shortening a message by hand can gain something. @param {Message} message */
export function canShorten(message) {
  const stands = message.in_context && !message.shortened;
  return stands && (message.role === "tool" || message.tool !== null) && message.chars > SHORT_CHARS;
}

/** Whether a message may be dropped by hand: one that is pinned is unpinned first, the last one stays. @param {Message} message */
export function canDrop({ in_context, role, pinned, cause }) {
  return in_context && role !== "system" && !pinned && cause !== "last_unit";
}

/** What a message is called, where it is no tool's. @param {Message} message */
export const roleOf = ({ kind, role }) => (kind === "compaction_summary" ? "summary" : role);

/**
 * A fresh reading while the plan on the page is made anew: its rows keep what the plan said of them, so that no fate
 * changes twice.
 * @param {Message[]} shown @param {Message[]} fresh @returns {Message[]}
 */
export function withFates(shown, fresh) {
  const known = new Map(shown.map((m) => [m.id, m]));
  return fresh.map((now) => {
    const was = known.get(now.id);
    if (!was || was.fate === "pending" || was.in_context !== now.in_context) return now;
    const { fate, reason, cause, tokens_after } = was;
    return { ...now, fate, reason, cause, tokens_after };
  });
}

/** @typedef {{ name: string, mono: boolean, count: number, tokens: number, going: number, messages: Message[] }} Group */

/**
 * Heaviest groups among messages: by tool where there is one, else by role.
 * @param {Message[]} messages @returns {Group[]}
 */
export function heaviest(messages) {
  /** @type {Map<string, Group>} */
  const groups = new Map();
  for (const message of messages) {
    if (!message.in_context) continue;
    const tool = message.tool ?? (message.role === "tool" ? "tool results" : null);
    const call = message.calls?.[0]?.name;
    const name = tool ?? (call && message.role === "assistant" ? `calls of ${call}` : roleOf(message));
    const group = groups.get(name) ?? {
      name,
      mono: message.tool !== null,
      count: 0,
      tokens: 0,
      going: 0,
      messages: [],
    };
    group.count += 1;
    group.tokens += message.tokens;
    group.going += message.fate === "goes" || message.fate === "shortened" ? 1 : 0;
    group.messages.push(message);
    groups.set(name, group);
  }
  return [...groups.values()].sort((a, b) => b.tokens - a.tokens);
}
