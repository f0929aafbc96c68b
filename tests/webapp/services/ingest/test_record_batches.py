"""Record batches: dividing and counting the records of a transcript."""

from __future__ import annotations

from tests.webapp.building import call, entry, said, usage, user
from webapp.agents.records import Entry, Problem, Record, Unknown, UsageReport
from webapp.services.ingest.record_batches import (
    BATCH_BYTES,
    BATCH_RECORDS,
    Tally,
    batches,
    runs,
    weight,
    weight_of,
)


class TestBatches:
    """Batches of one stream."""

    def test_separate_streams_in_order(self) -> None:
        """Rows of a sub-agent between those of its session form their own batch."""
        records = [entry(1, user("a")), entry(2, user("b"), stream="agent-x"), entry(3, user("c"))]
        assert [(s, len(b)) for s, b in batches(records)] == [("", 1), ("agent-x", 1), ("", 1)]

    def test_have_a_maximum_number_of_records(self) -> None:
        """More records are divided into several batches."""
        sizes = [len(batch) for _, batch in batches(Problem(n, "x") for n in range(2 * BATCH_RECORDS + 1))]
        assert sizes == [BATCH_RECORDS, BATCH_RECORDS, 1]


class TestRuns:
    """Entries between usage reports."""

    def test_end_at_a_report(self) -> None:
        """A report describes the records before it."""
        records: list[Record] = [
            entry(1, user("a")),
            Problem(1, "x"),
            entry(2, user("b")),
            UsageReport(usage(5), None, "k"),
            entry(3, user("c")),
        ]
        found = [len(r) if isinstance(r, list) else "report" for r in runs(records)]
        assert sum(n for n in found if isinstance(n, int)) == sum(isinstance(r, Entry) for r in records)
        assert found[-2:] == ["report", 1]


class TestTally:
    """Counts of records that could not be used."""

    def test_counts_all_problems_and_keeps_some(self) -> None:
        """Twenty problems are kept in words, and all are counted."""
        tally = Tally()
        tally.take([Problem(n, "not JSON") for n in range(30)] + [Unknown(1, "odd"), Unknown(2, "odd")])
        assert (tally.malformed, len(tally.problems), tally.unknown) == (30, 20, {"odd": 2})
        assert tally.problems[0] == "line 0: not JSON"


class TestWeight:
    """The size of a batch."""

    def test_limits_the_bytes_of_a_batch(self) -> None:
        """A few large records form a batch like many small ones."""
        big = Entry(said("x" * (BATCH_BYTES // 2 + 1)), "a")
        assert [len(batch) for _, batch in batches([big] * 6)] == [2, 2, 2]

    def test_is_that_of_the_row_or_the_text(self) -> None:
        """Arguments of calls count, and other records have the size 0."""
        assert weight(Entry(said("four"), "a")) == 4
        assert weight(Entry(said("four"), "a", raw=b"x" * 9)) == 9
        assert weight_of(call("c", "Bash", "12345")) == 5
        assert weight(Problem(1, "x")) == 0


class TestProblems:
    """Problems of lines that were used nevertheless."""

    def test_are_noted_but_not_counted(self) -> None:
        """Such a line is not malformed."""
        tally = Tally()
        tally.take([Problem(1, "a"), Problem(2, "b", used=True)])
        assert (tally.malformed, tally.problems) == (1, ["line 1: a", "line 2: b"])
