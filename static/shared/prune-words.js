// Plans and prunes in words. Pure.
import { counted, number } from "./format.js";

/** The effect of a plan as the end of a sentence: "removes 42 messages and shortens 3 outputs".
 * @param {Api.Plan} plan */
export function whatItDoes({ removed_count, shortened_count }) {
  const acts = [
    removed_count > 0 && `removes ${counted(removed_count, "message")}`,
    shortened_count > 0 && `shortens ${counted(shortened_count, "output")}`,
  ];
  return acts.filter(Boolean).join(" and ") || "changes nothing";
}

/** The messages that an operation took: "12 removed, 3 shortened"; only their number if no more is known.
 * @param {Pick<Api.Operation, "messages" | "removed" | "shortened"> & { summarised?: number | null }}
 * operation */
export function tookWords({ messages, removed, shortened, summarised }) {
  const gone = (removed ?? 0) - (summarised ?? 0);
  const words = [
    summarised && `${number(summarised)} summarised`,
    gone && `${number(gone)} removed`,
    shortened && `${number(shortened)} shortened`,
  ].filter(Boolean);
  return words.join(", ") || (messages > 0 ? counted(messages, "message") : "");
}

/** The result of a prune, for the toast. @param {Api.Operation} operation a prune */
export function prunedSentence({ messages, removed, shortened, summarised, freed }) {
  const gone = (removed ?? messages) - (summarised ?? 0);
  const what = [
    summarised && `${counted(summarised, "message")} summarised`,
    (gone > 0 || !(shortened || summarised)) && `${counted(gone, "message")} pruned`,
    shortened && `${counted(shortened, "output")} shortened`,
    `${counted(freed, "token")} freed.`,
  ];
  return what.filter(Boolean).join(", ");
}

/** The result of a prune in the words of the widget. @param {Api.Operation} operation a prune */
export function prunedItems({ messages, removed, shortened }) {
  const less = shortened ? `, ${number(shortened)} shortened` : "";
  return `Context pruned: ${number(removed ?? messages)} items removed${less}`;
}
