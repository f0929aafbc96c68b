// What a plan asks for, and what it and its prune say in words and figures. Pure.
import { about, counted, number, percentSet } from "../shared/format.js";

/** @typedef {import("../shared/types.js").Plan} Plan */
/** @typedef {import("../shared/types.js").Session} Session */
/** @typedef {import("../shared/types.js").Operation} Operation */
/** @typedef {{ max_tokens?: number, strategy?: string }} Wish what the reader set otherwise than the settings */

/** The cause that shortened outputs stand under, and what becomes of them. */
export const SHORTENED = "shortened";

/** What applying does, as the button says it: "Prune 42 messages". @param {Plan} plan */
export function planVerb(plan) {
  const covered = plan.summary?.messages ?? 0;
  /** @type {[string, number, string][]} */
  const acts = [
    ["summarise", covered, "message"],
    ["prune", plan.removed_count - covered, "message"],
    ["shorten", plan.shortened_count, "output"],
  ];
  const [first, ...rest] = acts.filter(([, count]) => count > 0);
  if (!first) return "Nothing to prune";
  const [verb, count, what] = first;
  const words = [`${verb} ${counted(count, what)}`, ...rest.map(([also, more]) => `${also} ${number(more)}`)];
  return words.join(", ").replace(/^./, (letter) => letter.toUpperCase());
}

/** What a prune by this plan does, as the end of a sentence: "takes 42 messages out and shortens 3 outputs". @param {Plan} plan */
export function whatItDoes({ removed_count, shortened_count }) {
  const acts = [
    removed_count > 0 && `takes ${counted(removed_count, "message")} out`,
    shortened_count > 0 && `shortens ${counted(shortened_count, "output")}`,
  ].filter(Boolean);
  return acts.join(" and ") || "changes nothing";
}

/** What a planned summary adds to the context at most, less the summaries that go into it. @param {Plan} plan */
export const summaryTokens = ({ summary }) => (summary ? summary.most_tokens - summary.absorbed_tokens : 0);

/** Whether applying would change anything. @param {Plan | null} plan */
export function doesSomething(plan) {
  return plan !== null && plan.removed_count + plan.shortened_count > 0;
}

/** What an operation took: "12 removed, 3 shortened"; how many messages it changed where that is all that is known.
 * @param {Pick<Operation, "messages" | "removed" | "shortened"> & { summarised?: number | null }} operation */
export function tookWords({ messages, removed, shortened, summarised }) {
  const gone = (removed ?? 0) - (summarised ?? 0);
  const words = [
    summarised ? `${number(summarised)} summarised` : "",
    gone ? `${number(gone)} removed` : "",
    shortened ? `${number(shortened)} shortened` : "",
  ].filter(Boolean);
  if (words.length > 0) return words.join(", ");
  return messages > 0 ? counted(messages, "message") : "";
}

/** What has been done, for the toast. @param {Operation} operation a prune */
export function prunedSentence({ messages, removed, shortened, summarised, freed }) {
  const gone = (removed ?? messages) - (summarised ?? 0);
  const what = [
    summarised ? `${counted(summarised, "message")} summarised` : "",
    gone > 0 || !(shortened || summarised) ? `${counted(gone, "message")} pruned` : "",
    shortened ? `${counted(shortened, "output")} shortened` : "",
  ];
  return [...what, `${counted(freed, "token")} freed.`].filter(Boolean).join(", ");
}

/** The same as the widget says it (as other pages of the kind do). @param {Operation} operation a prune */
export function prunedItems({ messages, removed, shortened }) {
  const less = shortened ? `, ${number(shortened)} shortened` : "";
  return `Context pruned: ${number(removed ?? messages)} items removed${less}`;
}

/** What is asked for: the wish, and what was chosen. Where things were chosen and no aim was set, they alone are to go,
 * however much there is by the time that the server looks.
 * @param {Wish} wish @param {import("./choices.js").Choices} choices @param {Session} session */
export function planRequest(wish, choices, session) {
  const plenty = Math.max(session.limit, 2 * session.pruned.tokens);
  const alone = choices.takes && wish.max_tokens === undefined;
  return { ...wish, ...(alone ? { max_tokens: plenty } : {}), ...choices.request() };
}

/** What pruning would bring, for the banner. @param {Plan} plan @param {Session} session */
export function promise(plan, session) {
  const aim = percentSet(Math.round((plan.max_tokens / Math.max(1, session.limit)) * 1000) / 10);
  const back = plan.cache?.break_even_calls;
  const pays =
    back === null || back === undefined
      ? ""
      : ` and pays back after ${counted(Math.max(1, Math.ceil(back)), "call")}`;
  const what = plan.max_tokens >= session.limit ? "What you chose" : `Pruning to ${aim}`;
  return `${what} frees about ${about(plan.freed)} tokens${pays}.`;
}

/** What a plan takes, in groups, the heaviest first: what goes and what is shortened, by reason; outputs that have no
 * group of their own stand in one. Together they are what is freed.
 * @param {Plan} plan @returns {Plan["groups"]} */
export function groupsOf(plan) {
  const groups = [...plan.groups];
  const freed = groups.reduce((sum, group) => sum + group.tokens, 0);
  const others =
    plan.shortened_count -
    groups.reduce((sum, group) => sum + (group.fate === SHORTENED ? group.messages : 0), 0);
  if (others > 0)
    groups.push({
      cause: SHORTENED,
      label: "shortened outputs",
      fate: SHORTENED,
      messages: others,
      tokens: Math.max(0, plan.freed + summaryTokens(plan) - freed),
    });
  return groups.sort((a, b) => b.tokens - a.tokens);
}

/** The rows of a plan by cause, in the order of its groups. @param {Plan} plan */
export function rowsByCause(plan) {
  /** @type {Map<string, import("../shared/types.js").Message[]>} */
  const rows = new Map(groupsOf(plan).map((group) => [group.cause, []]));
  for (const message of plan.removed) rows.get(message.cause)?.push(message);
  for (const message of plan.shortened) (rows.get(message.cause) ?? rows.get(SHORTENED))?.push(message);
  return rows;
}

/** What has changed since a plan was made. @param {number} then messages of the session at that time @param {number} now
 * @param {boolean} outdated settings or limits have changed */
export function sinceSentence(then, now, outdated) {
  const more = now - then;
  if (outdated) return "Settings have changed since this plan was made.";
  return more > 0
    ? `${counted(more, "message")} came since this plan was made.`
    : "The session has changed since this plan was made.";
}
