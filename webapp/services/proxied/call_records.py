"""The records of a call that went through the proxy: the messages that its session does not have yet, and the answer.

A call holds the whole conversation, or follows an answer without repeating the history. An edited conversation
continues as a branch, after a rewind.
"""

from __future__ import annotations

import hashlib

from scoring.formats import system_text
from scoring.messages import Message, Text
from webapp.agents.reading.rows import short_title
from webapp.agents.records import Compaction, Entry, Meta, Problem, Record, Rewind, UsageReport
from webapp.services.proxied.keys import AGAIN, ANSWERED, is_compaction, is_reference, without_repetition
from webapp.services.proxied.read_calls import ReadCall, message_of, usage_of, words_of
from webapp.services.proxied.request_contents import texts_of
from webapp.services.session.codec import read_json
from webapp.services.session.environment import Environment
from webapp.services.session.session import Session
from webapp.services.session.stored_messages import whole
from webapp.services.session.times import from_ms
from webapp.store.log import Log
from webapp.store.sessions import SessionRow

PROMPT = "prompt:"
# A copy waits in the proxy's memory while the server is away. The time of a call that is older than this when its copy
# arrives is not trusted: the clock of the proxy's machine may be wrong.
LONGEST_WAIT_MS = 3600 * 1000


class CallRecords:
    """Makes the records of one call. `row` is its session before the call."""

    def __init__(self, environment: Environment, row: SessionRow, read: ReadCall) -> None:
        self._log, self._usage = environment.store.log, environment.store.usage
        self._row, self._read = row, read
        self._prompt = Session.of(environment, row).state.proxy.prompt
        self._known = self._log.known(row.key, [*read.keys, *read.reply_keys])
        self._end = self._end_before()
        now = environment.clock()
        self._at = from_ms(min(now, max(read.call.at, now - LONGEST_WAIT_MS)))

    def records(self, *, after_side_requests: bool) -> tuple[list[Record], str]:
        """Return the records that the session does not have yet, and the source id of its system prompt.

        `after_side_requests`: the session has only side requests so far, and the conversation begins with this call.
        """
        row, read, keys = self._row, self._read, self._read.keys
        parent = self._end or (row.tail_hash if read.follows else None)
        digest, words = _prompt(read)
        prompt = self._prompt
        records: list[Record] = []
        title = None if after_side_requests else row.title
        model = row.model if read.protocol.compacts and row.model else read.model  # another one may compact
        if model != row.model or title is None:
            records.append(Meta(model=model, title=title or _title(read)))
        if after_side_requests:
            records.append(Rewind(None, f"{keys[-1]}:{row.version}"))
        else:
            records += self._rewind()
        if words and not prompt.startswith(digest):
            prompt = f"{digest}@{row.next_seq}"
            records.append(Entry(Message("system", (Text(words),)), prompt, supersedes=self._prompt or None))
        records += self._echo()
        for i, (key, item) in enumerate(zip(keys, read.items, strict=True)):
            if key not in self._known:
                message = message_of(item, read.protocol.format)
                if message is None:
                    records.append(Problem(i, "a message of a request could not be read"))
                else:
                    before = keys[i - 1] if i else parent
                    records.append(Entry(message, key, before, at=self._at, model=read.model))
        return records + self._answer(), prompt

    def _end_before(self) -> str | None:
        """Return the source id of the last message of the answer that the call follows, None if it follows none."""
        key, follows = self._row.key, self._read.follows
        at = self._usage.reported_at(key, follows) if follows else None
        entry = self._log.entry(key, at - 1) if at else None
        return entry.source_id if entry is not None else None

    def _up_to_end(self) -> list[str]:
        """Return the source ids of the conversation up to the answer that the call follows, in order."""
        key, end, ids = self._row.key, self._end, dict[str, None]()
        while end is not None and end not in ids and (found := self._log.known(key, [end])):
            ids[end] = None
            entry = self._log.entry(key, found[end][0])
            end = entry.parent if entry is not None else None
        return [*reversed(ids)]

    def _rewind(self) -> list[Record]:
        """Return the rewind if the conversation does not continue from the session's last message.

        If the call follows an answer that is unknown, the provider alone knows what it continues.
        """
        row, read = self._row, self._read
        tail, keys = without_repetition(row.tail_hash), read.keys
        if not tail or (read.follows and self._end in (None, row.tail_hash)):
            return []
        # Known messages behind the end of the context are on a branch that was left.
        if tail in keys and not any(key in self._known for key in keys[keys.index(tail) + 1 :]):
            return []
        shared = [*self._up_to_end(), *(key for key in keys if key in self._known)]
        name = f"{keys[-1]}:{row.version}"
        kept = (self._prompt,) if self._prompt else ()
        if not shared:
            return [Compaction(self._at, "its history begins again", None, name, kept=kept)]
        live = tuple(newest_id(self._log, row, key) if ANSWERED in key else key for key in shared)
        return [Rewind(shared[-1], name, live=(*kept, *live))]

    def _echo(self) -> list[Record]:
        """Return the last answer as the client sends it back, if that differs from the original."""
        row, read = self._row, self._read
        last = row.tail_hash or ""
        key = without_repetition(last)
        if ANSWERED not in key or key not in read.keys or is_echo(self._log, row, read, key):
            return []
        item = read.items[read.keys.index(key)]
        message = None if is_reference(item) else message_of(item, read.protocol.format)
        return [Entry(message, self._next_id(key), model=read.model, supersedes=last)] if message else []

    def _next_id(self, key: str) -> str:
        """Return a new source id for an answer."""
        newest = newest_id(self._log, self._row, key)
        number = int(newest.rpartition(AGAIN)[2]) + 1 if AGAIN in newest else 2
        return f"{key}{AGAIN}{number}"

    def _answer(self) -> list[Record]:
        """Return the answer and its usage."""
        read = self._read
        if read.reply is None:
            return []
        before, records = read.keys[-1], list[Record]()
        input_end: str | None = before
        compacts = read.protocol.compacts
        for key, item in zip(read.reply_keys, read.reply.messages, strict=True):
            message = message_of(item, read.protocol.format)
            if message is not None:
                if (not records and compacts) or (is_compaction(item) and not compacts):
                    kept = (self._prompt,) if self._prompt else ()
                    name = f"{read.keys[-1]}{ANSWERED}compaction:{self._row.version}"
                    records.append(Compaction(self._at, "by its provider", None, name, kept=kept))
                    input_end = None  # what was asked is not in the context any more
                name = self._next_id(key) if key in self._known else key
                records.append(Entry(message, name, before, at=self._at, model=read.model))
                before = name
        usage = usage_of(read.reply, [one.message for one in records if isinstance(one, Entry)])
        if usage is not None:
            call = read.reply.call or f"{before}@{read.call.at}"
            records.append(UsageReport(usage, self._at, call, read.model, input_end=input_end))
        return records


def tail_of(log: Log, row: SessionRow, read: ReadCall) -> str:
    """Return the source id of a session's last message after a call: the stored answer, or the end of the request."""
    return newest_id(log, row, read.reply_keys[-1]) if read.reply_keys else read.keys[-1]


def newest_id(log: Log, row: SessionRow, key: str) -> str:
    """Return the source id under which an answer was stored last."""
    number, name = 1, key
    while log.known(row.key, [f"{key}{AGAIN}{number + 1}"]):
        number += 1
        name = f"{key}{AGAIN}{number}"
    return name


def is_echo(log: Log, row: SessionRow, read: ReadCall, key: str) -> bool:
    """Return whether a message of a call equals the last one in the session's log."""
    last = row.tail_hash or ""
    found = log.known(row.key, [last])
    if last not in found:
        return True
    message = log.message(row.key, found[last][1])
    if message is None:
        return True
    entries, item = log.entries_of(row.key, message), read.items[read.keys.index(key)]
    if is_reference(item):
        raw = entries[-1].raw
        return raw is None or read_json(raw).get("id") in (None, item["id"])
    said, came = whole(message.role, entries), message_of(item, read.protocol.format)
    if came is not None and came.media and not came.text:
        return True  # a spoken answer comes back as its id alone
    return came is None or words_of(came) == words_of(said)


def _prompt(read: ReadCall) -> tuple[str, str]:
    """Return the prefix of the source id of the system prompt, and its text; ("", "") for none."""
    listed = (message_of(item, read.protocol.format) for item in read.prompts)
    texts = (system_text(read.body), *(message.text for message in listed if message is not None))
    words = "\n".join(text for text in texts if text)
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
