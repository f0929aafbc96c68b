"""The checks on an export of Coppice."""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.webapp.building import conversation, followed, user
from webapp.app import App
from webapp.bodies import PruneBody
from webapp.config import Config
from webapp.errors import Malformed
from webapp.services.session.session import Session
from webapp.services.transfer.own_checks import check
from webapp.wiring import build

Records = list[dict[str, Any]]


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Records:
    """The records of an export with calls, operations, a summary and shortened outputs."""
    app = build(Config(db=tmp_path_factory.mktemp("own") / "a.db", tokenizer=False, env={}))
    followed(app, *conversation(12), user("end"))
    app.histories.of(Session.load(app.environment, "s"))  # stores the contents of the messages
    app.prunes.apply("s", PruneBody(max_tokens=900, strategy="summarise"))
    app.prunes.apply("s", PruneBody(max_tokens=300))
    out = [json.loads(line) for line in b"".join(app.exporting.export("s")[2]).splitlines()]
    app.close()
    return out


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    """An application with one session."""
    made = build(Config(db=tmp_path / "b.db", tokenizer=False, env={}))
    made.new_sessions.create(id="good")
    yield made
    made.close()


def imported(app: App, records: Records) -> None:
    """Import the records."""
    app.importing.import_file("x.jsonl", b"".join(json.dumps(r).encode() + b"\n" for r in records))


def of(records: Records, kind: str) -> dict[str, Any]:
    """Return the first record of a kind."""
    return next(record for record in records if record.get("type") == kind)


def inside(name: str, **values: Any) -> Callable[[dict[str, Any]], None]:
    """Return a function that changes the JSON text in a column."""

    def change(record: dict[str, Any]) -> None:
        record[name] = json.dumps({**json.loads(record.get(name, "{}")), **values})

    return change


def put(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Return a function that changes a column."""
    return lambda record: record.__setitem__(name, value)


STATES = [
    {"trail": "x"}, {"trail": ["x"]}, {"calibration": [1]}, {"calibration": 5}, {"calibration": {"unseen": "x"}},
    {"calibration": {"factor": 0}}, {"calibration": {"samples": [[1]]}}, {"unwritten": 5},
    {"unwritten": {"listed": []}},
    {"facts": [1]}, {"facts": {"tools": {"Bash": "x"}}}, {"ends": 3}, {"turn_tokens": ["a"]}, {"stride": "x"},
    {"fired": "x"}, {"backed_off": None}, "x", [1],
]  # fmt: skip
CHANGES = [
    *[("session", put("state", state)) for state in STATES],
    ("session", put("notes", {"a": 1})), ("session", put("notes", [5])), ("session", put("settings", "x")),
    ("session", put("settings", [1])), ("session", put("envelope", "x")), ("session", put("title", 5)),
    ("session", put("next_seq", 1 << 60)), ("session", put("next_operation", 1)), ("session", put("window", 1 << 63)),
    ("session", put("last_activity_at", "now")), ("session", put("automatic", "x")), ("session", put("id", "")),
    ("session", put("parent_id", "s")),
    ("entries", put("n", "x")), ("entries", put("role", "wizard")),
    ("messages", put("turn", "x")), ("messages", put("is_error", True)), ("messages", put("card", "[]")),
    ("messages", inside("card", calls=[{"name": "x"}])), ("messages", inside("card", text=5)),
    ("messages", put("features", "5")), ("messages", inside("features", tokens="x")),
    ("messages", inside("features", content={"version": "x"}, role="wizard")),
    ("operations", put("plan", "[]")), ("operations", inside("plan", removed="x")),
    ("operations", inside("plan", weights={"a": "x"})), ("operations", put("at", 1.5)),
    ("operation_items", put("detail", "5")), ("operation_items", put("before", "x")),
    ("samples", put("view_tokens", "x")), ("summaries", put("covers", "[[0]]")), ("summaries", put("tokens", [])),
    ("context_items", put("view", 2)), ("context_items", put("kind", 7)), ("context_items", put("stand_in", "{}")),
    ("totals", put("view", 2)), ("totals", put("tokens", "x")), ("totals", put("messages", "x")),
]  # fmt: skip


class TestAnExport:
    """An export that was edited by hand."""

    @pytest.mark.parametrize(("kind", "change"), CHANGES)
    def test_with_an_invalid_value_is_refused(
        self, app: App, records: Records, kind: str, change: Callable[[dict[str, Any]], None]
    ) -> None:
        """Nothing of it is stored, and other sessions are still listed."""
        changed = copy.deepcopy(records)
        change(of(changed, kind))
        with pytest.raises(Malformed, match="not an export of Coppice"):
            imported(app, changed)
        assert [s.id for s in app.sessions.list()] == ["good"]

    def test_that_is_valid_is_accepted(self, app: App, records: Records) -> None:
        """The unchanged export has every kind of record."""
        assert {r.get("type") for r in records} >= {"summaries", "operation_items", "context_items"}
        check(records[1], records[2:-1])
        imported(app, records)
        assert {s.id for s in app.sessions.list()} == {"good", "s"}

    def test_may_have_settings_of_another_version(self, app: App, records: Records) -> None:
        """Unknown settings are ignored; they are no reason to lose the session."""
        changed = copy.deepcopy(records)
        of(changed, "session")["settings"] = {"not_yet": 5}
        imported(app, changed)
        assert len(app.sessions.list()) == 2

    def test_with_invalid_packed_features_is_refused(self, app: App, records: Records) -> None:
        """Packed features are checked at the import, long before they are used."""
        changed = copy.deepcopy(records)
        message = next(r for r in changed if r.get("type") == "messages" and "columns" in r["features"])
        features = json.loads(message["features"])
        features["content"]["columns"] = base64.b64encode(b"1234567").decode()
        message["features"] = json.dumps(features)
        with pytest.raises(Malformed):
            imported(app, changed)

    def test_names_the_record_and_the_field(self, records: Records) -> None:
        """The field includes the place in a column's JSON."""
        changed = copy.deepcopy(records)
        inside("card", calls=[{"id": "c", "name": 5, "summary": ""}])(of(changed, "messages"))
        with pytest.raises(
            ValueError, match=r"^messages 1: bad value for card\.calls\.0\.name: input should be"
        ):
            check(changed[1], changed[2:-1])

    def test_with_an_invalid_record_of_a_clearing_is_refused(self, records: Records) -> None:
        """Pages show what the agent recorded as words."""
        changed = copy.deepcopy(records)
        inside("stand_in", tokens=1, results={}, by="agent", recorded=5)(of(changed, "context_items"))
        with pytest.raises(ValueError, match=r"bad value for stand_in\.recorded: input should be"):
            check(changed[1], changed[2:-1])
