"""What the index of words holds of a message: what was said, thought, called and answered.

An index without a text of its own forgets a row only by the very words that were put in, so whoever changes what is
said here has to take the old words out in a migration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scoring.history import argument_values
from scoring.messages import FileReference, Media, Message, ToolCall

# What one entry may add to the index; the rest of an enormous output is found by its beginning.
INDEXED_CHARS = 200_000


def indexed(message: Message, of_call: Callable[[str], Sequence[str]] = argument_values) -> str:
    """The words of a message, half characters replaced. `of_call` gives what the arguments of a call say.

    By default that is their values: a word behind an escaped line end would be another word with an n before it, and
    the names of arguments are in every call.
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
