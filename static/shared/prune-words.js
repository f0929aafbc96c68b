// What plans and prunes do, in words. Pure.
import { counted, number } from "./format.js";

/** What a prune by this plan does, as the end of a sentence: "takes 42 messages out and shortens 3 outputs".
 * @param {Api.Plan} plan */
export function whatItDoes({ removed_count, shortened_count }) {
  const acts = [
    removed_count > 0 && `takes ${counted(removed_count, "message")} out`,
    shortened_count > 0 && `shortens ${counted(shortened_count, "output")}`,
  ];
  return acts.filter(Boolean).join(" and ") || "changes nothing";
}

/** What an operation took: "12 removed, 3 shortened"; how many messages it changed where nothing more is
 * known. @param {Pick<Api.Operation, "messages" | "removed" | "shortened"> & { summarised?: number | null }}
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

/** What has been done, for the toast. @param {Api.Operation} operation a prune */
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

/** The same in the words of the widget. @param {Api.Operation} operation a prune */
export function prunedItems({ messages, removed, shortened }) {
  const less = shortened ? `, ${number(shortened)} shortened` : "";
  return `Context pruned: ${number(removed ?? messages)} items removed${less}`;
}
