"""Times: milliseconds inside, ISO 8601 with Z outside."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from webapp.services.session.times import from_ms, iso, latest, now_ms, to_ms


class TestClock:
    """Conversions of times."""

    def test_writes_utc_with_z(self) -> None:
        """Milliseconds are kept."""
        assert iso(to_ms(datetime(2026, 1, 31, 12, 0, 0, 250_000, tzinfo=UTC))) == "2026-01-31T12:00:00.250Z"

    def test_reads_what_it_wrote(self) -> None:
        """Times are exact to the millisecond."""
        for ms in (0, 1_769_860_800_001, 1_769_860_800_543, 1_769_860_800_999):
            assert to_ms(from_ms(ms)) == ms

    def test_writes_every_year_with_four_digits(self) -> None:
        """Agents with a clock that was never set write such times, and pages read no others."""
        first, last = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)
        assert iso(to_ms(first)) == "0001-01-01T00:00:00.000Z"
        assert iso(to_ms(last)) == "9999-12-31T23:59:59.999Z"

    def test_takes_no_time_to_come_for_the_latest(self) -> None:
        """Events are in the past; a time from before the clock was set back is forgotten."""
        assert [latest(5, at, 10) for at in (3, 7, 12)] == [5, 7, 10]
        assert latest(99, 7, 10) == 7

    def test_converts_other_zones_to_utc(self) -> None:
        """A time without a zone is taken as UTC."""
        there = datetime(2026, 1, 31, 13, tzinfo=timezone(timedelta(hours=1)))
        assert to_ms(there) == to_ms(datetime(2026, 1, 31, 12))  # noqa: DTZ001  # without a zone on purpose

    def test_returns_none_for_a_missing_or_invalid_time(self) -> None:
        """A missing time, or one outside the calendar, is None."""
        assert (iso(None), to_ms(None), iso(1 << 60)) == (None, None, None)
        assert now_ms() > 1_700_000_000_000
