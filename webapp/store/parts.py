"""The parts that are sealed: one number for each part of a session, with which `verify` detects changes by others.

The seal of a part is the XOR of the hashes of its rows, so adding, removing or changing a row costs one or two hashes,
whatever the size of the part. Triggers that only our own connections have, or that only they switch on, record every
row, and the commit writes the seals, so changes of another program do not match them. The hash chain of the log is a
stronger proof for entries; the seals also cover what no other row could prove: what was pinned, what an operation did,
the text that replaces an output, the text of a summary or a memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from math import isfinite
from typing import Any, NamedTuple

import orjson

from webapp.store.keys import SHIFT
from webapp.store.sql import listed

# The session number for the parts that belong to no session.
EVERYWHERE = 0


class Part(NamedTuple):
    """Columns of a table that are sealed together, with one seal for each session.

    `session` is SQL for the session's number, with {0} for a prefix of columns; `subject` begins the text of a fault.
    """

    name: str
    table: str
    session: str
    columns: tuple[str, ...]
    subject: str


def _part(name: str, table: str, session: str, columns: str, subject: str) -> Part:
    return Part(name, table, session, tuple(columns.split()), subject)


_KEYED, _NAMED, _COMMON = f"{{0}}key >> {SHIFT}", "{0}session", str(EVERYWHERE)

PARTS = (
    _part(
        "sessions", "sessions", "{0}key",
        "key id title source kind model parent_id agent_type path cwd wire_format envelope created_at last_activity_at "
        "version next_seq next_no next_operation next_sample last_entry_id tail_hash automatic settings window turns "
        "prunes operations malformed unknown notes state deleted_at",
        "its own row was",
    ),
    _part("list", "sessions", _COMMON, "key id", "the list of sessions was"),
    _part("entries", "entries", _KEYED, "key id message_no", "entries of its log were"),
    _part(
        "messages", "messages", _KEYED,
        "key role kind tokens chars features card is_error turn first_seq last_seq group_key at id",
        "its messages were",
    ),
    _part("flags", "messages", _KEYED, "key pinned drop_first out_operation", "flags of its messages were"),
    _part(
        "context", "context_items", _NAMED, "session view position kind ref stand_in",
        "its context, or a text that replaces an output, was",
    ),
    _part("totals", "totals", _NAMED, "session view region tokens messages", "its totals were"),
    _part(
        "calls", "calls", _NAMED,
        "session call_key seq at model input_tokens output_tokens cached_tokens cache_write_tokens reasoning_tokens "
        "estimated cache_write_hour_tokens answer_tokens service_tier",
        "its reported usage was",
    ),
    _part(
        "operations", "operations", _KEYED,
        "key kind actor reason at seq tokens_before tokens_after messages plan undone_at", "its operations were",
    ),
    _part(
        "items", "operation_items", f"{{0}}operation >> {SHIFT}", "operation no change before detail",
        "the record of what its operations did was",
    ),
    _part(
        "aftermaths", "aftermaths", _NAMED,
        "session event operation windows steps files commands errors said worked tokens complete",
        "its counts of what happened again were",
    ),
    _part("samples", "samples", _KEYED, "key at no agent_tokens view_tokens", "its chart was"),
    _part(
        "summaries", "summaries", _KEYED,
        "key text depth messages tokens replaced_tokens first_at last_at note level model cost covers position "
        "until_no at",
        "its summaries were",
    ),
    _part("answers", "idempotency", _NAMED, "session name digest answer at", "its answers to repeated requests were"),
    _part(
        "memories", "memories", _COMMON, "id kind text session_id message_id created_at updated_at",
        "memories or learnings were",
    ),
    _part(
        "copies", "copies", _COMMON, "session_id origin_id title at tokens_before tokens_promised",
        "copies to resume from were",
    ),
    _part("settings", "settings", _COMMON, "name value", "settings were"),
    _part("models", "model_overrides", _COMMON, "name value", "limits of models were"),
    _part("files", "files", _COMMON, "path session_id position looked_at", "positions in followed files were"),
    _part("tokens", "access_tokens", _COMMON, "key hash name role created_at revoked_at", "tokens were"),
    _part("webhooks", "webhooks", _COMMON, "id url secret events active created_at", "webhooks were"),
    _part(
        "deliveries", "webhook_deliveries", _COMMON,
        "id webhook message_id event session_id at body tries next_at status problem tried_at",
        "the log of webhooks was",
    ),
    _part(
        "access", "access_sessions", _COMMON, "hash token proof server expires_at", "sessions of browsers were"
    ),
)  # fmt: skip


def rows_of(part: Part, session: int | None = None) -> str:
    """Return the query for the rows of a part, with the session's number first: all rows, or those of one session."""
    of = part.session.format("")
    where = "" if session is None else f" WHERE {of} = {session:d}"
    return f"SELECT {of}, {listed(part.columns)} FROM {part.table}{where}"


def digest(values: tuple[Any, ...]) -> int:
    """Return the hash of a row as a signed 64-bit number."""
    if float in map(type, values):  # orjson writes an infinite number as null
        values = tuple(one if type(one) is not float or isfinite(one) else str(one) for one in values)
    text = orjson.dumps(values, default=bytes.hex)
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little", signed=True)


def of_rows(part: Part, rows: Iterable[tuple[Any, ...]]) -> dict[tuple[int, str], int]:
    """Return the seals of these rows of a part (see `rows_of`), by session and part."""
    found: dict[tuple[int, str], int] = {}
    for session, *values in rows:
        owner = session, part.name
        found[owner] = found.get(owner, 0) ^ digest(tuple(values))
    return {owner: value for owner, value in found.items() if value}
