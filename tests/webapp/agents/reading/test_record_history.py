"""Records of a session that change in place, each given once per version."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scoring.messages import message
from webapp.agents.reading.record_history import History
from webapp.agents.records import Entry, Record, Rewind, Usage, UsageReport


def put(history: History, name: str, text: str, usage: Usage | None = None) -> list[Record]:
    """Return the entries of one message's record."""
    return list(history.put(name, [(name, message("assistant", text))], None, usage, "m", None))


class TestAHistory:
    """New, changed and removed records."""

    def test_gives_each_version_of_a_message_once(self) -> None:
        """An unchanged record gives nothing, and a changed one supersedes the version before."""
        history = History({})
        assert [e.source_id for e in put(history, "a", "1") if isinstance(e, Entry)] == ["a"]
        assert put(history, "a", "1") == []
        (second,) = put(history, "a", "2")
        (third,) = put(history, "a", "3")
        assert isinstance(second, Entry)
        assert isinstance(third, Entry)
        assert (second.source_id, second.supersedes) == ("a@2", "a")
        assert (third.source_id, third.supersedes) == ("a@3", "a@2")

    def test_begins_the_context_with_a_summary(self) -> None:
        """A compaction's summary follows nothing, also where messages were kept."""
        history = History({})
        put(history, "a", "1")
        said = [("b", message("assistant", "2"))]
        [summary] = history.put("b", said, None, None, "m", None, "compaction_summary")
        assert isinstance(summary, Entry)
        assert (summary.parent, history.live) == (None, ["a", "b"])

    def test_continues_from_its_stored_state(self) -> None:
        """The state is JSON, and complete."""
        state: dict[str, Any] = {}
        put(History(state), "a", "1", Usage(5, 1))
        again = History(json.loads(json.dumps(state)))
        assert put(again, "a", "1", Usage(5, 1)) == []
        assert again.live == ["a"]

    def test_reports_later_usage_separately(self) -> None:
        """Usage that arrives after its message is reported once."""
        history = History({})
        put(history, "a", "1")
        (report,) = put(history, "a", "1", Usage(5, 1))
        assert isinstance(report, UsageReport)
        assert put(history, "a", "1", Usage(5, 1)) == []

    @pytest.mark.parametrize(("answers", "end"), [(["a"], "q"), (["a", "a:2"], "a")])
    def test_reports_it_as_that_of_the_last_answer(self, answers: list[str], end: str) -> None:  # X11
        """Everything before that answer is its input, as if the usage had come with it."""
        history, said = History({}), [(name, message("assistant", name)) for name in answers]
        put(history, "q", "go")
        list(history.put("a", said, None, None, "m", None))
        (report,) = history.put("a", said, None, Usage(5, 1), "m", None)
        assert isinstance(report, UsageReport)
        assert report.input_end == end

    def test_reports_removed_records(self) -> None:
        """A shorter list of live records gives a rewind with its own id; the same list gives nothing."""
        history = History({})
        put(history, "a", "1")
        put(history, "b", "2")
        assert list(history.cut(["a", "b"])) == []
        first, second = [*history.cut(["a"]), *history.cut([])]
        assert isinstance(first, Rewind)
        assert isinstance(second, Rewind)
        assert (first.live, second.live, second.to_source_id) == (("a",), (), None)
        assert first.source_id != second.source_id

    def test_finds_the_messages_before_a_record(self) -> None:
        """The messages are found by the id of the record."""
        history = History({})
        put(history, "a", "1")
        list(history.put("b", [("b:results", message("tool", "x"))], None, None, None, None))
        assert history.before("b") == ["a"]
        assert history.before("c") is None
