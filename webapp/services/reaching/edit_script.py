"""The edit script of a session: what its agent's own process leaves out of a call, or sends shorter (X27).

It says for messages, by the keys under which the agent's process knows them, what the pruned view makes of the agent's
context. A message goes only where all that has its key goes; a call and its result go together, as in every prune. Some
providers refuse a list that begins with the model, so what is left begins with words of the user.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container
from typing import Any

import orjson

from webapp.agents.view import ViewMessage, ViewRow
from webapp.services.session.session import Session
from webapp.services.transfer.transcripts_out import places
from webapp.store.context import AGENT, PRUNED

Key = Callable[[ViewRow], str | None]


def edit_script(session: Session, key_of: Key) -> dict[str, Any]:
    """Return the script: `edits` by key, and a `version` that names exactly them."""
    store, row = session.environment.store, session.row
    edits: dict[str, dict[str, Any]] = {}
    standing: set[str] = set()
    summaries: list[str] = []
    for place in places(store, row, PRUNED):
        if not isinstance(place, ViewMessage):
            summaries.append(place.text)
            continue
        keys = [key for one in place.rows if (key := key_of(one)) is not None]
        standing.update(keys)
        for key in keys[:1]:
            edit = _shortened(place)
            if summaries:
                edit["before"], summaries = summaries, []
            if edit:
                edits[key] = {**edits.get(key, {}), **edit}
    edits |= {key: {"drop": True} for key in _dropped(session, key_of, standing)}
    version = hashlib.blake2b(orjson.dumps(edits, option=orjson.OPT_SORT_KEYS), digest_size=8).hexdigest()
    return {"version": version, "edits": edits}


def _dropped(session: Session, key_of: Key, standing: Container[str]) -> list[str]:
    """Return the keys of what goes; what the user said last before the first message that is left stays with it, where
    that one is the model's.
    """
    gone: list[str] = []
    asked: str | None = None
    begun = False
    for place in places(session.environment.store, session.row, AGENT):
        for one in place.rows if isinstance(place, ViewMessage) else ():
            key, role = key_of(one), one.message.role
            if key is None:
                continue
            if key not in standing:
                gone.append(key)
                asked = key if role == "user" else asked
            elif not begun:
                begun = True
                if role == "assistant" and asked is not None:
                    gone.remove(asked)
    return gone


def _shortened(message: ViewMessage) -> dict[str, Any]:
    """Return what replaces outputs: by call, and the one output of a message that has only one."""
    if not message.results:
        return {}
    outputs = dict(message.results)
    return {"outputs": outputs, **({"output": next(iter(outputs.values()))} if len(outputs) == 1 else {})}
