"""The small tables."""

from __future__ import annotations

from webapp.store import Store
from webapp.store.sessions import SessionRow


class TestSmallTables:
    """Named values."""

    def test_keep_settings_until_they_are_taken_away(self, store: Store) -> None:
        """None takes away."""
        with store.write():
            store.small.put_setting("x", {"a": [1]})
        assert store.small.setting("x") == {"a": [1]}
        with store.write():
            store.small.put_setting("x", None)
        assert store.small.setting("x") is None

    def test_keep_the_largest_revision(self, store: Store) -> None:
        """A revision never falls."""
        with store.write():
            store.small.put_revision("room", 5)
            store.small.put_revision("room", 3)
        assert store.small.revision("room") == 5

    def test_say_whether_an_override_was_there(self, store: Store) -> None:
        """The answer is False where there was none."""
        with store.write():
            assert store.small.put_model_override("m", {"window": 1})
            assert store.small.put_model_override("m", None)
            assert not store.small.put_model_override("m", None)

    def test_forget_the_oldest_answers(self, store: Store, row: SessionRow) -> None:
        """At most 200 a session are remembered."""
        with store.write():
            for n in range(205):
                store.small.put_answer(row.key, f"k{n}", b"d", n, n)
        assert store.small.answer(row.key, "k4") is None
        assert store.small.answer(row.key, "k204") == (b"d", 204)

    def test_remember_how_far_a_file_was_read(self, store: Store) -> None:
        """The last position counts."""
        with store.write():
            store.small.put_file("/a", "s", {"mark": 1}, 1)
            store.small.put_file("/a", "s", {"mark": 2}, 2)
        assert store.small.file("/a") == ("s", {"mark": 2})
