"""Answers about one session: its row of the overview, its gauges, and the operations on its context."""

from __future__ import annotations

from typing import Literal

from scoring.tokens import Certainty
from scoring.verdict import Action, Kind
from webapp.answers import answer
from webapp.services.session.limits import WindowKind
from webapp.store.operations import Actor, OperationKind

State = Literal["idle", "active", "warning"]
Activity = Literal["working", "waiting", "idle", "stale", "ended"]


@answer
class Region:
    """One part of a context window."""

    name: str
    """`system`, `unseen` (not in the transcript), `tools`, `summary`, `memory`, `user`, `assistant` or `tool`."""
    tokens: int
    certainty: Certainty


@answer
class Gauge:
    """The size of a context. The regions add up to `tokens`."""

    tokens: int
    utilization: float
    """Percent of the session's `limit`, with one decimal, not capped at 100."""
    certainty: Certainty
    messages: int
    """Messages and summaries in it."""
    regions: list[Region]


@answer
class RecognisedType:
    """The task type that a session's messages look like."""

    name: str
    """A task type; `any` where none is recognised."""
    reason: str


@answer
class SessionTaskType:
    """The task type that a session is treated as, and why."""

    name: str
    setting: str
    """The setting in force: a task type, `any`, or `auto` for what the session looks like."""
    own: bool
    """True where the setting is this session's own."""
    reason: str
    looks_like: RecognisedType


@answer
class SessionStrategy:
    """The strategy that chooses what a prune of the session keeps."""

    name: str
    own: str | None
    """The session's own choice; null where it follows the common settings."""
    setting: str
    """The choice of the common settings."""


@answer
class OverLimit:
    """A call above the session's limit."""

    tokens: int
    offered: int
    """The smallest usual window that holds it."""


@answer
class VerdictAction:
    """The action that a verdict advises."""

    kind: Action
    """`prune` and `clear` open a plan, `resume` the dialog to resume, `export` the formats of an export."""
    label: str
    """The text of its button."""
    max_tokens: int | None
    """The tokens the plan cuts to; null for the session's aim."""


@answer
class Verdict:
    """The advice on a session's context: one action, or none needed (X18)."""

    kind: Kind
    """`now` and `above` ask for a prune, `resume` for using one; `clear` is worth its price; `fine`, `over` and
    `empty` need nothing; what `wait` advises costs less once the provider's cache is cold."""
    text: str
    """One sentence, with the price judged against the session's own pace."""
    safety: str
    """A sentence on what the action leaves untouched; empty without an action."""
    urgency: int
    """The order of the overview, the highest first, from 0 to 6."""
    action: VerdictAction | None
    version: int
    """The session's version that it was made for."""
    priced: bool
    """False if it depends on a plan that was not made since the session's last change; its price is then an earlier
    one, or missing."""


@answer
class Proxied:
    """A session whose calls go through the proxy (X13)."""

    prunes: bool
    """The switch: calls are to be sent pruned."""
    applied: bool
    """True where the last call was sent pruned; the pruned view is then the session's only context."""
    reason: str
    """The reason the last call was sent unchanged although it should have been pruned; empty otherwise."""
    subscription: bool
    """True where the last call's key is a subscription's, whose calls are never changed."""
    calls: int
    """Calls with reported usage."""
    pruned_calls: int
    paid: float | None
    """The cost of the pruned calls in US dollars at list prices; null before the first with a known price."""
    unpruned: float | None
    """The cost of the same calls as the client sent them, with the cache as warm as it was."""


@answer
class PromptCache:
    """The provider's cache of the context that the last call sent (X26)."""

    called_at: str
    """The time of that call."""
    cold_at: str
    """The time at which the cache expires if no call comes."""
    minutes: int
    """The minutes for which the provider keeps it after a call: 5 or 60."""
    cold: bool
    """True if it has expired, so that the next call writes everything."""
    changed: bool
    """True if the next call differs from the last one before its end, so that it writes a part again anyway."""


@answer
class Session:
    """One session with its sizes and state."""

    id: str
    title: str | None
    source: str
    """The agent that writes the session, `api`, or `import`."""
    source_label: str
    """The source as pages show it."""
    why_not_resumed: str | None
    """The reason no agent can resume from a copy of the session; null if one can."""
    kind: Literal["followed", "managed"]
    model: str | None
    model_known: bool
    """False where the window is assumed because the model is not in the table."""
    parent_id: str | None
    """The session that started this one as a sub-agent."""
    agent_type: str | None
    file: str | None
    """The transcript that is followed."""
    cwd: str | None
    user: str | None
    """The user of a session that another machine pushes; null for one of the server's own machine."""
    host: str | None
    """The machine that pushes the session; null for the server's own."""
    project: str | None
    """The name of the folder that the agent works in."""
    kept: bool
    """True where no limit on age and size deletes the session."""
    state: State
    """`warning` above the target."""
    activity: Activity
    window: int
    """The tokens that the model accepts, input and output together."""
    input_limit: int | None
    """The limit for input, where it is below the window; null where input and output share the window."""
    limit: int
    """The tokens that utilization divides by."""
    output_reserve: int
    target_percent: float
    target_tokens: int
    aim_percent: float
    aim_tokens: int
    """The tokens that a prune cuts to."""
    cap_tokens: int | None
    """The ceiling on the target that the settings or the session set; null for none."""
    limit_source: str
    """The source of the window: the page of a provider, or what the agent, a call or the user showed."""
    limit_date: str | None
    """The day on which the source was read, or showed the window; null where it is unknown."""
    window_assumed: bool
    """True until the agent, a call or the user shows which of the model's windows the session uses."""
    window_kind: WindowKind
    """The source of the window: the `table` of models, the user's `own` value, the agent (`reported`,
    `compaction`, `marker`, `remembered` from another session, `usual` for its default), or `usage`."""
    over_limit: OverLimit | None
    """The call that exceeds the window, where no other window of the model is known; null if all calls fit."""
    agent: Gauge | None
    """The context that the agent really sends; null for a managed session."""
    pruned: Gauge
    """The context with our operations applied."""
    prunes: int
    operations: int
    messages: int
    """Messages in the log, pruned or not."""
    turns: int
    created_at: str | None
    last_activity: str | None
    automatic: bool
    """True where the session is pruned automatically."""
    cache: PromptCache | None
    """Null before the first call with reported usage, and where no price of reading from a cache is known."""
    proxy: Proxied | None
    """The state of its calls through the proxy; null for a session whose calls do not go through it."""
    task_type: SessionTaskType
    strategy: SessionStrategy
    growth_per_turn: int | None
    """Tokens a turn adds, over the last turns; null before the second turn."""
    turns_left: int | None
    """Turns until the target at the present growth; null where it does not grow, or the session has ended."""
    verdict: Verdict
    """The advice for it, with the price of a plan if one is known; `/sessions/<id>/verdict` has it in any case."""
    trend: list[float]
    """Utilization over time, oldest first."""
    notes: list[str]
    malformed: int
    """Lines of the transcript that could not be read."""
    unknown: int
    """Rows of the transcript of an unknown type."""
    version: int
    """Grows with every change; a plan made for an older version is stale."""

    @property
    def main(self) -> Gauge:
        """Return the gauge of the context that the agent really sends; a managed session has only one."""
        return self.agent or self.pruned


@answer
class Operation:
    """A change of a session's context that can be undone, or one by the agent."""

    n: int
    kind: OperationKind
    actor: Actor
    reason: str | None
    at: str | None
    tokens_before: int
    tokens_after: int
    messages: int
    """All messages that it changed."""
    removed: int | None
    """Messages taken out of the context; null in operations of earlier versions."""
    shortened: int | None
    """Messages shortened in it; null in operations of earlier versions."""
    summarised: int | None
    """Messages replaced by a summary."""
    summary: int | None
    """The number of that summary."""
    freed: int
    undone_at: str | None
    undoable: bool
    undoes_also: list[int]
    """Later operations that an undo of this one undoes too."""
    preset: str | None
    strategy: str | None
    max_tokens: int | None


@answer
class PruneEvent:
    """A prune, as `context:pruned` reports it."""

    session_id: str
    prune_id: int
    """The number of the operation."""
    kind: str
    """`prune` or `drop`."""
    reason: str
    """`manual`, `automatic` or `emergency`."""
    original: int
    """The tokens of the context before."""
    final: int
    """The tokens of the context afterwards."""
    removed: int
    removed_ids: list[str]
    shortened: int
    summarised: int
    """Those of the removed messages that a summary covers."""
    tokenReduction: int  # noqa: N815  # the name is part of the interface
    utilization: float
    """Percent of the limit afterwards, with one decimal."""


@answer
class Applied:
    """An operation that was carried out."""

    operation: Operation
    session: Session
    """The session afterwards."""
    event: PruneEvent | None
    """Null for an operation that is not a prune."""
    message: str
