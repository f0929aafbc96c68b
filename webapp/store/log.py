"""The immutable log, and the derived row of every message.

An entry's id hashes the id of the entry before it and the whole content of the entry, so that a changed, lost or added
entry breaks the chain from there on (`verify` recomputes it). The message that an entry belongs to follows from that
and is not hashed. Entries are only ever added; `messages` rows are derived from them and can be rebuilt.
"""

from __future__ import annotations

import hashlib
import sys
import threading
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from scoring.messages import Message, Role, part_from_dict, part_to_dict
from webapp.errors import DamagedStore
from webapp.store.engine import Subject
from webapp.store.keys import SHIFT, bounds, key, number
from webapp.store.sql import insert, listed, upsert

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ID_BYTES = 16
# Below this many bytes, compression costs more than it saves.
PACK_FROM = 200
PACK_LEVEL = 1
# One for all rows: making one takes as long as compressing a row.
_COMPRESSOR, _COMPRESSING = zstd.ZstdCompressor(PACK_LEVEL), threading.Lock()


@dataclass(slots=True)
class EntryRow:
    """One entry as stored. `parts` is JSON text, `raw` unpacked bytes, `at` milliseconds."""

    seq: int
    id: bytes
    message_no: int
    source_id: str | None
    parent: str | None
    group: str | None
    kind: str
    role: Role
    name: str
    parts: str
    raw: bytes | None
    format: str | None
    at: int | None
    model: str | None
    supersedes: int | None

    @property
    def message(self) -> Message:
        """Return the message of this entry, without its wire object."""
        parts = tuple(part_from_dict(part) for part in orjson.loads(self.parts))
        return Message(self.role, parts, self.name)


class MessageRow(NamedTuple):
    """The derived row of one message. `card` has the data for lists: preview, calls, tool, media."""

    no: int
    role: Role
    kind: str
    tokens: int
    chars: int
    features: str
    card: str
    is_error: int
    pinned: int
    drop_first: int
    turn: int
    first_seq: int
    last_seq: int
    group_key: str | None
    at: int | None
    id: bytes
    out_operation: int | None

    @property
    def mid(self) -> str:
        """Return the message's id: its number, which is used to find it, and the id of its first entry."""
        return message_id(self.no, self.id)


def message_id(no: int, entry_id: bytes) -> str:
    """Return the id of a message as the API gives it."""
    return f"{no}-{entry_id.hex()}"


def parse_message_id(mid: str) -> int | None:
    """Return the number in a message's id, None if the id is not one of ours."""
    head = mid.split("-", 1)[0]
    return int(head) if head.isdecimal() and len(head) < 11 and head.isascii() else None


def parts_text(message: Message) -> str:
    """Return the message's parts as they are stored."""
    return orjson.dumps([part_to_dict(part) for part in message.parts]).decode()


def entry_id(previous: bytes | None, row: EntryRow) -> bytes:
    """Return the id of an entry that follows the one with id `previous`."""
    head = orjson.dumps([
        row.kind, row.role, row.name, row.source_id, row.parent, row.group, row.format, row.at, row.model,
        row.supersedes,
    ])  # fmt: skip
    digest = hashlib.blake2b(previous or b"", digest_size=ID_BYTES)
    digest.update(head)
    digest.update(row.parts.encode())
    if row.raw is not None:
        digest.update(b"\0")
        digest.update(row.raw)
    return digest.digest()


def pack(raw: bytes | None) -> bytes | None:
    """Return raw bytes as stored: a letter for the compression, then the content."""
    if raw is None:
        return None
    if len(raw) < PACK_FROM:
        return b"=" + raw
    with _COMPRESSING:
        return b"s" + _COMPRESSOR.compress(raw, _COMPRESSOR.FLUSH_FRAME)


def unpack(stored: bytes | None) -> bytes | None:
    """Return the bytes that `pack` was given, in this version or an earlier one, which compressed with zlib.

    Raises:
        DamagedStore: the stored bytes are no longer those that were written.
    """
    if stored is None:
        return None
    letter, content = stored[:1], stored[1:]
    try:
        if letter == b"s":
            return zstd.decompress(content)
        return zlib.decompress(content) if letter == b"z" else content
    except (zstd.ZstdError, zlib.error) as error:
        raise DamagedStore(
            f"a compressed row is damaged ({error}); `coppice verify` names its session"
        ) from error


ENTRY_COLUMNS = (
    "key", "id", "message_no", "source_id", "parent_source_id", "group_key", "kind", "role", "name", "parts", "raw",
    "format", "at", "model", "supersedes",
)  # fmt: skip
MESSAGE_COLUMNS = ("key", *MessageRow._fields[1:])
_ENTRY, _MESSAGE = listed(ENTRY_COLUMNS), listed(MESSAGE_COLUMNS)
_MESSAGES_IN = f"SELECT {_MESSAGE} FROM messages WHERE key IN ({{}})"


class Log(Subject):
    """Entries and messages of all sessions, found by session number."""

    # -- writing

    def add_entries(self, session: int, rows: Iterable[EntryRow]) -> None:
        """Append entries, whose ids and seqs are already set."""
        self._db.run_many(
            insert("entries", ENTRY_COLUMNS),
            (
                (
                    key(session, r.seq), r.id, r.message_no, r.source_id, r.parent, r.group, r.kind, r.role, r.name,
                    r.parts, pack(r.raw), r.format, r.at, r.model, r.supersedes,
                )
                for r in rows
            ),
        )  # fmt: skip

    def put_messages(self, session: int, rows: Iterable[MessageRow]) -> None:
        """Write the derived rows of new messages and of those with new entries."""
        self._db.run_many(
            upsert("messages", MESSAGE_COLUMNS, keys=1), ((key(session, r.no), *r[1:]) for r in rows)
        )

    def put_features(self, session: int, changes: Iterable[tuple[int, str, str]]) -> None:
        """Replace the features of messages, each (number, old text, new text), if they still have the old text."""
        self._db.run_many(
            "UPDATE messages SET features = ? WHERE key = ? AND features = ?",
            ((after, key(session, no), before) for no, before, after in changes),
        )

    def set_flag(self, session: int, nos: Iterable[int], column: str, value: int | None) -> None:
        """Set `pinned`, `drop_first` or `out_operation` of messages."""
        if column not in {"pinned", "drop_first", "out_operation"}:
            raise ValueError(column)
        self._db.run_many(
            f"UPDATE messages SET {column} = ? WHERE key = ?", ((value, key(session, n)) for n in nos)
        )

    # -- reading entries

    def known(self, session: int, source_ids: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Return the source ids that the session's log has, each with (seq, message number)."""
        sql = (
            f"SELECT source_id, key, message_no FROM entries WHERE source_id IN ({{}}) AND key >> {SHIFT} = ?"
        )
        return {s: (number(k), no) for s, k, no in self._db.rows_in(sql, source_ids, (session,))}

    def entries(self, session: int, first: int, last: int) -> list[EntryRow]:
        """Return entries `first`…`last`, both inclusive, in order of arrival."""
        sql = f"SELECT {_ENTRY} FROM entries WHERE key BETWEEN ? AND ? ORDER BY key"
        return [_entry(row) for row in self._db.rows(sql, (key(session, first), key(session, last)))]

    def entry(self, session: int, seq: int) -> EntryRow | None:
        """Return one entry, or None."""
        return next(iter(self.entries(session, seq, seq)), None)

    def entries_of(self, session: int, row: MessageRow) -> list[EntryRow]:
        """Return the entries that make up a message, without superseded ones."""
        return current(
            e for e in self.entries(session, row.first_seq, row.last_seq) if e.message_no == row.no
        )

    def rows_of(self, session: int, nos: Sequence[int]) -> dict[int, list[EntryRow]]:
        """Return the entries of several messages, by message number; one query for those that follow each other."""
        rows = self.messages(session, nos)
        found: dict[int, list[EntryRow]] = {no: [] for no in rows}
        for first, last in _spans(rows.values()):
            for entry in self.entries(session, first, last):
                if entry.message_no in found:
                    found[entry.message_no].append(entry)
        return {no: current(entries) for no, entries in found.items()}

    # -- reading messages

    def message(self, session: int, no: int) -> MessageRow | None:
        """Return one message, or None."""
        row = self._db.row(f"SELECT {_MESSAGE} FROM messages WHERE key = ?", (key(session, no),))
        return _message(row) if row else None

    def messages(self, session: int, nos: Sequence[int]) -> dict[int, MessageRow]:
        """Return messages by number; unknown numbers are missing."""
        rows = self._db.rows_in(_MESSAGES_IN, [key(session, n) for n in nos])
        return {one.no: one for one in map(_message, rows)}

    def matches(
        self, places: Sequence[tuple[int, int, int]]
    ) -> dict[tuple[int, int, int], tuple[MessageRow, EntryRow]]:
        """Return message and entry at places in any sessions, each (session, seq, message number).

        Places where one of the two is missing are left out.
        """
        found = self._db.rows_in(_MESSAGES_IN, [key(s, no) for s, _, no in places])
        messages = {row[0]: row for row in found}
        read = f"SELECT {_ENTRY} FROM entries WHERE key IN ({{}})"
        entries = {row[0]: row for row in self._db.rows_in(read, [key(s, seq) for s, seq, _ in places])}
        return {
            (s, seq, no): (_message(messages[key(s, no)]), _entry(entries[key(s, seq)]))
            for s, seq, no in places
            if key(s, no) in messages and key(s, seq) in entries
        }

    def last_messages(self, session: int, next_no: int, count: int) -> list[MessageRow]:
        """Return the last `count` messages, oldest first."""
        sql = f"SELECT {_MESSAGE} FROM messages WHERE key BETWEEN ? AND ? ORDER BY key"
        low = key(session, max(0, next_no - count))
        return [_message(row) for row in self._db.rows(sql, (low, key(session, next_no)))]

    def numbers(
        self, session: int, *, newest_first: bool, role: str | None = None, out: bool | None = None,
        error: bool = False, kind: str | None = None,
    ) -> list[int]:  # fmt: skip
        """Return the numbers of messages that meet the conditions, in log order or newest first."""
        where, values = "key BETWEEN ? AND ?", list[Any](bounds(session))
        if role is not None:
            where += " AND role = ?"
            values.append(role)
        if out is not None:
            where += f" AND out_operation IS {'NOT ' if out else ''}NULL"
        if error:
            where += " AND is_error = 1"
        if kind is not None:
            where += " AND kind = ?"
            values.append(kind)
        order = "DESC" if newest_first else "ASC"
        sql = f"SELECT key FROM messages WHERE {where} ORDER BY key {order}"
        return [number(k) for (k,) in self._db.rows(sql, values)]

    def count_errors(self, session: int) -> int:
        """Return the number of messages with an error."""
        sql = "SELECT count(*) FROM messages WHERE key BETWEEN ? AND ? AND is_error = 1"
        return int(self._db.value(sql, bounds(session)))

    def count_before(self, session: int, role: str, at: int) -> int:
        """Return the number of messages of a role from before a time in ms."""
        sql = "SELECT count(*) FROM messages WHERE key BETWEEN ? AND ? AND role = ? AND at < ?"
        return int(self._db.value(sql, (*bounds(session), role, at)))

    def growth(self, session: int) -> list[tuple[int, int, str, str]]:
        """Return (number, tokens, role, kind) of every message in log order."""
        sql = "SELECT key, tokens, role, kind FROM messages WHERE key BETWEEN ? AND ? ORDER BY key"
        return [(number(k), *rest) for k, *rest in self._db.rows(sql, bounds(session))]

    def of_tool(self, session: int, tool: str) -> list[int]:
        """Return the numbers of the calls and results of a tool, in log order."""
        # The name as the card's JSON has it, which most cards lack: those are not read.
        sql = "SELECT key, card FROM messages WHERE key BETWEEN ? AND ? AND replace(card, ?, '') <> card ORDER BY key"
        found = self._db.rows(sql, (*bounds(session), orjson.dumps(tool).decode()))
        return [number(k) for k, card in found if _is_of(tool, orjson.loads(card))]

    def removed_by_us(self, session: int, message: MessageRow) -> bool:
        """Return True if an operation of ours, not the agent, removed the message from the context."""
        if message.out_operation is None:
            return False
        sql = "SELECT actor FROM operations WHERE key = ?"
        return self._db.value(sql, (key(session, message.out_operation),)) not in (None, "agent")


def _is_of(tool: str, card: dict[str, Any]) -> bool:
    """Return whether a card is that of a call or a result of the tool."""
    return card.get("tool") == tool or any(call["name"] == tool for call in card.get("calls", ()))


def _entry(row: tuple[Any, ...]) -> EntryRow:
    values: list[Any] = [number(row[0]), *row[1:10], unpack(row[10]), *row[11:]]
    return EntryRow(*values)


def current(entries: Iterable[EntryRow]) -> list[EntryRow]:
    """Return the entries of one message that no later one supersedes."""
    own = list(entries)
    replaced = {entry.supersedes for entry in own}
    return [entry for entry in own if entry.seq not in replaced]


def _spans(rows: Iterable[MessageRow]) -> list[tuple[int, int]]:
    """Return the first and last seq of each run of messages without a gap between them."""
    spans: list[tuple[int, int]] = []
    for first, last in sorted((row.first_seq, row.last_seq) for row in rows):
        if spans and first <= spans[-1][1] + 1:
            spans[-1] = spans[-1][0], max(last, spans[-1][1])
        else:
            spans.append((first, last))
    return spans


def _message(row: tuple[Any, ...]) -> MessageRow:
    return MessageRow(number(row[0]), *row[1:])
