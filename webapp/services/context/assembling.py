"""The context as it is sent to the model: the pruned view within the usable tokens, valid in its wire format.

Messages that arrived in the same format go out as the same objects, without the thoughts that belong to the context
before its last change: newer Claude models refuse them. Faults (a call without its result) are repaired
in the output and reported; the log is not touched. A list that cannot be made valid is refused. The same state gives
the same bytes; reading changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from scoring.assembly import AssemblyConfig, BuiltContext, Item, Snapshot, build
from scoring.errors import InvalidList
from scoring.formats import (
    FORMATS,
    encode,
    is_bound_to_history,
    is_empty,
    native_format,
    validate,
    with_wire_format,
    without_bound_thoughts,
)
from scoring.history import Features, rated, reads_keywords
from scoring.messages import Message, Reasoning, Text
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
from webapp.services.session.environment import Environment
from webapp.services.session.session import DEFAULT_MODEL, Session
from webapp.services.session.times import iso
from webapp.store.log import MessageRow
from webapp.store.sessions import SessionRow

_NUMBER = re.compile(r"^message \d+: ")
# A message is checked between two of these: alone it would begin and end the list.
_ASKED = Message("user", (Text("?"),))


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
        sent = _encoded(messages, items, row, name)
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


class _Encoded(NamedTuple):
    """A message list in a wire format, the other fields of its body, and notes on rewritten messages."""

    messages: list[Any]
    envelope: dict[str, Any]
    notes: list[str]


def _answer(session: Session, built: BuiltContext, sent: _Encoded, name: str, changed_at: int) -> Context:
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


def _encoded(messages: Sequence[Message], items: Sequence[ViewItem], row: SessionRow, name: str) -> _Encoded:
    """Return the messages in a wire format; those that arrived in it go out as they came, if they are valid.

    Raises:
        InvalidList: the list cannot be made valid for the format.
    """
    envelope = _envelope(row, name)
    listed = None if envelope else _as_they_came(messages, items, name)
    known = messages if listed is not None and _as_read(messages, items) else None
    if listed is None:
        listed = encode(messages, name, _into(row, name, envelope))
    places = {id(s.message.wire): n for n, s in enumerate(items) if s.message.wire is not None}
    faults, notes = _faults(listed, name, known), list[str]()
    # If a fault of the list as a whole is left, every message that would be invalid by itself is rewritten.
    for wrong in (set(faults), None):
        if faults:
            rewritten, notes = _rewritten(messages, places, name, wrong)
            envelope = _envelope(row, name)
            listed = encode(rewritten, name, _into(row, name, envelope))
            faults = _faults(listed, name)
    if faults:
        raise InvalidList(validate(listed, name, ready=False))
    return _Encoded(listed, envelope, [*_left_out(messages, places, name), *notes])


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


def _envelope(row: SessionRow, name: str) -> dict[str, Any]:
    """Return the other fields of the body that the session's list came in, if the output has the same format."""
    return dict(row.envelope or {}) if name == row.wire_format or not row.wire_format else {}


def _into(row: SessionRow, name: str, envelope: dict[str, Any]) -> dict[str, Any] | None:
    """Return the envelope that takes the system messages, or None if they stay in the list."""
    bare = row.wire_format in (None, name) and not envelope
    return None if bare and name == "openai" else envelope


def _faults(listed: Sequence[Any], name: str, known: Sequence[Message] | None = None) -> list[str]:
    """Return the problems of a list that is not about to be sent, without the numbers of its messages."""
    return [_NUMBER.sub("", one) for one in validate(listed, name, ready=False, decoded=known)]


def _left_out(messages: Sequence[Message], places: Mapping[int, int], name: str) -> list[str]:
    """Return a note for each message of another format that has no content; thoughts are always left out."""
    return [
        f"message {places[id(m.wire)]}: empty; left out"
        for m in messages
        if m.wire is not None and m.wire.format != name and id(m.wire) in places
        if is_empty(m) and not any(isinstance(p, Reasoning) for p in m.parts)
    ]


def _rewritten(
    messages: Sequence[Message], places: Mapping[int, int], name: str, faults: Container[str] | None
) -> tuple[list[Message], list[str]]:
    """Return the messages, with those that have one of the `faults` rewritten, and a note for each of these.

    `places` has the place in the pruned view of each wire object's message. Without `faults` any fault counts that a
    message has if it is sent alone. A server may answer with objects that it would not accept: an empty list of calls,
    content that is null.
    """
    out, notes = list(messages), list[str]()
    for n, message in enumerate(messages):
        if message.wire is None or message.wire.format != name:
            continue
        plain = message.to_rewrite()
        around = [_ASKED] if faults is not None and 0 < n < len(messages) - 1 else []
        own = _faults(encode([*around, message, *around], name), name)
        new = _faults(encode([*around, plain, *around], name), name)
        wrong = [one for one in own if one not in new and (faults is None or one in faults)]
        if wrong and len(new) <= len(own):
            out[n] = plain
            done = "left out" if is_empty(plain) else "rewritten"
            notes.append(f"message {places.get(id(message.wire), n)}: invalid in {name} ({wrong[0]}); {done}")
    return out, notes


def _as_they_came(messages: Sequence[Message], items: Sequence[ViewItem], name: str) -> list[Any] | None:
    """Return the objects as they arrived, or None unless every message is unchanged and arrived in this format."""
    untouched = {id(s.message) for s in items if s.untouched}
    out: list[Any] = []
    for message in messages:
        if id(message) not in untouched or message.wire is None or message.wire.format != name:
            return None
        out.append(message.wire.value)
    return out


def _as_read(messages: Sequence[Message], items: Sequence[ViewItem]) -> bool:
    """Return True if every message equals its wire object, so that `validate` need not decode the objects."""
    known = {id(s.item.message) for s in items if s.as_read and not isinstance(s.item, Summary)}
    return all(id(message) in known for message in messages)


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
