"""Values between Python and PostgreSQL, so that a statement gives what SQLite would give.

Whole numbers are always of 64 bits, so that `? << 32` does not overflow. Other numbers and texts take the type of the
column beside them. A NUMERIC, which positions and sums are, is a whole number where it has no fraction. PostgreSQL's
text has no NUL: it is stored as two characters, and so is the first of these.
"""

from __future__ import annotations

from typing import Any

from psycopg import adapters
from psycopg.adapt import AdaptersMap, Buffer, Dumper, Loader

# A noncharacter, which no text that means something has.
ESCAPE = "\U0010fffe"
INT8 = 20
LEAST, GREATEST = -(1 << 63), (1 << 63) - 1


class IntDumper(Dumper):
    """Writes whole numbers, True and False as numbers of 64 bits."""

    oid = INT8

    def dump(self, obj: Any) -> bytes:
        """Return the digits.

        Raises:
            OverflowError: the number does not fit, as in SQLite.
        """
        if not LEAST <= obj <= GREATEST:
            raise OverflowError("a whole number is too large for the database")
        return b"%d" % obj

    def quote(self, obj: Any) -> bytes:
        """Return the digits as a statement has them."""
        return b" %d" % obj  # the blank keeps a minus from making a comment


class FloatDumper(Dumper):
    """Writes numbers with a fraction; their type follows from the statement."""

    def dump(self, obj: float) -> bytes:
        """Return the shortest digits that give the same number."""
        return repr(obj).encode()


class TextDumper(Dumper):
    """Writes texts; their type follows from the statement."""

    def dump(self, obj: str) -> bytes:
        """Return the text in UTF-8, without NUL."""
        if "\0" in obj or ESCAPE in obj:
            obj = obj.replace(ESCAPE, ESCAPE + "1").replace("\0", ESCAPE + "0")
        return obj.encode()


class TextLoader(Loader):
    """Reads texts."""

    def load(self, data: Buffer) -> str:
        """Return the text as it was written."""
        text = bytes(data).decode()
        return text.replace(ESCAPE + "0", "\0").replace(ESCAPE + "1", ESCAPE) if ESCAPE in text else text


class NumericLoader(Loader):
    """Reads NUMERIC."""

    def load(self, data: Buffer) -> int | float:
        """Return a whole number where there is no fraction."""
        text = bytes(data)
        return float(text) if b"." in text else int(text)


def adapted() -> AdaptersMap:
    """Return psycopg's rules with ours."""
    found = AdaptersMap(adapters)
    for kind, dumper in ((int, IntDumper), (bool, IntDumper), (float, FloatDumper), (str, TextDumper)):
        found.register_dumper(kind, dumper)
    found.register_loader("text", TextLoader)
    found.register_loader("numeric", NumericLoader)
    return found
