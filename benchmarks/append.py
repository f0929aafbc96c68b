"""The cost of one append, in a short session and in a long one: it must not grow with the log.

Each append is one message through the service: counted, analysed, chained, stored and committed.
"""

from __future__ import annotations

from functools import partial

from benchmarks import sessions
from benchmarks.rows import Row, elapsed_ms, percentile

APPENDS = 400
SIZES = (1_000, 100_000)


def run() -> list[Row]:
    """Return p50 and p99 at both sizes, and their ratios; the better of two runs counts, for each figure."""
    rows: list[Row] = []
    found: dict[int, tuple[float, float]] = {}
    for size in SIZES:
        times = _appends(size)
        found[size] = percentile(times, 50), percentile(times, 99)
        rows.append(Row(f"append at {size:,} messages, p50", found[size][0], "ms"))
        rows.append(Row(f"append at {size:,} messages, p99", found[size][1], "ms"))
    small, large = (found[size] for size in SIZES)
    rows.append(Row("append, p50 at 100,000 ÷ at 1,000", large[0] / small[0], "×", 1.2))
    rows.append(Row("append, p99 at 100,000 ÷ at 1,000", large[1] / small[1], "×", 2.0))
    return rows


def _appends(size: int) -> list[float]:
    """Return the milliseconds of each append to a session of `size` messages."""
    with sessions.app() as app:
        session = sessions.filled(app, size)
        times = [
            elapsed_ms(partial(app.ingest.append_messages, session, [message]))
            for message in sessions.messages(APPENDS, seed=-1)
        ]
    return times[APPENDS // 10 :]
