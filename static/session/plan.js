// The request for a plan, what is tried in it as part of the page's address, and a plan in words and numbers.
// Pure.
import { namesIn, namesText } from "../shared/address.js";
import { counted, number } from "../shared/format.js";
import { choicesOf } from "../shared/words.js";
import { tried } from "./tuning.js";

/** Values that the reader tries instead of the settings; `weights_of` is the task type to which the weights
 * belong.
 * @typedef {{ max_tokens?: number, strategy?: string, weights?: Record<string, number>,
 * weights_of?: string | null, fresh_tail?: number }} PlanOptions */

/** The label of the button that applies a plan: "Prune 42 messages". @param {Api.Plan} plan */
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

/** Returns whether applying would change anything. @param {Api.Plan | null} plan */
export function doesSomething(plan) {
  return plan !== null && plan.removed_count + plan.shortened_count > 0;
}

/** Returns whether a plan takes only the chosen messages: some are chosen, and no aim is tried.
 * @param {import("./choices.js").Choices} choices @param {PlanOptions} options */
export const takesOnlyChosen = (choices, options) => choices.takes && options.max_tokens === undefined;

/** The request for a plan. One for chosen messages only has room for all others in its budget, even if the
 * session has grown meanwhile. @param {PlanOptions} options
 * @param {import("./choices.js").Choices} choices @param {Api.Session} session */
export function planRequest(options, choices, session) {
  const plenty = Math.max(session.limit, 2 * session.pruned.tokens);
  const alone = takesOnlyChosen(choices, options);
  const { weights, weights_of, fresh_tail, ...named } = options;
  const settings = tried(options);
  const tunes = Object.keys(settings).length > 0;
  const chooses = !alone && choices.ids.length > 0;
  const compares = tunes || options.strategy !== undefined || chooses;
  const tries = { ...(tunes ? { settings } : {}), ...(compares ? { compare: true } : {}) };
  return { ...named, ...tries, ...(alone ? { max_tokens: plenty } : {}), ...choices.request() };
}

/** A number of tokens as a share of a session's limit, in percent with one decimal. @param {number} tokens
 * @param {Api.Session} session */
export const aimOf = (tokens, session) => Math.round((tokens / Math.max(1, session.limit)) * 1000) / 10;

/** The time until a prune has paid for itself, in the words of the verdict. @param {number} calls */
export const paysBack = (calls) => (calls ? `after ${counted(calls, "call")}` : "at once");

/** The rows of a plan by cause, in the order of its groups. @param {Api.Plan} plan */
export function rowsByCause({ groups, removed, shortened }) {
  /** @type {Map<string, Api.Message[]>} */
  const rows = new Map(groups.map(({ cause }) => [cause, []]));
  for (const message of [...removed, ...shortened]) rows.get(message.cause)?.push(message);
  return rows;
}

/** The change since a plan was made. @param {number} then messages of the session at that time
 * @param {number} now @param {boolean} outdated settings or limits have changed */
export function sinceSentence(then, now, outdated) {
  const more = now - then;
  if (outdated) return "Settings have changed since this plan was made.";
  return more > 0
    ? `${counted(more, "message")} came since this plan was made.`
    : "The session has changed since this plan was made.";
}

/** The open folds of a plan: groups by cause, groups of which all rows are shown, and the weights.
 * @typedef {{ open: Set<string>, all: Set<string>, weighing: boolean }} Folds */

/** The parameters of a plan in which nothing is tried and every fold is closed; `cut` is in tokens, `tail`
 * in messages, and the weights are in the form "recency:40,role:10". */
export const NO_TRIAL = {
  cut: "",
  strategy: "",
  tail: "",
  weights: "",
  weights_of: "",
  groups: "",
  all_of: "",
  weighing: "",
};

/** @param {PlanOptions} options @param {Folds} folds @returns {typeof NO_TRIAL} */
export function trialOf({ max_tokens, strategy, fresh_tail, weights, weights_of }, folds) {
  return {
    cut: String(max_tokens ?? ""),
    strategy: strategy ?? "",
    tail: String(fresh_tail ?? ""),
    weights: Object.entries(weights ?? {})
      .map(([name, weight]) => `${name}:${weight}`)
      .join(","),
    weights_of: (weights && weights_of) || "",
    groups: namesText(folds.open),
    all_of: namesText(folds.all),
    weighing: folds.weighing ? "yes" : "",
  };
}

/** The values that an address tries; those that cannot be planned with are ignored.
 * @param {typeof NO_TRIAL} trial @returns {PlanOptions} */
export function optionsOf({ cut, strategy, tail, weights, weights_of }) {
  const weighed = [...weights.matchAll(/(?<=^|,)(\w+):(\d{1,3}(?:\.\d+)?)(?=,|$)/g)];
  const known = choicesOf("strategy").some(({ name }) => name === strategy);
  return {
    ...(/^[1-9]\d{0,8}$/.test(cut) ? { max_tokens: Number(cut) } : {}),
    ...(known ? { strategy } : {}),
    ...(/^\d{1,4}$/.test(tail) ? { fresh_tail: Number(tail) } : {}),
    ...(weighed.length > 0
      ? {
          weights: Object.fromEntries(weighed.map(([, name, weight]) => [name, Number(weight)])),
          weights_of: weights_of || null,
        }
      : {}),
  };
}

/** The open folds of an address. @param {typeof NO_TRIAL} trial @returns {Folds} */
export const foldsOf = ({ groups, all_of, weighing }) => ({
  open: namesIn(groups),
  all: namesIn(all_of),
  weighing: weighing === "yes",
});
