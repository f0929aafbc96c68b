"""The active edit script of each session, and its application to requests.

The server writes a session's script into a file; nothing else is needed from it. If the transcript of the session is
followed, the edits are by its rows, which are found in the request with which the script takes effect. The active
script, with its edits by the keys of messages, is stored in another file, so that a restarted proxy sends the same
prefix. While a tool loop with thoughts runs, a new script waits for its end, because the model would refuse those
thoughts with a different history.

A session can have several branches: its user edits an earlier message, or two agents continue it. Each has the script
that took effect last in its own history. A script that ends (it is switched off, stopped or refused, or its session is
deleted) is followed by one without edits, because the model refuses the thoughts of a pruned history in the whole one.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from webapp.agents.hook_runtime import hints
from webapp.proxy.editing import Body, Edits, Refused, edited
from webapp.services.proxied.request_contents import TranscriptRow, edits_in, last_of

log = logging.getLogger(__name__)

OFF = "off"
# The active scripts kept of a session: of those that others replaced the newest ones.
BRANCHES = 8
# Requests kept so that less of the next one must be parsed, one per conversation.
KEPT_BODIES = 32
STOPPED = "pruning is stopped for everybody"
REFUSED = "the provider refused this prune; the next one is tried again"


@dataclass(frozen=True, slots=True)
class Active:
    """The active script of a branch, and the key of the message before which thoughts are removed."""

    version: str
    edits: Edits
    ended: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The edited request of a session; `data` is None for an unchanged one, with the `reason` if it was to be edited.

    `version` names the script that was applied, "" for one without edits. `body` is the request if it was edited or a
    script waits, and `was_pruned` says that an earlier request of its branch was sent pruned. `active` is what a
    request that is sent with a waiting script makes active.
    """

    data: bytes | None = None
    version: str = ""
    reason: str = ""
    session: str = ""
    body: Body | None = None
    was_pruned: bool = False
    active: Active | None = None


class Scripts:
    """The scripts of all sessions, in a folder that the server writes to."""

    def __init__(self) -> None:
        self.folder = hints.proxy_folder()
        self._folder = Path(self.folder)
        self._read: dict[Path, tuple[tuple[int, int], Mapping[str, Any]]] = {}
        # By session; the newest one is the last.
        self._active: dict[str, Sequence[Active]] = {}
        self._refused: dict[str, str] = {}
        # By the session's name, or without one by the key of the last message.
        self._bodies: OrderedDict[tuple[str, str], Body] = OrderedDict()
        self._lock = threading.Lock()  # of the requests and active scripts that are kept

    # -- the kill switch

    @property
    def killed(self) -> bool:
        """Return whether pruning is stopped for all sessions."""
        return (self._folder / hints.KILLED).exists()

    @property
    def any(self) -> bool:
        """Return whether any session was ever switched on, so that requests need to be looked at."""
        try:
            found = any(name.name.endswith(".edits.json") for name in self._folder.iterdir())
        except OSError:
            found = False
        return found or bool(self._active)

    def knows(self, name: str) -> bool:
        """Return whether a session was ever switched on."""
        return self._file(name).exists() or bool(self._active_of(name))

    # -- one request

    def apply(self, name: str, body: Body) -> Outcome:
        """Return the edited request of session `name`; with "", the keys of the messages identify the session."""
        name = name or self._by_keys(body)
        if not name:  # the messages of a history at the provider are not here to tell
            return Outcome(reason=body.why_not)
        try:
            script = self._script(self._file(name))
            return self._applied(name, script, body)
        except Refused as refused:
            return Outcome(reason=str(refused), session=name)

    def before(self, name: str, data: bytes) -> Body | None:
        """Return the kept request that this one continues, or repeats the most; None if there is none.

        That of a named session is its last one. Without a name, the texts of the first messages decide.
        """
        if name:
            return self._bodies.get((name, ""))
        text = data.decode("utf-8", "replace")
        with self._lock:
            unnamed = [body for (named, _), body in reversed(self._bodies.items()) if not named]
        found = max(unnamed, key=lambda body: body.shared_with(text), default=None)
        return found if found is not None and found.shared_with(text) else None

    def sent(self, name: str, body: Body, before: Body | None) -> None:
        """Keep a request for the next one of its conversation, instead of the request `before` if it continues that."""
        continues = not name and before is not None and len(body.known) >= len(before.items) - 1
        key = (name, "" if name else body.keys[-1])
        with self._lock:
            if continues and before is not None:
                self._bodies.pop(("", before.keys[-1]), None)
            self._bodies[key] = body
            self._bodies.move_to_end(key)
            if len(self._bodies) > KEPT_BODIES:
                self._bodies.popitem(last=False)

    def whole(self, outcome: Outcome) -> bytes | None:
        """Return what is sent if the provider refuses a pruned request; None for the unchanged one.

        It has the whole history, without thoughts from before the running tool loop if a pruned one led to them.
        """
        body = outcome.body if outcome.was_pruned and outcome.version else None
        if body is None:
            return None
        try:
            text = edited(body, {}, body.keys[body.asked])
        except Refused:
            return None
        return None if text is body.text else text.encode("utf-8")

    def refused(self, outcome: Outcome) -> None:
        """Stop applying the script of a pruned request: the provider has refused its result."""
        name, body = outcome.session, outcome.body
        if not outcome.version:
            return
        self._refused[name] = outcome.version
        with self._lock:
            kept = [one for one in self._active_of(name) if one.version != outcome.version]
            if outcome.was_pruned and body is not None:
                kept.append(Active(OFF, {}, body.keys[body.asked]))
            self._keep(name, kept)

    def at_once(self, outcome: Outcome) -> Outcome | None:
        """Return a request with the script that waits for the end of its tool loop; None if none does.

        Newer models, whose thoughts are tied to the history, take the loop without them, and older ones only with them.
        """
        name, body = outcome.session, outcome.body
        if body is None or outcome.reason != hints.WAITS:
            return None
        try:
            script = self._script(self._file(name))
            version, _ = self._wanted(name, script)
            edits = self._edits(name, version, script, body) or {}
            thinking = body.fields["thinking"].value if "thinking" in body.fields else None
            keeps = isinstance(thinking, dict) and thinking.get("type") == "enabled"
            active = Active(version, edits, body.keys[body.asked if keeps else -1])
            text = edited(body, edits, active.ended)
        except Refused:
            return None
        if not edits or text is body.text:
            return None
        return Outcome(text.encode("utf-8"), version, "", name, body, outcome.was_pruned, active)

    def took(self, outcome: Outcome) -> None:
        """Keep the script of a request that the provider took although its tool loop runs."""
        if outcome.active is not None and outcome.body is not None:
            self._activate(outcome.session, outcome.active, _places(outcome.body))

    def _activate(
        self, name: str, active: Active, places: Mapping[str, int], *, deleted: bool = False
    ) -> None:
        """Make a script the active one of a branch; nothing is kept of what was said in a deleted session."""
        with self._lock:
            others = [one for one in self._active_of(name) if one.ended != active.ended]
            others.sort(key=lambda one: one.ended not in places)  # those that it replaces go first
            if deleted:
                others = [replace(one, edits={}) for one in others]
            self._keep(name, [*others, active])

    def _applied(self, name: str, script: Mapping[str, Any] | None, body: Body) -> Outcome:
        wanted, reason = self._wanted(name, script)
        places = _places(body)
        before = active = _on_branch(self._active_of(name), places)
        is_active = active is not None and active.version == wanted
        edits = None if is_active else self._edits(name, wanted, script, body)
        if active is None and (edits is None or edits.keys().isdisjoint(body.keys)):
            return Outcome(reason=reason or body.why_not, session=name)
        if body.why_not:
            raise Refused(body.why_not)
        if edits is not None:
            if not body.is_thinking:
                active = Active(wanted, edits, body.keys[body.asked])
                self._activate(name, active, places, deleted=script is None)
            elif reason == STOPPED:  # from the next request on
                active = None
            else:
                reason = reason or hints.WAITS
        waiting = body if reason == hints.WAITS else None
        if active is None:
            return Outcome(reason=reason, session=name, body=waiting)
        text = edited(body, active.edits, active.ended)
        if text is body.text:
            return Outcome(reason=reason, session=name, body=waiting)
        version = active.version if active.edits else ""
        return Outcome(text.encode("utf-8"), version, reason, name, body, before is not None)

    def _wanted(self, name: str, script: Mapping[str, Any] | None) -> tuple[str, str]:
        """Return the version of the script to apply, OFF for none, and the reason it is not the session's own."""
        if self.killed:
            return OFF, STOPPED
        if script is None or not script["prunes"]:
            return OFF, ""
        if self._refused.get(name) == script["version"]:
            return OFF, REFUSED
        return script["version"], ""

    def _edits(self, name: str, version: str, script: Mapping[str, Any] | None, body: Body) -> Edits | None:
        """Return a version's edits of a request by the keys of its messages; None if it is not of this conversation.

        A request that does not go on from the rows of the script can go on from an earlier message; what is known of
        that one counts until the transcript has the new branch.
        """
        if script is None or version == OFF:
            return {}
        edits: Edits | None = script["edits"]
        if script["rows"]:
            edits = edits_in(body.contents, body.keys, script["rows"], script["edits"])
        if edits is None:
            edits = next((one.edits for one in self._active_of(name) if one.version == version), None)
        return edits

    # -- files

    def _file(self, name: str) -> Path:
        return Path(hints.path(name, hints.EDITS, self.folder))

    def _script(self, path: Path) -> Mapping[str, Any] | None:
        """Return the script in a file as it is now; None if there is no file."""
        try:
            about = path.stat()
            look = (about.st_mtime_ns, about.st_ino)  # two writes can have one time
            known = self._read.get(path)
            if known is None or known[0] != look:
                known = self._read[path] = (look, _checked(orjson.loads(path.read_bytes())))
        except FileNotFoundError:
            self._read.pop(path, None)
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Refused(f"its edit script cannot be read: {error}") from error
        return known[1]

    def _by_keys(self, body: Body) -> str:
        """Return the session whose last message is in the request; of several, the latest one; "" for none.

        Without one, it is the session whose script took effect last in the request's history, otherwise the one whose
        transcript the request goes on from.
        """
        places = _places(body)
        best, found = -1, ""
        names = dict.fromkeys([*self._active])
        followed: dict[str, Sequence[TranscriptRow]] = {}
        for path in self._folder.glob("*.edits.json"):
            try:
                script = self._script(path)
            except Refused:
                continue
            if script is None:
                continue
            name, tail = script.get("session", ""), script.get("tail", "")
            names[name] = None
            if script["rows"]:
                followed[name] = last_of(script["rows"])
            if tail and places.get(tail, -1) > best:
                best, found = places[tail], name
        if found:
            return found
        active = {name: one for name in names if (one := _on_branch(self._active_of(name), places))}
        if active or not followed:
            return max(active, key=lambda name: places[active[name].ended], default="")
        return next((name for name, last in followed.items() if body.contents.continues(last)), "")

    def _active_of(self, name: str) -> Sequence[Active]:
        """Return the active scripts of a session's branches, also those from before a restart."""
        active = self._active.get(name)
        if active is None:
            file = Path(hints.path(name, hints.ACTIVE, self.folder))
            try:
                stored = orjson.loads(file.read_bytes())
                active = [*map(_active, stored.get("before", ())), _active(stored)]
            # None, or one that was damaged.
            except (OSError, ValueError, KeyError, TypeError, AttributeError):
                return ()
            active = self._active.setdefault(name, active)
        return active

    def _keep(self, name: str, active: Sequence[Active]) -> None:
        """Keep the active scripts of a session's branches, under the lock; the server reads the newest one."""
        active = self._active[name] = active[-BRANCHES:]
        stored = [{"version": one.version, "edits": one.edits, "ended": one.ended} for one in active]
        last: dict[str, object] = {**stored[-1], "before": stored[:-1]} if stored else {"edits": {}}
        hints.write(name, hints.ACTIVE, last, self.folder)


def _places(body: Body) -> dict[str, int]:
    """Return the places of a request's messages by their keys."""
    return {key: i for i, key in enumerate(body.keys)}


def _on_branch(active: Sequence[Active], places: Mapping[str, int]) -> Active | None:
    """Return the script that took effect last in the history of a request; None if none did."""
    found = [one for one in reversed(active) if one.ended in places]
    return max(found, key=lambda one: places[one.ended], default=None)


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
    return {**script, "rows": [TranscriptRow.read(row) for row in script.get("rows", ())]}


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
