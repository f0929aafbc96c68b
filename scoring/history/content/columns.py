"""Columns of whole numbers as bytes, one after the other: each a type code, a length, and its values."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

_EMPTY = b"B\0\0\0\0"
_TYPES = "BBHIIQQQQ"  # the smallest type for integers of up to 0, 1, ... 8 bytes
_SIZES = {ord(code): array(code).itemsize for code in "BHIQ"}


def write_column(out: bytearray, column: Sequence[int]) -> None:
    """Append a column with its length, in the smallest integer type that holds it."""
    if not column:  # most columns of most messages
        out += _EMPTY
        return
    code = _TYPES[(max(column).bit_length() + 7) // 8]
    out += code.encode() + len(column).to_bytes(4, "little")
    out += array(code, column).tobytes()


def read_columns(packed: bytes, at: int, first: int, codes: str) -> list[array[int]]:
    """Return the columns from number `first` on, one for each type code in `codes`; column 0 begins at byte `at`."""
    for _ in range(first):
        at += 5 + _SIZES[packed[at]] * int.from_bytes(packed[at + 1 : at + 5], "little")
    found = []
    for code in codes:
        column = array(chr(packed[at]))
        end = at + 5 + _SIZES[packed[at]] * int.from_bytes(packed[at + 1 : at + 5], "little")
        column.frombytes(packed[at + 5 : end])
        found.append(column if column.typecode == code else array(code, column))
        at = end
    return found
