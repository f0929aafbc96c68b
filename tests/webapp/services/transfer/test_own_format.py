"""Coppice's own export format: complete, checked, and continued."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.webapp.building import conversation, entries, entry, followed, managed, mid, said, user, wire
from webapp.app import App
from webapp.bodies import PlanBody, PruneBody
from webapp.config import Config
from webapp.errors import BusyStore, ClosedStore, DamagedStore, FullDisk, Malformed, ReadOnlyStore, StoreError
from webapp.wiring import build


@pytest.fixture
def other(tmp_path: Path) -> Iterator[App]:
    """An application with another store."""
    made: App = build(Config(db=tmp_path / "other.db", tokenizer=False, env={}))
    yield made
    made.close()


def exported(app: App, session: str = "s") -> bytes:
    """Return the session as a file."""
    return b"".join(app.exporting.export(session)[2])


class TestRoundTrip:
    """An export that is imported elsewhere."""

    def test_gives_the_same_log_context_and_operations(self, app: App, other: App) -> None:  # S1
        """Undo works in the copy like in the original."""
        followed(app, *conversation(10), user("end"))
        app.prunes.apply("s", PruneBody(max_tokens=500))
        app.by_hand.pin("s", mid(app, "s", 41))
        [imported] = other.importing.import_file("x.jsonl", exported(app))
        assert imported.added == 41
        assert replace(other.sessions.get("s"), file=None) == replace(app.sessions.get("s"), file=None)
        assert other.operations.list("s") == app.operations.list("s")
        assert exported(other) == exported(app)
        assert other.operations.undo("s", 1).undone == [2, 1]
        assert other.search.everywhere("parser").total == app.search.everywhere("parser").total > 0
        assert list(other.verify()) == []

    def test_counts_messages_as_other_imports_do(self, app: App, other: App) -> None:  # S1
        """A message of several entries is one, whether it is new or known."""
        parts = [entry(n, said(f"part {n}"), group="one") for n in range(1, 4)]
        app.ingest.ensure("s", "claude-code")
        app.ingest.append_records("s", [entry(0, user("hi")), *parts])
        data = exported(app)
        assert app.sessions.get("s").messages == 2
        [new], [again] = (other.importing.import_file("x.jsonl", data) for _ in range(2))
        assert [(one.added, one.known) for one in (new, again)] == [(2, 0), (0, 2)]

    def test_adds_only_new_messages(self, app: App, other: App) -> None:  # S1
        """An older export changes nothing."""
        followed(app, *conversation(3))
        short = exported(app)
        app.ingest.append_records("s", entries(*conversation(2), start=50))
        whole = exported(app)

        def load(data: bytes) -> int:
            added: int = other.importing.import_file("x.jsonl", data)[0].added
            return added

        assert [load(short), load(short), load(whole), load(short), load(whole)] == [12, 0, 8, 0, 0]
        assert other.sessions.get("s").messages == 20
        assert list(other.verify()) == []

    def test_forgets_the_history_of_what_it_replaces(self, app: App, other: App) -> None:
        """The session has another number afterwards, under which its history is kept."""
        followed(app, *conversation(3))
        other.importing.import_file("x.jsonl", exported(app))
        key = other.store.sessions.get("s").key
        other.prunes.plan("s", PlanBody(max_tokens=100))
        assert key in other.histories._histories
        app.ingest.append_records("s", entries(user("more"), start=50))
        other.importing.import_file("x.jsonl", exported(app))
        assert key not in other.histories._histories

    def test_of_another_session_with_the_same_id_gets_another_id(self, app: App, other: App) -> None:
        """Both sessions are kept."""
        followed(app, user("mine"))
        followed(other, user("theirs"))
        [imported] = other.importing.import_file("x.jsonl", exported(app))
        assert imported.session_id == "s-2"
        assert {s.id for s in other.sessions.list()} == {"s", "s-2"}

    def test_never_makes_two_sessions_parents_of_each_other(self, app: App, other: App) -> None:
        """Two files that say so are both imported, one session as the parent."""
        for session, parent in (("a", "b"), ("b", "a")):
            followed(app, user("hello"), session_id=session)
            said = exported(app, session).replace(b'"parent_id":null', f'"parent_id":"{parent}"'.encode())
            other.importing.import_file("x.jsonl", said)
        assert {s.id: s.parent_id for s in other.sessions.list()} == {"a": "b", "b": None}


class TestGrowth:
    """A session that grows during an export or import."""

    def test_is_kept_during_an_import(self, app: App, other: App, monkeypatch: pytest.MonkeyPatch) -> None:
        """A message appended while the import writes is kept."""
        managed(app, wire("user", "one"), id="s")
        other.importing.import_file("x.jsonl", exported(app))
        app.ingest.append_messages("s", [wire("assistant", "two")])
        own, appends = other.importing._own, list[Thread]()
        holds = own._holds

        def meanwhile(*given: Any) -> bool:
            append = Thread(target=other.ingest.append_messages, args=("s", [wire("assistant", "kept")]))
            append.start()
            append.join(0.2)
            appends.append(append)
            return bool(holds(*given))

        monkeypatch.setattr(own, "_holds", meanwhile)
        other.importing.import_file("x.jsonl", exported(app))
        for append in appends:
            append.join()
        texts = [m.text for s in other.sessions.list() for m in other.messages.page(s.id).messages]
        assert texts.count("kept") == 1
        assert other.search.everywhere("kept").total == 1
        assert list(other.verify()) == []

    def test_is_not_part_of_a_running_export(self, app: App, other: App) -> None:  # S1
        """Messages that arrive while the answer is sent are not included."""
        managed(app, wire("user", "one"), id="s")
        lines = app.exporting.export("s")[2]
        app.ingest.append_messages("s", [wire("assistant", "two")])
        [imported] = other.importing.import_file("x.jsonl", b"".join(lines))
        assert imported.added == 1


class TestDeleted:
    """A followed session that was deleted here."""

    def test_is_restored_by_a_valid_file(self, app: App) -> None:
        """An import is a request of the user."""
        followed(app, user("hi"))
        data = exported(app)
        app.sessions.delete("s")
        assert app.importing.import_file("x.jsonl", data)[0].added == 1
        assert [s.id for s in app.sessions.list()] == ["s"]

    def test_stays_deleted_after_an_invalid_file(self, app: App) -> None:
        """The marker of the deletion stays, so following still skips it."""
        followed(app, user("hi"))
        data = exported(app)
        app.sessions.delete("s")
        with pytest.raises(Malformed):
            app.importing.import_file("x.jsonl", data.replace(b'"tokens":', b'"tokens":1', 1))
        assert app.store.sessions.find("s").deleted_at is not None
        assert app.ingest.ensure("s", "claude-code") is None


class TestDamage:
    """Files with changed or missing records."""

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            (b"request 1", b"request 9"), (b'"tokens":', b'"tokens":1'), (b'"view":1', b'"view":0'),
            (b'"message_no":3', b'"message_no":4'),
            (b'"type":"totals"', b'"type":"luck"'), (b'"type":"end"', b'"type":"calls"'), (b'"n":2', b'"n":-2'),
        ],
    )  # fmt: skip
    def test_is_refused_with_a_reason(self, app: App, other: App, before: bytes, after: bytes) -> None:
        """Nothing of the file is stored."""
        followed(app, *conversation(2))
        data = exported(app)
        assert before in data
        with pytest.raises(Malformed):
            other.importing.import_file("x.jsonl", data.replace(before, after, 1))
        assert other.sessions.list() == []
        assert other.store.sessions.find("s") is None

    @pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
    def test_by_truncation_is_refused(self, app: App, other: App, share: float) -> None:
        """A file truncated at any place is refused."""
        followed(app, *conversation(2))
        data = exported(app)
        with pytest.raises(Malformed):
            other.importing.import_file("x.jsonl", data[: int(len(data) * share)], format="jsonl")
        assert other.sessions.list() == []

    @pytest.mark.parametrize(
        "error", [BusyStore, FullDisk, ReadOnlyStore, DamagedStore, ClosedStore, StoreError]
    )
    def test_is_distinguished_from_a_failure_of_the_store(
        self, app: App, other: App, monkeypatch: pytest.MonkeyPatch, error: type[StoreError]
    ) -> None:
        """The error lets the caller try again, or says what to do about the store."""
        followed(app, user("hi"))

        def fail(*_: Any) -> None:
            raise error("nothing can be stored")

        monkeypatch.setattr(other.store.dump, "load", fail)
        with pytest.raises(error):
            other.importing.import_file("x.jsonl", exported(app))
