"""Calls of a session whose transcript is followed too: one session, with the transcript's text and the calls' usage.

Nothing of such a call is appended, because the transcript has it. The call adds the exact usage, which transcripts
write down before an answer has ended. A session that the proxy made before the transcript was found is merged into it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from webapp.agents.hook_runtime import hints
from webapp.agents.records import Usage
from webapp.events import Event, MessagesAppended, SessionCreated, SessionDeleted, SessionUpdated
from webapp.services.proxied.billing import bill
from webapp.services.proxied.names import followed_ids, names_of
from webapp.services.proxied.read_calls import ReadCall, usage_of
from webapp.services.proxied.request_contents import LAST_ROWS, RequestContents, TranscriptRow
from webapp.services.session.environment import Environment
from webapp.services.session.histories import Histories
from webapp.services.session.proxy_state import ID_PREFIX, PROXY, active_edits
from webapp.services.session.session import Session
from webapp.services.session.state import may_append, origin_of
from webapp.services.session.stored_messages import whole
from webapp.store.sessions import SessionRow

# Sessions with calls whose usage is remembered, and the last calls of each, whose rows may come later than the call.
SESSIONS_KEPT, CALLS_KEPT = 256, 16
# A call without a known name is compared with the last messages of so many sessions, used within this time.
LOOKED_AT, RECENT_MS = 12, 3_600_000
# A session of the proxy's own is compared so often: its transcript is found by then, or there is none.
COMPARED_CALLS = 4


class FollowedCalls:
    """Finds the followed session of a call, and keeps what the call adds to it."""

    def __init__(self, environment: Environment, histories: Histories) -> None:
        self._environment, self._store, self._histories = environment, environment.store, histories
        # Of each session by the provider's ids of the calls.
        self._usage: OrderedDict[str, OrderedDict[str, Usage]] = OrderedDict()
        self._lock = threading.Lock()
        environment.bus.subscribe(self._on_event)

    def followed(self, name: str, user: str = "") -> SessionRow | None:
        """Return the followed session with a name at the proxy that a user may append to, deleted or not."""
        rows = (self._followed(one, user) for one in followed_ids(name))
        return next((row for row in rows if row is not None), None)

    # -- which session

    def session_of(self, read: ReadCall, name: str, own: SessionRow | None) -> SessionRow | None:
        """Return the followed session of a call, deleted or not; None where none is known.

        `own` is the session that the proxy made for such calls, if there is one.
        """
        user = read.user
        row = self.followed(name, user)
        if name and read.call.parent:
            # It has the parent's cache key, and can begin with the parent's messages.
            return row
        row = row or self._followed(_cache_key(read), user)
        if row is not None or not read.succeeded:
            return row
        if own is not None and Session.of(self._environment, own).state.proxy.calls >= COMPARED_CALLS:
            return None
        return self._by_messages(read)

    def _followed(self, session_id: str, user: str = "") -> SessionRow | None:
        row = self._store.sessions.find(session_id)
        return row if row is not None and _is_transcript(row, user) else None

    def _by_messages(self, read: ReadCall) -> SessionRow | None:
        """Return the recent session whose last messages are in the request."""
        rows, _ = self._store.sessions.page(None, LOOKED_AT)
        since = self._environment.clock() - RECENT_MS
        contents = None
        for row in rows:
            if _is_transcript(row, read.user) and row.last_activity_at >= since:
                contents = contents or RequestContents.of(read.items)
                if contents.continues(self._last(row)):
                    return row
        return None

    def _last(self, row: SessionRow) -> list[TranscriptRow]:
        log = self._store.log
        last = log.last_messages(row.key, row.next_no, LAST_ROWS)
        return [TranscriptRow.of(whole(one.role, log.entries_of(row.key, one))) for one in last]

    def is_side_request(self, row: SessionRow, read: ReadCall) -> bool:
        """Return whether a call under the session's name is not part of its conversation: a title, a check."""
        if read.follows or read.tools_digest == Session.of(self._environment, row).state.proxy.tools:
            return False
        contents = RequestContents.of(read.items)
        last = self._last(row)
        return bool(last) and not any(contents.has(one) for one in last)

    def sub_agent_of(self, row: SessionRow, read: ReadCall) -> SessionRow | None:
        """Return the sub-agent of a followed session that a call under the session's name belongs to, by its messages.

        Some agents do not name the sub-agent in its calls.
        """
        contents = None
        for name in reversed(self._store.sessions.children(row.id)[-LOOKED_AT:]):
            below = self._followed(name, read.user)
            if below is not None and below.deleted_at is None:
                contents = contents or RequestContents.of(read.exchanged)
                if contents.continues(self._last(below)):
                    return below
        return None

    # -- what a call adds

    def receive(self, row: SessionRow, name: str, read: ReadCall) -> int:
        """Keep what a call adds to its session; return 0, the number of messages that it adds."""
        usage = usage_of(read.reply)
        if row.parent_id not in followed_ids(name):  # a call by its parent's name is not sent pruned
            self._note(row.id, name or names_of(row.id)[0], read, usage)
        if usage is not None and read.reply is not None and read.reply.call:
            self._keep(row.id, read.reply.call, usage)
            self._correct(row.id)
        return 0

    def _keep(self, session_id: str, call: str, usage: Usage) -> None:
        """Remember the usage of a call by the provider's id."""
        with self._lock:
            calls = self._usage.setdefault(session_id, OrderedDict())
            self._usage.move_to_end(session_id)
            calls[call] = usage
            if len(calls) > CALLS_KEPT:
                calls.popitem(last=False)
            if len(self._usage) > SESSIONS_KEPT:
                self._usage.popitem(last=False)

    def _note(self, session_id: str, name: str, read: ReadCall, usage: Usage | None) -> None:
        """Note what was sent, and the bill of a pruned call."""
        call = read.call
        with self._store.write(session_id):
            session = Session.load(self._environment, session_id)
            state = session.state.proxy
            state.name, state.reason, state.subscription = name, call.reason, call.subscription
            if read.succeeded:
                with session.may_switch():
                    state.applied = bool(call.applied)
                    state.unapplied = "" if call.applied else active_edits(name, hints.proxy_folder())[0]
                state.tools = state.tools if read.inherits else read.tools_digest
            if usage is not None and state.copy != read.copy:
                bill(session, usage, changed=call.applied != state.version)
                state.version, state.copy = call.applied, read.copy
            session.save()

    def _correct(self, session_id: str) -> None:
        """Put exact usage in place of what the transcript says of the same calls."""
        known = self._usage.get(session_id)
        if known is None or (row := self._store.sessions.live(session_id)) is None:
            return
        with self._store.write(session_id):
            changed = [
                self._store.usage.correct(row.key, call, counts_of(usage)) for call, usage in [*known.items()]
            ]
        if any(changed):
            self._environment.bus.publish(SessionUpdated(session_id))

    def take_over(self, own: SessionRow, row: SessionRow, name: str) -> None:
        """Move state and sub-agents of the session that the proxy made to the followed one, and delete the former."""
        # A call that is being added to the former session is added and billed first.
        with self._environment.lock(own.id), self._store.write():
            if (found := self._store.sessions.live(own.id)) is None:
                return
            former, session = Session.load(self._environment, own.id), Session.load(self._environment, row.id)
            theirs, state = former.state.proxy, session.state.proxy
            for counted in ("calls", "pruned", "paid", "unpruned"):
                setattr(state, counted, getattr(state, counted) + getattr(theirs, counted))
            state.prunes, state.subscription = theirs.prunes or state.prunes, theirs.subscription
            state.tools, state.name, state.full = theirs.tools, name, theirs.full
            state.copy = theirs.copy
            session.save()
            below = self._store.sessions.children(own.id)
            for child in below:
                self._store.sessions.update(self._store.sessions.get(child).key, parent_id=row.id)
            self._store.sessions.remove(found, self._environment.clock())
        self._histories.forget(found.key)
        self._environment.bus.publish(SessionDeleted(own.id), *map(SessionUpdated, (row.id, *below)))

    def _on_event(self, event: Event) -> None:
        if isinstance(event, MessagesAppended):
            self._correct(event.session_id)
        elif isinstance(event, SessionCreated) and not event.session_id.startswith(ID_PREFIX):
            if (row := self._followed(event.session_id)) is None:
                return
            for name in names_of(event.session_id):
                own = self._store.sessions.live(name)
                if own is None or own.source != PROXY:
                    continue
                if origin_of(own).get("owner") == origin_of(row).get("owner"):
                    self.take_over(own, row, name)


def _is_transcript(row: SessionRow, user: str) -> bool:
    """Return whether a session is read from a transcript, and a user may append to it."""
    return row.followed and row.source != PROXY and may_append(row, user)


def _cache_key(read: ReadCall) -> str:
    key = read.body.get("prompt_cache_key")
    return key if isinstance(key, str) else ""


def counts_of(usage: Usage) -> tuple[int, int, int, int, int]:
    """Return the tokens of a call as the store takes them."""
    return (
        usage.input_tokens,
        usage.output_tokens,
        usage.cached_tokens,
        usage.cache_write_tokens,
        usage.cache_write_hour_tokens,
    )
