"""Searches of a large store in PostgreSQL."""

from __future__ import annotations

import pytest

from webapp.store import Store
from webapp.store.log import EntryRow
from webapp.store.postgresql import words
from webapp.store.search_index import SearchFilter
from webapp.store.sessions import SessionRow

COUNT = 40


@pytest.fixture
def engine() -> str:
    """One engine."""
    return "postgresql"


@pytest.fixture
def many(store: Store, row: SessionRow, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Entries with one word in common; the first has it alone, so that it matches best, and one in ten has another."""
    monkeypatch.setattr(words, "ENOUGH", 5)
    monkeypatch.setattr(words, "BLOCK", 2)
    rest = (None,) * 5
    entries = [
        EntryRow(n, b"%016d" % n, n + 1, None, None, None, "message", "user", "", "[]", *rest)
        for n in range(COUNT)
    ]
    texts = [
        (n, "common" if n == 0 else f"common and long{' tenth' if n % 10 == 1 else ''}") for n in range(COUNT)
    ]
    with store.write():
        store.log.add_entries(row.key, entries)
        store.words.add(row.key, texts)
    return store


def found(store: Store, q: str, limit: int = 99, offset: int = 0) -> set[int]:
    """Return the numbers of the entries that a search of all sessions finds."""
    return {seq for _, seq, _ in store.words.everywhere(q, SearchFilter(), limit, offset)}


class TestIndex:
    """The index of words."""

    def test_knows_the_block_of_an_entry_as_searches_ask_for_it(self, store: Store) -> None:
        """So matches in other blocks are not read."""
        made = store.db.value("SELECT indexdef FROM pg_indexes WHERE indexname = 'entry_words_index'")
        assert f"gin (words, (ARRAY[(n >> {words.BLOCK})]))" in made


class TestEverywhere:
    """The matches among as many of the newest entries as are needed for enough of them."""

    def test_ranks_the_newest_of_a_frequent_word(self, many: Store) -> None:
        """All pages of it have the same ones, each once."""
        newest = found(many, "common")
        assert newest == set(range(COUNT - 5, COUNT))
        pages = [found(many, "common", 4, offset) for offset in (0, 4, 8)]
        assert (pages[0] | pages[1], pages[2]) == (newest, set())

    def test_looks_further_back_for_a_rarer_word(self, many: Store) -> None:
        """To the beginning where there are not enough of them."""
        assert found(many, "tenth") == {1, 11, 21, 31}

    def test_looks_at_all_of_one_session(self, many: Store, row: SessionRow) -> None:
        """The best match is the first, however old it is."""
        [best, *rest] = many.words.everywhere("common", SearchFilter(row.key), 99)
        assert (best[1], len(rest)) == (0, COUNT - 1)

    def test_counts_what_is_within_the_limits(self, many: Store) -> None:
        """Messages of another role are not enough of them."""
        assert many.words.everywhere("common", SearchFilter(role="tool"), 99) == []
