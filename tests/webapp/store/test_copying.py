"""A store copied into another: from each engine to each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.outside import outside
from tests.webapp.building import conversation, followed, user, wire
from webapp.app import App
from webapp.bodies import PruneBody
from webapp.config import Config, Database
from webapp.errors import Conflict, StoreError
from webapp.store import Store, copying
from webapp.store.copying import UNFINISHED, copy
from webapp.store.keys import key
from webapp.store.log import EntryRow
from webapp.wiring import build


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A place for the copy."""
    if request.param == "sqlite":
        yield tmp_path / "target.db"
    else:
        with request.getfixturevalue("cluster").database() as lent:
            yield lent


@pytest.fixture
def target(place: Database) -> Iterator[Store]:
    """The store that it is copied to."""
    made = Store(place)
    yield made
    made.close()


@pytest.fixture
def used(app: App) -> App:
    """A store with everything in it: prunes, summaries, a deleted session, memories, settings, a webhook, a token."""
    followed(app, *conversation(4), user("a NUL \0 and naïve words"))
    app.prunes.apply("s", PruneBody(max_tokens=300))
    followed(app, *conversation(6), session_id="t")
    app.summarising.summarise("t")
    gone = app.new_sessions.create(model="gpt-5").id
    app.ingest.append_messages(gone, [wire("user", "hello")])
    app.sessions.delete(gone)
    app.memory.add("memory", "Always test.")
    app.settings.put({"fresh_tail": 7})
    app.access_tokens.make("somebody")
    return app


def contents(store: Store) -> list[object]:
    """Return everything that a store says of its sessions."""
    return [record for row in store.sessions.everything() for record in [row, *store.dump.records(row)]]


class TestCopy:
    """All of it, or what is missing is said."""

    def test_has_every_row_and_is_sound(self, used: App, target: Store) -> None:
        """Searches too find the same."""
        list(copy(used.store, target))
        assert contents(target) == contents(used.store)
        assert list(target.verify()) == []
        assert target.words.in_session(1, "naive") == used.store.words.in_session(1, "naive") != []
        assert [row.text for row in target.memories.search("memory", ["test"])] == ["Always test."]
        assert target.small.setting(UNFINISHED) is None

    def test_gives_no_number_again(self, used: App, target: Store) -> None:
        """Not even the number of a deleted session is given again."""
        list(copy(used.store, target))
        with target.write():
            made = target.sessions.create(
                id="new", source="api", kind="managed", created_at=1, last_activity_at=1
            )
        assert made.key == 4

    def test_goes_on_after_an_interruption(self, used: App, target: Store, place: Database) -> None:
        """A session is not copied again unless it has changed since; until the end nobody uses the copy."""
        steps = copy(used.store, target)
        next(steps)
        steps.close()
        with pytest.raises(Conflict, match="interrupted"):
            build(Config(db=place, follow=False, tokenizer=False, env={}))
        assert next(iter(copy(used.store, target))) == "s: was copied before"
        used.operations.undo("s")
        assert next(iter(copy(used.store, target))) != "s: was copied before"
        list(copy(used.store, target))
        assert contents(target) == contents(used.store)
        assert list(target.verify()) == []

    def test_takes_in_what_changed_without_the_session_itself(self, used: App, target: Store) -> None:
        """Exact usage, or what a plan found out, can change so while the copy is interrupted."""
        steps = copy(used.store, target)
        next(steps)
        steps.close()
        with used.store.write("s"):
            used.store.log.set_flag(1, [1], "pinned", 1)
        assert "s: was copied before" in list(copy(used.store, target))
        assert contents(target) == contents(used.store)
        assert list(target.verify()) == []

    def test_leaves_no_word_of_what_is_gone(self, used: App, target: Store) -> None:
        """Else its number, given again, would be found by them."""
        steps = copy(used.store, target)
        next(steps)
        steps.close()
        used.sessions.delete("s")
        list(copy(used.store, target))
        assert target.words.numbers(1) == set()
        with target.write():
            target.log.add_entries(
                1, [EntryRow(0, b"i" * 16, 1, None, None, None, "message", "user", "", "[]", *[None] * 5)]
            )
        assert target.words.in_session(1, "naive") == []

    @pytest.mark.parametrize("kept", ["learning", "token"])
    def test_is_refused_where_it_would_take_something_away(self, used: App, target: Store, kept: str) -> None:
        """It is refused even if the target has no session yet."""
        with target.write():
            if kept == "learning":
                target.memories.add("learning", "x", None, None, 1)
            else:
                target.access.add_token(b"x", "somebody", "viewer", 1)
        with pytest.raises(Conflict, match="already; name a database"):
            list(copy(used.store, target))

    def test_refuses_long_ids_before_anything_is_copied(self, tmp_path: Path, place: Database) -> None:
        """Every session with one is named; without them the copy goes through. A file of SQLite takes them."""
        old = build(Config(db=tmp_path / "old.db", follow=False, tokenizer=False, env={}))
        for name in ("fine", "long", "child", "inner"):
            followed(old, user("hello"), session_id=name)
        long, low = "x" * 3_000, key(old.store.sessions.get("inner").key, 0)
        with old.store.write():
            old.store.db.run("UPDATE sessions SET id = ? WHERE id = 'long'", (long,))
            old.store.db.run("UPDATE sessions SET parent_id = ? WHERE id = 'child'", (long,))
            old.store.db.run("UPDATE entries SET source_id = ? WHERE key = ?", (long, low))
        with closing(Store(place)) as target:
            if not target.db.short_ids:
                list(copy(old.store, target))
                assert target.sessions.get(long).parent_id is None
                return
            said = copy(old.store, target)
            lines = [next(said) for _ in range(3)]
            with pytest.raises(
                Conflict, match=r"at most 2,000 bytes, so nothing was copied; export .* delete"
            ):
                next(said)
            assert [line.partition(" takes 3,000 bytes: ")[0] for line in lines] == [
                f"session {long[:80]}: its id",
                "session child: the id of its parent",
                "session inner: the id of an entry",
            ]
            assert (target.sessions.everything(), target.small.setting(UNFINISHED)) == ([], None)
            for name in (long, "inner"):  # the child goes with its parent
                old.sessions.delete(name)
            assert next(copy(old.store, target)) == "fine: 1 entry"
        old.close()

    def test_is_refused_into_a_store_that_is_used(self, used: App, target: Store) -> None:
        """Nothing of it is touched."""
        with target.write():
            target.sessions.create(id="x", source="api", kind="managed", created_at=1, last_activity_at=1)
        with pytest.raises(Conflict, match="has sessions already"):
            list(copy(used.store, target))
        assert [row.id for row in target.sessions.everything()] == ["x"]

    def test_takes_no_row_for_copied_that_another_program_changed(
        self, used: App, target: Store, place: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """If copying its session again does not help, it says what differs, and the copy is not used."""
        steps = copy(used.store, target)
        next(steps)
        outside(place, "UPDATE messages SET card = '{}' WHERE key & 255 = 1")
        with monkeypatch.context() as patch:
            patch.setattr(copying, "_copy_session", lambda *_: "")
            with pytest.raises(StoreError, match="its messages were"):
                list(steps)
        assert target.small.setting(UNFINISHED) is not None
