"""Outputs of tools, cut as Codex sends them."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from tests.webapp.agents.samples import fed, of
from webapp.agents.codex.decoder import Decoder
from webapp.agents.codex.truncation import Budget, truncated, turn_budget
from webapp.agents.records import Compaction, Entry

OUTPUT = "function_call_output"


def row(output: Any, kind: str = OUTPUT, **metadata: Any) -> dict[str, Any]:
    """Return a row with an output."""
    payload = {"type": kind, "call_id": "c", "output": output}
    return {"type": "response_item", "payload": payload, "metadata": metadata}


def turn(mode: Any = "tokens", limit: Any = 10) -> dict[str, Any]:
    """Return a row that begins a turn with a policy; by default 10 tokens, so 12 with the allowance: 48 bytes."""
    return {"type": "turn_context", "payload": {"truncation_policy": {"mode": mode, "limit": limit}}}


def texts(*rows: dict[str, Any]) -> list[str]:
    """Return the outputs as messages."""
    return [e.message.results[0].text for e in of(Entry, fed(Decoder(), rows)) if e.message.results]


class TestAnOutput:
    """An output over the budget of its turn."""

    @pytest.mark.parametrize("kind", [OUTPUT, "custom_tool_call_output"])
    def test_is_sent_without_its_middle(self, kind: str) -> None:  # X11
        """Half of the budget is left of each end; the marker says how many tokens of four bytes are gone."""
        assert texts(turn(), row("a" * 30 + "b" * 30, kind)) == ["a" * 24 + "…3 tokens truncated…" + "b" * 24]

    def test_within_the_budget_is_sent_whole(self) -> None:  # X11
        """The budget is a fifth above the policy, so the outputs of commands, cut to the policy, stay as written."""
        assert texts(turn(), row("a" * 48)) == ["a" * 48]
        assert texts(turn(), row("a" * 49)) == ["a" * 24 + "…1 tokens truncated…" + "a" * 24]

    def test_is_measured_in_bytes(self) -> None:
        """The cuts are between characters; with a limit in bytes, the marker counts characters."""
        assert texts(turn("bytes", 5), row("äöüß€")) == ["ä…3 chars truncated…€"]
        assert texts(turn("bytes", 5), row("äöü")) == ["äöü"]

    def test_keeps_its_row(self) -> None:
        """The log has what the agent wrote."""
        written = row("a" * 100)
        (entry,) = of(Entry, fed(Decoder(), [turn(), written]))
        assert entry.raw == orjson.dumps(written)

    def test_of_blocks_is_cut_where_the_budget_ends(self) -> None:  # X11
        """Texts share the budget; pictures stay, and texts without any of it are counted."""
        picture = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}
        said = [{"type": "input_text", "text": c * 40} for c in "abcd"]
        item = {"type": OUTPUT, "output": [said[0], picture, *said[1:]]}
        assert truncated(item, Budget(12, "tokens"))["output"] == [
            said[0],
            picture,
            {"type": "input_text", "text": "bbbb…8 tokens truncated…bbbb"},
            {"type": "input_text", "text": "[omitted 2 text items ...]"},
        ]
        assert truncated(item, Budget(40, "tokens")) == item


class TestTheBudget:
    """The budget of an output."""

    @pytest.mark.parametrize(
        ("mode", "limit"),
        [("words", 10), (None, 10), ("tokens", 0), ("tokens", -1), ("bytes", "x"), ([], {})],
    )
    def test_needs_a_valid_policy(self, mode: Any, limit: Any) -> None:
        """Without one, outputs are sent as written."""
        assert texts(turn(mode, limit), row("a" * 100)) == ["a" * 100]
        assert turn_budget({"truncation_policy": mode}) is None

    def test_is_that_of_the_turn(self) -> None:
        """A turn without a policy has no budget."""
        sizes = [len(text) for text in texts(turn(limit=10), row("a" * 900), turn(limit=100), row("a" * 900))]
        assert sizes == [48 + len("…213 tokens truncated…"), 480 + len("…105 tokens truncated…")]
        assert texts(turn(), {"type": "turn_context", "payload": {}}, row("a" * 900)) == ["a" * 900]

    @pytest.mark.parametrize("before", [[], [turn()]])
    def test_may_be_in_the_row(self, before: list[dict[str, Any]]) -> None:
        """Newer versions write it beside the output, in tokens and with the allowance."""
        written = row("a" * 100, fallback_token_limit_override=20)
        assert texts(*before, written) == ["a" * 40 + "…5 tokens truncated…" + "a" * 40]

    def test_is_for_outputs_only(self) -> None:
        """Messages are sent whole."""
        item = {"type": "message", "role": "user", "content": "a" * 100}
        assert truncated(item, Budget(1, "tokens")) is item


def test_a_new_history_is_not_cut_again() -> None:  # X12
    """Its outputs are as they were sent, a marker above the budget, and stay the same messages."""
    call = {"type": "function_call", "call_id": "c", "name": "query", "arguments": "{}"}
    sent = {"type": OUTPUT, "call_id": "c", "output": "a" * 24 + "…13 tokens truncated…" + "a" * 24}
    rows = [turn(), {"type": "response_item", "payload": call}, row("a" * 100)]
    compacted = {"type": "compacted", "payload": {"message": "", "replacement_history": [call, sent]}}
    records = fed(Decoder(), [*rows, compacted])
    (compaction,) = of(Compaction, records)
    assert compaction.replacement is not None
    assert [e.source_id for e in compaction.replacement] == [e.source_id for e in of(Entry, records)]
    assert compaction.replacement[1].message.results[0].text == sent["output"]
