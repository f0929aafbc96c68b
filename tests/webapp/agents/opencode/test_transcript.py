"""Pruned copies for OpenCode: files for its import, made from the pruned view and its messages."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.shared import ROOT
from tests.webapp.agents.opencode.fake_import import fake_import
from tests.webapp.agents.opencode.second_generation import SAID as SAID_VERSION2
from tests.webapp.agents.opencode.second_generation import database
from tests.webapp.agents.opencode.second_generation import write as write_version2
from webapp.agents.view import PRUNED_NOTE
from webapp.app import App
from webapp.bodies import PlanBody, PruneBody
from webapp.config import Config
from webapp.errors import Conflict
from webapp.services.transfer.answers import Resumed
from webapp.wiring import build

MODEL = {"providerID": "anthropic", "modelID": "claude-sonnet-4-5"}
IMAGE = "data:image/png;base64,iVBORw0KGgo="
BEGUN = 1_767_355_200_000


def part(kind: str, number: int, **said: Any) -> dict[str, Any]:
    """Return a part with the ids of the original."""
    own = {"id": f"prt_old{number:03}", "sessionID": "ses_old", "messageID": f"msg_old{number // 10:03}"}
    return {**own, "type": kind, **said}


def call(number: int, output: str, **more: Any) -> dict[str, Any]:
    """Return a call with its result, and with metadata for the agent's pages."""
    state = {"status": "completed", "input": {"command": "ls"}, "output": output, "title": "ls",
             "metadata": {"output": output}, "time": {"start": 1, "end": 2}, **more}  # fmt: skip
    return part("tool", number, callID=f"call_{number}", tool="bash", state=state)


def message(number: int, role: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a message with its parts."""
    info = {"id": f"msg_old{number:03}", "sessionID": "ses_old", "role": role, "agent": "build",
            "time": {"created": BEGUN + number}, **more}  # fmt: skip
    return {"info": info, "parts": list(parts)}


def answer(number: int, *parts: dict[str, Any]) -> dict[str, Any]:
    """Return an answer of the model, with its usage."""
    tokens = {
        "input": 5_000 if number == 2 else 21_000 + number,
        "output": 40,
        "reasoning": 0,
        "cache": {"read": 100, "write": 10},
    }
    finish = part("step-finish", number * 10 + 9, tokens=tokens, cost=0.1, reason="stop")
    own = {"parentID": "msg_old001", "mode": "build", "tokens": tokens, "cost": 0.1, **MODEL}
    return message(number, "assistant", part("step-start", number * 10), *parts, finish, **own)


RULES = [{"permission": "question", "pattern": "*", "action": "deny"}]
SIGNED = {"anthropic": {"signature": "c2lnbmVk"}}
SAID = [
    message(1, "user", part("text", 11, text="List the beds."),
            part("file", 12, mime="image/png", filename="bed.png", url=IMAGE), model=MODEL),
    answer(2, part("reasoning", 21, text="Look first.", metadata=SIGNED, time={"start": 1, "end": 2}),
           call(22, "seven beds\n" * 3_000),
           call(23, "a picture", attachments=[part("file", 24, mime="image/png", url=IMAGE)])),
    answer(3, part("text", 31, text="Seven.")),
    message(4, "user", part("text", 41, text="And the paths?"), model=MODEL),
    answer(5, part("text", 51, text="None.")),
]  # fmt: skip


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    """An application whose OpenCode folder is below the test's."""
    config = Config(db=tmp_path / "c.db", tokenizer=False, follow=False, env={"HOME": str(tmp_path)})
    made = build(config)
    yield made
    made.close()


@pytest.fixture
def session(app: App, tmp_path: Path) -> str:
    """A session of OpenCode in a database, with a large output."""
    info = {"id": "ses_old", "projectID": "garden", "directory": str(tmp_path), "title": "The beds",
            "version": "1.18.33", "time": {"created": BEGUN, "updated": BEGUN + 9}, "permission": RULES}  # fmt: skip
    file = tmp_path / "original.json"
    file.write_text(json.dumps({"info": info, "messages": SAID}))
    [(_, imported)] = app.importing.import_sessions(fake_import(file, tmp_path))
    return imported.session_id


def shorten(app: App, session: str) -> None:
    """Shorten the large output."""
    rules = {"strategy": "tool_outputs_first", "tool_outputs_keep_turns": 0, "tool_outputs_keep_tokens": 0,
             "tool_outputs_minimum_gain": 0, "fresh_tail": 0, "minimum_gain_percent": 0}  # fmt: skip
    tokens = app.sessions.get(session).pruned.tokens
    plan = app.prunes.plan(session, PlanBody(max_tokens=tokens // 2, settings=rules))
    app.prunes.apply(session, PruneBody(plan_id=plan.plan_id))


def content(made: Resumed) -> dict[str, Any]:
    """Return the written file as data."""
    found: dict[str, Any] = json.loads(Path(made.path).read_bytes())
    return found


def parts(made: Resumed, kind: str) -> list[dict[str, Any]]:
    """Return the parts of a type."""
    return [p for one in content(made)["messages"] for p in one["parts"] if p["type"] == kind]


def texts(made: Resumed) -> list[tuple[str, str]]:
    """Return the role and text of each message."""
    return [(one["info"]["role"], "".join(p.get("text", "") for p in one["parts"]))
            for one in content(made)["messages"]]  # fmt: skip


class TestTheFile:
    """The file, in the format of `opencode export`."""

    def test_is_kept_by_coppice_until_the_import(self, app: App, session: str, tmp_path: Path) -> None:  # X22
        """Only its owner can read it; the command imports it and resumes under the new id."""
        made = app.resuming.resume(session)
        file = tmp_path / "copies" / f"{made.session_id}.json"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert made.line == f"cd {tmp_path} && opencode import {file} && opencode --session {made.session_id}"

    def test_has_new_ids_in_ascending_order(self, app: App, session: str) -> None:  # X22
        """Messages, parts and output files have new ids, so an import changes no existing one."""
        made = app.resuming.resume(session)
        ids = [one["info"]["id"] for one in content(made)["messages"]]
        assert ids == sorted(set(ids))
        assert "_old" not in Path(made.path).read_text()
        for one in content(made)["messages"]:
            assert {p["sessionID"] for p in one["parts"]} == {made.session_id}
            assert {p["messageID"] for p in one["parts"]} == {one["info"]["id"]}

    def test_has_a_title_that_says_it_is_pruned(self, app: App, session: str) -> None:  # X22
        """The agent lists it under this title."""
        shorten(app, session)
        assert content(app.resuming.resume(session))["info"]["title"] == "The beds (pruned)"

    def test_has_no_usage_of_the_original(self, app: App, session: str) -> None:  # X22
        """Messages and steps have neither tokens nor costs of earlier calls."""
        made = app.resuming.resume(session)
        infos = [one["info"] for one in content(made)["messages"] if one["info"]["role"] == "assistant"]
        assert {(i["cost"], i["tokens"]["input"], i["tokens"]["output"]) for i in infos} == {(0, 0, 0)}
        assert parts(made, "step-finish") == []

    def test_has_the_permissions_of_the_original(self, app: App, session: str) -> None:  # X22
        """Denied tools stay denied, and the session is offered the same tools."""
        assert content(app.resuming.resume(session))["info"]["permission"] == RULES

    def test_keeps_everything_of_an_uncut_session(self, app: App, session: str) -> None:
        """Texts, reasoning with signatures, images and models are kept."""
        made = app.resuming.resume(session)
        assert texts(made) == [("user", "List the beds."), ("assistant", "Look first."), ("assistant", "Seven."),
                               ("user", "And the paths?"), ("assistant", "None.")]  # fmt: skip
        assert [p["metadata"] for p in parts(made, "reasoning")] == [SIGNED]
        assert [p["url"] for p in parts(made, "file")] == [IMAGE]
        assert [p["state"].get("attachments", [{}])[0].get("url") for p in parts(made, "tool")] == [
            None,
            IMAGE,
        ]
        assert content(made)["messages"][0]["info"]["model"] == MODEL

    def test_has_only_the_shortened_output(self, app: App, session: str) -> None:  # X22
        """The long output is not in the metadata either, and reasoning after the cut is removed."""
        shorten(app, session)
        made = app.resuming.resume(session)
        state = parts(made, "tool")[0]["state"]
        assert (state["status"], state["title"], state["metadata"]) == ("completed", "ls", {})
        assert "seven beds\n" * 1_000 not in json.loads(json.dumps(state))["output"]
        assert len(Path(made.path).read_bytes()) < 10_000
        assert parts(made, "reasoning") == []

    def test_is_read_back_as_the_pruned_view(self, app: App, session: str) -> None:  # X22
        """A copy has the format of an export, which can be imported."""
        shorten(app, session)
        made = app.resuming.resume(session)
        [copy] = app.importing.import_file("copy.json", Path(made.path).read_bytes())
        assert copy.problems == []
        own, back = (app.context.get(name, "openai").messages for name in (session, copy.session_id))
        assert back == own

    def test_begins_with_a_message_of_the_user(self, app: App, session: str) -> None:  # X22, X6
        """If the first message was dropped, a note replaces it, because providers refuse another role."""
        app.by_hand.drop(session, app.messages.by_number(session, [1])[0].id)
        assert texts(app.resuming.resume(session))[0] == ("user", PRUNED_NOTE)

    def test_contains_a_compaction_as_the_agent_writes_it(self, app: App, tmp_path: Path) -> None:
        """It has the request and the summary, and does not remove messages of the copy."""
        tree = ROOT / "tests" / "transcripts" / "opencode" / "opencode" / "storage"
        list(app.importing.import_sessions(tree))
        made = app.resuming.resume("ses_1", cwd=tmp_path)
        first, summary, last = content(made)["messages"]
        assert [p["type"] for p in first["parts"]] == ["compaction"]
        assert (summary["info"]["summary"], summary["parts"][1]["text"]) == (True, "They listed beds.")
        assert last["parts"][0]["text"] == "And the paths?"

    def test_contains_a_compaction_with_the_messages_that_it_kept(self, app: App, tmp_path: Path) -> None:
        """They are before it in the file, and OpenCode sends them after the summary."""
        asked = part("compaction", 91, auto=True, tail_start_id="msg_old004")
        rows = [*SAID, message(9, "user", asked, model=MODEL),
                answer(10, part("text", 101, text="They listed beds."))]  # fmt: skip
        rows[-1]["info"] |= {"summary": True, "finish": "stop", "parentID": "msg_old009"}
        info = {"id": "ses_old", "projectID": "garden", "directory": str(tmp_path), "title": "The beds",
                "version": "1.18.33", "time": {"created": BEGUN, "updated": BEGUN + 9}}  # fmt: skip
        file = tmp_path / "original.json"
        file.write_text(json.dumps({"info": info, "messages": rows}))
        list(app.importing.import_sessions(fake_import(file, tmp_path)))
        made = app.resuming.resume("ses_old")
        assert [text for _, text in texts(made)] == ["And the paths?", "None.", "", "They listed beds."]
        first, _, request, summary = content(made)["messages"]
        assert request["parts"][0]["tail_start_id"] == first["info"]["id"]
        assert (summary["info"]["summary"], summary["info"]["parentID"]) == (True, request["info"]["id"])


class TestRefusals:
    """Sessions that cannot be copied, refused before a prune."""

    def test_include_sessions_of_opencode_2(self, app: App, tmp_path: Path) -> None:  # X22
        """OpenCode 2 has other tables, and its import was not tested."""
        path = database(tmp_path)
        write_version2(path, SAID_VERSION2)
        [(_, imported)] = app.importing.import_sessions(path)
        with pytest.raises(Conflict, match="OpenCode 2, which keeps its sessions in other tables"):
            app.resuming.resume(imported.session_id, prune=True, max_tokens=1, cwd=tmp_path)
        assert app.sessions.get(imported.session_id).operations == 0

    def test_include_sessions_that_the_agent_lacks(self, app: App, session: str, tmp_path: Path) -> None:
        """The copy needs the model of each message from the agent's files."""
        (tmp_path / "opencode.db").unlink()
        with pytest.raises(Conflict, match="does not have session ses_old"):
            app.resuming.resume(session)
