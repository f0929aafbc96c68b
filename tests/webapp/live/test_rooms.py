"""Rooms: revisions that never repeat, and the messages for pages that return."""

from __future__ import annotations

from webapp.live.rooms import BLOCK, REMEMBERED, NumberedRoom


class Ledger:
    """A reservation of revisions like the store's, which survives the rooms."""

    def __init__(self) -> None:
        self.last: dict[str, int] = {}
        self.writes = 0

    def reserve(self, room: str, count: int) -> int:
        """Reserve revisions."""
        self.writes += 1
        before = self.last.get(room, 0)
        self.last[room] = before + count
        return before


def tell(room: NumberedRoom, count: int) -> None:
    """Send `count` messages."""
    for n in range(count):
        room.prepare(1)
        room.stamp("told", {"n": n})


class TestRevisions:
    """The revisions of a room."""

    def test_grow_by_one_per_message(self) -> None:
        """Each message has the next revision, the room's name and its payload."""
        room = NumberedRoom("overview", Ledger().reserve)
        room.prepare(2)
        first, second = room.stamp("a", {"x": 1}), room.stamp("b", {})
        assert second.revision == first.revision + 1
        assert first.payload == {"x": 1, "room": "overview", "revision": first.revision}

    def test_never_repeat_after_a_restart(self) -> None:
        """After a restart revisions begin above all earlier ones."""
        ledger = Ledger()
        before = NumberedRoom("overview", ledger.reserve)
        tell(before, 7)
        assert NumberedRoom("overview", ledger.reserve).revision > before.revision

    def test_are_reserved_in_blocks(self) -> None:
        """The store is written once per block, not per message."""
        ledger = Ledger()
        tell(NumberedRoom("overview", ledger.reserve), 3 * BLOCK)
        assert ledger.writes <= 5

    def test_stay_within_the_reservation(self) -> None:
        """This applies to any number of messages at once."""
        ledger = Ledger()
        room = NumberedRoom("overview", ledger.reserve)
        room.prepare(3 * BLOCK)
        for _ in range(3 * BLOCK):
            room.stamp("a", {})
        assert room.revision <= ledger.last["overview"]

    def test_of_rooms_are_independent(self) -> None:
        """Each room counts for itself."""
        ledger = Ledger()
        tell(NumberedRoom("session:a", ledger.reserve), 5)
        assert NumberedRoom("session:b", ledger.reserve).revision == 1


class TestReturningPages:
    """A page that returns, and gets missed messages or has to read again."""

    def test_get_the_missed_messages(self) -> None:
        """They are in order, without earlier ones."""
        room = NumberedRoom("session:a", Ledger().reserve)
        tell(room, 5)
        missed = room.enter("page", room.revision - 2)
        assert missed is not None
        assert [one.revision for one in missed] == [room.revision - 1, room.revision]

    def test_get_nothing_without_changes(self) -> None:
        """The list is empty, and no new read is needed."""
        room = NumberedRoom("session:a", Ledger().reserve)
        tell(room, 5)
        assert room.enter("page", room.revision) == []

    def test_read_again_without_a_revision(self) -> None:
        """A first visit has no revision."""
        assert NumberedRoom("session:a", Ledger().reserve).enter("page", None) is None

    def test_read_again_after_a_restart(self) -> None:
        """Changes during a restart are unknown."""
        ledger = Ledger()
        before = NumberedRoom("session:a", ledger.reserve)
        tell(before, 5)
        assert NumberedRoom("session:a", ledger.reserve).enter("page", before.revision) is None

    def test_read_again_after_too_many_messages(self) -> None:
        """Only the last messages are remembered."""
        room = NumberedRoom("session:a", Ledger().reserve)
        start = room.revision
        tell(room, REMEMBERED + 1)
        assert room.enter("page", start) is None
        assert room.enter("page", start + 1) is not None

    def test_read_again_after_changes_in_an_empty_room(self) -> None:
        """Changes in an empty room are not stored as messages; later ones are."""
        room = NumberedRoom("session:a", Ledger().reserve)
        seen = room.revision
        room.prepare(1)
        room.note_gap()
        assert room.enter("page", seen) is None
        now = room.revision
        tell(room, 1)
        assert len(room.enter("page", now) or []) == 1

    def test_read_again_with_an_unknown_revision(self) -> None:
        """A revision that was never given out here belongs to another database."""
        room = NumberedRoom("session:a", Ledger().reserve)
        assert room.enter("page", room.revision + 1) is None

    def test_cause_one_revision_for_changes_in_an_empty_room(self) -> None:
        """Many changes in an empty room take one revision."""
        room = NumberedRoom("session:a", Ledger().reserve)
        before = room.revision
        room.prepare(1)
        for _ in range(1000):
            room.note_gap()
        assert room.revision == before + 1
