"""Records as JSON, for sending them to another machine, and back."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from scoring.messages import Message, Role, message_from_dict, message_to_dict
from webapp.agents.reading.rows import list_of, object_of
from webapp.agents.records import (
    Cleared,
    Compaction,
    Entry,
    Meta,
    Problem,
    Record,
    Rewind,
    Unknown,
    UsageReport,
)
from webapp.errors import Malformed

KINDS: Mapping[str, type[Record]] = {
    "entry": Entry,
    "compaction": Compaction,
    "rewind": Rewind,
    "cleared": Cleared,
    "usage": UsageReport,
    "meta": Meta,
    "problem": Problem,
    "unknown": Unknown,
}
_NAMES = {kind: name for name, kind in KINDS.items()}
# The raw row of an entry that is not UTF-8.
BINARY = "raw_base64"
# The largest number in a record.
MOST = 2**53 - 1


def record_to_dict(record: Record) -> dict[str, Any]:
    """Return a record as JSON-ready data: `record` names its type; fields at their default are left out."""
    out: dict[str, Any] = {"record": _NAMES[type(record)]}
    for one in fields(record):
        value = getattr(record, one.name)
        if value == one.default and one.name != "raw":
            continue
        if isinstance(value, Message):
            out["message"] = message_to_dict(value)
        elif isinstance(value, bytes):
            out |= _raw(value)
        elif one.name == "replacement":
            out["replacement"] = [record_to_dict(entry) for entry in value]
        elif one.name != "raw":
            out[one.name] = value
    return out


def _raw(raw: bytes) -> dict[str, str]:
    try:
        return {"raw": raw.decode()}
    except UnicodeDecodeError:
        return {BINARY: base64.b64encode(raw).decode()}


def records_to_json(records: list[Record]) -> bytes:
    """Return records as a JSON list; half of a surrogate pair is escaped."""
    data = [record_to_dict(record) for record in records]
    try:
        return orjson.dumps(data)
    except (orjson.JSONEncodeError, TypeError):
        plain = json.dumps(data, default=lambda value: orjson.loads(orjson.dumps(value)))
        return plain.encode("ascii")


def record_from_dict(data: Mapping[str, Any]) -> Record:
    """Return the record that `record_to_dict` wrote.

    Raises:
        Malformed: it is not a record; the message names the field.
    """
    name = data.get("record")
    kind = KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise Malformed(f"unknown record: {str(name)[:40]}; the sender may be newer")
    values = {name: value for name, value in data.items() if name != "record"}
    try:
        if BINARY in values:
            values["raw"] = base64.b64decode(values.pop(BINARY), validate=True)
        if unknown := set(values) - {one.name for one in fields(kind)}:
            raise Malformed(f"unknown field of a record: {min(unknown)[:40]}; the sender may be newer")
        return _read(kind, values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise Malformed(f"bad value for {place} of a record: {first['msg'].lower()}") from error
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise Malformed(f"a record ({name}) cannot be read: {error}") from error


def _read(kind: Any, values: dict[str, Any]) -> Record:
    _refuse_huge(values)
    if kind is Entry:
        message = message_from_dict(values.pop("message"))
        _adapter(Role).validate_python(message.role)
        for part in message.parts:
            of: Any = type(part)
            _adapter(of).validate_json(orjson.dumps(part), strict=True)
        raw = values.pop("raw", None)
        found: Entry = _adapter(Entry).validate_python(values | {"message": message})
        return replace(found, raw=raw if raw is None or isinstance(raw, bytes) else raw.encode())
    if "replacement" in values:
        values["replacement"] = tuple(map(record_from_dict, values["replacement"]))
    record: Record = _adapter(kind).validate_python(values)
    return record


def _refuse_huge(values: Mapping[str, Any]) -> None:
    """Raise ValueError for a number that no store holds, in a record or its usage."""
    usage = object_of(values.get("usage"))
    extra = [value for one in list_of(usage.get("extra_inferences")) for value in object_of(one).values()]
    for value in (*values.values(), *usage.values(), *extra):
        if isinstance(value, int | float) and abs(value) > MOST:
            raise ValueError(f"{value:g} is too large")


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
