"""Sessions in the store."""

from __future__ import annotations

import pytest

from webapp.errors import Conflict, Invalid, NotFound
from webapp.store import Store
from webapp.store.sessions import SessionRow


class TestSessions:
    """Rows of sessions."""

    def test_come_back_as_they_were_written(self, store: Store) -> None:
        """JSON columns are decoded, everything else is as it was."""
        with store.write():
            store.sessions.create(
                id="a", source="api", kind="managed", created_at=5, last_activity_at=6, settings={"fresh_tail": 3},
                notes=["n"], envelope={"tools": []},
            )  # fmt: skip
        found = store.sessions.get("a")
        assert (found.settings, found.notes, found.envelope, found.created_at) == (
            {"fresh_tail": 3},
            ["n"],
            {"tools": []},
            5,
        )

    def test_have_ids_of_their_own(self, store: Store, row: SessionRow) -> None:
        """An id is given once."""
        with pytest.raises(Conflict, match="exists already"), store.write():
            store.sessions.create(id="s", source="api", kind="managed", created_at=1, last_activity_at=1)

    @pytest.mark.parametrize("name", ["a/b", ".", "..", "../x", "", "/"])
    def test_have_ids_that_an_address_can_hold(self, store: Store, name: str) -> None:
        """With another id, nobody could open, export or delete them."""
        with (
            pytest.raises(Invalid, match=f'expected no slash, and neither . nor .., got "{name}"'),
            store.write(),
        ):
            store.sessions.create(id=name, source="api", kind="managed", created_at=1, last_activity_at=1)
        assert store.sessions.all() == []

    def test_that_do_not_exist_are_not_found(self, store: Store) -> None:
        """The error names what was asked for."""
        with pytest.raises(NotFound, match="no such session: nobody"):
            store.sessions.get("nobody")

    def test_are_listed_latest_first(self, store: Store, row: SessionRow) -> None:
        """The one with the latest activity stands first."""
        with store.write():
            store.sessions.create(id="t", source="api", kind="managed", created_at=1, last_activity_at=9)
        assert [one.id for one in store.sessions.all()] == ["t", "s"]


class TestRemoval:
    """A session that is deleted."""

    def test_leaves_a_marker_where_one_is_wanted(self, store: Store, row: SessionRow) -> None:
        """The id stays taken, nothing else stays."""
        with store.write():
            store.sessions.update(row.key, title="secret plans")
            store.sessions.remove(row, marker_at=7)
        marker = store.sessions.find("s")
        assert marker is not None
        assert (marker.deleted_at, marker.title) == (7, None)
        assert store.sessions.all() == []
        with pytest.raises(NotFound):
            store.sessions.get("s")

    def test_leaves_nothing_without(self, store: Store, row: SessionRow) -> None:
        """The id can be given again."""
        with store.write():
            store.sessions.remove(row, marker_at=None)
        assert store.sessions.find("s") is None


class TestParents:
    """The session that started another: no session is above itself."""

    def made(self, store: Store, session_id: str, parent: str | None) -> SessionRow:
        """Create a session below another."""
        with store.write():
            return store.sessions.create(
                id=session_id,
                source="api",
                kind="managed",
                created_at=1,
                last_activity_at=1,
                parent_id=parent,
            )

    def test_never_go_round_in_a_circle(self, store: Store) -> None:
        """The one that would close it has no parent, however long the circle and in any order."""
        made = [
            self.made(store, one, above) for one, above in (("a", "b"), ("b", "c"), ("c", "a"), ("d", "d"))
        ]
        assert [row.parent_id for row in made] == ["b", "c", None, None]

    def test_that_are_told_later_do_not_either(self, store: Store) -> None:
        """A parent that would close a circle changes nothing; the other fields are kept."""
        self.made(store, "a", None)
        below = self.made(store, "b", "a")
        with store.write():
            store.sessions.update(store.sessions.get("a").key, parent_id="b", title="told")
            store.sessions.update(below.key, parent_id="a")
        assert [(store.sessions.get(n).parent_id, store.sessions.get(n).title) for n in "ab"] == [
            (None, "told"),
            ("a", None),
        ]

    def test_may_be_unknown(self, store: Store) -> None:
        """A sub-agent may come before the session that started it."""
        assert self.made(store, "a", "later").parent_id == "later"
        assert self.made(store, "later", None).parent_id is None
        assert store.sessions.children("later") == ["a"]
