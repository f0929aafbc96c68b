"""The words of a message in the search index: text, reasoning, calls and results.

A row of an index without stored text can be removed only with the exact words that were added. So a change of this
function needs a migration that removes the old words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scoring.history import argument_values
from scoring.messages import FileReference, Media, Message, ToolCall

# The largest part of one entry that is indexed; an enormous output is found only by its beginning.
INDEXED_CHARS = 200_000


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
