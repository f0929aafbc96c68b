// What a session costs, in a sentence that says what it counts. Pure.
import { counted, money } from "../shared/format.js";

/** The next call with and without the cache, and all calls so far; at list price.
 * @param {Api.Cost | null} cost */
export function costSentence(cost) {
  if (!cost || !(cost.per_call > 0)) return "";
  const least = cost.at_least ? "at least " : "";
  const [fresh, cached] = [cost.per_call, cost.per_call_cached].map(
    (one) => least + money(one, cost.currency),
  );
  const call = `Input of the next call at list price: ${fresh} new, ${cached} from the cache.`;
  if (cost.spent === null || cost.calls === 0) return call;
  const spent = money(cost.spent, cost.currency);
  return `${call} ${counted(cost.calls, "call")} so far, output included: ${spent}.`;
}
