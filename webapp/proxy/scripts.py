"""The active edit script of each session, and its application to requests.

The server writes a session's script into a file; nothing else is needed from it. The active script is stored in another
file, so that a restarted proxy sends the same prefix. While a tool loop with thoughts runs, a new script waits for its
end, because the model would refuse those thoughts with a different history.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from webapp.agents.hook_runtime import hints
from webapp.proxy.editing import Body, Edits, Refused, edited

log = logging.getLogger(__name__)

OFF = "off"
# Requests kept so that less of the next one must be parsed, one per conversation.
KEPT_BODIES = 32
WAITS = "it waits for the end of the running tool loop, whose thoughts are tied to the present history"


@dataclass(frozen=True, slots=True)
class Active:
    """The active script of a session, and the key of the message before which thoughts are removed."""

    version: str
    edits: Edits
    ended: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The edited request of a session; `data` is None for an unchanged one, with the `reason` if it was to be edited.

    `version` names the script that was applied.
    """

    data: bytes | None = None
    version: str = ""
    reason: str = ""
    session: str = ""


class Scripts:
    """The scripts of all sessions, in a folder that the server writes to."""

    def __init__(self) -> None:
        self.folder = hints.proxy_folder()
        self._folder = Path(self.folder)
        self._read: dict[Path, tuple[int, Mapping[str, Any]]] = {}
        self._active: dict[str, Active | None] = {}
        self._refused: dict[str, str] = {}
        # By the session's name, or without one by the key of the last message.
        self._bodies: OrderedDict[tuple[str, str], Body] = OrderedDict()

    # -- the kill switch

    @property
    def killed(self) -> bool:
        """Return whether pruning is stopped for all sessions."""
        return (self._folder / hints.KILLED).exists()

    @property
    def any(self) -> bool:
        """Return whether any session was ever switched on, so that requests need to be looked at."""
        try:
            return any(name.name.endswith(".edits.json") for name in self._folder.iterdir())
        except OSError:
            return False

    def knows(self, name: str) -> bool:
        """Return whether a session was ever switched on."""
        return self._file(name).exists()

    # -- one request

    def apply(self, name: str, body: Body) -> Outcome:
        """Return the edited request of session `name`; with "", the keys of the messages identify the session."""
        name = name or self._by_keys(body)
        script = self._script(self._file(name)) if name else None
        active = self._active_of(name) if name else None
        if script is None or (not script["prunes"] and active is None):
            return Outcome(session=name)
        try:
            return self._applied(name, script, active, body)
        except Refused as refused:
            return Outcome(reason=str(refused), session=name)

    def before(self, name: str, data: bytes) -> Body | None:
        """Return the kept request that this one continues, or repeats the most; None if there is none.

        That of a named session is its last one. Without a name, the texts of the first messages decide.
        """
        if name:
            return self._bodies.get((name, ""))
        text = data.decode("utf-8", "replace")
        unnamed = [body for (named, _), body in reversed(self._bodies.items()) if not named]
        found = max(unnamed, key=lambda body: body.shared_with(text), default=None)
        return found if found is not None and found.shared_with(text) else None

    def sent(self, name: str, body: Body, before: Body | None) -> None:
        """Keep a request for the next one of its conversation, instead of the request `before` if it continues that."""
        if not name and before is not None and len(body.known) >= len(before.items) - 1:
            self._bodies.pop(("", before.keys[-1]), None)
        key = (name, "" if name else body.keys[-1])
        self._bodies[key] = body
        self._bodies.move_to_end(key)
        if len(self._bodies) > KEPT_BODIES:
            self._bodies.popitem(last=False)

    def refused(self, name: str, version: str) -> None:
        """Stop applying this version: the provider has refused its result."""
        self._refused[name] = version
        self._keep(name, None)

    def _applied(self, name: str, script: Mapping[str, Any], active: Active | None, body: Body) -> Outcome:
        wanted, edits = (script["version"], script["edits"]) if script["prunes"] else (OFF, {})
        if self._refused.get(name) == wanted:
            return Outcome(
                reason="the provider refused this prune; the next one is tried again", session=name
            )
        reason = ""
        if active is None or active.version != wanted:
            known = set(body.keys)
            if active is None and known.isdisjoint(edits):
                return Outcome(session=name)
            if active is not None and active.ended not in known and known.isdisjoint(edits):
                return Outcome(session=name)  # another conversation under the same name
            if body.why_not:
                raise Refused(body.why_not)
            if body.is_thinking:
                reason = WAITS
            else:
                active = Active(wanted, edits, body.keys[body.asked])
                self._keep(name, active)
        if active is None:
            return Outcome(reason=reason, session=name)
        if body.why_not:
            raise Refused(body.why_not)
        text = edited(body, active.edits, active.ended)
        if text is body.text:
            return Outcome(reason=reason, session=name)
        return Outcome(text.encode("utf-8"), active.version, reason, name)

    # -- files

    def _file(self, name: str) -> Path:
        return Path(hints.path(name, hints.EDITS, self.folder))

    def _script(self, path: Path) -> Mapping[str, Any] | None:
        """Return the script in a file as it is now; None if there is no file."""
        try:
            changed = path.stat().st_mtime_ns
            known = self._read.get(path)
            if known is None or known[0] != changed:
                known = self._read[path] = (changed, _checked(orjson.loads(path.read_bytes())))
        except FileNotFoundError:
            self._read.pop(path, None)
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Refused(f"its edit script cannot be read: {error}") from error
        return known[1]

    def _by_keys(self, body: Body) -> str:
        """Return the session whose last message is in the request; of several, the latest one; "" for none."""
        places = {key: i for i, key in enumerate(body.keys)}
        best, found = -1, ""
        for path in self._folder.glob("*.edits.json"):
            try:
                script = self._script(path)
            except Refused:
                continue
            tail = script.get("tail", "") if script is not None else ""
            if script is not None and places.get(tail, -1) > best:
                best, found = places[tail], str(script.get("session", ""))
        return found

    def _active_of(self, name: str) -> Active | None:
        """Return the active script of a session, also one from before a restart."""
        if name not in self._active:
            file = Path(hints.path(name, hints.ACTIVE, self.folder))
            try:
                self._active[name] = _active(orjson.loads(file.read_bytes()))
            except (OSError, ValueError, KeyError, TypeError):  # none, or one that was damaged
                self._active[name] = None
        return self._active[name]

    def _keep(self, name: str, active: Active | None) -> None:
        self._active[name] = active
        stored: dict[str, object] = (
            {"version": active.version, "edits": active.edits, "ended": active.ended} if active else {}
        )
        hints.write(name, hints.ACTIVE, stored, self.folder)


def _active(stored: Mapping[str, Any]) -> Active:
    """Return the active script in a file. Raises KeyError or TypeError if its shape is wrong."""
    version, ended = stored["version"], stored["ended"]
    if not isinstance(version, str) or not isinstance(ended, str):
        raise TypeError("its version or its last message is not a text")
    return Active(version, _checked_edits(stored["edits"]), ended)


def _checked(script: Any) -> Mapping[str, Any]:
    """Return a script after checking its shape. Raises KeyError or TypeError."""
    if not isinstance(script, dict):
        raise TypeError("it is not an object")
    if not isinstance(script["version"], str) or not isinstance(script["prunes"], bool):
        raise TypeError("its version is not a text or its switch is not true or false")
    if not all(isinstance(script.get(name, ""), str) for name in ("tail", "session")):
        raise TypeError("the names of its session and of its last message are not texts")
    _checked_edits(script["edits"])
    return script


def _checked_edits(edits: Any) -> Edits:
    """Return edits after checking their shape. Raises TypeError."""
    if not isinstance(edits, dict) or not all(map(_is_edit, edits.values())):
        raise TypeError("its edits are not as the server writes them")
    return edits


def _is_edit(edit: Any) -> bool:
    """Return whether an edit has the types that the server writes, because what it says is sent to a provider."""
    if not isinstance(edit, dict) or not isinstance(edit.get("drop", False), bool):
        return False
    before, outputs = edit.get("before", []), edit.get("outputs", {})
    if not isinstance(before, list) or not isinstance(outputs, dict):
        return False
    return all(isinstance(text, str) for text in (*before, *outputs.values(), edit.get("output", "")))
