// Facts that the session page derives from messages: new ones, groups of a call with its results, possible
// actions, and fates to keep. Pure.

/** The part of a row in the bracket around its call and results: start, mid, end or none.
 * @param {Api.Message | undefined} above @param {Api.Message} message
 * @param {Api.Message | undefined} below */
export function bracketOf(above, { unit, unit_size }, below) {
  if (unit === null || unit_size < 2) return "none";
  const [before, after] = [above?.unit === unit, below?.unit === unit];
  if (before && after) return "mid";
  if (before) return "end";
  return after ? "start" : "none";
}

/** The appended rows above a list whose newest message is number `newest`, newest first; null if some in
 * between are missing. @param {number} newest @param {Api.Message[]} appended */
export function newer(newest, appended) {
  const fresh = appended.filter(({ number }) => number > newest).sort((a, b) => b.number - a.number);
  return fresh.length === Math.max(0, (fresh[0]?.number ?? newest) - newest) ? fresh : null;
}

/** The fewest characters of an output that was shortened by hand: head, tail and a placeholder. */
const SHORT_CHARS = 1_600;

/** Returns whether shortening a message by hand can save tokens. @param {Api.Message} message */
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

/** Puts the known texts into a page that was read without them; null where one is not known, or has grown.
 * @param {Api.Message[]} known @param {Api.Message[]} brief @returns {Api.Message[] | null} */
export function withTexts(known, brief) {
  const texts = new Map(known.map(({ id, chars, text }) => [`${id} ${chars}`, text]));
  const whole = brief.map((now) => ({ ...now, text: texts.get(`${now.id} ${now.chars}`) ?? null }));
  return whole.every(({ text }) => text !== null) ? /** @type {Api.Message[]} */ (whole) : null;
}
