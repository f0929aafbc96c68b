"""The context as it is sent to the model: the pruned view within the usable tokens, valid in its wire format.

Thoughts that belong to the context before its last change are left out: newer Claude models refuse them. Faults (a call
without its result) are repaired in the output and reported; the log is not touched. The same state gives the same
bytes; reading changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from scoring.assembly import AssemblyConfig, BuiltContext, Item, Snapshot, build
from scoring.formats import (
    FORMATS,
    is_bound_to_history,
    is_empty,
    native_format,
    with_wire_format,
    without_bound_thoughts,
)
from scoring.history import Features, rated, reads_keywords
from scoring.messages import Message, Text
from scoring.settings import Settings, lexicon_of
from scoring.summary import Summary
from scoring.tokens import TokenCounter, estimate_message_tokens
from webapp.agents import AGENTS
from webapp.errors import refuse_unknown
from webapp.events import Event, SessionDeleted
from webapp.services.context.answers import Context, ContextBudget, ContextSummaries, TooLarge
from webapp.services.context.memory import MemoryService
from webapp.services.context.pruned_view import MessageCache, ViewItem, view_items
from webapp.services.context.sent_order import as_sent
from webapp.services.context.wire_lists import WireList, wire_list
from webapp.services.session.environment import Environment
from webapp.services.session.session import DEFAULT_MODEL, Session
from webapp.services.session.times import iso
from webapp.store.log import MessageRow
from webapp.store.sessions import SessionRow


class ContextService:
    """The use case of asking for the context."""

    def __init__(self, environment: Environment, memory: MemoryService) -> None:
        self._environment, self._store, self._memory = environment, environment.store, memory
        self._cache = MessageCache()
        self._cached: dict[str, int] = {}  # the keys of the sessions that have messages in it
        environment.bus.subscribe(self._on_event)

    def _on_event(self, event: Event) -> None:
        key = self._cached.pop(event.session_id, None) if isinstance(event, SessionDeleted) else None
        if key is not None:
            self._cache.forget(key)

    def get(self, session_id: str, format: str | None = None) -> Context:
        """Return the message list for the next call, with its size and budget.

        Raises:
            NotFound: there is no such session.
            Invalid: there is no such wire format.
            InvalidList: the list cannot be made valid for the format.
        """
        with self._store.read():
            session = Session.load(self._environment, session_id)
            row = session.row
            name = format or _format_of(row)
            refuse_unknown("format", name, FORMATS)
            items = self._items(session)
            if row.wire_format in (None, name):
                _take_flat_texts(items, name)
            built, messages = self._built(session, items, name)
            changed_at = self._changed_at(session)
        sent = wire_list(messages, items, row, name)
        return _answer(session, built, sent, name, changed_at)

    def _changed_at(self, session: Session) -> int:
        """Return when the context last changed; the same state gives the same bytes."""
        row = session.row
        return max(row.created_at, row.last_activity_at, self._store.operations.last_at(row.key))

    def _items(self, session: Session) -> Sequence[ViewItem]:
        """Return the items of the pruned view, without thoughts that belong to the context before its last change."""
        self._cached[session.id] = session.key
        items = as_sent(self._store, session.key, view_items(self._store, session.key, self._cache))
        end = session.state.thoughts_end
        if not end:
            return items
        counter = session.counter
        return [now for one in items if (now := _without_thoughts_until(end, one, counter)) is not None]

    def _built(
        self, session: Session, items: Sequence[ViewItem], name: str
    ) -> tuple[BuiltContext, Sequence[Message]]:
        """Return the assembled context, and its messages behind their system prompt."""
        settings = session.task_settings
        asked = next((s.message for s in reversed(items) if s.message.role == "user"), None)
        memories, learnings = self._memory.relevant(asked, settings.learnings_shown)
        prompt, rest = _prompt(items) if memories or learnings else ("", items)
        config = AssemblyConfig(
            settings=settings,
            usable=session.usable_estimate,
            format=name,
            counter=session.counter,
        )
        sent = _rated(rest, settings) if reads_keywords(settings) else [s.item for s in rest]
        snapshot = Snapshot(sent, memories, learnings, tool_tokens=session.pruned.region("tools"))
        built = build(snapshot, session.row.model or DEFAULT_MODEL, prompt, config)
        if not built.system_prompt:
            return built, built.messages
        if built.system_prompt == prompt:
            return built, (items[0].message, *built.messages)
        return built, (Message("system", (Text(built.system_prompt),)), *built.messages)


def _answer(session: Session, built: BuiltContext, sent: WireList, name: str, changed_at: int) -> Context:
    """Return the encoded list with its sizes as shown."""
    limits, scale = session.limits, session.pruned.scale
    tokens = scale.shown(built.token_estimate)
    return Context(
        messages=sent.messages,
        format=name,
        key=FORMATS[name].key,
        envelope=sent.envelope,
        tokens=tokens,
        certainty=scale.certainty,
        budget=ContextBudget(
            window=limits.window,
            limit=limits.limit,
            target_tokens=limits.target_tokens,
            output_reserve=limits.output_reserve,
            usable=session.usable_shown,
            memory=scale.part(built.budget.memory),
            learnings=scale.part(built.budget.learnings),
        ),
        over_budget=_over(tokens, limits.limit, built, session.usable_shown),
        left_out=list(built.left_out),
        oldest_included_message_id=built.oldest_included_message_id,
        newest_cut=built.newest_cut,
        raw_message_tokens=scale.part(built.raw_message_tokens),
        tool_output_tokens=scale.part(built.tool_output_tokens),
        has_summary=built.has_summary,
        summaries=ContextSummaries(
            tokens=scale.part(built.summary_token_count), left_out=list(built.summaries_left_out)
        ),
        memories=built.memories,
        learnings=built.learnings,
        notes=[*built.notes, *sent.notes],
        version=session.version,
        as_of=iso(changed_at),
    )


def _format_of(row: SessionRow) -> str:
    """Return the format of a session's messages: the first that is unambiguous, else that of its agent or model."""
    known = AGENTS[row.source].wire_format if row.source in AGENTS else native_format(row.model)
    return row.wire_format or known or "openai"


def _take_flat_texts(items: Sequence[ViewItem], name: str) -> None:
    """Treat flat texts that came before the format was known as objects of it, so that they go out unchanged."""
    for one in items:
        if (
            isinstance(one.item, Item)
            and (taken := with_wire_format(one.item.message, name)) is not one.item.message
        ):
            one.item = replace(one.item, message=taken)


def _without_thoughts_until(end: int, one: ViewItem, counter: TokenCounter) -> ViewItem | None:
    """Return an item without its thoughts if it is a message up to number `end`; None if nothing is left of it."""
    item = one.item
    if (
        isinstance(item, Summary)
        or not isinstance(one.row, MessageRow)
        or one.row.no > end
        or not is_bound_to_history(item.message)
    ):
        return one
    message, read = without_bound_thoughts(item.message), item.features
    if is_empty(message):
        return None
    tokens = estimate_message_tokens(message, counter)
    features = (lambda: read()._replace(tokens=tokens)) if read is not None else None
    return ViewItem(replace(item, message=message, tokens=tokens, features=features), one.row)


def _prompt(items: Sequence[ViewItem]) -> tuple[str, Sequence[ViewItem]]:
    """Return the system prompt at the beginning, and the rest; "" and all items if there is no text prompt."""
    if not items or items[0].message.role != "system":
        return "", items
    parts = items[0].message.parts
    if not all(isinstance(part, Text) for part in parts):
        return "", items
    return items[0].message.text, items[1:]


def _over(tokens: int, limit: int, built: BuiltContext, usable: int) -> TooLarge | None:
    """Return the excess over the model's limit or over what is usable; None if the context fits."""
    if tokens > limit:
        message = f"the context takes {tokens:,} tokens, the model accepts {limit:,}"
        return TooLarge(tokens=tokens, limit=limit, message=message)
    if built.over_budget is None:
        return None
    message = f"the context takes {tokens:,} tokens, {usable:,} are usable beside the answer"
    return TooLarge(tokens=tokens, limit=usable, message=message)


def _rated(items: Sequence[ViewItem], settings: Settings) -> list[Item | Summary]:
    """Return the view's items, with keyword ratings by the settings' lists if the stored ones used other lists."""
    lexicon = lexicon_of(settings.keywords)

    def with_rating(item: Item, read: Callable[[], Features]) -> Item:
        return replace(item, features=lambda: rated(read(), item.message, lexicon))

    return [
        with_rating(s.item, s.item.features)
        if isinstance(s.item, Item) and s.item.features and s.untouched
        else s.item
        for s in items
    ]
