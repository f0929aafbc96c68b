"""Side calls without their session's name: for a title or a summary, by agents that do not say of which session.

Such a call begins no conversation. It has no tools, or its agent says what it is, and its last message quotes the
user's words of the session, which was used lately. It can come before the first call of the session itself.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from scoring.messages import REMINDER, Text
from webapp.events import SessionUpdated
from webapp.services.proxied.keys import ANSWERED
from webapp.services.proxied.names import followed_ids, is_on_the_side
from webapp.services.proxied.read_calls import ReadCall
from webapp.services.proxied.request_contents import texts_of
from webapp.services.session.environment import Environment
from webapp.services.session.proxy_state import PROXY
from webapp.services.session.session import Session
from webapp.services.session.state import may_append
from webapp.store.sessions import SessionRow

# So many sessions are compared, used within this time, by their first and last messages of the user.
LOOKED_AT, RECENT_MS, FIRST_MESSAGES, LAST_MESSAGES = 12, 3_600_000, 8, 24
# Words from this length on are a quote anywhere, shorter ones on lines of their own, which can begin with a label.
TELLING_CHARS, SHORTEST = 24, 8
_TOOLS = "additional_tools"


class SideCalls:
    """Finds the sessions of side calls."""

    def __init__(self, environment: Environment) -> None:
        self._environment, self._store = environment, environment.store

    def may_be(self, read: ReadCall, name: str) -> bool:
        """Return whether a call under a name, or without one, can be a side call of a session with another name."""
        if read.follows or any(ANSWERED in key for key in read.keys):
            return False
        has_tools = bool(read.tools) or any(_is_tools(item) for item in [*read.prompts, *read.items])
        return is_on_the_side(read.body) or not (name or has_tools)

    def session_of(self, read: ReadCall) -> SessionRow | None:
        """Return the recent session whose user's words a side call quotes most of; None where it quotes none."""
        asked, best, most = _said(read), None, 0
        for row in self._recent(read.user):
            is_session = row.deleted_at is None and not Session.of(self._environment, row).state.proxy.aside
            quoted = _quoted(asked, _texts(self._words_of(row))) if is_session else 0
            if quoted > most:
                best, most = row, quoted
        return best

    def note(self, row: SessionRow) -> None:
        """Note of the session made for a side call that its own session is not known yet."""
        with self._store.write(row.id):
            session = Session.load(self._environment, row.id)
            session.state.proxy.aside = True
            session.save()

    def adopt(self, row: SessionRow, read: ReadCall) -> None:
        """List side calls that wait for their session below the one that this call is of, if they quote its words."""
        if Session.of(self._environment, row).state.proxy.aside:
            return
        words: set[str] | None = None  # of a long history, so that they are prepared once, and only if needed
        for one in self._recent(read.user):
            if one.source != PROXY or one.parent_id is not None or one.id == row.id:
                continue
            state = Session.of(self._environment, one).state
            if not state.proxy.aside or state.answers > 1:
                continue
            words = words if words is not None else _texts(_said(read))
            if _quoted(self._words_of(one), words):
                self.list_below(row.id, one)
                self._environment.bus.publish(SessionUpdated(one.id))

    def list_below(self, name: str, row: SessionRow) -> None:
        """List the session of a side call below another one, or below the followed one that took that one over."""
        with self._store.write(row.id):
            found = (self._store.sessions.live(one) for one in (name, *followed_ids(name)))
            above = next((one for one in found if one is not None), None)
            if above is not None and above.id != row.parent_id:
                self._store.sessions.update(row.key, parent_id=above.id)

    def _recent(self, user: str) -> list[SessionRow]:
        rows, _ = self._store.sessions.page(None, LOOKED_AT)
        since = self._environment.clock() - RECENT_MS
        return [row for row in rows if row.last_activity_at >= since and may_append(row, user)]

    def _words_of(self, row: SessionRow) -> list[list[str]]:
        """Return the texts of the user's messages in a session, as far as these are compared."""
        log = self._store.log
        numbers = log.numbers(row.key, newest_first=False, role="user")
        if len(numbers) > FIRST_MESSAGES + LAST_MESSAGES:
            numbers = [*numbers[:FIRST_MESSAGES], *numbers[-LAST_MESSAGES:]]
        found = log.messages(row.key, numbers)
        said = [
            [entry.message for entry in log.entries_of(row.key, found[no])] for no in numbers if no in found
        ]
        own = [[one for one in entries if one.name != REMINDER] for entries in said]
        return [
            [part.text for one in entries for part in one.parts if isinstance(part, Text)] for entries in own
        ]


def _said(read: ReadCall) -> list[list[str]]:
    """Return the texts of the user's messages in a call."""
    own = (item for item in read.items if isinstance(item, dict) and item.get("role") == "user")
    return [texts_of(item.get("content")) for item in own]


def _texts(words: Sequence[Sequence[str]]) -> set[str]:
    """Return the texts of messages as they are compared."""
    return {_unindented(text) for message in words for text in message}


def _quoted(said: Sequence[Sequence[str]], texts: Collection[str]) -> int:
    """Return how many characters of a session's texts the last message of a call quotes, beside other words."""
    asked = _unindented("\n".join(said[-1])) if said else ""
    lines, count = f"\n{asked}\n", 0
    for text in texts:
        is_line = f"\n{text}\n" in lines or f": {text}\n" in lines
        is_there = is_line or (len(text) >= TELLING_CHARS and text in asked)
        if len(text) >= SHORTEST and is_there and (text != asked or len(said) > 1):
            count += len(text)
    return count


def _unindented(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip().split("\n"))


def _is_tools(item: Any) -> bool:
    return isinstance(item, dict) and item.get("type") == _TOOLS
