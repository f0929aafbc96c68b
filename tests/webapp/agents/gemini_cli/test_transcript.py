"""Copies for Gemini CLI."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from scoring.messages import Message, Text
from tests.webapp.agents.gemini_cli.parallel_calls import ANSWER, PICTURE, RESULTS, SENT, USER, call_part
from tests.webapp.agents.samples import fed, of
from webapp.agents.gemini_cli.decoder import Decoder
from webapp.agents.gemini_cli.transcript import write
from webapp.agents.records import Entry
from webapp.agents.view import View, ViewMessage, ViewRow


def copied(rows: list[dict[str, Any]], outputs: dict[str, str] | None = None) -> list[dict[str, Any]]:
    """Return the rows of a copy of a session, with these outputs replaced."""
    items = [
        ViewMessage(
            [ViewRow(str(e.source_id), e.message, e.raw, None)], (outputs or {}) if e.message.results else {}
        )
        for e in of(Entry, fed(Decoder(), rows))
    ]
    return [json.loads(line) for line in write(View("/p", "2026-01-02T12:00:00Z", items)).lines][1:]


class TestACopy:
    """A copy of a session."""

    def test_keeps_the_pictures_in_results(self) -> None:
        """A result without a replacement is the agent's own, with everything in it; the others are texts."""
        everything = [{**call, "result": SENT} for call in ANSWER["toolCalls"]]
        rows = [USER, {**ANSWER, "toolCalls": everything}]
        _, answer = copied(rows)
        assert [call["result"] for call in answer["toolCalls"]] == [SENT[:2], SENT[2:]]
        assert PICTURE not in copied(rows, {"c1": "cut"})[1]["toolCalls"][0]["result"]

    def test_has_each_result_once(self) -> None:
        """A text of the user beside results is copied without them."""
        answer = {"id": "g", "type": "gemini", "content": [call_part("c1"), call_part("c2")]}
        beside = {**RESULTS, "content": [*SENT, {"text": "Shorter."}]}
        _, called, user = copied([USER, answer, beside])
        assert [call["result"] for call in called["toolCalls"]] == [SENT[:2], SENT[2:]]
        assert user["content"] == [{"text": "Shorter."}]

    def test_of_a_document_is_a_document(self) -> None:
        """Versions that write documents find no session in lines."""
        items = [ViewMessage([ViewRow("u", Message("user", (Text("Go on."),)), None, None)])]
        made = write(View("/p", "2026-01-02T12:00:00Z", items, file=Path("/h/chats/session-a.json")))
        document = json.loads(b"".join(made.lines))
        assert made.name.endswith(".json")
        assert document["sessionId"] == made.session_id
        assert [one["content"] for one in document["messages"]] == [[{"text": "Go on."}]]
