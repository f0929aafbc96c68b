"""Appends copies of calls that went through the proxy, and finds the session of each.

A call holds the whole conversation; only messages that the session does not have are appended, then the answer. An
edited conversation continues as a branch. The real usage counts for what was really sent: for the context as the
client has it, or for the pruned view if the proxy sent that.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container
from datetime import datetime

from scoring.formats import system_text
from scoring.messages import Message, Text
from scoring.tokens import estimate_tool_tokens
from webapp.agents.reading.rows import short_title
from webapp.agents.records import Compaction, Entry, Meta, Problem, Record, Rewind, UsageReport
from webapp.errors import Conflict, NotFound
from webapp.events import SessionUpdated
from webapp.services.ingest.ingest import Ingest
from webapp.services.proxied.answers import TakenCall
from webapp.services.proxied.billing import bill
from webapp.services.proxied.call_copy import CallCopy
from webapp.services.proxied.followed import FollowedCalls, names_of
from webapp.services.proxied.keys import AGAIN, ANSWERED, without_repetition
from webapp.services.proxied.names import clean, id_of, session_in
from webapp.services.proxied.read_calls import (
    ReadCall,
    message_of,
    read_call,
    texts_of,
    usage_of,
    words_of,
)
from webapp.services.session.environment import Environment
from webapp.services.session.proxy import ID_PREFIX, PROXY
from webapp.services.session.session import Session
from webapp.services.session.state import may_append, origin_of
from webapp.services.session.stored_messages import whole
from webapp.services.session.times import from_ms
from webapp.store.sessions import SessionRow

PROMPT = "prompt:"
# A copy waits in the proxy's memory while the server is away. The time of a call that is older than this when its copy
# arrives is not trusted: the clock of the proxy's machine may be wrong.
LONGEST_WAIT_MS = 3600 * 1000


class Calls:
    """Appends calls to their sessions."""

    def __init__(self, environment: Environment, ingest: Ingest, followed: FollowedCalls) -> None:
        self._environment, self._store, self._ingest = environment, environment.store, ingest
        self._followed = followed

    def receive(self, call: CallCopy, user: str = "") -> TakenCall:
        """Append one call to a session of `user`; without a user, to any session.

        Raises:
            Invalid: such a call holds no conversation.
            Malformed: its request cannot be read.
            Conflict: it names a session of another user.
        """
        read = read_call(call, user)
        name = call.session or id_of(clean(session_in(read.body) or read.conversation))
        own = self._store.sessions.find(name) if name else self._by_keys(read)
        if read.conversation:  # a copy that comes again has the same time
            read = read.after(f"{read.conversation} {call.at}")
        _refuse_foreign(own, user)
        followed = self._followed.session_of(read, name, own)
        if followed is not None:
            row = self._followed_row(followed, own, name, read)
        else:
            row = self._session(read, name, own) if read.taken else own
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
        after_side_requests = self._begins_after_side_requests(row, read)
        self._begin(row.id, read)
        if not read.taken or self._is_repeated(row, read):
            return 0
        records, prompt = self._records(
            self._store.sessions.get(row.id), read, after_side_requests=after_side_requests
        )
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

    # -- the session

    def _session(self, read: ReadCall, name: str, own: SessionRow | None) -> SessionRow | None:
        """Return the session of a call, created if it is new; None if it was deleted."""
        if not name:
            # A copy that comes again finds the session that it began.
            return own or self._make(f"{ID_PREFIX}{read.keys[0][:10]}-{read.copy[:6]}", read)
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
            if read.taken and self._followed.is_side_request(row, read):
                return self._make(f"{name or names_of(row.id)[0]}.{read.keys[0][:10]}", read, row.id)
        return row

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

    def _begins_after_side_requests(self, row: SessionRow, read: ReadCall) -> bool:
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
                if len(rows) > 1 and not self._is_echo(row, read, tail):
                    continue
                shared += len(read.keys)
            elif not any(ANSWERED in key for key in read.keys[:shared]):
                continue
            if shared > best_at:
                best, best_at = row, shared
        return best

    def _is_echo(self, row: SessionRow, read: ReadCall, key: str) -> bool:
        """Return whether a message equals the one in the log."""
        last = row.tail_hash or ""
        found = self._store.log.known(row.key, [last])
        if last not in found:
            return True
        message = self._store.log.message(row.key, found[last][1])
        if message is None:
            return True
        said = whole(message.role, self._store.log.entries_of(row.key, message))
        came = message_of(read.items[read.keys.index(key)], read.protocol.format)
        if came is not None and came.media and not came.text:
            return True  # a spoken answer comes back as its id alone
        return came is None or words_of(came) == words_of(said)

    # -- what is noted beside the messages

    def _begin(self, session_id: str, read: ReadCall) -> None:
        """Note what was sent, before its usage is counted, and the tool definitions where they have changed."""
        call = read.call
        with self._store.write(session_id):
            session = Session.load(self._environment, session_id)
            state, taken = session.state.proxy, read.taken
            state.reason, state.subscription = call.reason, call.subscription
            if taken:
                state.applied = bool(call.applied)
            if taken and not read.inherits and read.tools_digest != state.tools:
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
            session.row.tail_hash = self._tail(session.row, read)
            usage = usage_of(read.reply)
            if usage is not None:
                bill(session, usage, changed=call.applied != session.state.proxy.version)
            session.state.proxy.version = call.applied
            session.state.proxy.prompt, session.state.proxy.copy = prompt, read.copy
            session.save()

    def _tail(self, row: SessionRow, read: ReadCall) -> str:
        """Return the source id of the last message: the stored answer, else the last message of the request."""
        return self._newest(row, read.reply_keys[-1]) if read.reply_keys else read.keys[-1]

    def _newest(self, row: SessionRow, key: str) -> str:
        """Return the source id under which an answer was stored last."""
        number, name = 1, key
        while self._store.log.known(row.key, [f"{key}{AGAIN}{number + 1}"]):
            number += 1
            name = f"{key}{AGAIN}{number}"
        return name

    # -- the messages

    def _time(self, call: CallCopy) -> datetime:
        """Return the time of a call, bound by the server's own clock."""
        now = self._environment.clock()
        return from_ms(min(now, max(call.at, now - LONGEST_WAIT_MS)))

    def _records(
        self, row: SessionRow, read: ReadCall, *, after_side_requests: bool
    ) -> tuple[list[Record], str]:
        """Return the records of a call that the session does not have yet, and the source id of its system prompt."""
        at, keys, end = self._time(read.call), read.keys, self._end_before(row, read)
        known = self._store.log.known(row.key, [*keys, *read.reply_keys])
        parent = end or (row.tail_hash if read.follows else None)
        digest, words = _prompt(read)
        prompt = before = Session.of(self._environment, row).state.proxy.prompt
        records: list[Record] = []
        title = None if after_side_requests else row.title
        if read.model != row.model or title is None:
            records.append(Meta(model=read.model, title=title or _title(read)))
        if after_side_requests:
            records.append(Rewind(None, f"{keys[-1]}:{row.version}"))
        else:
            records += self._rewind(row, read, known, before, end)
        if words and not before.startswith(digest):
            prompt = f"{digest}@{row.next_seq}"
            records.append(Entry(Message("system", (Text(words),)), prompt, supersedes=before or None))
        records += self._echo(row, read)
        for i, (key, item) in enumerate(zip(keys, read.items, strict=True)):
            if key not in known:
                message = message_of(item, read.protocol.format)
                if message is None:
                    records.append(Problem(i, "a message of a request could not be read"))
                else:
                    records.append(Entry(message, key, keys[i - 1] if i else parent, at=at, model=read.model))
        return records + self._answer(row, read, known), prompt

    def _end_before(self, row: SessionRow, read: ReadCall) -> str | None:
        """Return the source id of the last message of the answer that a call follows without repeating the history."""
        at = self._store.usage.reported_at(row.key, read.follows) if read.follows else None
        entry = self._store.log.entry(row.key, at - 1) if at else None
        return entry.source_id if entry is not None else None

    def _up_to(self, row: SessionRow, end: str | None) -> list[str]:
        """Return the source ids of a conversation up to the message `end`, in order."""
        ids: dict[str, None] = {}
        while end is not None and end not in ids and (found := self._store.log.known(row.key, [end])):
            ids[end] = None
            entry = self._store.log.entry(row.key, found[end][0])
            end = entry.parent if entry is not None else None
        return [*reversed(ids)]

    def _rewind(
        self, row: SessionRow, read: ReadCall, known: Container[str], prompt: str, end: str | None
    ) -> list[Record]:
        """Return the rewind if the conversation does not continue from the session's last message.

        `end` is the last message before those of the call, where it does not repeat the history. If that is unknown,
        the provider alone knows what the call continues.
        """
        tail, keys = without_repetition(row.tail_hash), read.keys
        if not tail or (read.follows and end in (None, row.tail_hash)):
            return []
        # Known messages behind the end of the context are on a branch that was left.
        if tail in keys and not any(key in known for key in keys[keys.index(tail) + 1 :]):
            return []
        shared = [*self._up_to(row, end), *(key for key in keys if key in known)]
        name = f"{keys[-1]}:{row.version}"
        kept = (prompt,) if prompt else ()
        if not shared:
            return [Compaction(self._time(read.call), "its history begins again", None, name, kept=kept)]
        live = tuple(self._newest(row, key) if ANSWERED in key else key for key in shared)
        return [Rewind(shared[-1], name, live=(*kept, *live))]

    def _echo(self, row: SessionRow, read: ReadCall) -> list[Record]:
        """Return the last answer as the client sends it back, if that differs from the original."""
        last = row.tail_hash or ""
        key = without_repetition(last)
        if ANSWERED not in key or key not in read.keys or self._is_echo(row, read, key):
            return []
        message = message_of(read.items[read.keys.index(key)], read.protocol.format)
        return [Entry(message, self._next(row, key), model=read.model, supersedes=last)] if message else []

    def _next(self, row: SessionRow, key: str) -> str:
        """Return a new source id for an answer."""
        newest = self._newest(row, key)
        number = int(newest.rpartition(AGAIN)[2]) + 1 if AGAIN in newest else 2
        return f"{key}{AGAIN}{number}"

    def _answer(self, row: SessionRow, read: ReadCall, known: Container[str]) -> list[Record]:
        """Return the answer and its usage."""
        if read.reply is None:
            return []
        at, before, records = self._time(read.call), read.keys[-1], list[Record]()
        for key, item in zip(read.reply_keys, read.reply.messages, strict=True):
            message = message_of(item, read.protocol.format)
            if message is not None:
                name = self._next(row, key) if key in known else key
                records.append(Entry(message, name, before, at=at, model=read.model))
                before = name
        usage = usage_of(read.reply, [one.message for one in records if isinstance(one, Entry)])
        if usage is not None:
            call = read.reply.call or f"{before}@{read.call.at}"
            records.append(UsageReport(usage, at, call, read.model, input_end=read.keys[-1]))
        return records


def _refuse_foreign(row: SessionRow | None, user: str) -> None:
    """Raise Conflict for a session that a user may not append to."""
    if row is not None and not may_append(row, user):
        raise Conflict(f"session {row.id} is not of user {user}; each user appends only to their own")


def _prompt(read: ReadCall) -> tuple[str, str]:
    """Return the prefix of the source id of the system prompt beside the list, and its text; ("", "") for none."""
    words = system_text(read.body)
    digest = hashlib.blake2b(words.encode("utf-8", "replace"), digest_size=8).hexdigest()
    return (f"{PROMPT}{digest}", words) if words.strip() else ("", "")


def _title(read: ReadCall) -> str | None:
    """Return a title from the user's first words: clients put reminders in front of them, in blocks of their own."""
    for item in read.items:
        if isinstance(item, dict) and item.get("role") == "user":
            words = [text for text in texts_of(item.get("content")) if text.strip()]
            if words and not words[-1].lstrip().startswith("<"):
                return short_title(words[-1])
    return None
