"""Codex's rollouts: samples of every difficulty, and a real session counted independently."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.shared import shared_data
from tests.webapp.agents.samples import SAMPLES, decoded, facts, fed, of, said
from webapp.agents.codex import decoder as codex
from webapp.agents.codex import files
from webapp.agents.reading.tail import Line
from webapp.agents.records import Compaction, Entry, Meta, Problem, Rewind, Unknown, UsageReport

DAY = SAMPLES / "codex" / "sessions" / "2026" / "01" / "02"
OWN = DAY / "rollout-2026-01-02T11-00-00-019b7e00-0000-7000-8000-000000000001.jsonl"
FORK = DAY / "rollout-2026-01-02T11-20-00-019b7e01-0000-7000-8000-000000000002.jsonl"
OLD = next((SAMPLES / "codex" / "archived_sessions").glob("*.jsonl"))


def item(**payload: Any) -> dict[str, Any]:
    """Return a row with an item."""
    return {"timestamp": "2026-01-02T11:00:00Z", "type": "response_item", "payload": payload}


def spoken(role: str, text: str) -> dict[str, Any]:
    """Return a row with a message."""
    return item(type="message", role=role, content=[{"type": "input_text", "text": text}])


ITEMS = ("message", "function_call", "function_call_output", "reasoning", "web_search_call")


class TestMessages:
    """The messages that are sent to the model."""

    def test_are_the_items_without_repeats(self) -> None:
        """Items repeated by events count once; instructions are system messages, and context a reminder."""
        who = [who for who, _ in said(decoded(OWN, codex.Decoder()))]
        assert who[:8] == [
            "system",
            "reminder",
            "user",
            "assistant",
            "assistant",
            "assistant",
            "tool",
            "tool",
        ]
        texts = [text for _, text in said(decoded(OWN, codex.Decoder()))]
        assert (texts.count("List the beds."), texts.count("One list.")) == (1, 1)

    def test_of_one_call_share_a_group(self) -> None:
        """Reasoning and calls between two inputs are one call of the model."""
        entries = of(Entry, decoded(OWN, codex.Decoder()))
        groups = [e.group for e in entries if e.message.role == "assistant"]
        assert groups[0] == groups[1] == groups[2]
        assert len(set(groups)) == 5

    def test_link_calls_and_results(self) -> None:  # P4
        """This applies to function and custom calls; failures are marked, and images are media."""
        entries = of(Entry, decoded(OWN, codex.Decoder()))
        results = [r for e in entries for r in e.message.results]
        assert {r.call_id for r in results} == {c.id for e in entries for c in e.message.calls}
        assert [r.is_error for r in results] == [False, True, False]
        assert (results[1].media[0].width, results[1].media[0].height) == (4, 5)

    def test_keep_their_row(self) -> None:
        """Each entry keeps its row, and its id stays the same in a longer file."""
        entry = of(Entry, decoded(OWN, codex.Decoder()))[0]
        assert entry.raw is not None
        assert json.loads(entry.raw)["payload"]["role"] == "developer"
        assert str(entry.source_id).startswith("2-")

    @pytest.mark.parametrize(
        "words", [{"content": "look here"}, {"content": "", "encrypted_content": "gAAAA"}]
    )
    def test_include_those_between_agents(self, words: dict[str, str]) -> None:  # X12
        """A message from another agent has a row of its own, and is sent as a reminder; its metadata is not."""
        about = {"author": "lead", "recipient": "lead/child", "trigger_turn": True}
        rows = [
            spoken("user", "go"),
            {"type": "inter_agent_communication", "payload": {**about, **words}},
            {"type": "inter_agent_communication_metadata", "payload": {"trigger_turn": True}},
        ]
        records = fed(codex.Decoder(), rows)
        entries = of(Entry, records)
        assert [e.message.name or e.message.role for e in entries] == ["user", "reminder"]
        assert words["content"] in entries[1].message.text
        assert [p.opaque_chars for p in entries[1].message.reasoning] == ([] if words["content"] else [5])
        assert not of(Unknown, records)

    @pytest.mark.parametrize(
        "kind",
        [
            "retained_context",
            "security_risk_score",
            "realtime_item",
            "id_allocation",
            "dynamic_tools_updated",
        ],
    )
    def test_exclude_rows_for_the_host(self, kind: str) -> None:
        """Rows that newer versions write for their own use are known and not sent."""
        assert fed(codex.Decoder(), [{"type": kind, "payload": {"type": "x"}}]) == []

    def test_without_envelope_are_read(self) -> None:
        """Rollouts from before late 2025 have no envelope."""
        records = decoded(OLD, codex.Decoder())
        who = ["user", "assistant", "assistant", "tool", "assistant"]
        assert said(records) == list(zip(who, ["Old style.", "", "", "beds.txt", "Done."], strict=True))
        assert of(Unknown, records) == []

    def test_of_unknown_types_are_counted(self) -> None:
        """Unknown types of items and rows are counted."""
        assert of(Unknown, decoded(OWN, codex.Decoder())) == [Unknown(34, "riddle"), Unknown(35, "novelty")]

    def test_give_title_model_and_window(self) -> None:
        """The title is the user's first request, not the context of the environment."""
        records = decoded(OWN, codex.Decoder())
        assert facts(records, Meta, "title") == ["List the beds."]
        assert facts(records, Meta, "model") == ["gpt-5.2-codex"]
        assert facts(records, Meta, "cwd") == ["/home/ada/garden"]


class TestUsage:
    """Usage reports of calls."""

    def test_is_reported_once_per_call(self) -> None:
        """Repeated and empty reports are skipped; input includes cached tokens; the window is reported."""
        reports = of(UsageReport, decoded(OWN, codex.Decoder()))
        assert [(r.usage.input_tokens, r.usage.output_tokens, r.usage.cached_tokens) for r in reports] == [
            (1000, 20, 0), (1100, 30, 900), (1200, 20, 1000),
        ]  # fmt: skip
        assert len({r.call_key for r in reports}) == 3
        assert {r.usage.window for r in reports} == {258400}

    def test_names_the_end_of_its_input(self) -> None:
        """The input ends at the same entry, whether the report comes before or after the call's items."""
        records = decoded(OWN, codex.Decoder())
        by_id = {e.source_id: e.message for e in of(Entry, records)}
        ends = [by_id[r.input_end].text for r in of(UsageReport, records)]
        assert ends == ["List the beds.", "Exit code: 2", "Done"]

    def test_has_the_window_of_the_turns_own_model(self) -> None:  # X10
        """A turn begins with its window and names its model behind that; a change of model clears the window."""
        turns = [("a", 258_400), ("b", 353_400), ("b", 353_400), ("a", 0)]
        rows = [
            row
            for model, window in turns
            for row in (
                {"type": "event_msg", "payload": {"type": "task_started", "model_context_window": window}},
                {"type": "turn_context", "payload": {"model": model}},
            )
        ]
        found = of(Meta, fed(codex.Decoder(), rows))
        assert [(one.model, one.window) for one in found] == [
            (None, 258_400), ("a", None), (None, 258_400), (None, 353_400), ("b", None), (None, 353_400),
            (None, 353_400), ("a", None),
        ]  # fmt: skip

    def test_that_names_no_call_still_has_the_window(self) -> None:  # X10
        """Only the last call's tokens may be missing."""
        info = {"total_token_usage": {"input_tokens": 9}, "model_context_window": 258_400}
        records = fed(
            codex.Decoder(), [{"type": "event_msg", "payload": {"type": "token_count", "info": info}}]
        )
        assert facts(records, Meta, "window") == [258_400]
        assert of(UsageReport, records) == []

    def test_of_other_shapes_counts_nothing(self) -> None:
        """Broken token counts are no usage."""
        infos: list[Any] = [None, 5, {}, {"last_token_usage": {"input_tokens": -3}}, {"last_token_usage": []}]
        for info in infos:
            assert (
                fed(
                    codex.Decoder(), [{"type": "event_msg", "payload": {"type": "token_count", "info": info}}]
                )
                == []
            )


class TestContextChanges:
    """Rollbacks, compactions and forks."""

    def test_rolled_back_turns_are_a_rewind(self) -> None:  # X12
        """The last turn leaves; the rewind lists the whole context."""
        records = decoded(OWN, codex.Decoder())
        (rewind,) = of(Rewind, records)
        by_id = {e.source_id: e.message.text for e in of(Entry, records)}
        assert by_id[rewind.to_source_id] == "One list."
        assert "Again." not in [by_id[i] for i in rewind.live]
        assert rewind.source_id is not None

    def test_a_compaction_has_the_new_history(self) -> None:  # X12
        """Messages known before keep their ids, new ones get their own, the summary is marked."""
        records = decoded(OWN, codex.Decoder())
        (compaction,) = of(Compaction, records)
        assert compaction.replacement is not None
        known = {e.source_id for e in of(Entry, records)}
        assert [e.source_id in known for e in compaction.replacement] == [True, True, False]
        assert [e.kind for e in compaction.replacement] == ["message", "message", "compaction_summary"]
        assert compaction.tokens_before == 1220
        assert compaction.unreadable
        assert b"encrypted_content" in (compaction.replacement[-1].raw or b"")
        assert of(Entry, records)[-1].parent == compaction.replacement[-1].source_id

    def test_an_older_compaction_keeps_instructions_and_requests(self) -> None:
        """Without a new history it is made as by Codex: messages of the user, then the summary."""
        rows = [
            spoken("developer", "Careful."),
            spoken("user", "One."),
            spoken("assistant", "A."),
            spoken("user", "Two."),
        ]
        records = fed(
            codex.Decoder(), [*rows, {"type": "compacted", "payload": {"message": "They counted."}}]
        )
        (compaction,) = of(Compaction, records)
        assert compaction.replacement is not None
        assert [e.message.text for e in compaction.replacement] == [
            "Careful.",
            "One.",
            "Two.",
            "They counted.",
        ]
        assert compaction.replacement[-1].kind == "compaction_summary"
        assert not compaction.unreadable

    def test_an_empty_message_is_not_missed(self) -> None:
        """A compaction leaves the text of a message that had only a picture, which is empty."""
        history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": ""}]}]
        compacted = {"type": "compacted", "payload": {"message": "", "replacement_history": history}}
        assert of(Unknown, fed(codex.Decoder(), [spoken("user", ""), compacted])) == []

    @pytest.mark.parametrize("kind", ["agent_message", "exec_command_end", "task_complete", "hologram"])
    def test_an_unknown_event_is_counted(self, kind: str) -> None:
        """Known events for the screen repeat other rows."""
        records = fed(codex.Decoder(), [{"type": "event_msg", "payload": {"type": kind}}])
        assert records == ([Unknown(1, "event hologram")] if kind == "hologram" else [])

    @pytest.mark.parametrize("named", [True, False])
    def test_a_copy_of_the_parent_begins_the_context(self, named: bool) -> None:  # X12
        """Its messages are sent, too; its usage is the parent's, and so are its words as a title."""
        file = next(f for f in files.discover(DAY) if f.path == FORK) if named else None
        records = decoded(FORK, codex.Decoder(file))
        assert [(e.message.text, e.inherited) for e in of(Entry, records)] == [
            ("List the beds.", True), ("One list.", True), ("Count the south side.", False), ("Three.", False),
        ]  # fmt: skip
        assert [r.usage.input_tokens for r in of(UsageReport, records)] == [1500]
        assert facts(records, Meta, "parent") == ["019b7e00-0000-7000-8000-000000000001"]
        assert facts(records, Meta, "title")[-1] == "Robin"

    def test_the_usage_of_a_copy_does_not_count_where_the_own_turn_repeats_it(self) -> None:  # X12
        """The first turn after a copy begins with the last usage of the parent once more (seen in 0.120.0)."""

        def begun(turn: str) -> dict[str, Any]:
            return {"type": "event_msg", "payload": {"type": "task_started", "turn_id": turn}}

        own, parent = "019b7e01-0000-7000-8000-000000000002", "019b7e00-0000-7000-8000-000000000001"
        meta = {"id": own, "timestamp": "2026-01-02T11:00:00Z", "forked_from_id": parent}
        rows = [
            {"type": "session_meta", "payload": meta}, begun("019b7e00-0001-7000-8000-000000000001"), counted(900, 900),
            begun("019b7e01-0001-7000-8000-000000000001"), spoken("user", "New."), counted(900, 900),
            spoken("assistant", "Yes."), counted(1700, 800),
        ]  # fmt: skip
        reports = of(UsageReport, fed(codex.Decoder(), rows))
        assert [one.usage.input_tokens for one in reports] == [800]

    def test_a_copy_ends_where_the_first_row_says(self) -> None:  # X12
        """Newer versions number their rows and say at which one a sub-agent's own begin, whatever their times are."""
        about = {
            "id": "019b7e01-0000-7000-8000-000000000002",
            "timestamp": "2026-01-02T11:00:00Z",
            "cwd": "/a",
        }
        spawn = {"subagent": {"thread_spawn": {"parent_thread_id": "019b7e00-0000-7000-8000-000000000001"}}}
        first = {
            "type": "session_meta",
            "payload": {**about, "source": spawn, "subagent_history_start_ordinal": 3},
        }
        parent = {"type": "session_meta", "payload": {"id": "019b7e00-0000-7000-8000-000000000001"}}
        rows = [
            first,
            parent,
            spoken("user", "of the parent"),
            spoken("user", "a task"),
            spoken("user", "more"),
        ]
        records = fed(codex.Decoder(), [{**row, "ordinal": n} for n, row in enumerate(rows)])
        assert [(e.message.text, e.inherited) for e in of(Entry, records)] == [
            ("of the parent", True),
            ("a task", False),
            ("more", False),
        ]
        assert facts(records, Meta, "title") == ["a task"]

    def test_a_row_without_number_within_a_copy_loses_no_others(self) -> None:  # X12
        """It counts as the session's own."""
        about = {"id": "019b7e01-0000-7000-8000-000000000002", "subagent_history_start_ordinal": 4}
        rows = [{"type": "session_meta", "payload": about}, *(spoken("user", word) for word in "abcde")]
        numbered = [row if n == 2 else {**row, "ordinal": n} for n, row in enumerate(rows)]
        records = fed(codex.Decoder(), numbered)
        assert of(Problem, records) == []
        assert [(e.message.text, e.inherited) for e in of(Entry, records)] == [
            ("a", True), ("b", False), ("c", True), ("d", False), ("e", False),
        ]  # fmt: skip

    def test_a_copy_without_turn_ids_ends_with_the_first_later_row(self) -> None:
        """In a file without turn ids, rows written in the session's first moment are the copy."""
        meta = {"id": "own", "timestamp": "2026-01-02T11:00:00Z", "forked_from_id": "other"}
        late = spoken("user", "New.") | {"timestamp": "2026-01-02T11:05:00Z"}
        records = fed(
            codex.Decoder(), [{"type": "session_meta", "payload": meta}, spoken("user", "Old."), late]
        )
        assert [(e.message.text, e.inherited) for e in of(Entry, records)] == [
            ("Old.", True),
            ("New.", False),
        ]

    def test_a_copy_leaves_out_what_left_the_context(self) -> None:
        """The compaction, the rollbacks and the messages of before are the parent's alone."""
        meta = {"id": "own", "timestamp": "2026-01-02T11:00:00Z", "forked_from_id": "other"}
        history = [{"type": "message", "role": "user", "content": "Summed up."}]
        rows = [
            {"type": "session_meta", "payload": meta}, spoken("user", "Old."),
            {"type": "compacted", "payload": {"message": "", "replacement_history": history}},
            spoken("user", "Wrong."), {"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 1}},
            spoken("user", "New.") | {"timestamp": "2026-01-02T11:05:00Z"},
        ]  # fmt: skip
        records = fed(codex.Decoder(), rows)
        assert said(records) == [("user", "Summed up."), ("user", "New.")]
        assert of(Compaction, records) + of(Rewind, records) == []

    def test_a_copy_can_name_the_parent_alone(self) -> None:  # X12
        """Older versions fork a session when its user goes back, and only the copied first row says of which one."""
        metas = [{"id": name, "timestamp": "2026-01-02T11:00:00Z", "cwd": "/a"} for name in ("own", "other")]
        rows = [{"type": "session_meta", "payload": meta} for meta in metas]
        late = spoken("user", "New.") | {"timestamp": "2026-01-02T11:05:00Z"}
        records = fed(codex.Decoder(), [*rows, spoken("user", "Old."), late])
        assert [(e.message.text, e.inherited) for e in of(Entry, records)] == [
            ("Old.", True),
            ("New.", False),
        ]
        assert [facts(records, Meta, name)[-1] for name in ("parent", "agent_type")] == ["other", "fork"]
        assert facts(records, Meta, "title") == ["New."]


class TestBadRows:
    """Rows with any content."""

    @pytest.mark.parametrize(
        "key", ["type", "payload", "role", "content", "call_id", "output", "info", "summary"]
    )
    @pytest.mark.parametrize("value", [None, 1, "x", [], [1], {}, {"content": 5}, True])
    def test_with_any_value_anywhere_do_not_raise(self, key: str, value: Any) -> None:
        """A field of the wrong type never breaks the reading of what follows."""
        payloads = [
            {"type": kind, key: value}
            for kind in (
                "message",
                "function_call",
                "function_call_output",
                "reasoning",
                "web_search_call",
                "token_count",
            )
        ]
        rows = [
            {"type": kind, "payload": p}
            for kind in ("response_item", "event_msg", "compacted")
            for p in payloads
        ]
        bare = [{"type": "message", key: value}, {"role": "user", key: value}, {key: value}]
        metas = [{"type": "session_meta", "payload": {key: value, "source": value}}]
        records = fed(codex.Decoder(), [*rows, *bare, *metas, *rows, spoken("user", "last")])
        assert ("user", "last") in said(records)

    def test_that_are_no_json_are_problems(self) -> None:
        """A broken row is a problem with its line."""
        assert [r.line for r in codex.Decoder().feed(Line(3, b'{"type"')) if isinstance(r, Problem)] == [3]


class TestRealSessions:
    """The shared transcripts, counted independently."""

    def test_lose_and_repeat_nothing(self) -> None:
        """Each item and each of the 39 calls occurs once, and each result has its call."""
        (file,) = files.discover(shared_data("transcripts", "codex", "sessions"))
        rows = [json.loads(line) for line in file.path.read_bytes().splitlines()]
        items = [r["payload"]["type"] for r in rows if r["type"] == "response_item"]
        infos = [r["payload"]["info"] for r in rows if r["payload"].get("type") == "token_count"]
        totals = {json.dumps(i["total_token_usage"]) for i in infos if i}
        records = decoded(file.path, codex.Decoder(file))
        entries, reports = of(Entry, records), of(UsageReport, records)
        assert len(entries) == len(items) - items.count("ghost_snapshot")
        assert len(reports) == len(totals) == 39
        assert len({e.group for e in entries if e.group}) == 39
        made = [c.id for e in entries for c in e.message.calls]
        assert made == [r.call_id for e in entries for r in e.message.results]
        assert [r for r in records if isinstance(r, Problem | Unknown | Rewind)] == []

    @pytest.mark.parametrize(("name", "entries"), [("small", 21), ("large", 16), ("schema_drift", 4)])
    def test_of_drifted_formats_are_read(self, name: str, entries: int) -> None:
        """Rows are read as far as possible, and calls without ids are linked by name."""
        records = decoded(shared_data("transcripts", "small", "codex", f"{name}.jsonl"), codex.Decoder())
        assert len(of(Entry, records)) == entries
        if name != "small":
            calls = {c.id for e in of(Entry, records) for c in e.message.calls}
            assert {r.call_id for e in of(Entry, records) for r in e.message.results} == calls


def test_an_invalid_type_is_ignored() -> None:
    """An item with an invalid type is a message by its role."""
    kinds: tuple[Any, ...] = ({}, [], 5, None)
    for kind in kinds:
        item = {"type": kind, "role": "user", "content": [{"type": "input_text", "text": "hi"}]}
        rows = (
            {"type": "response_item", "payload": item},
            {"type": "compacted", "payload": {"message": "m", "replacement_history": [item]}},
        )
        for row in rows:
            assert any(
                isinstance(record, Entry | Compaction)
                for record in codex.Decoder().feed(Line(1, json.dumps(row).encode()))
            )


def counted(total: int, last: int) -> dict[str, Any]:
    """Return a row with the usage of a call."""
    info = {
        "last_token_usage": {"input_tokens": last, "output_tokens": 5},
        "total_token_usage": {"input_tokens": total, "output_tokens": total // 100},
    }
    return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}


def called(call_id: str) -> dict[str, Any]:
    """Return a row with a call of a tool."""
    return item(type="function_call", call_id=call_id, name="shell", arguments="{}")


def came_back(call_id: str) -> dict[str, Any]:
    """Return a row with the output of a tool."""
    return item(type="function_call_output", call_id=call_id, output="done")


class TestTheOrderOfRequests:
    """The requests that a usage report covers."""

    @pytest.mark.parametrize(
        "answer",
        [
            [called("a"), counted(100, 100), came_back("a")],
            [called("a"), came_back("a"), counted(100, 100)],
            [called("a"), called("b"), came_back("b"), came_back("a"), counted(100, 100)],
            [called("a"), came_back("a"), called("b"), came_back("b"), counted(100, 100)],
        ],
    )
    def test_differs_from_the_order_of_rows(self, answer: list[dict[str, Any]]) -> None:  # X11
        """Outputs of a call's tools are not its input, even if they precede its usage (from 0.133)."""
        records = fed(
            codex.Decoder(), [spoken("user", "go"), *answer, spoken("assistant", "done"), counted(350, 250)]
        )
        first, second = of(UsageReport, records)
        entries = of(Entry, records)
        assert first.input_end == entries[0].source_id
        outputs = [e.source_id for e in entries if e.message.role == "tool"]
        assert second.input_end == outputs[-1]

    def test_skips_a_call_without_usage(self) -> None:  # X11
        """The running totals show that the report is that of the last call."""
        rows = [
            spoken("user", "go"),
            called("a"),
            counted(100, 100),
            came_back("a"),
            called("b"),
            came_back("b"),
        ]
        records = fed(codex.Decoder(), [*rows, called("c"), came_back("c"), counted(600, 300)])
        outputs = [e.source_id for e in of(Entry, records) if e.message.role == "tool"]
        assert of(UsageReport, records)[-1].input_end == outputs[1]

    @pytest.mark.parametrize(("named", "spent"), [("r2", [(800, 700, 30, True)]), ("r1", []), (None, [])])
    def test_leaves_out_the_call_for_a_summary(self, named: str | None, spent: list[Any]) -> None:  # X11
        """No running total has it; its price counts if the compaction names it."""

        def record(response: str, tokens: int) -> dict[str, Any]:
            used = {"input_tokens": tokens, "cached_input_tokens": tokens - 100, "output_tokens": 30}
            return {"type": "token_usage_record", "payload": {"response_id": response, "usage": used}}

        compacted = {"message": "They counted.", "compaction_response_id": named}
        rows = [
            spoken("user", "go"), record("r1", 100), spoken("assistant", "I went."), counted(100, 100),
            record("r2", 800), {"type": "compacted", "payload": compacted}, counted(100, 0),
        ]  # fmt: skip
        first, *others = of(UsageReport, fed(codex.Decoder(), rows))
        assert (first.usage.input_tokens, first.apart) == (100, False)
        used = [(one.usage, one) for one in others]
        assert [(u.input_tokens, u.cached_tokens, u.output_tokens, r.apart) for u, r in used] == spent

    def test_of_a_summary_that_a_running_total_has_counts_once(self) -> None:  # X11
        """Another provider's model writes the summary in an ordinary call, which both kinds of rows report."""
        used = {"input_tokens": 800, "output_tokens": 30}
        compacted = {"message": "They counted.", "compaction_response_id": "r1"}
        rows = [
            spoken("user", "go"), spoken("assistant", "They counted."),
            {"type": "token_usage_record", "payload": {"response_id": "r1", "usage": used}}, counted(800, 800),
            {"type": "compacted", "payload": compacted}, counted(800, 0),
        ]  # fmt: skip
        reports = of(UsageReport, fed(codex.Decoder(), rows))
        assert [one.usage.input_tokens for one in reports] == [800]

    def test_ignores_the_newer_rows_of_usage(self) -> None:
        """They repeat `token_count`, and are not counted as unknown."""
        rows = [
            spoken("user", "go"),
            {"type": "token_usage_record", "payload": {"usage": {"input_tokens": 9}}},
        ]
        assert [type(r) for r in fed(codex.Decoder(), rows) if isinstance(r, Unknown | UsageReport)] == []
