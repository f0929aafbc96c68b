"""Appends copies of calls that went through the proxy.

`CallSessions` finds the session of a call, `CallRecords` what is new in it. The real usage counts for what was really
sent: for the context as the client has it, or for the pruned view if the proxy sent that.
"""

from __future__ import annotations

from scoring.tokens import estimate_tool_tokens
from webapp.bodies import ProxiedCall
from webapp.errors import NotFound
from webapp.events import SessionUpdated
from webapp.services.ingest.ingest import Ingest
from webapp.services.proxied.answers import TakenCall
from webapp.services.proxied.billing import bill
from webapp.services.proxied.call_records import CallRecords, tail_of
from webapp.services.proxied.call_sessions import CallSessions
from webapp.services.proxied.followed import FollowedCalls
from webapp.services.proxied.names import clean, id_of, session_in
from webapp.services.proxied.read_calls import ReadCall, read_call, usage_of
from webapp.services.session.environment import Environment
from webapp.services.session.proxy_state import PROXY
from webapp.services.session.session import Session
from webapp.store.sessions import SessionRow


class Calls:
    """Appends calls to their sessions."""

    def __init__(self, environment: Environment, ingest: Ingest, followed: FollowedCalls) -> None:
        self._environment, self._store, self._ingest = environment, environment.store, ingest
        self._followed, self._sessions = followed, CallSessions(environment, ingest, followed)

    def receive(self, call: ProxiedCall, user: str = "") -> TakenCall:
        """Append one call to a session of `user`; without a user, to any session.

        Raises:
            Invalid: such a call holds no conversation.
            Malformed: its request cannot be read.
            Conflict: it names a session of another user.
        """
        read = read_call(call, user)
        name = call.session or id_of(clean(session_in(read.body) or read.conversation))
        own = self._sessions.own(name, read)
        if read.conversation:  # a copy that comes again has the same time
            read = read.after(f"{read.conversation} {call.at}")
        row = self._sessions.session_of(read, name, own)
        if row is None or row.deleted_at is not None:
            return TakenCall(session_id=None, added=0)
        try:
            with self._environment.lock(row.id):
                row = self._store.sessions.get(row.id)
                is_own = row.source == PROXY
                added = self._add(row, read) if is_own else self._followed.receive(row, name, read)
        except NotFound:  # deleted or taken over since it was found
            return self.receive(call, user)
        self._environment.bus.publish(SessionUpdated(row.id))
        return TakenCall(session_id=row.id, added=added)

    def _add(self, row: SessionRow, read: ReadCall) -> int:
        """Append what the session does not have yet; return the number of new messages."""
        after_side_requests = self._sessions.begins_after_side_requests(row, read)
        self._begin(row.id, read)
        if not read.succeeded or self._is_repeated(row, read):
            return 0
        made = CallRecords(self._environment, self._store.sessions.get(row.id), read)
        records, prompt = made.records(after_side_requests=after_side_requests)
        added = len(self._ingest.append_records(row.id, records).nos)
        self._end(row.id, read, prompt)
        return added

    def _is_repeated(self, row: SessionRow, read: ReadCall) -> bool:
        """Return whether a copy of the call came before: it is the last one, or its usage and answer are known.

        The proxy sends a copy again if the server's answer to it was lost.
        """
        if Session.of(self._environment, row).state.proxy.copy == read.copy:
            return True
        if read.reply is None:
            return False
        keys = {*read.keys, *read.reply_keys}
        is_known = len(self._store.log.known(row.key, list(keys))) == len(keys)
        is_counted = self._store.usage.reported_at(row.key, read.reply.call) is not None
        # Some local providers give an id to several calls. A call without its history can repeat no other's messages.
        return (is_known or is_counted) if read.follows else (is_known and is_counted)

    def _begin(self, session_id: str, read: ReadCall) -> None:
        """Note what was sent, before its usage is counted, and the tool definitions where they have changed."""
        call = read.call
        with self._store.write(session_id):
            session = Session.load(self._environment, session_id)
            state = session.state.proxy
            state.reason, state.subscription = call.reason, call.subscription
            if read.succeeded:
                with session.may_switch():
                    state.applied = bool(call.applied)
            if read.succeeded and not read.inherits and read.tools_digest != state.tools:
                tokens = estimate_tool_tokens(read.tools, session.counter) if read.tools else 0
                for context in session.contexts:
                    context.count("tools", tokens - state.tool_tokens, 0)
                state.tools, state.tool_tokens = read.tools_digest, tokens
                session.row.envelope = {"tools": read.tools} if read.tools else None
            session.save()

    def _end(self, session_id: str, read: ReadCall, prompt: str) -> None:
        """Note the session's new end, its system prompt's source id, and the savings of a pruned call."""
        call = read.call
        with self._store.write(session_id):
            session = Session.load(self._environment, session_id)
            session.row.tail_hash = tail_of(self._store.log, session.row, read)
            usage = usage_of(read.reply)
            if usage is not None:
                bill(session, usage, changed=call.applied != session.state.proxy.version)
            session.state.proxy.version = call.applied
            session.state.proxy.prompt, session.state.proxy.copy = prompt, read.copy
            session.save()
