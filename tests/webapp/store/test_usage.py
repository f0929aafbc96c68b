"""Calls counted once, and samples evenly spread."""

from __future__ import annotations

from webapp.store import Store
from webapp.store.sessions import SessionRow
from webapp.store.usage import CallRow, Sample


class TestCalls:
    """Real usage."""

    def test_are_counted_once_with_the_largest_output(self, store: Store, row: SessionRow) -> None:  # X12
        """A call that is reported again adds nothing but a larger output."""
        with store.write():
            for output in (5, 90, 40):
                store.usage.put_calls(row.key, [CallRow("c", 1, 1, "m", 1_000, output, 0, 0, 0, 900)])
        [call] = store.usage.calls(row.key)
        assert (call.input_tokens, call.output_tokens) == (1_000, 90)
        assert store.usage.reported_at(row.key, "c") is not None
        assert store.usage.reported_at(row.key, "d") is None


class TestSamples:
    """The chart."""

    def test_are_thinned_out_evenly(self, store: Store, row: SessionRow) -> None:
        """The first and the last stay."""
        with store.write():
            store.usage.add_samples(row.key, [Sample(n, n, n, None, n * 10) for n in range(1_000)])
        found = store.usage.samples(row.key, 1_000, 11)
        assert len(found) == 11
        assert (found[0].n, found[-1].n) == (0, 999)

    def test_are_all_there_when_they_are_few(self, store: Store, row: SessionRow) -> None:
        """Nothing is left out without need."""
        with store.write():
            store.usage.add_samples(row.key, [Sample(n, None, n, 5, 4) for n in range(3)])
        assert [s.n for s in store.usage.samples(row.key, 3, 600)] == [0, 1, 2]
