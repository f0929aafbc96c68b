"""The log: its ids, what is packed, and how messages are found."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.errors import DamagedStore
from webapp.store import Store
from webapp.store.log import EntryRow, MessageRow, entry_id, message_id, pack, parse_message_id, unpack
from webapp.store.sessions import SessionRow

ROW = EntryRow(
    0,
    b"",
    1,
    "src",
    None,
    None,
    "message",
    "user",
    "",
    '[{"type":"text","text":"hi"}]',
    b"raw",
    None,
    5,
    "m",
    None,
)
MESSAGE = MessageRow(
    1, "user", "message", 3, 2, "{}", '{"text":"hi"}', 0, 0, 0, 1, 0, 0, None, 5, b"i" * 16, None
)


class TestEntryId:
    """An id hashes the entry and the one before it."""

    @pytest.mark.parametrize(
        "change",
        [
            {"parts": '[{"type":"text","text":"ho"}]'}, {"role": "assistant"}, {"raw": b"row"}, {"at": 6},
            {"name": "n"}, {"source_id": "other"}, {"parent": "p"}, {"group": "g"}, {"model": "x"},
            {"supersedes": 0}, {"raw": None},
        ],
    )  # fmt: skip
    def test_changes_with_anything_the_entry_says(self, change: dict[str, Any]) -> None:
        """Nothing of an entry can be altered unseen."""
        assert entry_id(b"before", replace(ROW, **change)) != entry_id(b"before", ROW)

    def test_changes_with_the_entry_before(self) -> None:
        """Two equal replies have ids of their own."""
        assert entry_id(b"a", ROW) != entry_id(b"b", ROW)
        assert entry_id(None, ROW) == entry_id(None, replace(ROW, seq=9, message_no=4))


class TestPacking:
    """Raw bytes in and out."""

    @given(st.binary(max_size=600))
    def test_gives_back_the_same_bytes(self, raw: bytes) -> None:
        """Short ones as they are, long ones packed."""
        assert unpack(pack(raw)) == raw

    @given(st.binary(min_size=200, max_size=600))
    def test_reads_rows_of_earlier_versions(self, raw: bytes) -> None:
        """They were compressed with zlib."""
        assert unpack(b"z" + zlib.compress(raw, 1)) == raw

    @pytest.mark.parametrize(
        "stored", [b"s" + b"x" * 40, b"z" + b"x" * 40, (pack(b"y" * 300) or b"")[:-2], b"s", b"z"]
    )
    def test_says_that_a_row_is_damaged(self, stored: bytes) -> None:  # S1
        """`coppice verify` goes on to what comes after it."""
        with pytest.raises(DamagedStore, match="coppice verify"):
            unpack(stored)

    def test_keeps_nothing_as_nothing(self) -> None:
        """None is not the empty text."""
        assert pack(None) is None
        assert unpack(None) is None


class TestMessageId:
    """The id of a message outside the store."""

    def test_begins_with_the_number(self) -> None:
        """A message is found by its id without an index."""
        assert parse_message_id(message_id(12, b"\xab" * 16)) == 12

    @pytest.mark.parametrize("text", ["", "x-1", "-1", "1" * 11, "٣-a", "１-a"])
    def test_is_refused_when_it_is_none(self, text: str) -> None:
        """Anything may stand in an address."""
        assert parse_message_id(text) is None


class TestLog:
    """Entries and messages in the store."""

    def test_gives_back_entries_as_they_were_written(self, store: Store, row: SessionRow) -> None:
        """All columns, raw bytes unpacked."""
        entry = replace(ROW, id=b"e" * 16, raw=b"x" * 5_000)
        with store.write():
            store.log.add_entries(row.key, [entry])
        assert store.log.entry(row.key, 0) == entry

    def test_knows_source_ids_by_session(self, store: Store, row: SessionRow) -> None:
        """The same id in another session is another entry."""
        with store.write():
            other = store.sessions.create(
                id="t", source="api", kind="managed", created_at=1, last_activity_at=1
            )
            store.log.add_entries(row.key, [replace(ROW, id=b"e" * 16)])
            store.log.add_entries(other.key, [replace(ROW, id=b"f" * 16, seq=3, message_no=2)])
        assert store.log.known(row.key, ["src", "none"]) == {"src": (0, 1)}
        assert store.log.known(other.key, ["src"]) == {"src": (3, 2)}

    def test_leaves_superseded_entries_out_of_a_message(self, store: Store, row: SessionRow) -> None:
        """The newer version counts; the older one stays in the log."""
        newer = replace(ROW, seq=1, source_id="src2", supersedes=0, id=b"b" * 16)
        with store.write():
            store.log.add_entries(row.key, [replace(ROW, id=b"a" * 16), newer])
        message = MESSAGE._replace(last_seq=1)
        assert [e.seq for e in store.log.entries_of(row.key, message)] == [1]
        assert len(store.log.entries(row.key, 0, 9)) == 2

    def test_reads_the_entries_of_neighbours_together(
        self, store: Store, row: SessionRow, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """With one query for each run of messages, the same as one by one, where their entries are mixed too."""
        places = [1, 2, 1, 3, 0, 4, 5]  # the message of each entry; 0 belongs to none
        entries = [
            replace(ROW, seq=seq, message_no=no, source_id=str(seq), id=bytes([seq]) * 16)
            for seq, no in enumerate(places)
        ]
        entries[2] = replace(entries[2], supersedes=0)
        rows = [
            MESSAGE._replace(
                no=no, first_seq=places.index(no), last_seq=len(places) - 1 - places[::-1].index(no)
            )
            for no in (1, 2, 3, 4, 5)
        ]
        with store.write():
            store.log.add_entries(row.key, entries)
            store.log.put_messages(row.key, rows)
        alone = {one.no: store.log.entries_of(row.key, one) for one in rows}
        read, asked = store.log.entries, list[tuple[int, int]]()
        monkeypatch.setattr(store.log, "entries", lambda key, *span: asked.append(span) or read(key, *span))
        assert store.log.rows_of(row.key, [5, 4, 3, 2, 1]) == alone
        assert asked == [(0, 3), (5, 6)]
        assert [entry.seq for entry in alone[1]] == [2]

    def test_finds_message_and_entry_at_a_place(self, store: Store, row: SessionRow) -> None:
        """Places where one of the two is missing are left out."""
        with store.write():
            store.log.add_entries(row.key, [ROW])
            store.log.put_messages(row.key, [MESSAGE])
        place = (row.key, 0, 1)
        found = store.log.matches([place, (row.key, 0, 2), (row.key, 1, 1), (row.key + 1, 0, 1)])
        assert found == {place: (MESSAGE, ROW)}
        assert store.log.matches([]) == {}

    def test_finds_messages_by_condition(self, store: Store, row: SessionRow) -> None:
        """Role, error and being out narrow the numbers."""
        rows = [
            MESSAGE._replace(no=1),
            MESSAGE._replace(no=2, role="tool", is_error=1),
            MESSAGE._replace(no=3, out_operation=4),
        ]
        with store.write():
            store.log.put_messages(row.key, rows)
        numbers = store.log.numbers
        assert numbers(row.key, newest_first=True) == [3, 2, 1]
        assert numbers(row.key, newest_first=False, role="tool", error=True) == [2]
        assert numbers(row.key, newest_first=False, out=True) == [3]
        assert store.log.count_errors(row.key) == 1

    def test_sets_no_column_but_flags(self, store: Store, row: SessionRow) -> None:
        """A name that is no flag is a mistake in the program."""
        with pytest.raises(ValueError, match="role"):
            store.log.set_flag(row.key, [1], "role", 1)
