"""Claude Code's own rows in a new transcript."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from scoring.messages import Message, Text
from webapp.agents.claude_code import transcript
from webapp.agents.claude_code.decoder import Decoder
from webapp.agents.reading.tail import Line
from webapp.agents.records import Entry
from webapp.agents.view import View, ViewMessage, ViewRow

ASKED = {"type": "user", "uuid": "u1", "parentUuid": None, "message": {"role": "user", "content": "hi"}}
LONG = "x" * 500
ATTACHMENT = {"type": "skill_listing", "content": LONG}
SENT = [{"content": f"<system-reminder>\n{LONG}\n</system-reminder>"}]


@pytest.mark.parametrize(
    "row",
    [
        {"type": "attachment", "attachment": ATTACHMENT},
        {"type": "attachment", "attachment": ATTACHMENT, "rendered": SENT, "renderedRole": "system"},
        {"type": "system", "subtype": "local_command", "content": LONG, "level": "info"},
    ],
)
def test_a_cut_row_without_a_message_has_the_new_text(row: dict[str, Any]) -> None:  # X13, S5
    """An attachment or a command's output has no message to replace; it becomes a reminder with the cut text."""
    rows = [ASKED, {**row, "uuid": "u2", "parentUuid": "u1"}]
    found = list(_entries([orjson.dumps(one) for one in rows]))
    assert len(found) == 2
    cut = Message("user", (Text("x… cut"),), found[1].message.name)
    view = View(
        "/work", "2026-11-23T12:00:00Z", [_view(found[0]), ViewMessage([_row(found[1])], replacement=cut)]
    )
    there = list(_entries(list(transcript.write(view).lines)))
    assert [entry.message.text for entry in there] == ["hi", "x… cut"]
    assert [entry.message.name for entry in there] == [found[0].message.name, found[1].message.name]
    assert LONG not in str(there)


def test_a_copy_of_a_fork_is_no_fork() -> None:  # X13
    """The session that it is a copy of has the calls of all its answers, as far as that matters."""
    marks = {"sessionId": "fork", "forkedFrom": {"sessionId": "first"}, "requestSessionId": "first"}
    said = {"message": {"role": "assistant", "content": [{"type": "text", "text": "Hello."}]}}
    rows = [ASKED | marks, {"type": "assistant", "uuid": "u2", "parentUuid": "u1", **said, **marks}]
    found = _entries([orjson.dumps(one) for one in rows])
    view = View("/work", "2026-11-23T12:00:00Z", [_view(one) for one in found])
    there = _entries(list(transcript.write(view).lines))
    assert [(one.message.text, one.inherited) for one in there] == [("hi", False), ("Hello.", False)]


def _entries(lines: list[bytes]) -> list[Entry]:
    decoder = Decoder()
    return [r for n, line in enumerate(lines, 1) for r in decoder.feed(Line(n, line)) if isinstance(r, Entry)]


def _row(entry: Entry) -> ViewRow:
    return ViewRow(str(entry.source_id), entry.message, entry.raw, None)


def _view(entry: Entry) -> ViewMessage:
    return ViewMessage([_row(entry)])
