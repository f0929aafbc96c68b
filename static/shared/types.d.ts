// The shapes of the API that pages use; docs/api.md says what the fields mean. No browser loads this file.
// Written by scripts/document_types.py; `make docs` rewrites it.

declare namespace Api {
  interface Access { role: "operator" | "viewer"; }
  interface Aftermaths {
    kinds: EventCount[]; calls: number; events: WindowMeans; compared: WindowMeans | null;
    elsewhere: WindowMeans | null;
  }
  interface AgentSummary { number: number; tokens: number; at: string | null; }
  interface AnySettings { [field: string]: unknown; }
  interface Applied { operation: Operation; session: Session; event: PruneEvent | null; message: string; }
  interface Archive { messages: Message[]; }
  interface Call { name: string; summary: string; }
  interface Cause { number: number; label: string; tokens: number; }
  interface ChoiceText { name: string; label: string; meaning: string; }
  interface ConfirmedDeletion { sessions: number; }
  interface Copy {
    session_id: string; title: string; origin_id: string; origin_title: string | null; at: string;
    tokens_before: number; tokens_promised: number; tokens_first_call: number | null;
  }
  interface Cost {
    per_call: number | null; per_call_cached: number | null; at_least: boolean; free: boolean; calls: number;
    unreported: number; spent: number | null; spent_at_least: boolean; sub_agents: SubAgentCost | null;
    currency: string;
  }
  interface Covered { messages: number; summaries: number[]; }
  interface DeleteQuery { confirm?: string | null; }
  interface Deliveries { deliveries: Delivery[]; }
  interface Delivery {
    id: number; message_id: string; event: string; session_id: string | null; at: string;
    state: "waiting" | "delivered" | "failed"; tries: number; tried_at: string | null;
    next_try_at: string | null; status: number | null; problem: string;
  }
  interface Detail { field: string; message: string; }
  interface Due { cause: string | null; reason: string; }
  interface Emergency {
    dropped: number; images: number; shortened: number; cut_protected: boolean; note: string;
    available: number;
  }
  interface EmptyBody { }
  interface EventAftermath {
    seen: boolean; files: number; commands: number; errors: number; said: number; tokens: number | null;
    calls: number; complete: boolean;
  }
  interface EventCount { kind: string; events: number; }
  interface Failure { error: Problem; }
  interface FileUpload {
    content: string | unknown[] | Record<string, unknown>; name?: string; format?: string;
    model?: string | null;
  }
  interface Fill { tokens: number; utilization: number; messages: number; }
  interface Gauge {
    tokens: number; utilization: number; certainty: "exact" | "calibrated" | "estimated"; messages: number;
    regions: Region[];
  }
  interface GroupMember { id: string; number: number; }
  interface GroupMembers { members: GroupMember[]; }
  interface GroupQuery { kind: "file" | "tool" | "role" | "repeated"; name?: string; }
  interface Heaviest {
    tokens: number; certainty: "exact" | "calibrated" | "estimated"; groups: HeavyGroup[];
  }
  interface HeavyGroup {
    kind: "file" | "tool" | "role" | "repeated"; name: string; tokens: number; messages: number;
    reads: number; writes: number; edits: number; superseded: number; superseded_tokens: number;
    removable: number;
  }
  interface Hit {
    session_id: string; session_title: string; message_id: string; number: number;
    role: "system" | "user" | "assistant" | "tool"; snippet: string; at: string | null; in_context: boolean;
  }
  interface Imported { imported: (ImportedSession | UnreadableFile)[]; }
  interface ImportedSession {
    session_id: string; title: string | null; source: string; source_label: string; added: number;
    known: number; skipped: number; problems: string[];
  }
  interface Kept {
    id: string; number: number; fate: string; reason: string | null; tokens: number; score: number;
  }
  interface KeywordGroup { name: string; share: number; words: string[]; }
  interface LastSummary { id: number; messages: number; tokens: number; at: string; text: string; }
  interface Learnings { learnings: Memory[]; }
  interface LogEntry { seq: number; id: string; source_id: string | null; }
  interface Memories { memories: Memory[]; }
  interface Memory {
    id: number; text: string; session_id: string | null; message_id: string | null; created_at: string | null;
    updated_at: string | null;
  }
  interface MemoryChange { text: string; }
  interface Message {
    id: string; number: number; role: "system" | "user" | "assistant" | "tool"; kind: string; text: string;
    chars: number; tokens: number; tokens_after: number | null; score: number | null;
    signals: Record<string, number>; contributions: Record<string, number>; unit: number; unit_size: number;
    fate: "kept" | "protected" | "goes" | "shortened" | "out" | "pending"; reason: string | null;
    cause: string; pinned: boolean; drop_first: boolean; shortened: boolean; in_context: boolean;
    operation: number | null; at: string | null; turn: number; calls: Call[]; tool: string | null;
    is_error: boolean; media: number;
  }
  interface MessageFull extends Message {
    parts: Record<string, unknown>[]; sent_parts: Record<string, unknown>[] | null; entries: LogEntry[];
  }
  interface MessagesQuery {
    after?: string | null; offset?: number | null; first?: number | null; last?: number | null;
    tool?: string | null; limit?: number; role?: "system" | "user" | "assistant" | "tool" | null;
    fate?: string | null; q?: string | null; sort?: "newest" | "oldest" | "score" | "tokens" | null;
    plan_id?: string | null; at_once?: boolean; without_parts?: boolean; brief?: boolean;
  }
  interface Model {
    name: string; window: number; input_limit: number | null; output_limit: number | null; encoding: string;
    token_factor: number; input_price: number | null; cached_price: number | null;
    cache_write_price: number | null; output_price: number | null; dearer_above: number | null;
    source: string; date: string; known: boolean; own: boolean; wider: number | null; overridden: boolean;
  }
  interface ModelRow { window?: number | null; input_limit?: number | null; output_limit?: number | null; }
  interface Models { models: Model[]; }
  interface NewMemory { text?: string | null; session_id?: string | null; message_id?: string | null; }
  interface NewSession {
    id?: string | null; title?: string | null; model?: string | null;
    system?: string | Record<string, unknown>[] | null; tools?: Record<string, unknown>[] | null;
    settings?: Record<string, unknown> | null; format?: string | null;
  }
  interface NewWebhook { url: string; events?: string[] | null; secret?: string | null; }
  interface Ok { ok: boolean; }
  interface Operation {
    n: number; kind: "prune" | "pin" | "unpin" | "drop" | "drop_first" | "unmark" | "restore" | "summary" |
    "expand" | "compaction" | "clearing" | "rewind"; actor: "user" | "automatic" | "emergency" | "agent";
    reason: string | null; at: string | null; tokens_before: number; tokens_after: number; messages: number;
    removed: number | null; shortened: number | null; summarised: number | null; summary: number | null;
    freed: number; undone_at: string | null; undoable: boolean; undoes_also: number[]; preset: string | null;
    strategy: string | null; max_tokens: number | null;
  }
  interface OperationFull extends Operation {
    items: OperationItem[]; regions_before: Region[] | null; regions_after: Region[] | null;
  }
  interface OperationItem extends Message { change: string; }
  interface Operations { operations: Operation[]; }
  interface OperationsQuery { kind?: string | null; }
  interface OverBudget {
    protected_tokens: number; max_tokens: number; message: string; usable: number; emergency: boolean;
  }
  interface OverLimit { tokens: number; offered: number; }
  interface OverflowBody { reported?: boolean; }
  interface Page {
    messages: Message[]; total: number; next: string | null; version: number; plan_id: string | null;
    pending: boolean; counts: Record<string, number>; tools: string[];
  }
  interface Parent { id: string; title: string; }
  interface Plan {
    plan_id: string; session_id: string; version: number; strategy: string; preset: string;
    weights: Record<string, number>; weights_of: string | null; fresh_tail: number; own_settings: string[];
    max_tokens: number; aim_tokens: number; limit: number; before: Fill; after: Fill; regions_after: Region[];
    removed_count: number; removed_units: number; shortened_count: number; summary: PlannedSummary | null;
    freed: number; over_budget: OverBudget | null; nothing_to_do: string | null; groups: PlanGroup[];
    removed: Message[]; shortened: Message[]; kept: Kept[]; cache: PruneCost; changed: number | null;
  }
  interface PlanBody {
    max_tokens?: number | null; strategy?: string | null; settings?: Record<string, unknown> | null;
    spare?: string[] | null; drop?: string[] | null; shorten?: string[] | null; compare?: boolean | null;
    brief?: boolean | null;
  }
  interface PlanGroup {
    cause: string; label: string; fate: "goes" | "shortened"; messages: number; tokens: number;
  }
  interface PlannedSummary {
    messages: number; first: number; last: number; covered_tokens: number; most_tokens: number;
    absorbed_tokens: number; by_model: boolean;
  }
  interface Point {
    at: string | null; number: number; agent: number | null; pruned: number; regions: number[];
    cause: Cause | null;
  }
  interface Problem { type: string; message: string; details: Detail[]; }
  interface PromptCache {
    called_at: string; cold_at: string; minutes: number; cold: boolean; changed: boolean;
  }
  interface Proposal {
    text: string; session_id: string; session_title: string; message_id: string; number: number;
    at: string | null;
  }
  interface ProposalText { text: string; }
  interface Proposals { proposals: Proposal[]; }
  interface Proxied {
    prunes: boolean; applied: boolean; reason: string; subscription: boolean; calls: number;
    pruned_calls: number; paid: number | null; unpruned: number | null;
  }
  interface PruneBody { plan_id?: string | null; max_tokens?: number | null; strategy?: string | null; }
  interface PruneCost {
    saved_per_call: number; rewritten_once: number; break_even_calls: number | null;
    saved_cost: number | null; rewrite_cost: number | null; currency: string; cold: boolean;
    saved_when_cold: number | null;
  }
  interface PruneEvent {
    session_id: string; prune_id: number; kind: string; reason: string; original: number; final: number;
    removed: number; removed_ids: string[]; shortened: number; summarised: number; tokenReduction: number;
    utilization: number;
  }
  interface Range { min: number; max: number; step: number; }
  interface RecognisedType { name: string; reason: string; }
  interface Region { name: string; tokens: number; certainty: "exact" | "calibrated" | "estimated"; }
  interface Relieved extends Applied { emergency: Emergency; }
  interface Results { results: Hit[]; total: number; next: number | null; }
  interface ResumeBody { prune?: boolean; max_tokens?: number | null; }
  interface Resumed {
    session_id: string; title: string; path: string; cwd: string; import_command: string[]; command: string[];
    line: string; tokens_before: number; tokens_promised: number; operation: number | null;
  }
  interface Retention {
    limits: RetentionLimits; sessions: number; bytes: number; used_before: string | null;
    next_at: string | null; text: string; named: SessionToDelete[];
  }
  interface RetentionLimits { days: number | null; size_mib: number | null; user_size_mib: number | null; }
  interface Savings {
    tokens: number; calls: number; sessions: number; of_sessions: number; out: number; amount: number | null;
    at_least: boolean; currency: string; aftermath: Aftermaths | null;
  }
  interface SearchQuery {
    q?: string; session?: string | null; role?: "system" | "user" | "assistant" | "tool" | null;
    tool?: string | null; since?: string | null; until?: string | null; after?: number | null;
  }
  interface Session {
    id: string; title: string | null; source: string; source_label: string; why_not_resumed: string | null;
    kind: "followed" | "managed"; model: string | null; model_known: boolean; parent_id: string | null;
    agent_type: string | null; file: string | null; cwd: string | null; user: string | null;
    host: string | null; project: string | null; kept: boolean; state: "idle" | "active" | "warning";
    activity: "working" | "waiting" | "idle" | "stale" | "ended"; window: number; input_limit: number | null;
    limit: number; output_reserve: number; target_percent: number; target_tokens: number; aim_percent: number;
    aim_tokens: number; cap_tokens: number | null; limit_source: string; limit_date: string | null;
    window_assumed: boolean;
    window_kind: "table" | "own" | "reported" | "compaction" | "marker" | "usage" | "remembered" | "usual";
    over_limit: OverLimit | null; agent: Gauge | null; pruned: Gauge; prunes: number; operations: number;
    messages: number; turns: number; created_at: string | null; last_activity: string | null;
    automatic: boolean; cache: PromptCache | null; proxy: Proxied | null; task_type: SessionTaskType;
    strategy: SessionStrategy; growth_per_turn: number | null; turns_left: number | null; verdict: Verdict;
    trend: number[]; notes: string[]; malformed: number; unknown: number; version: number;
  }
  interface SessionChange {
    title?: string | null; model?: string | null; automatic?: boolean | null; window?: number | null;
    settings?: Record<string, unknown> | null; proxy_prunes?: boolean | null; kept?: boolean | null;
  }
  interface SessionLimits { days?: number | null; size_mib?: number | null; user_size_mib?: number | null; }
  interface SessionStrategy { name: string; own: string | null; setting: string; }
  interface SessionTaskType {
    name: string; setting: string; own: boolean; reason: string; looks_like: RecognisedType;
  }
  interface SessionToDelete {
    id: string; title: string; user: string | null; last_activity: string | null; sessions: number;
    bytes: number; reason: "age" | "size" | "user_size";
  }
  interface Sessions { sessions: Session[]; total: number; next: string | null; }
  interface SessionsQuery {
    state?: "idle" | "active" | "warning" | null; source?: string | null; q?: string | null;
    sort?: string | null; limit?: number | null; after?: string | null;
  }
  interface Settings {
    weights: Record<string, number>; roles: Record<string, number>; keywords: KeywordGroup[];
    length_steps: [number, number][]; task_type: string; task_types: TaskTypes; strategy: string;
    target_percent: number; aim_percent: number; cap_tokens: number | null; automatic: boolean;
    minimum_gain_percent: number; wait_for_cold_cache: boolean; fresh_tail: number; user_words_tokens: number;
    user_words_percent: number; user_words_messages_percent: number; guarded_percent: number;
    mark_changed: boolean; stage_duplicates: boolean; stage_superseded: boolean;
    stage_outputs: "off" | "shorten" | "clear"; response_reserve: number; compaction_buffer_tokens: number;
    compaction_buffer_percent: number; windows: "current" | "blueprint";
    counting: "tokenizer" | "four_characters"; auto_summarize: boolean; max_messages_before_summary: number;
    max_tokens_before_summary: number; summary_window_percent: number; min_recent_messages: number;
    summary_percent: number; summary_words: number; memory_percent: number; learnings_percent: number;
    learnings_shown: number; tool_outputs_keep_turns: number; tool_outputs_keep_tokens: number;
    tool_outputs_minimum_gain: number; tool_outputs_exempt: string[]; status_line: boolean;
  }
  interface SettingsDoc {
    settings: Settings; defaults: Settings; presets: Record<string, Settings>; preset: string;
    limits: Record<string, Range>; signals: SignalText[]; choices: Record<string, ChoiceText[]>;
  }
  interface SignalText { name: string; label: string; meaning: string; in_foresight: string; }
  interface Stats extends Status {
    session: Session; items: number; tokens: number; limit: number; utilizationPercent: number;
    needsPruning: boolean; regions: Region[]; cost: Cost | null; parent: Parent | null; copy_of: Copy | null;
    copies: Copy[]; as_of: string;
  }
  interface Status {
    triggers: Trigger[]; due: Due; running: boolean; nothing_to_summarise: string; auto_summarize: boolean;
    made: string; last_summary: LastSummary | null; agent_summary: AgentSummary | null; tool_tokens: number;
    tool_count: number | null; unseen_tokens: number; available: number; line: string; show_line: boolean;
  }
  interface SubAgentCost {
    sessions: number; calls: number; unreported: number; spent: number | null; spent_at_least: boolean;
  }
  interface Suggest { sessions?: string[]; }
  interface Suggestion {
    weights: Record<string, number> | null; present: Record<string, number>; before: number | null;
    after: number | null; held_out: number; sessions: number; cases: number; reason: string;
  }
  interface Summaries { summaries: SummaryAnswer[]; }
  interface Summarised {
    summary: SummaryAnswer | null; operation: Operation | null; session: Session | null; problems: string[];
    running: boolean; started: boolean; message: string;
  }
  interface SummaryAnswer {
    id: number; text: string; note: string; depth: number; messages: number; tokens: number;
    replaced_tokens: number; first_at: string | null; last_at: string | null;
    level: "structured" | "terser" | "deterministic"; model: string | null; cost: number | null;
    covers: Covered; in_context: boolean; at: string | null;
  }
  interface SummaryBody { wait?: boolean | null; }
  interface TaskTypes {
    coding: TypeOverrides; support: TypeOverrides; research: TypeOverrides; chat: TypeOverrides;
  }
  interface Timeline {
    points: Point[]; regions: string[]; changes: TimelineChange[]; elsewhere: WindowMeans | null;
    window_calls: number; limit: number; target: number;
  }
  interface TimelineChange {
    at: string | null; number: number | null; kind: "prune" | "pin" | "unpin" | "drop" | "drop_first" |
    "unmark" | "restore" | "summary" | "expand" | "compaction" | "clearing" | "rewind" | "undo" | "resume";
    before: number; after: number; label: string; aftermath: EventAftermath | null;
  }
  interface TimelineQuery { points?: number; }
  interface Trigger { name: string; value: number; limit: number; percent: number | null; text: string; }
  interface TypeOverrides { weights: Record<string, number> | null; keywords: KeywordGroup[] | null; }
  interface Undone { undone: number[]; restored_ids: string[]; session: Session; message: string; }
  interface UnreadableFile {
    session_id: null; title: string; source: null; source_label: null; added: number; known: number;
    skipped: number; problems: string[];
  }
  interface Verdict {
    kind: "empty" | "over" | "fine" | "clear" | "wait" | "above" | "resume" | "now"; text: string;
    safety: string; urgency: number; action: VerdictAction | null; version: number; priced: boolean;
  }
  interface VerdictAction {
    kind: "prune" | "clear" | "resume" | "export"; label: string; max_tokens: number | null;
  }
  interface Webhook {
    id: number; url: string; events: string[]; active: boolean; created_at: string; waiting: number;
    last: Delivery | null;
  }
  interface WebhookChange { url?: string | null; events?: string[] | null; active?: boolean | null; }
  interface WebhookEvent { name: string; meaning: string; }
  interface WebhookSecret { webhook: Webhook; secret: string; }
  interface Webhooks { webhooks: Webhook[]; events: WebhookEvent[]; }
  interface WindowMeans {
    windows: number; files: number; commands: number; errors: number; said: number; tokens: number | null;
  }
  interface WordsQuery { q?: string; }
  interface Routes {
    "GET /sessions": { query: SessionsQuery; body: never; answer: Sessions; };
    "GET /savings": { query: never; body: never; answer: Savings; };
    "POST /sessions": { query: never; body: NewSession; answer: Session; };
    "PATCH /sessions/{}": { query: never; body: SessionChange; answer: Session; };
    "DELETE /sessions/{}": { query: DeleteQuery; body: never; answer: Ok; };
    "GET /sessions/{}/stats": { query: never; body: never; answer: Stats; };
    "GET /sessions/{}/status": { query: never; body: never; answer: Status; };
    "GET /sessions/{}/verdict": { query: never; body: never; answer: Verdict; };
    "GET /sessions/{}/timeline": { query: TimelineQuery; body: never; answer: Timeline; };
    "GET /sessions/{}/messages": { query: MessagesQuery; body: never; answer: Page; };
    "GET /sessions/{}/messages/{}": { query: never; body: never; answer: MessageFull; };
    "POST /sessions/{}/messages/{}/pin": { query: never; body: EmptyBody; answer: Applied; };
    "POST /sessions/{}/messages/{}/unpin": { query: never; body: EmptyBody; answer: Applied; };
    "POST /sessions/{}/messages/{}/restore": { query: never; body: EmptyBody; answer: Applied; };
    "POST /sessions/{}/messages/{}/drop": { query: never; body: EmptyBody; answer: Applied; };
    "POST /sessions/{}/messages/{}/drop-first": { query: never; body: EmptyBody; answer: Applied; };
    "GET /sessions/{}/heaviest": { query: never; body: never; answer: Heaviest; };
    "GET /sessions/{}/heaviest/members": { query: GroupQuery; body: never; answer: GroupMembers; };
    "GET /sessions/{}/archive": { query: WordsQuery; body: never; answer: Archive; };
    "POST /sessions/{}/plan": { query: never; body: PlanBody; answer: Plan; };
    "POST /sessions/{}/prune": { query: never; body: PruneBody; answer: Applied; };
    "GET /sessions/{}/operations": { query: OperationsQuery; body: never; answer: Operations; };
    "GET /sessions/{}/operations/{}": { query: never; body: never; answer: OperationFull; };
    "POST /sessions/{}/operations/{}/undo": { query: never; body: EmptyBody; answer: Undone; };
    "POST /sessions/{}/overflow": { query: never; body: OverflowBody; answer: Relieved; };
    "GET /memories": { query: WordsQuery; body: never; answer: Memories; };
    "POST /memories": { query: never; body: NewMemory; answer: Memory; };
    "PATCH /memories/{}": { query: never; body: MemoryChange; answer: Memory; };
    "DELETE /memories/{}": { query: never; body: never; answer: Ok; };
    "GET /learnings": { query: WordsQuery; body: never; answer: Learnings; };
    "POST /learnings": { query: never; body: NewMemory; answer: Memory; };
    "PATCH /learnings/{}": { query: never; body: MemoryChange; answer: Memory; };
    "DELETE /learnings/{}": { query: never; body: never; answer: Ok; };
    "GET /sessions/{}/proposals": { query: never; body: never; answer: Proposals; };
    "GET /proposals": { query: never; body: never; answer: Proposals; };
    "POST /proposals/dismiss": { query: never; body: ProposalText; answer: Ok; };
    "POST /proposals/again": { query: never; body: ProposalText; answer: Ok; };
    "GET /sessions/{}/summaries": { query: never; body: never; answer: Summaries; };
    "POST /sessions/{}/summaries/{}/expand": { query: never; body: EmptyBody; answer: Applied; };
    "POST /sessions/{}/summarize": { query: never; body: SummaryBody; answer: Summarised; };
    "POST /sessions/{}/summarize/cancel": { query: never; body: EmptyBody; answer: Ok; };
    "GET /settings": { query: never; body: never; answer: SettingsDoc; };
    "PUT /settings": { query: never; body: AnySettings; answer: SettingsDoc; };
    "POST /settings/suggest": { query: never; body: Suggest; answer: Suggestion; };
    "GET /models": { query: never; body: never; answer: Models; };
    "PUT /models/{}": { query: never; body: ModelRow; answer: Model; };
    "DELETE /models/{}": { query: never; body: never; answer: Ok; };
    "POST /sessions/{}/resume": { query: never; body: ResumeBody; answer: Resumed; };
    "POST /import": { query: never; body: FileUpload | FormData; answer: Imported; };
    "GET /search": { query: SearchQuery; body: never; answer: Results; };
    "POST /demo": { query: never; body: EmptyBody; answer: Session; };
    "GET /retention": { query: never; body: never; answer: Retention; };
    "PUT /retention": { query: never; body: SessionLimits; answer: Retention; };
    "POST /retention/preview": { query: never; body: SessionLimits; answer: Retention; };
    "POST /retention/apply": { query: never; body: ConfirmedDeletion; answer: Retention; };
    "GET /webhooks": { query: never; body: never; answer: Webhooks; };
    "POST /webhooks": { query: never; body: NewWebhook; answer: WebhookSecret; };
    "PATCH /webhooks/{}": { query: never; body: WebhookChange; answer: Webhook; };
    "DELETE /webhooks/{}": { query: never; body: never; answer: Ok; };
    "POST /webhooks/{}/rotate": { query: never; body: EmptyBody; answer: WebhookSecret; };
    "POST /webhooks/{}/test": { query: never; body: EmptyBody; answer: Deliveries; };
    "GET /webhooks/{}/deliveries": { query: never; body: never; answer: Deliveries; };
    "POST /webhooks/{}/deliveries/{}/again": { query: never; body: EmptyBody; answer: Delivery; };
    "GET /access": { query: never; body: never; answer: Access; };
  }
}
