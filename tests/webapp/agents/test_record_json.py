"""Records as JSON: they arrive unchanged, and invalid ones are refused with the field."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, get_args

import orjson
import pytest

from scoring.messages import Media, Message, Reasoning, Text, ToolCall, ToolResult
from webapp.agents import records
from webapp.agents.record_json import record_from_dict, records_to_json
from webapp.agents.records import Entry, Inference, Meta, Record, Usage
from webapp.errors import Malformed

NO_TEXT = {"role": "user", "parts": [{"type": "text", "text": 3}]}
AT = datetime(2026, 1, 31, 12, tzinfo=UTC)
ENTRY = Entry(
    Message("tool", (ToolResult("c", "out", media=(Media("image"),)), ToolCall("d", "Bash", "{}"), Reasoning("r"))),
    "e", "p", "g", AT, "m", Usage(10, 2, window=5), "k", "compaction_summary", "agent-1", b'{"a": 1}', "old",
)  # fmt: skip
RECORDS: list[Record] = [
    ENTRY,
    Entry(Message("user", (Text("x"),)), None),
    records.Compaction(AT, "auto", 3, "x", (ENTRY,), kept=("a",), unreadable=True),
    records.Compaction(None, "manual", None, None),
    records.Rewind("a", "x", AT, live=("a", "b")),
    records.Cleared(("a",), 0, None),
    records.UsageReport(Usage(1, 2), None, "k", input_end="e", apart=True),
    records.UsageReport(
        Usage(9, 2, first_tokens=4, last_tokens=7, extra_inferences=(Inference("m", 5, 1),)), None, "k"
    ),
    Meta(title="x", window=7, inherits=True),
    records.Problem(None, "r", used=True),
    records.Unknown(1, "t"),
]


class TestRecords:
    """Records written as JSON and read again."""

    @pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
    def test_arrive_unchanged(self, record: Record) -> None:
        """Their raw rows arrive, too, although equality ignores them."""
        [data] = orjson.loads(records_to_json([record]))
        found = record_from_dict(data)
        assert found == record
        assert getattr(found, "raw", None) == getattr(record, "raw", None)

    def test_include_every_type(self) -> None:
        """A record that cannot be sent would be lost only with a remote server."""
        assert {type(record) for record in RECORDS} == set(get_args(Record))

    def test_keep_rows_that_are_not_utf_8(self) -> None:
        """An agent may have cut a row within a character."""
        [data] = orjson.loads(records_to_json([Entry(Message("user"), None, raw=b"\xff{")]))
        found = record_from_dict(data)
        assert isinstance(found, Entry)
        assert found.raw == b"\xff{"

    def test_write_half_of_a_surrogate_pair(self) -> None:
        """The server reads it as U+FFFD, as it does of a followed file."""
        assert b"\\ud83d" in records_to_json([Meta(title="cut \ud83d")])

    @pytest.mark.parametrize(
        ("data", "words"),
        [
            ({}, "unknown record"),
            ({"record": ["entry"]}, "unknown record"),
            ({"record": "entry"}, "message"),
            ({"record": "entry", "message": 3}, "entry"),
            ({"record": "entry", "source_id": "x", "message": {"role": "king", "parts": []}}, "bad value"),
            ({"record": "entry", "source_id": "x", "message": NO_TEXT}, "bad value for text"),
            ({"record": "entry", "source_id": "x", "message": {"role": "user", "parts": []}, "raw": 3}, "entry"),
            ({"record": "meta", "title": 3}, "bad value for title"),
            ({"record": "meta", "colour": "red"}, "unknown field of a record: colour"),
            ({"record": "meta", "raw_base64": "!"}, "meta"),
            ({"record": "meta", "window": 10**30}, "too large"),
            ({"record": "usage", "usage": {"input_tokens": 1e30, "output_tokens": 1}}, "too large"),
            ({"record": "usage", "usage": {"extra_inferences": [{"input_tokens": 10**30}]}}, "too large"),
            (
                {"record": "compaction", "at": None, "trigger": "", "tokens_before": 1, "source_id": None,
                 "replacement": [{"record": "meta"}]},
                "bad value for replacement",
            ),
        ],
    )  # fmt: skip
    def test_are_refused_with_the_field(self, data: dict[str, Any], words: str) -> None:
        """A newer sender may have fields that this server does not know."""
        with pytest.raises(Malformed, match=words):
            record_from_dict(data)
