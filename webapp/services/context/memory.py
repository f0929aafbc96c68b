"""Memories and learnings: stored, edited, searched, and selected for the next message of a session.

A learning can be recorded from any message. Nothing here changes a session.
"""

from __future__ import annotations

from scoring.assembly import learnings_for, words_for_search
from scoring.messages import Message
from scoring.summary import quoted
from webapp.errors import Invalid
from webapp.events import MemoriesChanged
from webapp.services.context.answers import Memory
from webapp.services.session.environment import Environment
from webapp.services.session.stored_messages import message_with_id, whole
from webapp.services.session.times import iso
from webapp.store.memories import LEARNING, MEMORY, MemoryRow

LONGEST = 4_000  # characters of one text
FOUND = 40  # memories for one message


class MemoryService:
    """The use cases of memories and learnings. `kind` is "memory" or "learning" throughout."""

    def __init__(self, environment: Environment) -> None:
        self._environment, self._store = environment, environment.store

    def listed(self, kind: str, q: str = "") -> list[Memory]:
        """Return all of a kind, the latest first; with `q` those that contain any of its words, the best first."""
        rows = self._store.memories.search(kind, [q]) if q.strip() else self._store.memories.all(kind)
        return [_memory(row) for row in rows]

    def get(self, kind: str, number: int) -> Memory:
        """Return one.

        Raises:
            NotFound: the id is unknown.
        """
        return _memory(self._store.memories.get(kind, number))

    def add(
        self,
        kind: str,
        text: str | None = None,
        session_id: str | None = None,
        message_id: str | None = None,
    ) -> Memory:
        """Store a text, or without one the text of a message; `session_id` is where it was recorded.

        Raises:
            NotFound: there is no such session or message.
            Invalid: there is no text, it is too long, or a message is named without its session.
        """
        if message_id is not None:
            if session_id is None:
                raise Invalid("expected the message's session too", "session_id")
            message = self._message(session_id, message_id)
            text = quoted(message.text)[:LONGEST] if text is None else text
        checked = _checked(text)
        with self._store.write():
            if session_id is not None:
                self._store.sessions.get(session_id)
            row = self._store.memories.add(kind, checked, session_id, message_id, self._environment.clock())
        self._environment.bus.publish(MemoriesChanged())
        return _memory(row)

    def change(self, kind: str, number: int, text: str) -> Memory:
        """Replace the text of one.

        Raises:
            NotFound, Invalid: as for `add`.
        """
        checked = _checked(text)
        with self._store.write():
            row = self._store.memories.change(kind, number, checked, self._environment.clock())
        self._environment.bus.publish(MemoriesChanged())
        return _memory(row)

    def delete(self, kind: str, number: int) -> None:
        """Delete one.

        Raises:
            NotFound: the id is unknown.
        """
        with self._store.write():
            self._store.memories.remove(kind, number)
        self._environment.bus.publish(MemoriesChanged())

    def relevant(self, message: Message | None, most_learnings: int) -> tuple[list[str], list[str]]:
        """Return the texts to add to the prompt of a message, each once, the most relevant first.

        Memories share a word with the message. Learnings that share a stem with it come first, then the newest others,
        up to `most_learnings` in all.
        """
        memories = self._store.memories.search(MEMORY, words_for_search(message), FOUND)
        learnings = [row.text for row in self._store.memories.all(LEARNING)]
        return list(dict.fromkeys(m.text for m in memories)), learnings_for(
            message, learnings, most_learnings
        )

    def _message(self, session_id: str, mid: str) -> Message:
        key = self._store.sessions.get(session_id).key
        found = message_with_id(self._store, key, mid)
        return whole(found.role, self._store.log.entries_of(key, found))


def _checked(text: object) -> str:
    if not isinstance(text, str) or not text.strip():
        raise Invalid("expected a text that is not empty", "text")
    if len(text) > LONGEST:
        raise Invalid(f"expected at most {LONGEST:,} characters, got {len(text):,}", "text")
    return text.strip()


def _memory(row: MemoryRow) -> Memory:
    return Memory(
        id=row.id,
        text=row.text,
        session_id=row.session_id,
        message_id=row.message_id,
        created_at=iso(row.created_at),
        updated_at=iso(row.updated_at),
    )
