// The settings on the page: each with its name, unit and effect, in tables in the order of the page.

import { title } from "../shared/words.js";

/** @typedef {[name: string, label: string, unit: string, help: string]} Field */

/** Reads a table with one field per line; a line that begins with a bar continues the line before.
 * @param {string} table @returns {Field[]} */
const fields = (table) =>
  table
    .trim()
    .replace(/\s*\n\s*\|/g, " |")
    .split("\n")
    .map((line) => {
      const [name = "", label = "", unit = "", help = ""] = line.split("|").map((cell) => cell.trim());
      return [name, label, unit, help];
    });

/** Sections that have only fields: heading, the words beside it, fields.
 * @type {Record<string, [heading: string, beside: string, fields: Field[]]>} */
export const SECTIONS = {
  limits: [
    "Target and aim",
    "of a model's input limit",
    fields(`
      target_percent | Target | % | Above it a session is marked, and automatic pruning begins.
      aim_percent | Aim | % | What a prune cuts to.
      cap_tokens | Cap | tokens
        | Limits the target in large windows; empty for none.`),
  ],
  keep: [
    "What is kept",
    "with system, last and pinned messages",
    fields(`
      fresh_tail | Fresh tail | messages | That many of the newest are never pruned.
      user_words_tokens | User words, at most | tokens
        | Kept verbatim, newest first, up to the lower of these two.
      user_words_percent | Share of user words, at most | % of budget
      user_words_messages_percent | Users' messages, at most | % of all
        | With more of them it is a conversation, and the scores decide.
      guarded_percent | Task, rules and plan, at most | % of budget
        | Kept first: task, your rules, open plan, newest unresolved error, last statement.
      mark_changed | Mark changed lines |
        | Marks lines of outputs that a dropped edit removed.
      strategy | Strategy`),
  ],
  stages: [
    "Before anything is dropped",
    "in this order",
    fields(`
      stage_duplicates | Clear repeated outputs | | Outputs that are equal word for word; the newest stays.
      stage_superseded | Clear outputs that a later read replaces |
        | A later message reads the whole file again, or writes it.
      stage_outputs | Old outputs |
        | The oldest first, no more than necessary. Shortened, they keep head, tail and every error line.`),
  ],
  automatic: [
    "Automatic pruning",
    "",
    fields(`
      automatic | Prune automatically when a session crosses its target |
        | The default; sessions can differ. Prunes can be undone. Followed agents send less once resumed.
      minimum_gain_percent | Minimum gain | % of limit
        | Automatic pruning waits until a prune gains this much.
      wait_for_cold_cache | Wait until the provider's cache is cold |
        | A prune then costs nothing extra. It waits only while the window has room for another turn.`),
  ],
  room: [
    "Window",
    "the usable part",
    fields(`
      response_reserve | Kept free for output | tokens
      compaction_buffer_tokens | Kept free for what a call adds | tokens | Up to the lower of these two.
      compaction_buffer_percent | Share for what a call adds, at most | % of window
      windows | Table of windows`),
  ],
  summaries: [
    "Summaries",
    "",
    fields(`
      auto_summarize | Summarise automatically once one of these is reached
      max_messages_before_summary | Messages since the last summary
      max_tokens_before_summary | Tokens since the last summary
      summary_window_percent | Share of the window, if that is less | %
      min_recent_messages | Newest messages that are never summarised |
        | A program's context always has them, too.
      summary_words | Longest summary | words`),
  ],
  context: [
    "What is added",
    "to a context that a program asks for",
    fields(`
      summary_percent | Summary, at most | % of room
      memory_percent | Memory, at most | % of room
      learnings_percent | Learnings, at most | % of room
      learnings_shown | Learnings at once, at most
      status_line | Report how full the context is with each appended turn`),
  ],
  tool_outputs: [
    "Old outputs",
    "which ones count as old",
    fields(`
      tool_outputs_keep_turns | Keep outputs of the last | turns
      tool_outputs_keep_tokens | Keep the newest outputs up to | tokens
      tool_outputs_minimum_gain | Clear only if that frees | tokens
      tool_outputs_exempt | Tools that are never cleared | | Names of tools, separated by commas.`),
  ],
};

const LABELS = Object.fromEntries(Object.values(SECTIONS).flatMap(([, , list]) => list));

/** The label of a setting's field; its name in words if it has several or none. @param {string} name */
export const labelOf = (name) => LABELS[name] ?? title(name);
