"""Damages of a JSON file that one program writes and another reads: every value, and the file as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.odd_values import places, replaced

# A value of each JSON type, and numbers and texts at their limits.
OF_EACH_TYPE: tuple[Any, ...] = (
    None, True, False, 0, -1, 2**70, 1.5, float("inf"), float("nan"), "", "x", "\ud800", [], ["x"], [[]], {}, {"x": 1},
)  # fmt: skip


def damaged_objects(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield an object with each of its values replaced by each type, and without each of its fields."""
    for place in places(value):
        if place:
            yield from (replaced(value, place, odd) for odd in OF_EACH_TYPE)
    for name in value:
        yield {key: one for key, one in value.items() if key != name}


def damaged(value: dict[str, Any]) -> Iterator[bytes]:
    """Yield the file of a JSON object after each damage."""
    for one in (*damaged_objects(value), *OF_EACH_TYPE):
        yield json.dumps(one).encode()
    whole = json.dumps(value).encode()
    yield from (
        b"",
        b"{",
        whole[: len(whole) // 2],
        whole + whole,
        b"[" * 100_000,
        b"[" * 2_000 + b"]" * 2_000,
    )
    yield from (b"\xff\xfe" + whole, whole.decode().encode("utf-16"), b"\x00" * 512, b"9" * 5_000)
