"""The edit script of a session: the messages that its agent's own process leaves out of a call, or shortens (X27).

It lists the differences of the pruned view from the agent's context, by the keys under which the agent's process
knows messages. A message is dropped only if everything with its key is dropped; a call and its result go together, as
in every prune. Some providers refuse a list that begins with the model, so the rest begins with a message of the
user.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TypedDict

import orjson

from webapp.agents.view import ViewMessage, ViewRow
from webapp.services.context.transcript_view import places
from webapp.services.session.session import Session
from webapp.store.context import AGENT, PRUNED

# The keys of a row; none if the agent's process has no message of it.
Keys = Callable[[ViewRow], Sequence[str]]


class Edit(TypedDict, total=False):
    """The edit of the message with one key: it is dropped, or summaries come before it and its outputs are replaced.

    `outputs` are by call; `output` is that of a message with a single one.
    """

    drop: bool
    before: list[str]
    outputs: dict[str, str]
    output: str


class EditScript(TypedDict):
    """The edits by key; `version` names exactly these."""

    version: str
    edits: dict[str, Edit]


def edit_script(session: Session, keys_of: Keys) -> EditScript:
    """Return the edit script of a session."""
    store, row = session.environment.store, session.row
    edits: dict[str, Edit] = {}
    present: set[str] = set()
    summaries: list[str] = []
    for place in places(store, row, PRUNED):
        if not isinstance(place, ViewMessage):
            summaries.append(place.text)
            continue
        keys = dict.fromkeys(key for one in place.rows for key in keys_of(one))
        present.update(keys)
        for key in keys:
            edit = _shortened(place)
            if summaries:
                edit["before"], summaries = summaries, []
            if edit:
                edits[key] = _both(edits.get(key, {}), edit)
    begun = {key for key, edit in edits.items() if "before" in edit}
    edits |= {key: {"drop": True} for key in _dropped(session, keys_of, present, begun)}
    return script_of(edits)


def by_one_key(key_of: Callable[[ViewRow], str | None]) -> Keys:
    """Return the keys of an agent's own process, which knows a row by one key at most."""

    def keys_of(row: ViewRow) -> Sequence[str]:
        key = key_of(row)
        return () if key is None else (key,)

    return keys_of


def script_of(edits: dict[str, Edit]) -> EditScript:
    """Return the script with these edits."""
    version = hashlib.blake2b(orjson.dumps(edits, option=orjson.OPT_SORT_KEYS), digest_size=8).hexdigest()
    return {"version": version, "edits": edits}


def _dropped(session: Session, keys_of: Keys, present: set[str], summarised: set[str]) -> list[str]:
    """Return the keys of dropped messages; `present` and `summarised` are those of the ones left, and after a summary.

    If the first message that is left is the model's and follows no summary, the user's last one before it is kept too.
    """
    gone: list[str] = []
    asked: Sequence[str] = ()
    begun = False
    for place in places(session.environment.store, session.row, AGENT):
        for one in place.rows if isinstance(place, ViewMessage) else ():
            keys, role = keys_of(one), one.message.role
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


def _shortened(message: ViewMessage) -> Edit:
    """Return the replacements of outputs: by call, and for a message with a single output by message."""
    if not message.results:
        return {}
    edit: Edit = {"outputs": dict(message.results)}
    if len(edit["outputs"]) == 1:
        [edit["output"]] = edit["outputs"].values()
    return edit
