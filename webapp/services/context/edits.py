"""Edits: what an agent's own process or the proxy changes in the messages of a call, by the keys it knows them by.

This module imports nothing of the server, because the proxy uses it too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypedDict

import orjson


class Edit(TypedDict, total=False):
    """The edit of a message: it is dropped, or summaries come before it and its outputs are replaced.

    `outputs` are by call; `output` is that of a message with a single one.
    """

    drop: bool
    before: list[str]
    outputs: dict[str, str]
    output: str


class EditedRow(NamedTuple):
    """A row of the agent's context: the keys of the messages that hold it, its role, and its edit, {} for none."""

    keys: Sequence[str]
    role: str
    edit: Edit


def edits_by_key(rows: Iterable[EditedRow]) -> dict[str, Edit]:
    """Return the edits of messages by their keys, from those of their rows in the order of the context.

    A message is dropped only if all its rows are. If the first message that is left is the model's and follows no
    summary, the user's last one before it is kept too.
    """
    edits: dict[str, Edit] = {}
    present: set[str] = set()
    summaries: list[str] = []
    rows = list(rows)
    for keys, _, edit in rows:
        if edit.get("drop"):
            continue
        present.update(keys)
        summaries += edit.get("before", ())
        for key in dict.fromkeys(keys):
            own: Edit = {**edit}
            own.pop("before", None)
            if summaries:
                own["before"], summaries = summaries, []
            if own:
                edits[key] = _both(edits.get(key, {}), own)
    begun = {key for key, edit in edits.items() if "before" in edit}
    return edits | {key: {"drop": True} for key in _dropped(rows, present, begun)}


def _dropped(rows: Iterable[EditedRow], present: set[str], summarised: set[str]) -> list[str]:
    """Return the keys that are dropped: none of the `present` ones. The `summarised` ones are right after a summary."""
    gone: list[str] = []
    asked: Sequence[str] = ()
    begun = False
    for keys, role, _ in rows:
        if present.isdisjoint(keys):
            gone += keys
            asked = keys if role == "user" and keys else asked
        elif not begun and role != "system":
            begun = True
            if role == "assistant" and summarised.isdisjoint(keys):
                gone = [key for key in gone if key not in asked]
    return gone


def _both(one: Edit, other: Edit) -> Edit:
    """Return two edits of a message as one: several results can have one key."""
    both: Edit = {**one, **other}
    if "outputs" in one and "outputs" in other:
        both["outputs"] = {**one["outputs"], **other["outputs"]}
    if "before" in one and "before" in other:
        both["before"] = [*one["before"], *other["before"]]
    return both


class EditScript(TypedDict):
    """The edits of a session; `version` names exactly these."""

    version: str
    edits: Mapping[str, Edit]


def script_of(edits: Mapping[str, Edit]) -> EditScript:
    """Return the script with these edits."""
    version = hashlib.blake2b(orjson.dumps(edits, option=orjson.OPT_SORT_KEYS), digest_size=8).hexdigest()
    return {"version": version, "edits": edits}
