// Messages found by their numbers, which is how the address of a page names them.
import * as address from "../shared/address.js";
import { api } from "../shared/api.js";
import { toastError } from "../shared/toast.js";
import { KINDS, NO_CHOICES } from "./choices.js";

const PAGE = 100;

/** The messages with these numbers that a session has: the known ones, and the others read.
 * @template {{ number: number }} Known
 * @param {string} session @param {number[]} numbers @param {Known[]} known
 * @param {AbortSignal} signal @returns {Promise<(Known | Api.Message)[]>} */
export async function messagesByNumber(session, numbers, known, signal) {
  /** @type {(Known | Api.Message)[]} */
  const found = known.filter(({ number }) => numbers.includes(number));
  const missing = numbers.filter((number) => !found.some((message) => message.number === number));
  for (const [first, end] of address.runs(missing))
    for (let from = first; from <= end; from += PAGE) {
      const last = Math.min(end, from + PAGE - 1);
      const query = { first: from, last, sort: "oldest", limit: PAGE, brief: true };
      const { messages } = await api.messages(session, query, signal);
      found.push(...messages);
      if (messages.length < last - from + 1) break;
    }
  return found;
}

/** Takes the messages that the address names as those chosen for the next prune. Returns whether these are
 * others than before. @param {import("./choices.js").Choices} choices @param {string} session
 * @param {AbortSignal} signal */
export async function recallChoices(choices, session, signal) {
  const { search } = location;
  const named = address.read(search, NO_CHOICES);
  if (JSON.stringify(named) === JSON.stringify(choices.written())) return false;
  const of = Object.fromEntries(KINDS.map(([kind]) => [kind, address.numbersIn(named[kind])]));
  const known = KINDS.flatMap(([kind]) => choices.of(kind));
  try {
    const messages = await messagesByNumber(session, Object.values(of).flat(), known, signal);
    if (search !== location.search) return false;
    for (const [kind] of KINDS) {
      choices.forgetAll(kind);
      choices.put(
        kind,
        messages.filter(({ number }) => of[kind]?.includes(number)),
      );
    }
    return true;
  } catch (error) {
    if (!signal.aborted) toastError(error, "Could not read the messages that were chosen");
    return false;
  }
}
