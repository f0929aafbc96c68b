// Plans and prunes in words, and what was done again after them. Pure.
import { about, counted, decimal, number, tokens as tokenText } from "./format.js";

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

/** The result of a prune, for the toast. @param {Api.Operation} operation a prune
 * @param {string} [certainty] of a part of the context */
export function prunedSentence({ messages, removed, shortened, summarised, freed }, certainty) {
  const gone = (removed ?? messages) - (summarised ?? 0);
  const what = [
    summarised && `${counted(summarised, "message")} summarised`,
    (gone > 0 || !(shortened || summarised)) && `${counted(gone, "message")} pruned`,
    shortened && `${counted(shortened, "output")} shortened`,
    `${tokenText(freed, certainty)} ${freed === 1 ? "token" : "tokens"} freed.`,
  ];
  return what.filter(Boolean).join(", ");
}

/** The result of a prune in the words of the widget. @param {Api.Operation} operation a prune */
export function prunedItems({ messages, removed, shortened }) {
  const less = shortened ? `, ${number(shortened)} shortened` : "";
  return `Context pruned: ${counted(removed ?? messages, "item")} removed${less}`;
}

/** The things that are counted, each with its noun and what happens to it again.
 * @type {[name: "files" | "commands" | "errors" | "said", noun: string, again: string][]} */
const THINGS = [
  ["files", "file", "read again"],
  ["commands", "command", "run again"],
  ["errors", "error", "met again"],
  ["said", "message", "said again by the user"],
];

/** One event in words, each count beside what is usual in as many calls of the session.
 * @param {Api.EventAftermath} after @param {Api.WindowMeans | null} elsewhere @param {number} windowCalls */
export function eventWords({ seen, complete, calls, tokens, ...counts }, elsewhere, windowCalls) {
  if (!seen) return "the agent did not see it, so nothing is counted";
  const share = calls / windowCalls;
  const again = THINGS.filter(([name]) => counts[name] > 0).map(([name, noun, happens]) => {
    const usual = elsewhere ? ` (usually ${decimal(elsewhere[name] * share)})` : "";
    return `${counted(counts[name], noun)} ${happens}${usual}`;
  });
  const within = `in ${counted(calls, "call")}${complete ? "" : " so far"}`;
  const done = again.length > 0 ? `${again.join(", ")} ${within}` : `nothing done again ${within}`;
  return [done, newWorkWords(tokens, complete), again.length > 0 && !elsewhere && "nothing to compare with"]
    .filter(Boolean)
    .join("; ");
}

/** The tokens until new work, in words. @param {number | null} tokens @param {boolean} complete */
function newWorkWords(tokens, complete) {
  if (tokens === null) return complete ? "no new work" : "no new work yet";
  return tokens > 0 && `new work after ~${about(tokens)} tokens`;
}

/** The act done again, by the thing that is counted. @type {Record<(typeof THINGS)[number][0], string>} */
const AGAIN = { files: "read", commands: "ran", errors: "met", said: "were told" };

/** All events in sentences: the means of those that can be compared, beside those of other calls.
 * @param {Api.Aftermaths} value */
export function totalWords({ kinds, calls, events, compared, elsewhere }) {
  const list = new Intl.ListFormat("en");
  const names = kinds.map(({ kind, events: count }) =>
    counted(count, kind, kind === "summary" ? "summaries" : `${kind}s`),
  );
  const means = compared ?? events;
  const among = elsewhere && means.windows < events.windows ? ` (${number(means.windows)} compared)` : "";
  const again = THINGS.filter(([name]) => means[name] > 0 || (elsewhere?.[name] ?? 0) > 0).map(
    ([name, noun]) => {
      const usual = elsewhere ? ` (usually ${decimal(elsewhere[name])})` : "";
      const things = `${decimal(means[name])} ${means[name] === 1 ? noun : `${noun}s`}`;
      return `${AGAIN[name]} ${things} again${usual}`;
    },
  );
  const mean = means.windows > 1 ? " on average" : "";
  const did = again.length > 0 ? list.format(again) : "did nothing again";
  const usual = elsewhere?.tokens ? ` (usually ~${about(elsewhere.tokens)})` : "";
  return [
    `Within ${counted(calls, "call")} after ${list.format(names)}${among}, agents${mean} ${did}.`,
    means.tokens !== null && `New work began after ~${about(means.tokens)} tokens${usual}.`,
    !elsewhere && "There is nothing to compare with.",
  ]
    .filter(Boolean)
    .join(" ");
}
