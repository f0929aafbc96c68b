// The names of the API's codes on the pages, with explanations.

/** Returns a function that names a code; a code without a name is its own.
 * @param {Record<string, string>} names @returns {(code: string) => string} */
const named = (names) => (code) => names[code] ?? code;

const REGIONS = {
  system: "system",
  unseen: "not in the transcript",
  tools: "tool definitions",
  summary: "summary",
  memory: "memory",
  user: "user",
  assistant: "assistant",
  tool: "tool results",
};

export const regionName = named(REGIONS);

/** The regions in the order of a bar. */
export const REGION_ORDER = Object.keys(REGIONS);

export const certaintyReason = named({
  exact: "Exact: from the provider's own usage report.",
  calibrated: "Calibrated: our estimate times the factor learned from this session's real usage.",
  estimated: "Estimated: counted from the text; no usage report says otherwise yet.",
});

export const activityName = named({
  working: "Working: the agent is writing",
  waiting: "Waiting for the user",
  idle: "Idle",
  stale: "No activity for a while",
  ended: "Ended",
});

export const fateName = named({
  kept: "kept",
  protected: "kept",
  goes: "goes",
  shortened: "shortened",
  out: "out",
});

/** A reason without the fate at its beginning, for a line that already names the fate.
 * @param {string | null} reason */
export function plainReason(reason) {
  return (reason ?? "")
    .replace(/^(kept|protected|dropped|goes|shortened|summarised): /, "")
    .replace(/^shortened to /, "to ");
}

/** The choice of a role in a filter. @type {[value: string, label: string][]} */
export const ROLE_OPTIONS = [
  ["", "All roles"],
  ["user", "User"],
  ["assistant", "Assistant"],
  ["tool", "Tool"],
  ["system", "System"],
];

/** A kind of change: its name, its mark in the chart and the history, the mark's name in the legend.
 * @typedef {{ name: string, mark?: string, legend?: string, byAgent?: boolean }} Change */

/** @type {Record<Api.TimelineChange["kind"], Change>} */
export const CHANGES = {
  prune: { name: "Pruned", mark: "▼", legend: "prune" },
  pin: { name: "Pinned" },
  unpin: { name: "Unpinned" },
  drop: { name: "Dropped" },
  drop_first: { name: "Marked to drop first" },
  unmark: { name: "No longer marked to drop first" },
  restore: { name: "Restored" },
  summary: { name: "Summarised", mark: "▽", legend: "summary" },
  expand: { name: "Summary expanded" },
  compaction: { name: "Compacted by the agent", mark: "◆", legend: "compaction by the agent", byAgent: true },
  clearing: { name: "Cleared by the agent", mark: "◇", legend: "cleared by the agent", byAgent: true },
  rewind: { name: "Rewound by the agent", mark: "◁", legend: "rewound by the agent", byAgent: true },
  undo: { name: "Undone", mark: "△", legend: "undo" },
  resume: { name: "Resumed from a pruned copy", mark: "▷", legend: "resumed from a copy" },
};

/** The author of a change, by its actor or by a reason that names only that.
 * @type {Record<string, string>} */
export const ACTORS = {
  user: "by you",
  manual: "by you",
  automatic: "automatically",
  emergency: "in an emergency",
  agent: "by the agent",
};

/** The name of a kind of change, and its mark and legend on the chart; an unknown kind is its own name.
 * @param {Api.TimelineChange["kind"]} kind */
export const changeOf = (kind) => CHANGES[kind] ?? { name: kind };

/** @type {Record<string, Api.ChoiceText[]> | undefined} */
let choices;

/** The values that a setting accepts, in words. The server writes them into every page.
 * @param {string} setting */
export function choicesOf(setting) {
  choices ??= JSON.parse(document.querySelector("#choices")?.textContent ?? "{}");
  return choices?.[setting] ?? [];
}

/** The options of a setting. @param {string} setting @returns {[value: string, label: string][]} */
export const choiceOptions = (setting) => choicesOf(setting).map(({ name, label }) => [name, label]);

/** The name of a setting's value on the page. @param {string} setting @param {string} value */
export const choiceName = (setting, value) =>
  choicesOf(setting).find(({ name }) => name === value)?.label ?? title(value);

/** @param {string} name */
export const strategyName = (name) => choiceName("strategy", name);

/** @param {string} name */
export const signalName = (name) => choiceName("signal", name);

/** "minimum_gain_percent" as "Minimum gain percent". @param {string} name */
export function title(name) {
  const words = name.replaceAll("_", " ").replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Returns whether a strategy uses the weights of signals. @param {string} strategy */
export const usesWeights = (strategy) => choicesOf("weighing").some(({ name }) => name === strategy);

/** Returns whether a strategy weighs whole messages by the signals. @param {string} strategy */
export const weighsMessages = (strategy) =>
  choicesOf("weighing_messages").some(({ name }) => name === strategy);

/** Returns whether a strategy weighs names and lines by the signals. @param {string} strategy */
export const weighsMentions = (strategy) => usesWeights(strategy) && !weighsMessages(strategy);

/** A sentence on the strategy's use of the weights. @param {string} strategy */
export function weightsUsedBy(strategy) {
  if (weighsMessages(strategy)) return "";
  if (usesWeights(strategy)) {
    return `${strategyName(strategy)} weighs every name and line by them, not whole messages.`;
  }
  return `${strategyName(strategy)}, chosen now, does not use them; the list shows the scores they give.`;
}
