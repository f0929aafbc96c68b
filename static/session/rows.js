// The rows of the message list: their order, which of them wait, and which belong together. Pure.

/** The part of each row in the bracket around its call and results: start, mid, end or none.
 * @param {Api.Message[]} messages @returns {("start" | "mid" | "end" | "none")[]} */
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

/** Merges a fresh page from the start of the list into the shown rows. Rows that it lacks are removed. If
 * `open`, its rows are taken; otherwise shown rows keep their place with their new state, and new rows wait.
 * @param {Api.Message[]} shown @param {Api.Message[]} fresh @param {boolean} open @returns {{ rows:
 * Api.Message[], waiting: number, end: number }} `end`: how many of `fresh` the list now covers */
export function merge(shown, fresh, open) {
  const known = new Set(shown.map((m) => m.id));
  const end = fresh.findLastIndex((m) => known.has(m.id)) + 1;
  if (open || end === 0) return { rows: fresh, waiting: 0, end: fresh.length };
  const byId = new Map(fresh.map((m) => [m.id, m]));
  const rows = shown.flatMap((m) => byId.get(m.id) ?? []);
  return { rows, waiting: end - rows.length, end };
}

/** Returns the number of rows still to be read until a page covers all shown rows.
 * @param {Api.Message[]} shown @param {Api.Message[]} fresh */
export function unread(shown, fresh) {
  const known = new Set(shown.map((m) => m.id));
  const end = fresh.findLastIndex((m) => known.has(m.id)) + 1;
  const added = fresh.filter((m, i) => (end === 0 || i < end) && !known.has(m.id)).length;
  return Math.max(0, shown.length + added - fresh.length);
}

/** The cursor of the page after `message`, which is the `count`th in its order. @param {string} sort
 * @param {Api.Message} message @param {number} count */
export function cursorAfter(sort, message, count) {
  return String(sort === "newest" || sort === "oldest" ? message.number : count);
}

/** Merges appended rows into rows that are shown newest first: known rows are replaced in place; new rows
 * come first if `open`, and wait otherwise. At most `most` rows are kept. @param {Api.Message[]} shown
 * @param {Api.Message[]} appended @param {boolean} open @param {number} most
 * @returns {{ rows: Api.Message[], waiting: number }} */
export function arrive(shown, appended, open, most) {
  const byId = new Map(appended.map((m) => [m.id, m]));
  const known = new Set(shown.map((m) => m.id));
  const fresh = appended.filter((m) => !known.has(m.id)).sort((a, b) => b.number - a.number);
  const kept = shown.map((m) => byId.get(m.id) ?? m);
  return open
    ? { rows: [...fresh, ...kept].slice(0, most), waiting: 0 }
    : { rows: kept, waiting: fresh.length };
}

/** The names of the signals in the server's order. @param {Api.Message[]} messages */
export function signalNames(messages) {
  return [...new Set(messages.flatMap(({ contributions }) => Object.keys(contributions)))];
}

/** Characters that an output keeps at least when it is shortened by hand: head, tail and a placeholder. */
const SHORT_CHARS = 1_600;

/** Returns whether shortening a message by hand can gain something. @param {Api.Message} message */
export function canShorten(message) {
  const untouched = message.in_context && !message.shortened;
  return untouched && (message.role === "tool" || message.tool !== null) && message.chars > SHORT_CHARS;
}

/** Returns whether a message may be dropped by hand: not while it is pinned, and never the last one.
 * @param {Api.Message} message */
export function canDrop({ in_context, role, pinned, cause }) {
  return in_context && role !== "system" && !pinned && cause !== "last_unit";
}

/** The role of a message on the page. @param {Api.Message} message */
export const roleOf = ({ kind, role }) => (kind === "compaction_summary" ? "summary" : role);

/** Keeps the shown fates in a fresh page while a new plan is being made, so that no fate changes twice.
 * @param {Api.Message[]} shown @param {Api.Message[]} fresh @returns {Api.Message[]} */
export function withFates(shown, fresh) {
  const known = new Map(shown.map((m) => [m.id, m]));
  return fresh.map((now) => {
    const was = known.get(now.id);
    if (!was || was.fate === "pending" || was.in_context !== now.in_context) return now;
    const { fate, reason, cause, tokens_after } = was;
    return { ...now, fate, reason, cause, tokens_after };
  });
}

/** @typedef {{ name: string, mono: boolean, count: number, tokens: number, going: number, messages:
 * Api.Message[] }} Group */

/** The heaviest groups of messages: by tool where there is one, else by role. @param {Api.Message[]} messages
 * @returns {Group[]} */
export function heaviest(messages) {
  /** @type {Map<string, Group>} */
  const groups = new Map();
  for (const message of messages) {
    if (!message.in_context) continue;
    const tool = message.tool ?? (message.role === "tool" ? "tool results" : null);
    const call = message.calls?.[0]?.name;
    const name = tool ?? (call && message.role === "assistant" ? `calls of ${call}` : roleOf(message));
    const none = { name, mono: message.tool !== null, count: 0, tokens: 0, going: 0, messages: [] };
    const group = groups.get(name) ?? none;
    group.count += 1;
    group.tokens += message.tokens;
    group.going += message.fate === "goes" || message.fate === "shortened" ? 1 : 0;
    group.messages.push(message);
    groups.set(name, group);
  }
  return [...groups.values()].sort((a, b) => b.tokens - a.tokens);
}
