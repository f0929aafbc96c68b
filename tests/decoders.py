"""Every decoder as a function of bytes, with samples that `odd_values` and `fuzz_decoders` change.

A sample is lines of JSON, or one document over many lines. Other sources are written as lines, too: the rows of a
database with the name of their table, and the events of a provider's answer.
"""

from __future__ import annotations

import atexit
import json
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from scoring.errors import ScoringError
from scoring.messages import Message
from tests.shared import samples
from webapp.agents.opencode import decoder as opencode
from webapp.agents.opencode import files as opencode_files
from webapp.agents.reading.content import Content
from webapp.agents.reading.rows import parse
from webapp.agents.recognise import IMPORTS, recognise
from webapp.agents.records import Record
from webapp.bodies import ProxiedCall
from webapp.errors import CoppiceError
from webapp.proxy.editing import Body, Refused, edited
from webapp.services.ingest.usage_reports import read_usage
from webapp.services.proxied.keys import PROTOCOLS, Protocol
from webapp.services.proxied.read_calls import read_call
from webapp.services.transfer.list_files import read_file

HERE = Path(__file__).parent
OPENCODE = {
    "session": "id parent_id directory title version time_created time_updated",
    "message": "id session_id time_created time_updated data",
    "part": "id message_id session_id time_created time_updated data",
    "session_v2": "id parent_id directory title version time_created time_updated",
    "session_message": "id session_id type seq time_created time_updated data",
}

Found = Sequence[Record | Message]
Decode = Callable[[bytes], Found]


@dataclass(frozen=True)
class Sample:
    """A valid input of a decoder. `rows`: each line is read separately, so a broken one affects no other."""

    name: str
    decoder: str
    data: bytes
    rows: bool = False


def _transcript(source: str, data: bytes) -> Found:
    return list(IMPORTS[source].decode(Content(data)))


def _list(data: bytes) -> Found:
    with suppress(CoppiceError, ScoringError):
        return read_file("a.json", Content(data), None).decoded.messages
    return []


@cache
def _database() -> Path:
    """Return a database with OpenCode's tables of both generations, in memory where the system has files there."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = tempfile.TemporaryDirectory(dir=memory)
    atexit.register(folder.cleanup)
    path = Path(folder.name) / "opencode.db"
    with closing(sqlite3.connect(path)) as db:
        for table, columns in OPENCODE.items():
            db.execute(f"CREATE TABLE {table} ({columns.replace(' ', ', ')})")
    return path


def _opencode(data: bytes) -> Found:
    """Read rows of a database, one in each line, as OpenCode's; rows that no database can hold are left out."""
    path = _database()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA synchronous=OFF")
        db.execute("PRAGMA journal_mode=MEMORY")
        db.execute("BEGIN")
        for table in OPENCODE:
            db.execute(f"DELETE FROM {table}")
        for line in data.split(b"\n"):
            row = parse(line)
            columns = OPENCODE.get(str(row.get("table"))) if isinstance(row, dict) else None
            if isinstance(row, dict) and columns is not None:
                values = [_cell(row.get(name)) for name in columns.split()]
                with suppress(OverflowError, UnicodeEncodeError):
                    db.execute(f"INSERT INTO {row['table']} VALUES ({','.join('?' * len(values))})", values)
        db.execute("COMMIT")
    return [record for file in opencode_files.in_database(path) for record in opencode.read(file, {})]


def _cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict | list) else value


def _call(protocol: Protocol, data: bytes) -> Found:
    """Read a call with its answer, and apply an edit script that removes everything it can.

    The first line is the request; the others are the events of the answer, or its only document.
    """
    call = _call_of(protocol, data)
    with suppress(CoppiceError):
        read = read_call(call)
        with suppress(CoppiceError):
            read_usage(read.reply.usage if read.reply is not None else None)
        _ = read.reply_keys, read.model
    with suppress(Refused):
        body = Body.read(call.request.encode(), protocol)
        for number in (1, 2) if body.keys else ():
            edits = {key: {"drop": True} for key in body.keys[1::number]}
            with suppress(Refused):
                edited(body, edits, body.keys[-1])
    return []


def _call_of(protocol: Protocol, data: bytes) -> ProxiedCall:
    request, *events = data.decode("utf-8", "replace").rstrip("\n").split("\n")
    answer = events[0] if len(events) == 1 else "".join(f"data: {event}\n\n" for event in events)
    return ProxiedCall(
        provider=protocol.provider, path=f"/v1{protocol.end}", session="a", parent=None, status=200, request=request,
        answer=answer, whole=True, at=1, applied="", reason="", subscription=False,
    )  # fmt: skip


def _recognised(data: bytes) -> Found:
    found = recognise(data)
    return DECODERS.get(str(found), _list)(data)


DECODERS: Mapping[str, Decode] = {
    **{source: partial(_transcript, source) for source in IMPORTS},
    opencode_files.SOURCE: _opencode,
    "list": _list,
    **{f"call of {one.format}": partial(_call, one) for one in PROTOCOLS},
    "recognised": _recognised,
}


CALLS = [
    Sample(path.name, f"call of {protocol.format}", path.read_bytes())
    for protocol in PROTOCOLS
    for path in sorted((HERE / "lines").glob(f"{protocol.format}-*.jsonl"))
]


def call_of(sample: Sample, data: bytes) -> ProxiedCall:
    """Return the call that an input of a sample's decoder is."""
    return next(_call_of(one, data) for one in PROTOCOLS if sample.decoder.endswith(one.format))


def all_samples(largest: int) -> Iterator[Sample]:
    """Yield the samples of at most `largest` bytes, for every decoder."""
    for path in samples():
        data = path.read_bytes()
        source = recognise(data)
        if len(data) <= largest and source in IMPORTS:
            yield Sample(path.name, str(source), data, rows=path.suffix == ".jsonl")
    yield from (
        Sample(f"opencode {n}", opencode_files.SOURCE, data) for n, data in enumerate(_opencode_rows(), 1)
    )
    yield from CALLS
    yield from (Sample(f"list of {one.name}", "list", one.data.split(b"\n")[0]) for one in CALLS)


def _opencode_rows() -> Iterator[bytes]:
    """Yield the sessions of the sample tree as rows of the older tables, then a session of the newer ones."""
    tree = HERE / "transcripts" / "opencode" / "opencode" / "storage"
    rows: list[dict[str, Any]] = []
    for path in sorted(tree.rglob("*.json")):
        row = json.loads(path.read_bytes())
        at = row.get("time", {}).get("created", 1)
        about = {"id": row["id"], "time_created": at, "time_updated": at}
        if path.parent.parent.name == "session":
            rows.append(
                {"table": "session", **about, "parent_id": row.get("parentID"), "title": row["title"]}
            )
        else:
            table = path.parent.parent.name
            ids = {"session_id": row.get("sessionID"), "message_id": row.get("messageID")}
            rows.append({"table": table, **about, **ids, "data": row})
    yield "\n".join(map(json.dumps, rows)).encode()
    yield (HERE / "lines" / "opencode-second.jsonl").read_bytes()
