"""Rooms: revisions that never repeat, and what a page that was away is given."""

from __future__ import annotations

from webapp.live.rooms import BLOCK, REMEMBERED, Room


class Ledger:
    """Reserves revisions as the store does, and outlives the rooms."""

    def __init__(self) -> None:
        self.last: dict[str, int] = {}
        self.writes = 0

    def reserve(self, room: str, count: int) -> int:
        """Sets revisions aside."""
        self.writes += 1
        before = self.last.get(room, 0)
        self.last[room] = before + count
        return before


def tell(room: Room, count: int) -> None:
    """Sends that many messages."""
    for n in range(count):
        room.prepare(1)
        room.stamp("told", {"n": n})


class TestRevisions:
    """One counter a room."""

    def test_grow_by_one_a_message(self) -> None:
        """Each message bears the next number, the room's name, and its own payload."""
        room = Room("overview", Ledger().reserve)
        room.prepare(2)
        first, second = room.stamp("a", {"x": 1}), room.stamp("b", {})
        assert second.revision == first.revision + 1
        assert first.payload == {"x": 1, "room": "overview", "revision": first.revision}

    def test_never_repeat_after_a_restart(self) -> None:
        """A new run begins above everything the run before gave out."""
        ledger = Ledger()
        before = Room("overview", ledger.reserve)
        tell(before, 7)
        assert Room("overview", ledger.reserve).revision > before.revision

    def test_are_reserved_in_blocks(self) -> None:
        """The store is written to once a block, not once a message."""
        ledger = Ledger()
        tell(Room("overview", ledger.reserve), 3 * BLOCK)
        assert ledger.writes <= 5

    def test_stay_within_what_is_reserved(self) -> None:
        """However many are wanted at once."""
        ledger = Ledger()
        room = Room("overview", ledger.reserve)
        room.prepare(3 * BLOCK)
        for _ in range(3 * BLOCK):
            room.stamp("a", {})
        assert room.revision <= ledger.last["overview"]

    def test_of_a_room_say_nothing_of_another(self) -> None:
        """Each room counts for itself."""
        ledger = Ledger()
        tell(Room("session:a", ledger.reserve), 5)
        assert Room("session:b", ledger.reserve).revision == 1


class TestWhoComesBack:
    """A page that was away gets what it missed, or has to look afresh."""

    def test_gets_what_it_missed(self) -> None:
        """In order, and only that."""
        room = Room("session:a", Ledger().reserve)
        tell(room, 5)
        missed = room.enter("page", room.revision - 2)
        assert missed is not None
        assert [one.revision for one in missed] == [room.revision - 1, room.revision]

    def test_gets_nothing_when_nothing_happened(self) -> None:
        """An empty list, not a fresh look."""
        room = Room("session:a", Ledger().reserve)
        tell(room, 5)
        assert room.enter("page", room.revision) == []

    def test_looks_afresh_without_a_revision(self) -> None:
        """A first visit."""
        assert Room("session:a", Ledger().reserve).enter("page", None) is None

    def test_looks_afresh_after_a_restart(self) -> None:
        """A page reads again after a restart, because changes in between are unknown."""
        ledger = Ledger()
        before = Room("session:a", ledger.reserve)
        tell(before, 5)
        assert Room("session:a", ledger.reserve).enter("page", before.revision) is None

    def test_looks_afresh_when_too_much_was_missed(self) -> None:
        """Only the last messages are remembered."""
        room = Room("session:a", Ledger().reserve)
        start = room.revision
        tell(room, REMEMBERED + 1)
        assert room.enter("page", start) is None
        assert room.enter("page", start + 1) is not None

    def test_looks_afresh_when_something_happened_in_an_empty_room(self) -> None:
        """Nobody was told, so nothing can be told again; later messages are again."""
        room = Room("session:a", Ledger().reserve)
        seen = room.revision
        room.prepare(1)
        room.pass_over()
        assert room.enter("page", seen) is None
        now = room.revision
        tell(room, 1)
        assert len(room.enter("page", now) or []) == 1

    def test_looks_afresh_with_a_revision_from_elsewhere(self) -> None:
        """A revision that was never given out here belongs to another database."""
        room = Room("session:a", Ledger().reserve)
        assert room.enter("page", room.revision + 1) is None

    def test_an_empty_room_counts_changes_once(self) -> None:
        """However much happens while nobody looks, one revision says it."""
        room = Room("session:a", Ledger().reserve)
        before = room.revision
        room.prepare(1)
        for _ in range(1000):
            room.pass_over()
        assert room.revision == before + 1
