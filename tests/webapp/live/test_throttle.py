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


class TestStatistics:
    """Numbers of a session that grows."""

    @staticmethod
    def sent(seconds: float) -> list[tuple[float, bool, int]]:
        """Return (time, with statistics, rows) of each sending while a message is appended every 20 ms."""
        pending, sent, appended = Pending(), [], 0
        for tick in range(round(seconds * 100)):
            now = 1000 + tick / 100
            if tick % 2 == 0 and tick < seconds * 100 - 100:
                appended += 1
                pending.add(Note("session:a", "a", stats=True, numbers=(appended,), appended=1))
            if pending.due_at() <= now:
                taken = pending.take(now)
                pending.pace.took(taken.count(), now)
                sent.append((now, taken.stats, taken.appended))
        assert sum(rows for _, _, rows in sent) == appended
        return sent

    def test_go_with_the_first_rows_and_after_the_last(self) -> None:
        """A message that comes alone waits for nothing, and the end of a flood is not left out."""
        sent = self.sent(4)
        assert sent[0] == (1000, True, 1)
        assert sent[-1][1]

    def test_leave_room_for_rows(self) -> None:
        """In four seconds of flood the rows go about nine times a second, and the statistics twice."""
        sent = self.sent(5)
        flood = [(stats, rows) for at, stats, rows in sent if at < 1004]
        assert sum(stats for stats, _ in flood) in (7, 8, 9)
        assert sum(rows > 0 for _, rows in flood) >= 30

    def test_do_not_wait_after_an_operation(self) -> None:
        """The tokens that a prune freed are sent with it."""
        pending = Pending()
        pending.add(Note("session:a", "a", stats=True, numbers=(1,), appended=1))
        pending.pace.took(pending.take(1000.0).count(), 1000.0)
        pending.add(Note("session:a", "a", stats=True, events=(("context:pruned", {"prune_id": 1}),)))
        assert pending.due_at() < 1000.5
        assert pending.take(pending.due_at()).stats


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
        taken = pending.take(0.0)
        assert pending.count() == 0
        pending.add(Note("session:a", "a", numbers=(2,), appended=1))
        pending.put_back(taken)
        assert (pending.row, pending.numbers, pending.appended) == (True, [1, 2], 2)
