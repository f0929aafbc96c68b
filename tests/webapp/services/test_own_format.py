"""Our own export: complete, checked, and continued."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.webapp.building import conversation, entries, followed, mid, user
from webapp.config import Config
from webapp.errors import Malformed
from webapp.wiring import App, build


@pytest.fixture
def other(tmp_path: Path) -> Any:
    """Another store, elsewhere."""
    made: App = build(Config(db=tmp_path / "other.db", tokenizer=False, env={}))
    yield made
    made.close()


def exported(app: Any, session: str = "s") -> bytes:
    """The session as a file."""
    return b"".join(app.exporting.export(session)[2])


class TestRoundTrip:
    """Out and in again."""

    def test_gives_the_same_log_context_and_operations(self, app: Any, other: Any) -> None:  # S1
        """And undo works there as it does here."""
        followed(app, *conversation(10), user("end"))
        app.prunes.apply("s", {"max_tokens": 500})
        app.operations.pin("s", mid(app, "s", 41))
        [imported] = other.importing.import_file("x.jsonl", exported(app))["imported"]
        assert imported["added"] == 41
        assert {**other.sessions.get("s"), "file": None} == {**app.sessions.get("s"), "file": None}
        assert other.operations.list("s") == app.operations.list("s")
        assert exported(other) == exported(app)
        assert other.operations.undo("s", 1)["undone"] == [2, 1]
        assert other.search.everywhere("parser")["total"] == app.search.everywhere("parser")["total"] > 0
        assert list(other.verify()) == []

    def test_adds_nothing_twice_and_the_rest_of_a_longer_one(self, app: Any, other: Any) -> None:  # S1
        """An older export takes nothing away."""
        followed(app, *conversation(3))
        short = exported(app)
        app.ingest.append_records("s", entries(*conversation(2), start=50))
        whole = exported(app)
        load = lambda data: other.importing.import_file("x.jsonl", data)["imported"][0]["added"]  # noqa: E731  # short
        assert [load(short), load(short), load(whole), load(short), load(whole)] == [12, 0, 8, 0, 0]
        assert other.sessions.get("s")["messages"] == 20
        assert list(other.verify()) == []

    def test_of_another_session_with_the_same_id_stands_beside_it(self, app: Any, other: Any) -> None:
        """Neither is lost."""
        followed(app, user("mine"))
        followed(other, user("theirs"))
        [imported] = other.importing.import_file("x.jsonl", exported(app))["imported"]
        assert imported["session_id"] == "s-2"
        assert {s["id"] for s in other.sessions.list()} == {"s", "s-2"}


class TestDamage:
    """What was changed is not kept."""

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            (b"request 1", b"request 9"), (b'"tokens":', b'"tokens":1'), (b'"view":1', b'"view":0'),
            (b'"message_no":3', b'"message_no":4'),
            (b'"type":"totals"', b'"type":"luck"'), (b'"type":"end"', b'"type":"calls"'), (b'"n":2', b'"n":-2'),
        ],
    )  # fmt: skip
    def test_is_refused_with_a_reason(self, app: Any, other: Any, before: bytes, after: bytes) -> None:
        """And nothing of it stays."""
        followed(app, *conversation(2))
        data = exported(app)
        assert before in data
        with pytest.raises(Malformed):
            other.importing.import_file("x.jsonl", data.replace(before, after, 1))
        assert other.sessions.list() == []
        assert other.store.sessions.find("s") is None

    @pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
    def test_by_cutting_off_is_noticed(self, app: Any, other: Any, share: float) -> None:
        """Wherever the file ends."""
        followed(app, *conversation(2))
        data = exported(app)
        with pytest.raises(Malformed):
            other.importing.import_file("x.jsonl", data[: int(len(data) * share)], format="jsonl")
        assert other.sessions.list() == []
