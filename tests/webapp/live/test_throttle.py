"""The throttle: a bounded backlog of messages, joined and sent at a limited rate."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from webapp.live.notices import Notice
from webapp.live.throttle import RATE, ROWS_LIMIT, Pace, Pending


class TestPace:
    """The rate: at most ten messages in any second."""

    def test_sends_the_first_at_once(self) -> None:
        """A single message does not wait."""
        assert Pace().due_at(3) == 0.0

    def test_spaces_out_later_messages(self) -> None:
        """After two messages at once the next one waits two tenths of a second."""
        pace = Pace()
        pace.took(2, now=100.0)
        assert pace.due_at(1) == 100.2

    @given(st.lists(st.integers(min_value=1, max_value=RATE), min_size=1, max_size=60))
    def test_is_kept_in_any_second(self, counts: list[int]) -> None:
        """For any events, no window of one second has more than ten messages."""
        pace, now, sent = Pace(), 1000.0, []
        for count in counts:
            now = max(now, pace.due_at(count))
            pace.took(count, now)
            sent += [now] * count
        for start in sent:
            assert sum(start <= at < start + 0.999 for at in sent) <= RATE

    def test_sends_more_different_events_at_once(self) -> None:
        """Twelve different events at once are all sent, and the next one waits longer."""
        pace = Pace()
        pace.took(12, now=50.0)
        assert pace.due_at(1) >= 51.0

    def test_slows_down_after_expensive_messages(self) -> None:
        """At most a fifth of the time is spent on sending."""
        pace = Pace()
        pace.took(2, now=100.0, cost_seconds=0.5)
        assert pace.due_at(1) == 102.5


class TestStatistics:
    """Statistics of a growing session."""

    @staticmethod
    def sent(seconds: float) -> list[tuple[float, bool, int]]:
        """Return (time, with statistics, rows) of each send while a message is appended every 20 ms."""
        pending, sent, appended = Pending(), [], 0
        for tick in range(round(seconds * 100)):
            now = 1000 + tick / 100
            if tick % 2 == 0 and tick < seconds * 100 - 100:
                appended += 1
                pending.add(Notice("session:a", "a", stats=True, numbers=(appended,), appended=1))
            if pending.due_at() <= now:
                taken = pending.take(now)
                pending.pace.took(taken.count(), now)
                sent.append((now, taken.stats, taken.appended))
        assert sum(rows for _, _, rows in sent) == appended
        return sent

    def test_are_sent_with_the_first_rows_and_after_the_last(self) -> None:
        """A single message has its statistics at once, and the end of a flood has them, too."""
        sent = self.sent(4)
        assert sent[0] == (1000, True, 1)
        assert sent[-1][1]

    def test_leave_room_for_rows(self) -> None:
        """During a flood rows are sent about nine times a second, and statistics twice."""
        sent = self.sent(5)
        flood = [(stats, rows) for at, stats, rows in sent if at < 1004]
        assert sum(stats for stats, _ in flood) in (7, 8, 9)
        assert sum(rows > 0 for _, rows in flood) >= 30

    def test_are_sent_at_once_after_an_operation(self) -> None:
        """The tokens that a prune freed are sent with it."""
        pending = Pending()
        pending.add(Notice("session:a", "a", stats=True, numbers=(1,), appended=1))
        pending.pace.took(pending.take(1000.0).count(), 1000.0)
        pending.add(Notice("session:a", "a", stats=True, events=(("context:pruned", {"prune_id": 1}),)))
        assert pending.due_at() < 1000.5
        assert pending.take(pending.due_at()).stats


class TestPending:
    """Pending events, which are joined."""

    def test_counts_a_flood_of_appends_as_one_message(self) -> None:
        """A thousand appends are one list of rows and one set of statistics."""
        pending = Pending()
        for n in range(1000):
            pending.add(Notice("session:a", "a", stats=True, numbers=(n,), appended=1))
        assert pending.count() == 2
        assert pending.appended == 1000
        assert pending.numbers == list(range(1000 - ROWS_LIMIT, 1000))

    def test_sends_an_event_without_data_once(self) -> None:
        """Ten changes of the settings are one message with the settings at that time."""
        pending = Pending()
        for _ in range(10):
            pending.add(Notice(None, "", events=(("settings:changed", {}),)))
        assert len(pending.events) == 1

    def test_sends_every_event_with_data(self) -> None:
        """Two prunes are two messages in order."""
        pending = Pending()
        for n in (1, 2):
            pending.add(Notice("session:a", "a", events=(("context:pruned", {"prune_id": n}),)))
        assert [payload["prune_id"] for _, payload in pending.events] == [1, 2]

    def test_are_taken_once(self) -> None:
        """After a take nothing is pending; after a failure the taken events come first again."""
        pending = Pending()
        pending.add(Notice("session:a", "a", row=True, numbers=(1,), appended=1))
        taken = pending.take(0.0)
        assert pending.count() == 0
        pending.add(Notice("session:a", "a", numbers=(2,), appended=1))
        pending.put_back(taken)
        assert (pending.row, pending.numbers, pending.appended) == (True, [1, 2], 2)
