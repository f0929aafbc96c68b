// Messages found by their numbers, which is how the address of a page names them.
import { runs } from "../shared/address.js";
import { api } from "../shared/api.js";

const PAGE = 100;

/** The messages with these numbers that a session has: the known ones, and the others read.
 * @template {{ number: number }} Known
 * @param {string} session @param {number[]} numbers @param {Known[]} known
 * @param {AbortSignal} signal @returns {Promise<(Known | Api.Message)[]>} */
export async function numbered(session, numbers, known, signal) {
  /** @type {(Known | Api.Message)[]} */
  const found = known.filter(({ number }) => numbers.includes(number));
  const missing = numbers.filter((number) => !found.some((message) => message.number === number));
  for (const [first, end] of runs(missing))
    for (let from = first; from <= end; from += PAGE) {
      const last = Math.min(end, from + PAGE - 1);
      const query = { first: from, last, sort: "oldest", limit: PAGE, brief: true };
      const { messages } = await api.messages(session, query, signal);
      found.push(...messages);
      if (messages.length < last - from + 1) break;
    }
  return found;
}
