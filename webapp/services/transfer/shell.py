"""Commands as a shell reads them, and as they can be pasted into a terminal."""

from __future__ import annotations

import shlex
import string
from collections.abc import Sequence

# Characters that mean nothing to a shell or to printf.
_SAFE = frozenset(string.ascii_letters + string.digits + "/._")


def shell_line(words: Sequence[str]) -> str:
    """Return a command on one line."""
    return " ".join(map(_shell_word, words))


def _shell_word(word: str) -> str:
    """Return a word in a shell's quotes; unprintable characters, on which a terminal acts, are written as octal."""
    if word.isprintable() or word.endswith("\n"):  # a shell drops line ends behind what a command prints
        return shlex.quote(word)
    said = "".join(
        chr(byte) if chr(byte) in _SAFE else f"\\{byte:03o}"
        for byte in word.encode("utf-8", "surrogateescape")
    )
    return f"\"$(printf '{said}')\""
