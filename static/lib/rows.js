// The message list's arithmetic: which rows stand in which order, which wait, which belong to one unit. Pure.

/** @typedef {import("./types.js").Message} Message */

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
 * What a fresh reading of the list's beginning makes of the rows that are shown. Rows that are known are replaced by
 * their fresh state, in place; new ones are let in only if `open`, and wait otherwise.
 *
 * @param {Message[]} shown @param {Message[]} fresh @param {boolean} complete whether `fresh` covers all of `shown`
 * @param {boolean} open @returns {{ rows: Message[], waiting: number }}
 */
export function merge(shown, fresh, complete, open) {
  const known = new Set(shown.map((m) => m.id));
  const waiting = fresh.filter((m) => !known.has(m.id)).length;
  if (open || shown.length === 0) {
    const listed = new Set(fresh.map((m) => m.id));
    return { rows: complete ? fresh : [...fresh, ...shown.filter((m) => !listed.has(m.id))], waiting: 0 };
  }
  const byId = new Map(fresh.map((m) => [m.id, m]));
  const rows = shown.map((m) => byId.get(m.id) ?? m);
  return { rows, waiting };
}

/**
 * What rows that were just appended to the log make of the newest-first rows that are shown: known ones are replaced
 * in place, new ones stand in front if `open`, and wait otherwise.
 *
 * @param {Message[]} shown @param {Message[]} appended @param {boolean} open
 * @returns {{ rows: Message[], waiting: number }}
 */
export function arrive(shown, appended, open) {
  const byId = new Map(appended.map((m) => [m.id, m]));
  const known = new Set(shown.map((m) => m.id));
  const fresh = appended.filter((m) => !known.has(m.id)).sort((a, b) => b.number - a.number);
  const kept = shown.map((m) => byId.get(m.id) ?? m);
  return open ? { rows: [...fresh, ...kept], waiting: 0 } : { rows: kept, waiting: fresh.length };
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

/** Whether a message may be dropped by hand. @param {Message} message */
export function canDrop(message) {
  return message.in_context && message.role !== "system";
}

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
    const name = tool ?? (call && message.role === "assistant" ? `calls of ${call}` : message.role);
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
