"""The backlog of news: joined, bounded, and sent at a pace."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from webapp.live.notices import Note
from webapp.live.throttle import RATE, ROWS_LIMIT, Pace, Pending


class TestPace:
    """At most ten messages in any second."""

    def test_lets_the_first_go_at_once(self) -> None:
        """News that come alone wait for nothing."""
        assert Pace().due_at(3) == 0.0

    def test_evens_out_what_follows(self) -> None:
        """Two messages at once make the next wait two tenths of a second."""
        pace = Pace()
        pace.took(2, now=100.0)
        assert pace.due_at(1) == 100.2

    @given(st.lists(st.integers(min_value=1, max_value=RATE), min_size=1, max_size=60))
    def test_holds_in_any_second(self, counts: list[int]) -> None:
        """Whatever comes, as fast as it is let out, no window of one second holds more than ten."""
        pace, now, sent = Pace(), 1000.0, []
        for count in counts:
            now = max(now, pace.due_at(count))
            pace.took(count, now)
            sent += [now] * count
        for start in sent:
            assert sum(start <= at < start + 0.999 for at in sent) <= RATE

    def test_takes_more_than_a_second_holds_when_it_must(self) -> None:
        """Twelve different events at once are not dropped; what follows waits the longer."""
        pace = Pace()
        pace.took(12, now=50.0)
        assert pace.due_at(1) >= 51.0

    def test_takes_its_time_after_what_was_dear_to_make(self) -> None:
        """A fifth of the time at most goes into telling."""
        pace = Pace()
        pace.took(2, now=100.0, cost_seconds=0.5)
        assert pace.due_at(1) == 102.5


class TestPending:
    """Later news join the earlier."""

    def test_counts_a_flood_of_appends_as_one_message(self) -> None:
        """A thousand appends are one list of rows and one set of figures."""
        pending = Pending()
        for n in range(1000):
            pending.add(Note("session:a", "a", stats=True, numbers=(n,), appended=1))
        assert pending.count() == 2
        assert pending.appended == 1000
        assert pending.numbers == list(range(1000 - ROWS_LIMIT, 1000))

    def test_tells_an_event_read_later_once(self) -> None:
        """Ten changes of the settings are one message, with what holds when it leaves."""
        pending = Pending()
        for _ in range(10):
            pending.add(Note(None, "", events=(("settings:changed", {}),)))
        assert len(pending.events) == 1

    def test_tells_every_event_that_carries_something(self) -> None:
        """Two prunes are two messages, in order."""
        pending = Pending()
        for n in (1, 2):
            pending.add(Note("session:a", "a", events=(("context:pruned", {"prune_id": n}),)))
        assert [payload["prune_id"] for _, payload in pending.events] == [1, 2]

    def test_gives_everything_away_once(self) -> None:
        """After a take nothing is left; a take that failed is put back before what came since."""
        pending = Pending()
        pending.add(Note("session:a", "a", row=True, numbers=(1,), appended=1))
        taken = pending.take()
        assert pending.count() == 0
        pending.add(Note("session:a", "a", numbers=(2,), appended=1))
        pending.put_back(taken)
        assert (pending.row, pending.numbers, pending.appended) == (True, [1, 2], 2)
