"""Finds the session of each call that went through the proxy, and creates those that are new.

A call that names no session belongs to the one whose messages it repeats. A side request of the client under a
session's name, such as a title or a check, gets a session below it.
"""

from __future__ import annotations

from webapp.errors import Conflict
from webapp.services.ingest.ingest import Ingest
from webapp.services.proxied.call_records import is_echo
from webapp.services.proxied.followed import FollowedCalls
from webapp.services.proxied.keys import ANSWERED, without_repetition
from webapp.services.proxied.names import is_on_the_side, names_of
from webapp.services.proxied.read_calls import ReadCall
from webapp.services.proxied.side_calls import SideCalls
from webapp.services.session.environment import Environment
from webapp.services.session.proxy_state import ID_PREFIX, PROXY
from webapp.services.session.session import Session
from webapp.services.session.state import may_append, origin_of
from webapp.store.sessions import SessionRow


class CallSessions:
    """The sessions of calls."""

    def __init__(self, environment: Environment, ingest: Ingest, followed: FollowedCalls) -> None:
        self._environment, self._store, self._ingest = environment, environment.store, ingest
        self._followed, self._side_calls = followed, SideCalls(environment)

    def own(self, name: str, read: ReadCall) -> SessionRow | None:
        """Return the session that the proxy has for a call under a name, or without one by its messages, if any.

        Raises:
            Conflict: it is of another user.
        """
        row = self._store.sessions.find(name) if name else self._by_keys(read)
        _refuse_foreign(row, read.user)
        return row

    def session_of(self, read: ReadCall, name: str, own: SessionRow | None) -> SessionRow | None:
        """Return the session that a call is appended to, created if it is new; None if it was deleted.

        Raises:
            Conflict: it is of another user.
        """
        marked = is_on_the_side(read.body)  # its first messages can be those of another session
        followed = None if marked else self._followed.session_of(read, name, own)
        if followed is not None:
            row = self._followed_row(followed, own, name, read)
        elif read.succeeded and own is None and self._side_calls.may_be(read, name):
            return self._side_call(read, name)
        else:
            row = self._session(read, name, own) if read.succeeded else own
        if row is not None and read.succeeded:
            self._side_calls.adopt(row, read)
        return row

    def _side_call(self, read: ReadCall, name: str) -> SessionRow | None:
        """Return the session made for a side call, below its session if that is known."""
        above = self._side_calls.session_of(read)
        row = self._make(name or _new_name(read), read, above.id if above is not None else None)
        if row is not None and above is None:
            self._side_calls.note(row)
        elif row is not None and above is not None:
            self._side_calls.list_below(above.id, row)
        return row

    def _session(self, read: ReadCall, name: str, own: SessionRow | None) -> SessionRow | None:
        """Return the session of a call, created if it is new; None if it was deleted."""
        if not name:
            return own or self._make(_new_name(read), read)
        parent = read.call.parent
        if parent is not None:
            above = self._followed.followed(parent, read.user)
            parent = above.id if above is not None else parent
            if above is None:
                self._make(parent, read)
        row = self._make(name, read, parent)
        if row is None or row.deleted_at is not None or not self._is_side_request(row, read):
            return row
        return self._make(f"{row.id}.{read.keys[0][:10]}", read, row.id)

    def _followed_row(
        self, row: SessionRow, own: SessionRow | None, name: str, read: ReadCall
    ) -> SessionRow | None:
        """Return the followed session, or the one below it for a side request."""
        if row.deleted_at is None:
            if own is not None and own.deleted_at is None:
                self._followed.take_over(own, row, name)
            if read.succeeded and self._followed.is_side_request(row, read):
                return self._side_session(f"{name or names_of(row.id)[0]}.{read.keys[0][:10]}", row, read)
        return row

    def _side_session(self, name: str, row: SessionRow, read: ReadCall) -> SessionRow | None:
        """Return the sub-agent of a followed session that a side request is of, or the session made for it."""
        below = self._followed.sub_agent_of(row, read)
        if below is None:
            return self._make(name, read, row.id)
        own = self._store.sessions.live(name)
        if own is not None:
            self._followed.take_over(own, below, "")
        return below

    def _make(self, session_id: str, read: ReadCall, parent: str | None = None) -> SessionRow | None:
        user, above = read.user, self._store.sessions.find(parent) if parent else None
        own = {"owner": user} if user else {}
        row = self._ingest.ensure(
            session_id, PROXY, wire_format=read.protocol.format, model=read.model, parent_id=parent,
            state=origin_of(above) if above is not None else own,
        )  # fmt: skip
        _refuse_foreign(row, user)
        return row

    def _is_side_request(self, row: SessionRow, read: ReadCall) -> bool:
        """Return whether this is a side request of the client under a session's name: a title, a check."""
        tools = Session.of(self._environment, row).state.proxy.tools
        return bool(tools) and tools != read.tools_digest and not self._shares(row, read)

    def begins_after_side_requests(self, row: SessionRow, read: ReadCall) -> bool:
        """Return whether the session has only side requests so far, and this is the conversation's first call."""
        tools = Session.of(self._environment, row).state.proxy.tools
        return bool(row.tail_hash and read.tools and not tools) and not self._shares(row, read)

    def _shares(self, row: SessionRow, read: ReadCall) -> bool:
        return bool(read.follows or self._store.log.known(row.key, read.keys[:1]))

    def _by_keys(self, read: ReadCall) -> SessionRow | None:
        """Return the session that a list without a name continues: by its last message, else the longest branch.

        A first question that was answered before begins another session. A call that follows an answer without
        repeating the history is found by that answer.
        """
        if read.follows:
            answered = self._store.sessions.with_call(PROXY, read.follows)
            own = [row for row in answered if origin_of(row).get("owner", "") == read.user]
            if own:
                return own[-1]
        rows = [
            row
            for row in self._store.sessions.with_entry(read.keys[0])
            if row.source == PROXY and origin_of(row).get("owner", "") == read.user
        ]
        best, best_at = None, 0
        for row in {row.id: row for row in rows}.values():
            tail = without_repetition(row.tail_hash)
            known = self._store.log.known(row.key, list(read.keys))
            shared = next((i for i, key in enumerate(read.keys) if key not in known), len(read.keys))
            if tail in read.keys:
                if len(rows) > 1 and not is_echo(self._store.log, row, read, tail):
                    continue
                shared += len(read.keys)
            elif not any(ANSWERED in key for key in read.keys[:shared]):
                continue
            if shared > best_at:
                best, best_at = row, shared
        return best


def _new_name(read: ReadCall) -> str:
    """Return the id of a session that has no name; a copy that comes again finds the session that it began."""
    return f"{ID_PREFIX}{read.keys[0][:10]}-{read.copy[:6]}"


def _refuse_foreign(row: SessionRow | None, user: str) -> None:
    """Raise Conflict for a session that a user may not append to."""
    if row is not None and not may_append(row, user):
        raise Conflict(f"session {row.id} is not of user {user}; each user appends only to their own")
