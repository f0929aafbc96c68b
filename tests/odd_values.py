"""Samples with one value replaced: every value of every row, one by one.

`python -m tests.odd_values` tries every odd value in every place of every sample, in every decoder.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

from tests.decoders import DECODERS, Found, Sample, all_samples
from webapp.agents.records import Entry, Problem

NESTED: Any = []
for _ in range(300):
    NESTED = [NESTED]
VALUES: tuple[Any, ...] = (
    [], {}, None, 2**70, -1, True, "", "x" * 5_000, "\ud800", NESTED, {"a": {"b": [None]}}, [None],
)  # fmt: skip
LARGEST = 30_000  # bytes of a sample: each place of a longer one costs as much again
# Entries that may be missing besides those of the changed row: of its message, or of a branch that began at it.
BESIDE = 8


def with_odd_values(data: bytes, values: tuple[Any, ...] | None = None) -> Iterator[tuple[str, bytes]]:
    """Yield where a value was replaced, and the file: by each of `values`, or by the next one of VALUES."""
    rows, turn = data.split(b"\n"), cycle(VALUES)
    if not all(_parsed(row) for row in rows[:2] if row.strip()):  # a document over many lines
        rows = [data]
    for number, row in enumerate(rows):
        value = _parsed(row)
        if value is None:
            continue
        for place in places(value):
            for odd in (next(turn),) if values is None else values:
                changed = json.dumps(replaced(value, place, odd)).encode()
                yield (
                    f"row {number + 1}, {'.'.join(map(str, place)) or 'the row'} = {str(odd)[:20]}",
                    b"\n".join([*rows[:number], changed, *rows[number + 1 :]]),
                )


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to every value within a value, itself included."""
    yield above
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in inner:
        yield from places(one, (*above, name))


def replaced(value: Any, place: tuple[Any, ...], odd: Any) -> Any:
    """Return a copy of the value with the one at `place` replaced by `odd`."""
    if not place:
        return odd
    out = value.copy()
    out[place[0]] = replaced(out[place[0]], place[1:], odd)
    return out


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def fault_of(sample: Sample, data: bytes, entries: int) -> str | None:
    """Return the fault in decoding a changed sample, or None. The unchanged sample has `entries` entries."""
    try:
        found = DECODERS[sample.decoder](data)
    except Exception as error:  # noqa: BLE001  # what this is for
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} ({Path(frame.filename).name}:{frame.lineno})"
    if any(isinstance(one, Problem) and not one.reason.strip() for one in found):
        return "a problem without a reason"
    left = entries_in(found)
    return f"{entries - left} entries lost" if sample.rows and left < entries - BESIDE else None


def entries_in(found: Found) -> int:
    """Return the number of messages among what a decoder found."""
    return sum(isinstance(one, Entry) for one in found)


def faults(sample: Sample, values: tuple[Any, ...] | None = None) -> Iterator[str | None]:
    """Yield for each odd value of a sample the fault, or None."""
    entries = entries_in(DECODERS[sample.decoder](sample.data))
    for where, broken in with_odd_values(sample.data, values):
        fault = fault_of(sample, broken, entries)
        yield None if fault is None else f"{sample.name}, {where}: {fault}"


def main() -> int:
    """Try everything and print the faults; return 1 if there were any."""
    logging.disable(logging.CRITICAL)
    counts: Counter[str] = Counter()
    for sample in all_samples(LARGEST):
        for fault in faults(sample, VALUES):
            counts[sample.decoder] += 1
            if fault is not None:
                counts["faults"] += 1
                sys.stdout.write(fault + "\n")
    sys.stdout.write(", ".join(f"{name}: {count:,}" for name, count in counts.items()) + "\n")
    return 1 if counts["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
