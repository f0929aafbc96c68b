// The JSON shapes of our API and events, as docs/api.md has them. Types only; nothing here reaches a browser.

export type Certainty = "exact" | "calibrated" | "estimated";
export type RegionName = "system" | "unseen" | "tools" | "summary" | "memory" | "user" | "assistant" | "tool";
export type Fate = "kept" | "protected" | "goes" | "shortened" | "out" | "pending";
export type Role = "system" | "user" | "assistant" | "tool";

export interface Region {
  name: RegionName;
  tokens: number;
  certainty: Certainty;
}

export interface Gauge {
  tokens: number;
  utilization: number;
  certainty: Certainty;
  messages: number;
  regions: Region[];
}

export interface Session {
  id: string;
  title: string | null;
  source: string;
  source_label: string;
  resume_command: string | null;
  kind: "followed" | "managed";
  model: string | null;
  model_known: boolean;
  parent_id: string | null;
  agent_type: string | null;
  file: string | null;
  cwd: string | null;
  state: "idle" | "active" | "warning";
  activity: "working" | "waiting" | "idle" | "stale" | "ended";
  window: number;
  input_limit: number | null;
  limit: number;
  output_reserve: number;
  target_percent: number;
  target_tokens: number;
  aim_percent: number;
  aim_tokens: number;
  limit_source: string;
  limit_date: string;
  agent: Gauge | null;
  pruned: Gauge;
  prunes: number;
  operations: number;
  messages: number;
  turns: number;
  created_at: string | null;
  last_activity: string | null;
  automatic: boolean;
  strategy: { name: string; own: string | null; setting: string };
  task_type: SessionType;
  growth_per_turn: number | null;
  turns_left: number | null;
  trend: number[];
  notes: string[];
  malformed: number;
  unknown: number;
  version: number;
}

export interface Message {
  id: string;
  number: number;
  role: Role;
  kind: string;
  text: string;
  chars: number;
  tokens: number;
  tokens_after: number | null;
  score: number | null;
  signals: Record<string, number>;
  contributions: Record<string, number>;
  unit: number | string | null;
  unit_size: number;
  fate: Fate;
  reason: string | null;
  cause: string;
  pinned: boolean;
  drop_first: boolean;
  shortened: boolean;
  in_context: boolean;
  operation: number | null;
  at: string | null;
  turn: number | null;
  calls: { name: string; summary: string }[];
  tool: string | null;
  is_error: boolean;
  media: number;
}

export interface Part {
  type: "text" | "reasoning" | "tool_call" | "tool_result" | "media" | "file";
  text?: string;
  opaque_chars?: number;
  id?: string;
  call_id?: string;
  name?: string;
  arguments?: string;
  is_error?: boolean;
  kind?: string;
  mime?: string;
  digest?: string;
  size_bytes?: number;
  width?: number;
  height?: number;
  path?: string;
  summary?: string;
  tokens?: number;
  media?: Part[];
}

export interface MessageFull extends Message {
  parts: Part[];
  stands: Part[] | null;
}

export type FilterName = "all" | "kept" | "protected" | "goes" | "shortened" | "out" | "errors";

export interface Page {
  messages: Message[];
  total: number;
  next: string | number | null;
  version: number;
  plan_id: string | null;
  /** No fates yet: they are being worked out. */
  pending: boolean;
  counts: Partial<Record<FilterName, number>>;
}

export interface Amount {
  tokens: number;
  utilization: number;
  messages: number;
}

export interface Plan {
  plan_id: string;
  session_id: string;
  version: number;
  strategy: string;
  preset: string;
  max_tokens: number;
  limit: number;
  before: Amount;
  after: Amount;
  regions_after: Region[];
  removed_count: number;
  removed_units: number;
  shortened_count: number;
  summary: PlannedSummary | null;
  freed: number;
  over_budget: { protected_tokens: number; max_tokens: number; message: string; usable: number; emergency: boolean } | null;
  nothing_to_do: string | null;
  groups: { cause: string; label: string; fate?: "goes" | "shortened"; messages: number; tokens: number }[];
  removed: Message[];
  shortened: Message[];
  kept: { id: string; number: number; fate: Fate; reason: string; tokens: number; score: number | null }[];
  cache: {
    saved_per_call: number;
    rewritten_once: number;
    break_even_calls: number | null;
    saved_cost: number | null;
    rewrite_cost: number | null;
    currency: string;
  } | null;
  changed: number | null;
}

/** A summary before it is written: what it would stand for, and the most that it may take. */
export interface PlannedSummary {
  messages: number;
  first: number;
  last: number;
  covered_tokens: number;
  most_tokens: number;
  absorbed_tokens: number;
  by_model: boolean;
}

export interface Operation {
  n: number;
  kind: string;
  actor: "user" | "automatic" | "agent" | "emergency";
  reason: string;
  at: string;
  tokens_before: number | null;
  tokens_after: number | null;
  messages: number;
  removed: number | null;
  shortened: number | null;
  summarised: number | null;
  summary: number | null;
  freed: number;
  undone_at: string | null;
  undoable: boolean;
  undoes_also: number[];
  preset: string | null;
  strategy: string | null;
  max_tokens: number | null;
}

export interface OperationFull extends Operation {
  items: (Message & { change: string })[];
}

export interface Cost {
  per_call: number;
  per_call_cached: number;
  at_least: boolean;
  calls: number;
  spent: number | null;
  currency: string;
}

export interface Parent {
  id: string;
  title: string;
}

export interface Stats {
  session: Session;
  items: number;
  tokens: number;
  limit: number;
  utilizationPercent: number;
  needsPruning: boolean;
  regions: Region[];
  cost: Cost | null;
  parent: Parent | null;
  as_of: string;
}

export interface Applied {
  operation: Operation;
  session: Session;
  event?: unknown;
  message: string;
}

export interface Undone {
  undone: number[];
  restored_ids: string[];
  session: Session;
  message: string;
}

export interface Timeline {
  points: { at: string | null; number: number; agent: number | null; pruned: number | null }[];
  marks: { at: string | null; number: number | null; kind: string; before: number | null; after: number | null; label: string }[];
  limit: number;
  target: number;
}

export interface Looks {
  name: string;
  reason: string;
}

export interface SessionType {
  name: string;
  setting: string;
  own: boolean;
  reason: string;
  looks_like: Looks;
}

export interface OwnOfType {
  weights: Record<string, number> | null;
  keywords: KeywordGroup[] | null;
}

export interface KeywordGroup {
  name: string;
  share: number;
  words: string[];
}

export interface Settings {
  weights: Record<string, number>;
  roles: Record<string, number>;
  keywords: KeywordGroup[];
  length_steps: [number, number][];
  task_type: string;
  task_types: Record<string, OwnOfType>;
  target_percent: number;
  aim_percent: number;
  cap_tokens: number | null;
  fresh_tail: number;
  user_words_tokens: number;
  user_words_percent: number;
  strategy: string;
  automatic: boolean;
  minimum_gain_percent: number;
  [field: string]: unknown;
}

export interface SettingsDoc {
  settings: Settings;
  defaults: Settings;
  presets: Record<string, Settings>;
  preset: string;
  limits: Record<string, { min?: number; max?: number; step?: number; choices?: string[] }>;
  signals: { name: string; label: string; meaning: string; in_foresight: string }[];
  signals: { name: string; label: string; meaning: string; in_foresight: string }[];
  choices: Record<string, { name: string; label: string; meaning: string }[]>;
}

export interface Suggestion {
  weights: Record<string, number> | null;
  present: Record<string, number>;
  before: number | null;
  after: number | null;
  held_out: number;
  sessions: number;
  cases: number;
  reason: string;
}

export interface Model {
  name: string;
  window: number;
  input_limit: number | null;
  output_limit: number | null;
  source: string;
  date: string;
  overridden?: boolean;
}

export interface Fault {
  field: string;
  message: string;
}

export interface ImportResult {
  imported: {
    session_id: string;
    title: string;
    source: string;
    added: number;
    known: number;
    skipped: number;
    problems: (string | { line?: number | null; reason?: string; message?: string })[];
  }[];
}

export interface Hit {
  session_id: string;
  session_title?: string;
  title?: string;
  message_id?: string;
  id?: string;
  number: number;
  role: Role;
  snippet: string;
  at: string | null;
  in_context?: boolean;
}
