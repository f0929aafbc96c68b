// Sessions, gauges, messages and plans as the API sends them, with what a test cares about put on top.

/** @param {Partial<Api.Gauge>} [given] @returns {Api.Gauge} */
export function gauge(given = {}) {
  return { tokens: 0, utilization: 0, certainty: "exact", messages: 0, regions: [], ...given };
}

/** A recognised task type, and the one that counts. @param {string} name
 * @param {Partial<Api.SessionTaskType>} [given] @returns {Api.SessionTaskType} */
export function taskType(name, given = {}) {
  const reason = `looks like ${name}: 48 % of its messages are tool outputs`;
  return { name, setting: "auto", own: false, reason, looks_like: { name, reason }, ...given };
}

/** @param {Partial<Api.Verdict>} [given] @returns {Api.Verdict} */
export function verdict(given = {}) {
  const text = "66 % full. Nothing needed: about 40 turns left to the target at this pace";
  return { kind: "fine", text, safety: "", urgency: 1, action: null, version: 1, priced: true, ...given };
}

/** @param {Partial<Api.Session>} [given] @returns {Api.Session} */
export function session(given = {}) {
  return {
    id: "s1",
    title: "Fix the login race",
    source: "claude-code",
    source_label: "Claude Code",
    why_not_resumed: null,
    kind: "followed",
    model: "claude-sonnet-4-5",
    model_known: true,
    parent_id: null,
    agent_type: null,
    file: null,
    cwd: null,
    user: null,
    host: null,
    project: null,
    kept: false,
    state: "idle",
    activity: "idle",
    window: 200_000,
    input_limit: null,
    limit: 200_000,
    output_reserve: 4_096,
    target_percent: 80,
    target_tokens: 160_000,
    aim_percent: 60,
    aim_tokens: 120_000,
    cap_tokens: null,
    limit_source: "a table",
    limit_date: "2026-10-01",
    window_assumed: false,
    window_kind: "table",
    over_limit: null,
    agent: gauge(),
    pruned: gauge(),
    prunes: 0,
    operations: 0,
    messages: 0,
    turns: 0,
    created_at: null,
    last_activity: "2026-11-20T10:00:00Z",
    automatic: false,
    cache: null,
    proxy: null,
    strategy: { name: "foresight", own: null, setting: "foresight" },
    task_type: taskType("coding"),
    growth_per_turn: null,
    turns_left: null,
    verdict: verdict(),
    trend: [],
    notes: [],
    malformed: 0,
    unknown: 0,
    version: 1,
    ...given,
  };
}

/** @param {Partial<Api.Message>} [given] @returns {Api.Message} */
export function message(given = {}) {
  return {
    id: `m${given.number ?? 1}`,
    number: 1,
    role: "user",
    kind: "message",
    text: "hello",
    chars: 5,
    tokens: 10,
    tokens_after: null,
    score: 50,
    signals: {},
    contributions: {},
    unit: given.number ?? 1,
    unit_size: 1,
    fate: "kept",
    reason: "kept: everything fits",
    cause: "fits",
    pinned: false,
    drop_first: false,
    shortened: false,
    in_context: true,
    operation: null,
    at: null,
    turn: 1,
    calls: [],
    tool: null,
    is_error: false,
    media: 0,
    ...given,
  };
}

/** @param {Partial<Api.Plan>} [given] @returns {Api.Plan} */
export function plan(given = {}) {
  return {
    plan_id: "p1",
    session_id: "s1",
    version: 1,
    strategy: "score",
    preset: "Balanced",
    weights: { recency: 35, role: 20, keywords: 20, length: 15, relevance: 10 },
    weights_of: null,
    fresh_tail: 0,
    own_settings: [],
    max_tokens: 120_000,
    aim_tokens: 120_000,
    limit: 200_000,
    before: { tokens: 176_000, utilization: 88, messages: 200 },
    after: { tokens: 100_000, utilization: 50, messages: 158 },
    regions_after: [],
    removed_count: 42,
    removed_units: 38,
    shortened_count: 0,
    summary: null,
    freed: 76_312,
    over_budget: null,
    nothing_to_do: null,
    groups: [],
    removed: [],
    shortened: [],
    kept: [],
    cache: {
      saved_per_call: 0,
      rewritten_once: 0,
      break_even_calls: null,
      saved_cost: null,
      rewrite_cost: null,
      cold: false,
      saved_when_cold: null,
      currency: "USD",
    },
    changed: null,
    ...given,
  };
}

/** @param {Partial<Api.Operation>} [given] @returns {Api.Operation} */
export function operation(given = {}) {
  return {
    n: 1,
    kind: "prune",
    actor: "user",
    reason: "manual",
    at: "2026-11-20T10:00:00Z",
    tokens_before: 100,
    tokens_after: 60,
    messages: 0,
    removed: 0,
    shortened: 0,
    summarised: null,
    summary: null,
    freed: 40,
    undone_at: null,
    undoable: true,
    undoes_also: [],
    preset: null,
    strategy: null,
    max_tokens: null,
    ...given,
  };
}

/** @param {Partial<Api.Settings>} [given] @returns {Api.Settings} */
export function settings(given = {}) {
  const own = { weights: null, keywords: null };
  const fields = {
    weights: { recency: 40, role: 30 },
    roles: { user: 0.67 },
    keywords: [{ name: "errors", share: 0.6, words: ["error"] }],
    length_steps: [[1000, 0.5]],
    task_type: "auto",
    task_types: { coding: own, support: own, research: own, chat: own },
    target_percent: 80,
    aim_percent: 60,
    cap_tokens: null,
    strategy: "score",
    automatic: false,
  };
  return /** @type {Api.Settings} */ ({ ...fields, ...given });
}

/** A group of a plan. @param {string} cause @param {number} tokens @param {Partial<Api.PlanGroup>} [given]
 * @returns {Api.PlanGroup} */
export function group(cause, tokens, given = {}) {
  return { cause, label: cause, fate: "goes", messages: 1, tokens, ...given };
}

/** A warm cache. @param {Partial<Api.PromptCache>} [given] @returns {Api.PromptCache} */
export function promptCache(given = {}) {
  const [called_at, cold_at] = ["2026-11-20T12:00:00Z", "2026-11-20T12:05:00Z"];
  return { called_at, cold_at, minutes: 5, cold: false, changed: false, ...given };
}

/** The cost of a prune. @param {Partial<Api.PruneCost>} [given] @returns {Api.PruneCost} */
export function pruneCost(given = {}) {
  return {
    saved_per_call: 20_000,
    rewritten_once: 9_000,
    break_even_calls: 4,
    saved_cost: 0.06,
    rewrite_cost: 0.3,
    saved_when_cold: 0.16,
    cold: false,
    currency: "USD",
    ...given,
  };
}
