"""The words of a message in the search index: text, reasoning, calls and results.

An index without a text of its own removes a row only by the exact words that were put in. A change of this function
needs a migration that takes the old words out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scoring.history import argument_values
from scoring.messages import FileReference, Media, Message, ToolCall

# What one entry may add to the index; the rest of an enormous output is found by its beginning.
INDEXED_CHARS = 200_000


def indexed(message: Message, of_call: Callable[[str], Sequence[str]] = argument_values) -> str:
    """Return the words of a message, half characters replaced. `of_call` returns those of a call's arguments.

    By default these are the arguments' values: in the JSON text a word behind an escaped line end would begin with an
    n, and the names of arguments are in every call.
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
