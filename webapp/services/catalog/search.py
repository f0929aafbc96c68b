"""Searches messages: those dropped from a session's context, and all of every session."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime

from scoring.history import UNSPACED
from webapp.services.catalog.answers import Hit, Results
from webapp.services.planning.answers import Archive
from webapp.services.planning.message_pages import Messages
from webapp.services.session.environment import Environment
from webapp.services.session.labels import shown_title
from webapp.services.session.session import Session
from webapp.services.session.times import iso
from webapp.store.indexed_text import indexed
from webapp.store.log import EntryRow, MessageRow
from webapp.store.search_index import SearchFilter
from webapp.store.sessions import SessionRow

ARCHIVE_ROWS = 500
HITS = 100
SNIPPET_CHARS = 240
# A letter or digit, as the index has them: "_" ends a word.
LETTER = r"[^\W_]"
WORD = f"{LETTER}+"


class Search:
    """The use cases of searching."""

    def __init__(self, environment: Environment, messages: Messages) -> None:
        self._environment, self._store, self._messages = environment, environment.store, messages

    def archive(self, session_id: str, q: str | None = None) -> Archive:
        """Return at most 500 messages that are not in the context, newest first; with `q` those that match it.

        Raises:
            NotFound: there is no such session.
        """
        with self._store.read():
            session = Session.load(self._environment, session_id)
            nos = self._store.log.numbers(session.key, newest_first=True, out=True)
            if q and q.strip():
                found = set(self._store.words.in_session(session.key, q))
                nos = [no for no in nos if no in found]
            return Archive(messages=self._messages.out(session, nos[:ARCHIVE_ROWS]))

    def everywhere(
        self,
        q: str | None = None,
        session: str | None = None,
        *,
        role: str | None = None,
        tool: str | None = None,
        since: date | None = None,
        until: date | None = None,
        after: int | None = None,
    ) -> Results:
        """Return a page of the best matching messages of all sessions, or of one, each once and with a snippet.

        The days `since` and `until` are in UTC and inclusive. Of moments, `until` is exclusive.

        Raises:
            NotFound: there is no such session.
        """
        if not q or not q.strip():
            return Results(results=[], total=0, next=None)
        with self._store.read():
            key = self._store.sessions.get(session).key if session else None
            limits = SearchFilter(key, role, tool, _midnight(since, 0), _midnight(until, 1))
            begin = after or 0
            rows = self._store.words.everywhere(q, limits, HITS * 3, begin)
            best: dict[tuple[int, int], int] = {}
            read = 0
            for owner, seq, no in rows:
                if len(best) == HITS:
                    break
                read += 1
                best.setdefault((owner, no), seq)
            found = self._hits([(owner, seq, no) for (owner, no), seq in best.items()], q)
        more = read < len(rows) or len(rows) == HITS * 3
        return Results(results=found, total=len(found), next=begin + read if more else None)

    def _hits(self, places: Sequence[tuple[int, int, int]], q: str) -> list[Hit]:
        """Return what is shown of the messages at (session, seq, message number) that are still there."""
        sessions = self._store.sessions.by_keys({owner for owner, _, _ in places})
        found = self._store.log.matches(places)
        return [
            _hit(row, *found[place], q)
            for place in places
            if place in found and (row := sessions.get(place[0])) is not None and row.deleted_at is None
        ]


def _hit(row: SessionRow, message: MessageRow, entry: EntryRow, q: str) -> Hit:
    return Hit(
        session_id=row.id,
        session_title=shown_title(row),
        message_id=message.mid,
        number=message.no,
        role=message.role,
        snippet=snippet(indexed(entry.message), q),
        at=iso(message.at),
        in_context=message.out_operation is None,
    )


def _midnight(day: date | None, later: int) -> int | None:
    """Return the start of the day `later` days after this one, or a moment itself, in milliseconds."""
    if day is None:
        return None
    if isinstance(day, datetime):
        return round(day.timestamp() * 1_000)
    return 86_400_000 * (day.toordinal() + later - date(1970, 1, 1).toordinal())


def snippet(text: str, q: str) -> str:
    """Return one line of a text around the first of the words in `q`, with … where it was cut."""
    words = [re.escape(word) for word in re.findall(WORD, q)]
    flat = text if len(text) < 200_000 else text[:200_000]
    begin = rf"(?:(?<!{LETTER})|(?=[{UNSPACED}]))"
    match = re.search(f"{begin}(?:{'|'.join(words)})", flat, re.IGNORECASE) if words else None
    start = max(0, match.start() - SNIPPET_CHARS // 3) if match else 0
    if start:
        start = flat.find(" ", start, start + 30) + 1 or start
    piece = " ".join(flat[start : start + SNIPPET_CHARS].split())
    return ("… " if start else "") + piece + (" …" if start + SNIPPET_CHARS < len(flat) else "")
