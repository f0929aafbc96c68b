"""The words of a message in the search index: text, reasoning, calls and results.

A row of an index without stored text can be removed only with the exact words that were added. So a change of this
function needs a migration that removes the old words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from scoring.history import argument_values
from scoring.messages import FileReference, Media, Message, ToolCall
from webapp.store.engine import Engine
from webapp.store.log import Log

# The largest part of one entry that is indexed; an enormous output is found only by its beginning.
INDEXED_CHARS = 200_000
# Entries that are read at a time.
BATCH = 500


def indexed(message: Message, of_call: Callable[[str], Sequence[str]] = argument_values) -> str:
    """Return the words of a message, with half characters replaced. `of_call` returns those of a call's arguments.

    By default these are the values of the arguments: in the JSON text a word after an escaped line end would begin with
    an n, and the names of arguments are in every call.
    """
    pieces: list[str] = []
    for part in message.parts:
        if isinstance(part, ToolCall):
            pieces += [part.name, *of_call(part.arguments)]
        elif isinstance(part, FileReference):
            pieces += [part.path, part.summary]
        elif not isinstance(part, Media):
            pieces.append(part.text)
    text = "\n".join(piece[:INDEXED_CHARS] for piece in pieces if piece)[:INDEXED_CHARS]
    return text.encode("utf-8", "replace").decode()


def index_entries(db: Engine, session: int, next_seq: int) -> None:
    """Index the words of all entries of a session, inside `write()`."""
    for texts in _texts(db, session, next_seq):
        db.words.add(session, texts)


def unindex_entries(db: Engine, session: int, next_seq: int) -> None:
    """Remove the words of all entries of a session from the index, inside `write()`."""
    for texts in _texts(db, session, next_seq):
        db.words.remove(session, texts)


def index_memories(db: Engine) -> None:
    """Make the index of memories and learnings from their texts, inside `write()`."""
    db.run("DELETE FROM memory_words")
    for number, text in db.rows("SELECT id, text FROM memories"):
        db.words.put_memory(number, text)


def _texts(db: Engine, session: int, next_seq: int) -> Iterator[list[tuple[int, str]]]:
    """Yield the indexed text of each entry of a message, in batches."""
    for start in range(0, next_seq, BATCH):
        entries = Log(db).entries(session, start, start + BATCH - 1)
        yield [(entry.seq, indexed(entry.message)) for entry in entries if entry.message_no > 0]
