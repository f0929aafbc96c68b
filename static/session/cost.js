// The cost of a session in a sentence. Pure.
import { counted, money } from "../shared/format.js";

/** The price of the next call with and without the cache, and of all calls so far, at list price.
 * @param {Api.Cost | null} cost @param {string} [certainty] of the context that the next call sends */
export function costSentence(cost, certainty) {
  if (cost?.free) return "Calls of this model cost nothing.";
  if (!cost || !(cost.per_call > 0)) return "";
  const least = cost.at_least ? "at least " : "";
  const [fresh, cached] = [cost.per_call, cost.per_call_cached].map(
    (one) => least + money(one, cost.currency, certainty),
  );
  const call = `Input of the next call at standard list price: ${fresh} new, ${cached} from the cache.`;
  const own = cost.calls > 0 && paid(cost.spent, cost.spent_at_least, cost.currency, cost.unreported);
  const said = own ? ` ${counted(cost.calls, "call")} so far, output included: ${own}.` : "";
  const below = cost.sub_agents;
  const theirs = below && paid(below.spent, below.spent_at_least, cost.currency, below.unreported);
  if (!below || !theirs) return call + said;
  const whole = (cost.spent ?? 0) + (below.spent ?? 0);
  const together = paid(whole, cost.spent_at_least || below.spent_at_least, cost.currency);
  const agents = counted(below.sessions, "sub-agent");
  return `${call}${said} ${counted(below.calls, "call")} of ${agents}: ${theirs}; together ${together}.`;
}

/** An amount and the calls that are not in it, or an empty text where no amount is known.
 * @param {number | null} amount @param {boolean} least @param {string} currency
 * @param {number} [unreported] */
function paid(amount, least, currency, unreported = 0) {
  if (amount === null) return "";
  const besides = unreported ? `, and ${counted(unreported, "call")} without reported usage` : "";
  return `${least ? "at least " : ""}${money(amount, currency)}${besides}`;
}
