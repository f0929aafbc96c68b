"""Gemini CLI's sessions in both layouts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scoring.messages import REMINDER
from tests.shared import shared_data
from tests.webapp.agents.gemini_cli.parallel_calls import (
    ANSWER,
    PICTURE,
    RESULTS,
    SENT,
    USER,
    call_part,
    response,
)
from tests.webapp.agents.samples import SAMPLES, decoded, facts, fed, of, said
from webapp.agents.gemini_cli import decoder as gemini_cli
from webapp.agents.gemini_cli import files
from webapp.agents.gemini_cli.decoder import Decoder
from webapp.agents.records import (
    Compaction,
    Entry,
    Meta,
    Problem,
    Record,
    Rewind,
    TranscriptFile,
    Unknown,
    UsageReport,
)

ROOT = SAMPLES / "gemini-cli" / ".gemini" / "tmp"
CHATS = ROOT / "garden" / "chats"
LINES = CHATS / "session-2026-01-02T12-00-aaaaaaaa.jsonl"
DOCUMENT = CHATS / "session-2025-11-02T12-00-cccccccc.json"


def at(path: Path) -> TranscriptFile:
    """Return a session file as discovery finds it."""
    return TranscriptFile(path, "s", None, files.SOURCE)


class TestLines:
    """Sessions in the newer layout, as lines."""

    def test_give_each_message_once(self) -> None:
        """A record repeated with its results is one message; notices and reasoning are not sent."""
        assert said(decoded(LINES, Decoder())) == [
            ("user", "List the beds."), ("assistant", ""), ("tool", "beds.txt"), ("assistant", "One list."),
            ("user", "And the paths?"), ("assistant", "Four."), ("user", "And the trees?"),
        ]  # fmt: skip

    def test_report_usage_once_per_call(self) -> None:
        """Input includes tool use and output reasoning; later usage is a separate report."""
        records = decoded(LINES, Decoder())
        (report,) = of(UsageReport, records)
        assert (report.call_key, report.input_end) == ("g3", "g1")
        assert (report.usage.input_tokens, report.usage.output_tokens, report.usage.cached_tokens) == (
            1002,
            25,
            400,
        )
        assert [e.call_key for e in of(Entry, records) if e.usage] == ["g4", "g6"]
        assert report.usage.answer_tokens == 25 - report.usage.reasoning_tokens < 25

    def test_rewind_to_before_a_message(self) -> None:  # X12
        """The named message and all later ones leave the context."""
        (rewind,) = of(Rewind, decoded(LINES, Decoder()))
        assert rewind.live == ("g1", "g3", "g3:results", "g4")

    def test_can_repeat_a_message_after_a_rewind(self) -> None:
        """A message written again, changed or not, is in the context again."""
        one, two = (
            {"id": "a", "type": "user", "content": "one"},
            {"id": "b", "type": "gemini", "content": "two"},
        )
        records = fed(Decoder(), [one, two, {"$rewindTo": "b"}, two])
        assert of(Rewind, records)[-1].live == ("a", "b")
        records = fed(Decoder(), [one, two, {"$rewindTo": "b"}, {**two, "content": "other"}])
        assert of(Rewind, records)[-1].live == ("a", "b@2")

    def test_report_unusable_records(self) -> None:
        """A rewind to an unknown message is a problem, and an unknown type is counted."""
        records = decoded(LINES, Decoder())
        assert [p.line for p in of(Problem, records)] == [13]
        assert of(Unknown, records) == [Unknown(14, "oracle")]

    def test_report_changed_facts(self) -> None:
        """Facts are title, folder and model; a summary replaces the first request as title."""
        records = decoded(LINES, Decoder())
        assert facts(records, Meta, "title") == ["List the beds.", "Beds and trees"]
        assert facts(records, Meta, "cwd") == ["/home/ada/garden"]
        assert facts(records, Meta, "model") == ["gemini-3-pro"]

    def test_can_replace_the_whole_list(self) -> None:
        """In a new list, changed messages supersede older ones, and missing ones leave the context."""
        one = {"id": "a", "type": "user", "content": "one"}
        two = {"id": "b", "type": "gemini", "content": "two"}
        records = fed(Decoder(), [one, two, {"$set": {"messages": [{**two, "content": "two, short"}]}}])
        last = of(Entry, records)[-1]
        assert (last.source_id, last.supersedes) == ("b@2", "b")
        assert of(Rewind, records)[-1].live == ("b@2",)

    def test_can_hold_a_session_in_its_first_line(self) -> None:
        """A first line with messages is read like a document, and what follows goes on from it."""
        first = {
            "sessionId": "s",
            "projectHash": "p",
            "messages": [{"id": "a", "type": "user", "content": "one"}],
        }
        records = fed(Decoder(), [first, {"id": "b", "type": "gemini", "content": "two"}])
        assert said(records) == [("user", "one"), ("assistant", "two")]

    @pytest.mark.parametrize(
        "key", ["id", "type", "content", "toolCalls", "tokens", "$set", "$rewindTo", "timestamp"]
    )
    @pytest.mark.parametrize("value", [None, 1, "x", [], [1], {}, {"messages": [5]}, True])
    def test_with_any_value_anywhere_do_not_raise(self, key: str, value: Any) -> None:
        """A field of the wrong type never breaks the reading of what follows."""
        row = {"id": "a", "type": "gemini", "content": "x", key: value}
        assert ("user", "last") in said(fed(Decoder(), [row, {"id": "z", "type": "user", "content": "last"}]))


class TestHistories:
    """Lists of messages that the agent writes as it sends them."""

    def test_repeat_calls_and_results(self) -> None:
        """Calls in the content, and the results of all calls written to each, are those of the record."""
        decoder = Decoder()
        first = fed(decoder, [USER, ANSWER, RESULTS])
        assert [e.source_id for e in of(Entry, first)] == ["u", "g", "g:results"]
        calls = [{**call, "result": SENT} for call in ANSWER["toolCalls"]]
        content = [{"text": "Both."}, call_part("c1"), call_part("c2")]
        again = {**ANSWER, "content": content, "toolCalls": calls}
        repeated = {"id": "g_response", "type": "user", "content": SENT}
        assert fed(decoder, [{"$set": {"messages": [USER, again, repeated, RESULTS]}}]) == []

    def test_can_have_calls_and_results_apart_after_a_resume(self) -> None:
        """They are the messages that the record of the model had with both."""
        decoder = Decoder()
        fed(decoder, [USER, ANSWER, RESULTS])
        calls = {
            "id": "g",
            "type": "gemini",
            "content": [{"text": "Both."}, call_part("c1"), call_part("c2")],
        }
        apart = [USER, calls, {"id": "g_response", "type": "user", "content": SENT}, RESULTS]
        assert fed(decoder, [{"$set": {"messages": apart}}]) == []

    def test_have_results_that_no_record_of_the_model_has(self) -> None:
        """They follow their calls, with their pictures, and what the user said beside them follows them."""
        answer = {"id": "g", "type": "gemini", "content": [call_part("c1"), call_part("c2")]}
        beside = {**RESULTS, "content": [*SENT, {"text": "Shorter."}]}
        entries = of(Entry, fed(Decoder(), [USER, answer, beside]))
        assert [(e.message.role, e.message.text) for e in entries[2:]] == [
            ("tool", "one\ntwo"),
            ("user", "Shorter."),
        ]
        assert [(r.call_id, len(r.media)) for r in entries[2].message.results] == [("c1", 1), ("c2", 0)]

    @pytest.mark.parametrize("is_recorded", [True, False])
    def test_with_a_new_summary_are_compactions(self, is_recorded: bool) -> None:
        """Kept messages are written again with new ids and results, in some versions as records before the list."""
        summary = {"id": "s", "type": "user", "content": [{"text": "<state_snapshot>x</state_snapshot>"}]}
        kept = [
            summary,
            {"id": "k1", "type": "gemini", "content": [{"text": "Got it."}]},
            {"id": "k2", "type": "user", "content": [{"text": "List one."}]},
            {"id": "k3", "type": "gemini", "content": [call_part("c1")]},
            {"id": "k4", "type": "user", "content": [response("c1", "one")]},
        ]
        decoder = Decoder()
        fed(decoder, [USER, ANSWER, RESULTS])
        records = fed(decoder, [*(kept if is_recorded else []), {"$set": {"messages": kept}}])
        entries, (compaction,) = of(Entry, records), of(Compaction, records)
        ids = ["s", "k1", "k2", "k3", "k4:results"]
        assert [e.source_id for e in entries] == ids
        assert compaction.kept == (tuple(ids) if is_recorded else ())
        assert (entries[0].kind, entries[0].own_words) == ("compaction_summary", None)
        assert fed(decoder, [{"$set": {"messages": kept}}]) == []
        (rewind,) = fed(decoder, [{"$set": {"messages": kept[:2]}}])
        assert isinstance(rewind, Rewind)

    def test_with_a_new_summary_keep_messages_that_have_new_ids(self) -> None:  # X12
        """Kept messages are in the log already; of equal ones the last was kept (seen in 0.61.0)."""
        plain = [
            ("f", "user", "<session_context>x</session_context>"), ("a", "user", "Go on."), ("b", "gemini", "Yes."),
            ("c", "user", "Go on."), ("d", "gemini", "No."),
        ]  # fmt: skip
        rows = [{"id": name, "type": kind, "content": [{"text": text}]} for name, kind, text in plain]
        call = {
            "id": "c1",
            "name": "ls",
            "args": {},
            "status": "success",
            "result": [response("c1", "one")],
        }
        rows.append({"id": "e", "type": "gemini", "content": "Look.", "toolCalls": [call]})
        summary = {"id": "s", "type": "user", "content": [{"text": "<state_snapshot>x</state_snapshot>"}]}
        thanks = "Got it. Thanks for the additional context!"
        written = [
            rows[0], summary, {"id": "t", "type": "gemini", "content": [{"text": thanks}]},
            rows[3] | {"id": "3"}, rows[4] | {"id": "4"},
            {"id": "5", "type": "gemini", "content": [{"text": "Look."}, call_part("c1")]},
            {"id": "6", "type": "user", "content": [response("c1", "one")]},
        ]  # fmt: skip
        decoder = Decoder()
        fed(decoder, rows)
        compaction, *records = fed(decoder, [{"$set": {"messages": written}}])
        assert isinstance(compaction, Compaction)
        assert compaction.kept == ("f", "c", "d", "e", "e:results")
        assert [(e.source_id, e.parent, e.message.name) for e in of(Entry, records)] == [
            ("s", "f", REMINDER),
            ("t", "s", REMINDER),
        ]
        assert of(Rewind, records) == []
        (rewind,) = fed(decoder, [{"$rewindTo": "4"}])
        assert isinstance(rewind, Rewind)
        assert rewind.live == ("f", "s", "t", "c")

    def test_can_say_the_same_again_after_something_else(self) -> None:  # X12
        """The order of the list counts, so this is a new message."""
        start, go, one = (
            {"id": name, "type": kind, "content": text}
            for name, kind, text in (
                ("a", "user", "Start."),
                ("b", "user", "Go on."),
                ("c", "gemini", "One."),
            )
        )
        decoder = Decoder()
        fed(decoder, [start, go, one])
        written = [start, one | {"id": "d", "content": "Two."}, go | {"id": "e"}]
        records = fed(decoder, [{"$set": {"messages": written}}])
        assert [entry.source_id for entry in of(Entry, records)] == ["d", "e"]

    def test_with_a_new_summary_count_the_calls_of_kept_messages_once(self) -> None:  # X12
        """Their records can have the usage under the new ids, too."""
        used = {"tokens": {"input": 900, "output": 9, "cached": 0, "thoughts": 0, "tool": 0, "total": 909}}
        ask, answer = (
            {"id": "a", "type": "user", "content": "Go on."},
            {"type": "gemini", "content": "Yes.", **used},
        )
        summary = {"id": "s", "type": "user", "content": [{"text": "<state_snapshot>x</state_snapshot>"}]}
        decoder = Decoder()
        fed(decoder, [ask, answer | {"id": "b"}])
        records = fed(decoder, [{"$set": {"messages": [summary, answer | {"id": "4"}]}}])
        assert [r for r in records if getattr(r, "usage", None) is not None] == []
        grown = answer | {"id": "4", "tokens": used["tokens"] | {"output": 12}}
        (report,) = of(UsageReport, fed(decoder, [grown]))
        assert report.call_key == "b"

    def test_with_a_summary_behind_the_first_message_keep_it_there(self) -> None:
        """The agent sends its own first message before the summary."""
        first = {"id": "f", "type": "user", "content": [{"text": "<session_context>x</session_context>"}]}
        summary = {"id": "s", "type": "user", "content": [{"text": "<state_snapshot>x</state_snapshot>"}]}
        decoder = Decoder()
        fed(decoder, [first, USER])
        (entry,) = of(Entry, fed(decoder, [{"$set": {"messages": [first, summary]}}]))
        assert (entry.source_id, entry.parent, entry.kind) == ("s", "f", "compaction_summary")

    def test_of_a_sub_agent_have_its_task_as_title(self) -> None:
        """Its summary is its report, often as JSON, and what the agent loads stands before its task."""
        loaded = {"text": "<loaded_context>\nBe brief.\n</loaded_context>"}
        begun = {"sessionId": "s", "kind": "subagent"}
        asked = {"id": "u", "type": "user", "content": [loaded, {"text": "Find the beds."}]}
        records = fed(Decoder(), [begun, asked, {"$set": {"summary": '{"found": []}'}}])
        assert [one.title for one in of(Meta, records) if one.title] == ["Find the beds."]

    def test_send_files_in_notices(self) -> None:
        """A file that a tool read can be recorded as a notice, and nobody wrote it."""
        notice = {"id": "n", "type": "info", "content": [PICTURE]}
        (entry,) = of(Entry, fed(Decoder(), [notice, {"id": "m", "type": "info", "content": "Saved."}]))
        assert (len(entry.message.media), entry.own_words) == (1, None)


class TestDocuments:
    """Sessions in the older layout, as documents."""

    def test_give_only_new_messages(self, tmp_path: Path) -> None:  # X12
        """A rewritten document gives only its new messages, even with a stored state."""
        path, state = tmp_path / DOCUMENT.name, dict[str, Any]()
        document = json.loads(DOCUMENT.read_bytes())
        path.write_text(json.dumps(document))
        assert len(of(Entry, gemini_cli.read(at(path), state))) == 3
        assert list(gemini_cli.read(at(path), state)) == []
        state = json.loads(json.dumps(state))
        document["messages"].append({"id": "m9", "type": "user", "content": "More."})
        path.write_text(json.dumps(document))
        assert said(gemini_cli.read(at(path), state)) == [("user", "More.")]

    def test_that_gain_calls_and_results_never_rewind(self) -> None:  # X12
        """An answer is written with its words, then with its calls, then with their results; nothing leaves."""
        document = json.loads(DOCUMENT.read_bytes())
        messages, state = document.pop("messages"), dict[str, Any]()
        grown, records = list[dict[str, Any]](), list[Record]()
        for message in messages:
            calls = message.get("toolCalls", [])
            waiting = [{**call, "result": [], "status": "executing"} for call in calls]
            later = [{"toolCalls": []}, {"toolCalls": waiting}, {}] if calls else [{}]
            for stage in later:
                whole = document | {"messages": [*grown, message | {"content": "Wait."} | stage]}
                records += Decoder(state).document(whole)
            grown.append(message | {"content": "Wait."})
        assert [r for r in records if isinstance(r, Rewind)] == []
        whole = document | {"messages": grown}
        assert state["live"] == [one.source_id for one in of(Entry, Decoder().document(whole))]

    def test_that_lose_messages_rewind(self, tmp_path: Path) -> None:
        """Removed messages leave the context, and new ones follow the rest."""
        path, state = tmp_path / DOCUMENT.name, dict[str, Any]()
        document = json.loads(DOCUMENT.read_bytes())
        path.write_text(json.dumps(document))
        list(gemini_cli.read(at(path), state))
        document["messages"][1:] = [{"id": "m8", "type": "user", "content": "Instead."}]
        path.write_text(json.dumps(document))
        records = list(gemini_cli.read(at(path), state))
        assert [r.live for r in of(Rewind, records)] == [("m1",)]
        assert said(records) == [("user", "Instead.")]

    def test_that_are_half_written_change_nothing(self, tmp_path: Path) -> None:
        """Half a document is a problem, and it is read when it is complete."""
        path, state = tmp_path / DOCUMENT.name, dict[str, Any]()
        whole = DOCUMENT.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        (problem,) = gemini_cli.read(at(path), state)
        assert isinstance(problem, Problem)
        path.write_bytes(whole)
        assert len(of(Entry, gemini_cli.read(at(path), state))) == 3

    def test_that_are_unusable_are_problems(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """This applies to a file that is missing, too large or has no messages."""
        path = tmp_path / "session-x.json"
        assert "cannot be read" in str(list(gemini_cli.read(at(path), {})))
        path.write_text("{}")
        assert "no list of messages" in str(list(gemini_cli.read(at(path), {})))
        monkeypatch.setattr(gemini_cli, "MAX_DOCUMENT", 1)
        assert "largest allowed" in str(list(gemini_cli.read(at(path), {})))


class TestSharedSamples:
    """The shared transcripts."""

    @pytest.mark.parametrize(("name", "entries"), [("large", 8), ("small", 2), ("schema_drift", 2)])
    def test_of_documents_are_read(self, name: str, entries: int) -> None:
        """Documents of drifted formats are read, and a second read gives nothing."""
        file, state = at(shared_data("transcripts", "small", "gemini", f"{name}.json")), dict[str, Any]()
        assert len(of(Entry, gemini_cli.read(file, state))) == entries
        state.pop("look")
        assert list(gemini_cli.read(file, state)) == []

    def test_of_lines_are_complete(self) -> None:
        """The sample has two calls of the model with usage, and one tool call with its result."""
        path = shared_data("transcripts", "small", "gemini", "jsonl_v040.jsonl")
        records = decoded(path, Decoder())
        assert [who for who, _ in said(records)] == ["user", "assistant", "tool", "assistant"]
        assert [e.usage.input_tokens for e in of(Entry, records) if e.usage] == [11855, 12069]
