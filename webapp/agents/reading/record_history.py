"""The history of a session whose records change in place, to find what is new in it.

Some agents write a record again when it grows. A changed record with the same id is a newer version: an entry
`<name>@<n>` that supersedes the one before. A record that disappeared has left the context.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from scoring.messages import REMINDER, Message, message_to_dict
from webapp.agents.reading.rows import digest, dumps
from webapp.agents.records import Entry, EntryKind, Record, Rewind, Usage, UsageReport


@dataclass(frozen=True)
class HistoryState:
    """The shape of the state that `History` and the facts about a session need. An agent adds what it keeps besides."""

    usage: dict[str, list[int]] = field(default_factory=dict)
    versions: dict[str, tuple[str, int, str]] = field(default_factory=dict)  # name -> source id, n, digest
    summaries: dict[str, list[str]] = field(default_factory=dict)  # summary -> names kept behind it
    live: list[str] = field(default_factory=list)  # names in order
    turns: int = 0
    facts: dict[str, Any] = field(default_factory=dict)


def is_state(value: Any, shape: TypeAdapter[Any]) -> bool:
    """Return whether a stored value has the shape of a state, and the versions of all live messages."""
    try:
        shape.validate_json(orjson.dumps(value), strict=True)
    except (ValidationError, orjson.JSONEncodeError):
        return False
    return all(name in value.get("versions", {}) for name in value.get("live", []))


class History:
    """The messages of one session as they were read. `state` holds all of it, JSON-ready, and can be stored."""

    def __init__(self, state: dict[str, Any]) -> None:
        self._state = state
        self._usage: dict[str, list[int]] = state.setdefault("usage", {})
        self._versions: dict[str, list[Any]] = state.setdefault("versions", {})
        self.summaries: dict[str, list[str]] = state.setdefault("summaries", {})
        self.live: list[str] = state.setdefault("live", [])

    def put(
        self,
        record_id: str,
        said: Iterable[tuple[str, Message]],
        at: datetime | None,
        usage: Usage | None,
        model: str | None,
        raw: bytes | None,
        kind: EntryKind = "message",
    ) -> Iterator[Record]:
        """Yield entries for new or newer messages of a record, and its usage separately if no entry has it."""
        reported, said = False, list(said)
        last = next((name for name, message in reversed(said) if message.role == "assistant"), None)
        for name, message in said:
            made = Entry(message, None, at=at, kind=kind)
            if message.role == "assistant":
                made = replace(made, group=name, model=model)
            if name == last and usage is not None:
                made = replace(made, usage=usage, call_key=record_id)
            for entry in self._entry(name, made, raw):
                reported = reported or entry.usage is not None
                yield entry
        if usage is None or self._usage.get(record_id) == [usage.input_tokens, usage.output_tokens]:
            return
        self._usage[record_id] = [usage.input_tokens, usage.output_tokens]
        if not reported:  # it is the usage of the last answer in the record, as if it had come with that
            before = self.live[: self.live.index(last)] if last in self.live else self.before(record_id)
            end = self.source_of(before[-1]) if before else None
            yield UsageReport(usage, at, record_id, model, "", end)

    def same(self, said: Sequence[tuple[str, Message]]) -> dict[str, str]:
        """Return the live names of messages that a whole list has under new names; of equal ones, the last.

        After a message that is new and not the agent's own, all are new: the user says the same again.
        """
        listed = {name for name, _ in said}
        live = [name for name in self.live if name not in listed]
        found = dict[str, str]()
        for name, message in reversed(said) if live else ():
            mark = _mark(message)
            places = (n for n in range(len(live) - 1, -1, -1) if self._versions[live[n]][2] == mark)
            if not self.knows(name) and (place := next(places, None)) is not None:
                found[name] = live[place]
                del live[place:]
        for n, (name, message) in enumerate(said):
            if name not in found and not self.knows(name) and message.name != REMINDER:
                return {old: found[old] for old, _ in said[:n] if old in found}
        return found

    def _entry(self, name: str, made: Entry, raw: bytes | None) -> Iterator[Entry]:
        mark = _mark(made.message)
        old = self._versions.get(name)
        if old is not None and old[2] == mark:
            return
        number = 1 if old is None else old[1] + 1
        source_id = name if old is None else f"{name}@{number}"
        before = self.source_of(self.live[-1]) if self.live else None
        if old is None:
            self.live.append(name)
        self._versions[name] = [source_id, number, mark]
        supersedes = None if old is None else old[0]
        parent = before if old is None and made.kind == "message" else None  # a summary begins the context
        yield replace(made, source_id=source_id, parent=parent, raw=raw, supersedes=supersedes)

    def bring_back(self, names: Iterable[str]) -> Iterator[Record]:
        """Put messages that had left the context after the live ones."""
        wanted = list(names)
        if self.live[len(self.live) - len(wanted) :] == wanted:
            return
        if missing := [name for name in wanted if name not in self.live]:
            yield from self.cut([*self.live, *missing])

    def source_of(self, name: str) -> str:
        """Return the source id of the newest version of a message."""
        return str(self._versions[name][0])

    def sources(self) -> dict[str, str]:
        """Return the source id of the newest version of each message that was read."""
        return {name: self.source_of(name) for name in self._versions}

    def cut(self, keep: list[str]) -> Iterator[Record]:
        """Make `keep` (known names) the context; yield a rewind if that changes the context."""
        if keep == self.live:
            return
        self.live[:] = keep
        self._state["turns"] = self._state.get("turns", 0) + 1
        ids = tuple(self.source_of(name) for name in keep)
        yield Rewind(ids[-1] if ids else None, f"turn {self._state['turns']}", live=ids)

    def before(self, record_id: str) -> list[str] | None:
        """Return the live names before a record; None if it is not live."""
        for place, name in enumerate(self.live):
            if name == record_id or name.startswith(f"{record_id}:"):
                return self.live[:place]
        return None

    def knows(self, name: str) -> bool:
        """Return whether a message of that name was read."""
        return name in self._versions


def _mark(message: Message) -> str:
    return digest(dumps(message_to_dict(message)).encode(), 8)
