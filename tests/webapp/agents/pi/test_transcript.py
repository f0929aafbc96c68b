"""Copies for pi."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.webapp.agents import samples
from tests.webapp.agents.pi.rows import row
from tests.webapp.agents.samples import of
from webapp.agents.pi.decoder import Decoder
from webapp.agents.pi.transcript import write
from webapp.agents.records import Compaction, Entry
from webapp.agents.view import MessageOrSummary, View, ViewMessage, ViewRow, ViewSummary

ROWS: list[dict[str, Any]] = [
    row("a", None, "1"),
    row("b", "a", "2"),
    {
        "type": "compaction",
        "id": "c",
        "parentId": "b",
        "summary": "s",
        "firstKeptEntryId": "b",
        "usage": {"input": 9},
    },
    row("d", "c", "3"),
]


def copied(items: list[MessageOrSummary]) -> list[dict[str, Any]]:
    """Return the rows of a copy."""
    return [json.loads(line) for line in write(View("/p", "2026-01-02T12:00:00Z", items)).lines]


def items(*names: str) -> list[MessageOrSummary]:
    """Return entries of the session as items of a view."""
    entries = {str(e.source_id): e for e in of(Entry, samples.fed(Decoder(), ROWS))}
    return [ViewMessage([ViewRow(name, entries[name].message, entries[name].raw, None)]) for name in names]


class TestACompaction:
    """A compaction by pi itself, in a copy."""

    def test_has_the_kept_messages_behind_its_summary(self) -> None:
        """They are before it in the file, as in the original, and pi sends them after the summary."""
        rows = copied(items("b", "c", "d"))
        [made] = of(Compaction, samples.fed(Decoder(), rows))
        assert made.kept == (rows[1]["id"],)
        assert [r["type"] for r in rows] == ["session", "message", "compaction", "message"]
        assert "usage" not in rows[2]

    def test_that_comes_first_keeps_nothing(self) -> None:
        """Nothing is before it."""
        [made] = of(Compaction, samples.fed(Decoder(), copied(items("c", "d"))))
        assert made.kept == ()

    def test_after_our_own_summary_is_a_message(self) -> None:
        """Pi uses the last compaction only, and our summary is the first one."""
        rows = copied([ViewSummary(1, "ours", 100, None), *items("b", "c", "d")])
        assert [r["type"] for r in rows] == ["session", "compaction", "message", "message", "message"]


CALLING = [
    row("e", None, [{"type": "toolCall", "id": "c1|fc_1", "name": "ls", "arguments": {}}], "assistant"),
    row("f", "e", "many files", "toolResult", toolCallId="c1|fc_1", toolName="ls"),
]


@pytest.mark.parametrize("made", [False, True])
def test_a_call_keeps_the_id_that_pi_gave_it(made: bool) -> None:
    """The id of OpenAI's item is part of it, also in a message made from its parts and with a shorter output."""
    found = of(Entry, samples.fed(Decoder(), CALLING))
    results = {"c1": "few files"}
    answer, output = copied([
        ViewMessage(
            [ViewRow(str(one.source_id), one.message, one.raw, None)], {} if made else results,
            one.message.with_result_text("c1", "few files") if made else None,
        )
        for one in found
    ])[1:]  # fmt: skip
    assert answer["message"]["content"][0]["id"] == output["message"]["toolCallId"] == "c1|fc_1"
    assert output["message"]["content"] == [{"type": "text", "text": "few files"}]
