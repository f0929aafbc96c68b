// The name of each setting on the page, its unit, and its effect in a line: tables only, in the order of the page.

/** @typedef {[name: string, label: string, unit: string, help: string]} Field */

/** @type {Field[]} */
export const LIMIT_FIELDS = [
  ["target_percent", "Target", "%", "Above it a session is marked, and automatic pruning begins."],
  ["aim_percent", "Aim", "%", "What a prune cuts to."],
  [
    "cap_tokens",
    "Cap",
    "tokens",
    "Your own ceiling on the target; empty for none. Useful where a large window never fills, but calls are expensive.",
  ],
];

/** @type {Field[]} */
export const KEEP_FIELDS = [
  ["fresh_tail", "Fresh tail", "messages", "The newest are never pruned."],
  [
    "user_words_tokens",
    "User words, at most",
    "tokens",
    "The words of users are kept verbatim, newest first, up to the lesser of these two.",
  ],
  ["user_words_percent", "and at most", "% of budget", ""],
  [
    "user_words_messages_percent",
    "if users write at most",
    "% of all",
    "Where they write more of the messages, the session is a conversation and the scores decide.",
  ],
  ["strategy", "Strategy", "", ""],
];

/** @type {Field[]} */
export const AUTO_FIELDS = [
  [
    "minimum_gain_percent",
    "Minimum gain",
    "% of limit",
    "Automatic pruning waits until a prune gains this much.",
  ],
];

/** Sections that are nothing but fields: name, heading, the words beside it, fields.
 * @type {[string, string, string, Field[]][]} */
export const SECTIONS = [
  [
    "stages",
    "Before anything is dropped",
    "in this order",
    [
      [
        "stage_duplicates",
        "Clear repeated outputs",
        "",
        "Outputs that are equal word for word; the newest stays.",
      ],
      [
        "stage_superseded",
        "Clear outputs that a later read replaces",
        "",
        "A later message reads the whole file again, or writes it.",
      ],
      [
        "stage_outputs",
        "Old outputs",
        "",
        "The oldest first, no more than necessary. Shortened, they keep head, tail and every line of an error.",
      ],
    ],
  ],
  [
    "room",
    "Window and counting",
    "the usable part",
    [
      ["response_reserve", "Kept free for the answer", "tokens", ""],
      [
        "compaction_buffer_tokens",
        "and for the growth of a call",
        "tokens",
        "Up to the lesser of these two.",
      ],
      ["compaction_buffer_percent", "but at most", "% of window", ""],
      ["windows", "Table of windows", "", ""],
      ["counting", "Tokens are counted by", "", ""],
    ],
  ],
  [
    "summaries",
    "Summaries",
    "",
    [
      ["auto_summarize", "Summarise automatically once one of these is reached", "", ""],
      ["max_messages_before_summary", "Since the last one", "messages", ""],
      ["max_tokens_before_summary", "or", "tokens", ""],
      ["summary_window_percent", "or, if that is less", "% of window", ""],
      ["min_recent_messages", "Never summarised", "newest", ""],
      ["summary_words", "Length, at most", "words", ""],
    ],
  ],
  [
    "context",
    "What is sent along",
    "in a context that is asked for",
    [
      ["summary_percent", "Summary, at most", "% of room", ""],
      ["memory_percent", "Memory, at most", "% of room", ""],
      ["learnings_percent", "Learnings, at most", "% of room", ""],
      ["learnings_shown", "and at most", "at once", ""],
      ["status_line", "Tell each appended turn how full the context is", "", ""],
    ],
  ],
  [
    "tool_outputs",
    "Old outputs",
    "which ones count as old",
    [
      ["tool_outputs_keep_turns", "Outputs stay of the last", "turns", ""],
      ["tool_outputs_keep_tokens", "and the newest, up to", "tokens", ""],
      ["tool_outputs_minimum_gain", "Strategy acts from a gain of", "tokens", ""],
      ["tool_outputs_exempt", "Leaves alone", "", "Names of tools, with commas between them."],
    ],
  ],
];
