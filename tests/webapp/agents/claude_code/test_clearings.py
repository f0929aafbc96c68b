"""Outputs that Claude Code cleared or replaced by shorter texts, as different versions record it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.webapp.agents.samples import fed, of
from webapp.agents.claude_code.clearings import Clearing, clearing_of, is_clearing, replacements_in
from webapp.agents.claude_code.decoder import Decoder
from webapp.agents.records import Cleared, Problem, Unknown

Row = dict[str, Any]

GONE = "[Old tool result content cleared]"


def boundary() -> Row:
    """Return the row of a clearing by an older version."""
    about = {"trigger": "auto", "tokensSaved": 1200, "compactedToolIds": ["c1", "c2"]}
    return {"type": "system", "subtype": "microcompact_boundary", "uuid": "m1", "microcompactMetadata": about}


def cut() -> Row:
    """Return the row of a clearing by a newer version."""
    attachment = {"type": "tool_results_cut", "callIds": ["c1", "c2"], "standIn": GONE, "roughTokens": 1200}
    return {"type": "attachment", "uuid": "m1", "parentUuid": "r1", "attachment": attachment}


def replaced(call: str, text: str, kind: str = "tool-result") -> Row:
    """Return the row of an output that was too long."""
    one = {"kind": kind, "toolUseId": call, "replacement": text}
    return {"type": "content-replacement", "sessionId": "s", "replacements": [one]}


def result(uuid: str, parent: str, call: str) -> Row:
    """Return the row of an output."""
    block = {"type": "tool_result", "tool_use_id": call, "content": "long " * 99}
    said = {"role": "user", "content": [block]}
    return {"type": "user", "uuid": uuid, "parentUuid": parent, "message": said}


def calls() -> list[Row]:
    """Return a user's row and an answer with two calls."""
    blocks: list[Row] = [
        {"type": "tool_use", "id": name, "name": "Bash", "input": {}} for name in ("c1", "c2")
    ]
    answer = {"role": "assistant", "id": "a", "model": "claude-opus-4-6", "content": blocks}
    return [
        {"type": "user", "uuid": "u1", "parentUuid": None, "message": {"role": "user", "content": "go"}},
        {"type": "assistant", "uuid": "a1", "parentUuid": "u1", "message": answer},
    ]


class TestClearingOf:
    """The calls that a row says were cleared."""

    def test_reads_the_rows_of_all_versions(self) -> None:  # X24
        """Older rows name the calls; newer ones also the text that stands in for each output."""
        assert clearing_of(boundary()) == Clearing(("c1", "c2"), (), 1_200)
        assert clearing_of(cut()) == Clearing(("c1", "c2"), (GONE, GONE), 1_200)

    @pytest.mark.parametrize("value", [None, 3, "x", [], {}, {"callIds": 5, "standIn": {}}])
    def test_is_empty_for_odd_rows(self, value: Any) -> None:
        """Anything can be in a row."""
        assert not clearing_of({"attachment": value, "microcompactMetadata": value}).calls

    def test_is_asked_of_these_rows_only(self) -> None:
        """Other rows are no clearings."""
        assert is_clearing(boundary())
        assert is_clearing(cut())
        assert not is_clearing({"type": "system", "subtype": "compact_boundary"})
        assert not is_clearing({"type": "attachment", "attachment": {"type": "file"}})


def test_replacements_are_read_of_known_kinds_only() -> None:
    """A text of another kind, or none, replaces no output."""
    assert replacements_in(replaced("c1", "short")) == {"c1": "short"}
    assert replacements_in(replaced("c1", "short", "other")) == {}
    assert replacements_in({"replacements": [{"kind": "tool-result", "toolUseId": "c1"}, 4]}) == {}


class TestADecodedClearing:
    """The records of such rows."""

    def test_has_the_text_that_is_sent(self) -> None:  # X24
        """A newer version's row gives a record with its texts, and a copy of the row adds nothing."""
        rows = [*calls(), result("r1", "a1", "c1"), cut(), cut()]
        records = fed(Decoder(), rows)
        assert of(Cleared, records) == [Cleared(("c1", "c2"), 1_200, "m1", texts=(GONE, GONE))]
        assert not [r for r in records if isinstance(r, Unknown | Problem)]

    @pytest.mark.parametrize("is_early", [False, True])
    def test_replaces_an_output_that_was_too_long(self, is_early: bool) -> None:  # X24
        """Wherever the row stands, before the output too, as in a fork, and however often."""
        row, outputs = replaced("c1", "short"), [result("r1", "a1", "c1"), result("r2", "a1", "c2")]
        rows = [*calls(), *([row, *outputs] if is_early else [*outputs, row]), row]
        records = fed(Decoder(), rows)
        assert of(Cleared, records) == [Cleared(("c1",), 0, "content-replacement c1", texts=("short",))]
        assert not [r for r in records if isinstance(r, Unknown | Problem)]
