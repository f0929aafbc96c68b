"""Memories and learnings in the store."""

from __future__ import annotations

import pytest

from webapp.errors import NotFound
from webapp.store import Store
from webapp.store.memories import LEARNING, MEMORY


class TestMemories:
    """Short texts, found by their words."""

    def test_are_added_changed_and_removed(self, store: Store) -> None:  # M8
        """The latest first."""
        with store.write():
            first = store.memories.add(MEMORY, "the port is 8080", None, None, 1)
            store.memories.add(MEMORY, "use tabs", "s", "m1", 2)
            store.memories.change(MEMORY, first.id, "the port is 9090", 3)
        assert [m.text for m in store.memories.all(MEMORY)] == ["the port is 9090", "use tabs"]
        with store.write():
            store.memories.remove(MEMORY, first.id)
        assert [m.session_id for m in store.memories.all(MEMORY)] == ["s"]

    def test_are_found_by_any_of_some_words(self, store: Store) -> None:  # M3
        """Best match first, and as they read now."""
        with store.write():
            one = store.memories.add(MEMORY, "the parser is slow", None, None, 1)
            store.memories.add(MEMORY, "the parser needs the cache", None, None, 2)
            store.memories.add(LEARNING, "parser and cache", None, None, 3)
            store.memories.change(MEMORY, one.id, "the lexer is slow", 4)
        assert [m.text for m in store.memories.search(MEMORY, ["parser", "cache"])] == [
            "the parser needs the cache"
        ]
        assert [m.text for m in store.memories.search(LEARNING, ["cache"])] == ["parser and cache"]

    def test_are_found_by_words_of_scripts_without_spaces(self, store: Store) -> None:
        """Wherever these stand."""
        with store.write():
            store.memories.add(MEMORY, "端口是八零八零", None, None, 1)
            changed = store.memories.add(MEMORY, "使用制表符", None, None, 2)
            store.memories.change(MEMORY, changed.id, "日志在文件夹里", 3)
        found = {
            q: [m.text for m in store.memories.search(MEMORY, [q])] for q in ("八零", "口", "文件", "制表")
        }
        port, log = "端口是八零八零", "日志在文件夹里"
        assert found == {"八零": [port], "口": [port], "文件": [log], "制表": []}

    @pytest.mark.parametrize("words", [[], [""], ['"', "*", "AND"], ["\0"], ["(", ")"], ["\ud800"]])
    def test_are_looked_for_with_anything(self, store: Store, words: list[str]) -> None:
        """Operators and signs are no syntax."""
        assert store.memories.search(MEMORY, words) == []

    def test_that_are_not_there_are_said_to_be_missing(self, store: Store) -> None:
        """A memory of the other kind counts as missing."""
        with store.write():
            made = store.memories.add(MEMORY, "x", None, None, 1)
        for act in (
            lambda: store.memories.get(LEARNING, made.id),
            lambda: store.memories.change(MEMORY, 99, "y", 1),
            lambda: store.memories.remove(LEARNING, made.id),
        ):
            with pytest.raises(NotFound), store.write():
                act()
