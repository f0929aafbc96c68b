"""The edit script: the changes from the agent's context to the pruned view, by the agent's keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.browser.writing import words
from tests.waiting import until
from tests.webapp.building import call, entries, entry, said, usage, user
from webapp.agents import AGENTS
from webapp.agents.hook_runtime import hints as files
from webapp.app import App
from webapp.bodies import PlanBody, PruneBody
from webapp.services.context.edit_script import by_one_key, edit_script
from webapp.services.context.edits import Edit
from webapp.services.integrations import hints
from webapp.services.session.session import Session


def rows() -> Iterator[dict[str, Any]]:
    """Yield a session of pi: a request, six calls with large outputs, and an answer."""
    yield {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-02T12:00:00Z", "cwd": "/x"}
    said: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": "Fix it."}]}]
    for n in range(6):
        call = {"type": "toolCall", "id": f"c{n}", "name": "bash", "arguments": {"command": f"step {n}"}}
        said += [
            {"role": "assistant", "content": [call], "model": "m"},
            {
                "role": "toolResult",
                "toolCallId": f"c{n}",
                "content": [{"type": "text", "text": words(600, f"out{n}")}],
            },
        ]
    said.append({"role": "assistant", "content": [{"type": "text", "text": "Done."}], "model": "m"})
    for n, message in enumerate(said):
        parent = f"r{n - 1}" if n else None
        at = "2026-01-02T12:00:01Z"
        yield {
            "type": "message",
            "id": f"r{n}",
            "parentId": parent,
            "timestamp": at,
            "message": {**message, "timestamp": n},
        }


@pytest.fixture
def session(app: App) -> str:
    """The imported session."""
    data = b"".join(orjson.dumps(row) + b"\n" for row in rows())
    return app.importing.import_file("s.jsonl", data)[0].session_id


def script(app: App, session: str) -> Mapping[str, Edit]:
    """Return the current edits of a session."""
    key_of = AGENTS["pi"].edit_key
    assert key_of is not None
    return edit_script(Session.load(app.environment, session), by_one_key(key_of))["edits"]


class TestTheScript:
    """The script of a session whose pruned view differs from the agent's context."""

    def test_is_empty_without_a_prune(self, app: App, session: str) -> None:  # X27
        """Both contexts are equal."""
        assert script(app, session) == {}

    def test_drops_a_call_with_its_result(self, app: App, session: str) -> None:  # X27
        """The call is named by its time and the result by the call's id; undo empties the script."""
        applied = app.by_hand.drop(session, app.messages.by_number(session, [3])[0].id)
        edits = script(app, session)
        assert edits == {"assistant:1": {"drop": True}, "toolResult:c0": {"drop": True}}
        app.operations.undo(session, applied.operation.n)
        assert script(app, session) == {}

    def test_keeps_the_message_of_the_user_before_the_rest(self, app: App, session: str) -> None:  # X27, X6
        """Some providers refuse a list that begins with an answer."""
        app.by_hand.drop(session, app.messages.by_number(session, [1])[0].id)
        assert script(app, session) == {}
        app.by_hand.drop(session, app.messages.by_number(session, [2])[0].id)
        assert script(app, session) == {"assistant:1": {"drop": True}, "toolResult:c0": {"drop": True}}

    def test_drops_all_parts_that_have_keys_of_their_own(self, app: App, session: str) -> None:  # X27
        """A dropped answer leaves none of its parts behind."""
        app.by_hand.drop(session, app.messages.by_number(session, [2])[0].id)
        found = edit_script(Session.load(app.environment, session), lambda row: (row.id, f"{row.id}+"))[
            "edits"
        ]
        assert sorted(found) == ["r1", "r1+", "r2", "r2+"]

    def test_has_the_replacement_of_an_output(self, app: App, session: str) -> None:  # X27, C3
        """The replacement is listed under the id of the call."""
        rules = {"strategy": "tool_outputs_first", "tool_outputs_keep_turns": 0, "tool_outputs_keep_tokens": 0,
                 "tool_outputs_minimum_gain": 0, "fresh_tail": 0, "minimum_gain_percent": 0}  # fmt: skip
        tokens = app.sessions.get(session).pruned.tokens
        plan = app.prunes.plan(session, PlanBody(max_tokens=int(tokens * 0.7), settings=rules))
        app.prunes.apply(session, PruneBody(plan_id=plan.plan_id))
        outputs = {key: edit["output"] for key, edit in script(app, session).items() if "output" in edit}
        assert len(outputs) == plan.shortened_count > 0
        assert all(key.startswith("toolResult:c") and "cleared" in str(text) for key, text in outputs.items())

    def test_is_written_after_an_operation(
        self, app: App, session: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X27
        """The script is written for the agent's next turn, and rewritten after an undo."""
        monkeypatch.setenv("COPPICE_HINTS", str(tmp_path / "hints"))
        monkeypatch.setattr(hints, "AT_WORK_MS", 10**15)
        (tmp_path / "hints").mkdir()
        applied = app.by_hand.drop(session, app.messages.by_number(session, [3])[0].id)
        until(lambda: files.read(session, files.EDITS).get("edits"))
        app.operations.undo(session, applied.operation.n)
        until(lambda: files.read(session, files.EDITS).get("edits") == {})


def test_a_call_that_the_agent_sent_edited_counts_for_the_pruned_view(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # X27
    """The extension notes that it edited the call; without its note the usage is that of the agent's own context."""
    monkeypatch.setenv("COPPICE_HINTS", str(tmp_path))
    asked = [user("one"), said("two " * 300), user("three")]
    app.ingest.ensure("s", "pi")
    app.ingest.append_records("s", entries(*asked))
    row = app.messages.page("s").messages[1]
    app.by_hand.drop("s", row.id)
    for version, is_edited in (("1", True), ("", False), ("2", True)):
        files.write("s", files.ACTIVE, {"version": version})
        number = app.store.sessions.get("s").next_no + 1
        answer = replace(entry(number, said("four")), usage=usage(900 + number), call_key=f"call {number}")
        app.ingest.append_records("s", [answer])
        found = app.sessions.get("s")
        assert (found.agent is None) == is_edited
        main = found.pruned if found.agent is None else found.agent
        assert (main.tokens, main.certainty) == (910 + number, "exact")


def test_an_edited_call_that_was_written_down_before_it_was_sent_is_no_clearing(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # X27
    """OpenCode writes the message of an answer before the call, and its usage into it afterwards."""
    monkeypatch.setenv("COPPICE_HINTS", str(tmp_path))
    app.ingest.ensure("s", "opencode")
    first = replace(entry(2, said("two")), usage=usage(8_000), call_key="call 1")
    app.ingest.append_records(
        "s", [*entries(user("one"), said(words(6_000))), first, entry(3, user("three"))]
    )
    app.by_hand.drop("s", app.messages.by_number("s", [2])[0].id)
    begun = replace(entry(4, call("c")), group="g", call_key="call 2")
    app.ingest.append_records("s", [begun])
    files.write("s", files.ACTIVE, {"version": "1"})
    tokens = app.sessions.get("s").pruned.tokens
    app.ingest.append_records(
        "s", [replace(entry(5, said("Done.")), group="g", call_key="call 2", usage=usage(tokens))]
    )
    found = app.sessions.get("s")
    assert found.agent is None
    assert found.pruned.tokens == tokens + 10
    assert [one.kind for one in app.operations.list("s")] == ["drop"]


def test_a_call_of_a_loop_that_is_sent_with_older_edits_is_no_measure_of_the_pruned_view(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # X27
    """A prune in a running loop takes effect with the next turn, whose smaller input is no clearing by the agent."""
    monkeypatch.setenv("COPPICE_HINTS", str(tmp_path))

    def answered(number: int, tokens: int, version: str) -> None:
        files.write("s", files.ACTIVE, {"version": version})
        answer = replace(entry(number, said("go on")), usage=usage(tokens), call_key=f"call {number}")
        app.ingest.append_records("s", [answer])

    def dropped(number: int, version: str) -> None:
        app.by_hand.drop("s", app.messages.by_number("s", [number])[0].id)
        files.write("s", files.EDITS, {"version": version, "edits": {}})

    app.ingest.ensure("s", "pi")
    asked = user("one"), said(words(4_000)), user("two"), said(words(3_000)), user("three")
    app.ingest.append_records("s", entries(*asked))
    answered(6, 9_000, "")
    dropped(4, "1")
    app.ingest.append_records("s", entries(user("four"), start=7))
    answered(8, 5_500, "1")
    dropped(2, "2")
    answered(9, 5_520, "1")
    in_loop = app.sessions.get("s").pruned.tokens
    app.ingest.append_records("s", entries(user("five"), start=10))
    answered(11, 1_300, "2")
    found = app.sessions.get("s")
    assert in_loop < 2_000
    assert (found.pruned.tokens, found.pruned.certainty) == (1_310, "exact")
    assert [one.kind for one in app.operations.list("s")] == ["drop", "drop"]
