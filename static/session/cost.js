// The cost of a session in a sentence. Pure.
import { counted, money } from "../shared/format.js";

/** The price of the next call with and without the cache, and of all calls so far, at list price.
 * @param {Api.Cost | null} cost @param {string} [certainty] of the context that the next call sends */
export function costSentence(cost, certainty) {
  return cost ? [nextCall(cost, certainty), ...soFar(cost)].filter(Boolean).join(" ") : "";
}

/** The price of the next call; nothing where it is not known, or where nothing would be sent.
 * @param {Api.Cost} cost @param {string} [certainty] */
function nextCall(cost, certainty) {
  if (cost.free) return "Calls of this model cost nothing.";
  if (!cost.per_call) return "";
  const least = cost.at_least ? "at least " : "";
  const [fresh, cached] = [cost.per_call, cost.per_call_cached ?? 0].map(
    (one) => least + money(one, cost.currency, certainty),
  );
  return `Input of the next call at standard list price: ${fresh} new, ${cached} from the cache.`;
}

/** The cost of the session's own calls and those of its sub-agents, unless all of them cost nothing.
 * @param {Api.Cost} cost @returns {string[]} */
function soFar(cost) {
  const below = cost.sub_agents;
  const whole = (cost.spent ?? 0) + (below?.spent ?? 0);
  if (cost.free && !whole) return [];
  const own = cost.calls > 0 && paid(cost.spent, cost.spent_at_least, cost.currency, cost.unreported);
  const said = own ? [`${counted(cost.calls, "call")} so far, output included: ${own}.`] : [];
  if (!below) return said;
  const agents = counted(below.sessions, "sub-agent");
  if (below.calls === 0)
    return [...said, `${counted(below.unreported, "call")} of ${agents} without reported usage.`];
  const theirs = paid(below.spent, below.spent_at_least, cost.currency, below.unreported);
  if (!theirs) return said;
  const together = paid(whole, cost.spent_at_least || below.spent_at_least, cost.currency);
  return [...said, `${counted(below.calls, "call")} of ${agents}: ${theirs}; together ${together}.`];
}

/** An amount and the calls that are not in it, or an empty text where no amount is known.
 * @param {number | null} amount @param {boolean} least @param {string} currency
 * @param {number} [unreported] */
function paid(amount, least, currency, unreported = 0) {
  if (amount === null) return "";
  const besides = unreported ? `, and ${counted(unreported, "call")} without reported usage` : "";
  return `${least ? "at least " : ""}${money(amount, currency)}${besides}`;
}
