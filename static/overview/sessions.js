// The rows of the overview: which sessions, in which order, and which sub-agents below which session. Pure.
import { isAboveTarget } from "../shared/session-facts.js";

/** A row; `quiet` counts the sub-agents that can be folded.
 * @typedef {{ session: Api.Session, depth: number, quiet: number, folded: boolean }} Row */

/** From this many on, idle sub-agents that need nothing are folded. */
const FOLDED_FROM = 3;

/** @param {Api.Session} session @param {string} text lower-case */
function mentions(session, text) {
  return [session.title, session.model, session.source, session.cwd, session.id, session.agent_type].some(
    (field) => (field ?? "").toLowerCase().includes(text),
  );
}

/** A key that sorts by the need of the verdict, then by latest activity. @param {Api.Session} session */
function urgency(session) {
  return `${session.verdict.urgency} ${session.last_activity ?? ""}`;
}

/** Returns the rows in order: most needed first, then by latest activity; sub-agents below their parent. A
 * family ranks by its most urgent member. A sub-agent without its parent in the list stands alone. Many quiet
 * sub-agents are folded, unless the filter has a text or `unfolded` names their parent.
 * @param {Iterable<Api.Session>} sessions
 * @param {{ text?: string, chip?: string, unfolded?: Set<string> }} [filter] @returns {Row[]} */
export function arrange(sessions, filter = {}) {
  const text = (filter.text ?? "").trim().toLowerCase();
  const chip = filter.chip ?? "all";
  const shown = [...sessions].filter(
    (s) =>
      (!text || mentions(s, text)) &&
      (chip === "all" ||
        (chip === "above" ? isAboveTarget(s) : chip === "active" ? isBusy(s) : s.source === chip)),
  );
  const ids = new Set(shown.map((s) => s.id));
  /** @type {Map<string | null, Api.Session[]>} */
  const children = new Map();
  for (const s of shown) {
    const parent = s.parent_id && ids.has(s.parent_id) && s.parent_id !== s.id ? s.parent_id : null;
    const siblings = children.get(parent);
    if (siblings) siblings.push(s);
    else children.set(parent, [s]);
  }
  /** @type {Map<string, string>} the urgency of a session and all below it */
  const urgencies = new Map();
  /** @param {Api.Session} session @returns {string} */
  const highest = (session) => {
    const known = urgencies.get(session.id);
    if (known !== undefined) return known;
    urgencies.set(session.id, urgency(session));
    const all = [urgency(session), ...(children.get(session.id) ?? []).map(highest)];
    const top = all.sort().at(-1) ?? "";
    urgencies.set(session.id, top);
    return top;
  };
  /** @param {Api.Session} a @param {Api.Session} b */
  const byUrgency = (a, b) => {
    const [x, y] = [highest(a), highest(b)];
    return x === y ? (a.id < b.id ? -1 : 1) : x < y ? 1 : -1;
  };
  /** @type {Row[]} */
  const rows = [];
  const seen = new Set();
  /** @param {Api.Session} session @returns {boolean} */
  const isQuiet = (session) =>
    session.verdict.action === null && !isBusy(session) && (children.get(session.id) ?? []).every(isQuiet);
  /** @param {string | null} parent @param {number} depth @param {boolean} folded */
  const walk = (parent, depth, folded) => {
    for (const session of [...(children.get(parent) ?? [])].sort(byUrgency)) {
      if (seen.has(session.id) || (folded && isQuiet(session))) continue;
      seen.add(session.id);
      const many = (children.get(session.id) ?? []).filter(isQuiet).length;
      const quiet = many >= FOLDED_FROM && !text ? many : 0;
      const away = quiet > 0 && !filter.unfolded?.has(session.id);
      rows.push({ session, depth, quiet, folded: away });
      walk(session.id, depth + 1, away);
    }
  };
  walk(null, 0, false);
  return rows;
}

/** @param {Api.Session} session */
export function isBusy(session) {
  return session.activity === "working" || session.activity === "waiting";
}

/** The counts of the heading and the chips. @param {Api.Session[]} sessions */
export function tally(sessions) {
  return {
    all: sessions.length,
    working: sessions.filter((s) => s.activity === "working").length,
    busy: sessions.filter(isBusy).length,
    above: sessions.filter(isAboveTarget).length,
    sources: [...new Map(sessions.map((s) => [s.source, s.source_label]))].sort(),
  };
}
