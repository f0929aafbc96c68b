"""Claude Code's transcripts: samples of every difficulty, and real sessions counted independently."""

from __future__ import annotations

import json
from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from scoring.messages import REMINDER
from tests.shared import shared_data, shared_files
from tests.webapp.agents.samples import SAMPLES, decoded, facts, fed, of, said
from webapp.agents.claude_code import decoder as claude_code
from webapp.agents.claude_code import files
from webapp.agents.reading.tail import Line
from webapp.agents.records import Compaction, Entry, Meta, Problem, Record, Rewind, Unknown

PROJECT = SAMPLES / "claude-code" / "projects" / "-home-ada-garden"
BEDS = PROJECT / "11111111-1111-4111-8111-111111111111.jsonl"
SPRING = PROJECT / "22222222-2222-4222-8222-222222222222.jsonl"
BIRDS = PROJECT / "33333333-3333-4333-8333-333333333333.jsonl"
BROKEN = PROJECT / "44444444-4444-4444-8444-444444444444.jsonl"
REAL = shared_files("transcripts/claude-code/projects/**/*.jsonl")


def user(uuid: str, parent: str | None, text: str, **more: Any) -> dict[str, Any]:
    """Return a row of the user."""
    return {
        "type": "user",
        "uuid": uuid,
        "parentUuid": parent,
        "message": {"role": "user", "content": text},
        **more,
    }


def live(records: list[Record], stream: str = "") -> list[str]:
    """Return the agent's context after the records, by their contract."""
    context: list[str] = []
    kept: tuple[str, ...] = ()
    for r in records:
        if isinstance(r, Compaction) and r.stream == stream:
            context, kept = [], r.kept
        elif isinstance(r, Rewind) and r.stream == stream:
            context = list(r.live)
        elif isinstance(r, Entry) and r.stream == stream:
            context += [str(r.source_id), *kept]
            kept = ()
    return context


class TestOneCallInSeveralRows:
    """A call of the API, written as several rows."""

    def test_shares_a_group_and_is_one_call(self) -> None:
        """All blocks of a call have its group and key."""
        entries = of(Entry, decoded(BEDS, claude_code.Decoder()))
        rows = [e for e in entries if e.group == "msg_1:req_1"]
        assert [e.source_id for e in rows] == ["a1", "a2", "a3", "a4"]
        assert {e.call_key for e in rows} == {"msg_1:req_1"}
        assert max(e.usage.output_tokens for e in rows if e.usage) == 77
        assert {e.usage.input_tokens for e in rows if e.usage} == {1003}

    def test_with_parallel_calls_is_no_fork(self) -> None:  # P4
        """Results whose parents are their own calls cause no rewind, even with skipped rows between them."""
        records = decoded(BEDS, claude_code.Decoder())
        assert of(Rewind, records) == []
        parents = {e.source_id: e.parent for e in of(Entry, records)}
        assert (parents["r1"], parents["r2"], parents["a4"], parents["a5"]) == ("a3", "a4", "a3", "r2")

    def test_contains_only_sent_content(self) -> None:
        """Sent attachments, meta rows and commands are reminders; content for the screen is skipped."""
        assert [who for who, _ in said(decoded(BEDS, claude_code.Decoder()))] == [
            "reminder", "user", "reminder", "assistant", "assistant", "assistant", "assistant", "tool", "reminder",
            "tool", "assistant", "reminder", "reminder", "user", "assistant",
        ]  # fmt: skip
        assert "nobody sees this" not in str(said(decoded(BEDS, claude_code.Decoder())))

    def test_gives_an_image_as_media(self) -> None:
        """Base64 in a result is media with its size and dimensions, not text."""
        (result,) = [
            e.message for e in of(Entry, decoded(BEDS, claude_code.Decoder())) if e.source_id == "r2"
        ]
        (media,) = result.media
        assert (media.kind, media.mime, media.width, media.height) == ("image", "image/png", 3, 2)
        assert (media.size_bytes > 50, len(media.digest), result.text) == (True, 32, "a picture")

    def test_keeps_the_opaque_length_of_thoughts_and_the_row(self) -> None:
        """A signature is stored as a length, and each entry keeps its row."""
        first = next(e for e in of(Entry, decoded(BEDS, claude_code.Decoder())) if e.source_id == "a1")
        (thought,) = first.message.reasoning
        assert (thought.text, thought.opaque_chars) == ("Look at both lists.", 12)
        assert first.raw is not None
        assert json.loads(first.raw)["uuid"] == "a1"

    def test_counts_skipped_rows(self) -> None:
        """Unknown types are counted by type, each with its line."""
        unknown = of(Unknown, decoded(BEDS, claude_code.Decoder()))
        assert unknown == [Unknown(24, "wisdom")]

    def test_has_the_title_of_its_summary(self) -> None:
        """The user's first words are the title until a summary of this session comes."""
        titles = facts(decoded(BEDS, claude_code.Decoder()), Meta, "title")
        assert titles == ["How many beds does the garden have? Count them.", "Beds and paths"]


class TestDroppedRows:
    """Assistant rows that are no messages."""

    @pytest.mark.parametrize(
        ("model", "block", "more", "kept"),
        [
            ("<synthetic>", {"type": "text", "text": "No response requested."}, {}, False),
            ("<synthetic>", {"type": "text", "text": "None."}, {"isApiErrorMessage": False}, True),
            ("claude-opus-4-6", {"type": "text", "text": "hm"}, {}, True),
            (None, {"type": "text", "text": "hm"}, {}, False),
            ("claude-opus-4-6", {"type": "tool_use", "id": "t", "name": "Bash", "input": {}}, {}, True),
            ("glm-5", {"type": "text", "text": "hm"}, {}, True),
        ],
    )
    def test_are_those_that_no_call_made(
        self, model: str | None, block: dict[str, Any], more: dict[str, Any], kept: bool
    ) -> None:
        """A row without usage goes, unless a model wrote it, it is a call, or the client says that it is no error.

        None counts as an API call.
        """
        usage = {"input_tokens": 0, "output_tokens": 0}
        message = {"id": "m", "model": model, "role": "assistant", "content": [block], "usage": usage}
        records = fed(
            claude_code.Decoder(),
            [{"type": "assistant", "uuid": "a", "parentUuid": None, "message": message, **more}],
        )
        assert [e.usage for e in of(Entry, records)] == [None] * kept
        assert len(of(Unknown, records)) == (not kept)

    def test_are_not_counted_if_they_are_errors_of_the_api(self) -> None:
        """They are known, and never sent."""
        message = {"id": "m", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error: 529"}]}
        row = {
            "type": "assistant",
            "uuid": "b",
            "parentUuid": "a",
            "message": message,
            "isApiErrorMessage": True,
        }
        records = fed(claude_code.Decoder(), [user("a", None, "1"), row, user("c", "b", "2")])
        assert [(e.source_id, e.parent) for e in of(Entry, records)] == [("a", None), ("c", "a")]
        assert of(Unknown, records) == []

    def test_are_not_the_clients_own_words(self) -> None:
        """They are sent, and no model said them."""
        message = {"id": "m", "model": "<synthetic>", "role": "assistant", "content": "None.", "usage": {}}
        row = {"type": "assistant", "uuid": "a", "message": message, "isApiErrorMessage": False}
        records = fed(claude_code.Decoder(), [row])
        assert [(e.message.name, e.model) for e in of(Entry, records)] == [(REMINDER, None)]
        assert [one for one in of(Meta, records) if one.model] == []

    def test_are_those_in_which_nothing_is_said(self) -> None:
        """An empty row is a link and nothing else; one with usage keeps its call."""
        said_nothing = {"type": "assistant", "uuid": "b", "parentUuid": "a", "message": {"content": []}}
        records = fed(
            claude_code.Decoder(),
            [user("a", None, "1"), said_nothing, user("c", "b", ""), user("d", "c", "2")],
        )
        assert [(e.source_id, e.parent) for e in of(Entry, records)] == [("a", None), ("d", "a")]


class TestTurningBack:
    """Rewinds, forks and copies of rows."""

    def test_is_a_rewind_with_the_whole_context(self) -> None:  # X12
        """A user row after an earlier row is a rewind to it, with the ids of the live rows."""
        (rewind,) = of(Rewind, decoded(SPRING, claude_code.Decoder()))
        assert (rewind.to_source_id, rewind.source_id, rewind.live) == ("b2", "b5", ("b1", "b2"))

    def test_to_an_abandoned_branch_restores_it(self) -> None:
        """A row that continues an abandoned branch makes its path live again."""
        rows = [user("a", None, "1"), user("b", "a", "2"), user("c", "a", "3"), user("d", "b", "4")]
        assert live(fed(claude_code.Decoder(), rows)) == ["a", "b", "d"]

    def test_to_the_beginning_empties_the_context(self) -> None:
        """A second root begins a new conversation."""
        records = fed(
            claude_code.Decoder(), [user("a", None, "1"), user("b", "a", "2"), user("c", None, "3")]
        )
        assert live(records) == ["c"]
        assert of(Rewind, records)[0].to_source_id is None

    def test_is_not_detected_in_rows_without_a_parent(self) -> None:
        """A row without a parent, or with an unknown one, follows the last row."""
        rows = [user("a", None, "1"), user("b", "gone", "2"), user("c", None, "3")]
        del rows[2]["parentUuid"]
        assert live(fed(claude_code.Decoder(), rows)) == ["a", "b", "c"]

    def test_is_not_detected_in_copied_rows(self) -> None:
        """Rows copied by a fork or a resume have the same uuid, and are ignored."""
        rows = [user("a", None, "1"), user("b", "a", "2")]
        records = fed(claude_code.Decoder(), [*rows, *rows, user("c", "b", "3")])
        assert [e.source_id for e in of(Entry, records)] == ["a", "b", "c"]
        assert of(Rewind, records) == []

    def test_into_a_session_of_its_own_names_the_one_it_left(self) -> None:  # X12
        """Each copied row says where it is from."""
        copied = {"forkedFrom": {"sessionId": "first", "messageUuid": "u0"}, "sessionId": "second"}
        records = fed(claude_code.Decoder(), [user("u0", None, "hi", **copied), user("u1", "u0", "on")])
        assert facts(records, Meta, "parent") == ["first"]
        assert facts(records, Meta, "agent_type") == ["fork"]
        assert [entry.inherited for entry in of(Entry, records)] == [True, False]
        assert (
            facts(fed(claude_code.Decoder(), [user("u0", None, "hi", sessionId="s")]), Meta, "parent") == []
        )

    def test_names_the_session_that_was_answered(self) -> None:  # X12
        """Of rows that newer versions copy for `--fork-session`, answers alone say where they are from."""
        answers = [called("u1", "u0", "c1"), called("u3", "u2", "c2")]
        asked = ["first", "second"]
        rows = [user("u0", None, "hi"), answers[0], answered("u2", "u1", "c1"), answers[1]]
        own = [{"sessionId": "second"} for _ in rows]
        own[1]["requestSessionId"], own[3]["requestSessionId"] = asked
        records = fed(claude_code.Decoder(), [row | more for row, more in zip(rows, own, strict=True)])
        assert [entry.inherited for entry in of(Entry, records)] == [False, True, False, False]
        assert facts(records, Meta, "parent") == ["first"]
        assert facts(records, Meta, "agent_type") == ["fork"]

    def test_with_a_reused_uuid_is_reported(self) -> None:
        """Another row with the same uuid gets its own id, and is reported as a problem."""
        records = fed(claude_code.Decoder(), [user("a", None, "1"), user("a", None, "2")])
        assert said(records) == [("user", "1"), ("user", "2")]
        assert [p.line for p in of(Problem, records)] == [2]


def hook(uuid: str, parent: str, text: str = "") -> dict[str, Any]:
    """Return the row of a hook that ran after a call; with a text, one that is sent."""
    sent = {"type": "hook_additional_context", "content": [text]}
    unsent = {"type": "hook_success", "hookEvent": "PostToolUse", "content": "done"}
    return {"type": "attachment", "uuid": uuid, "parentUuid": parent, "attachment": sent if text else unsent}


def called(uuid: str, parent: str, *calls: str) -> dict[str, Any]:
    """Return a row of an answer that calls tools."""
    blocks = [{"type": "tool_use", "id": call, "name": "Bash", "input": {}} for call in calls]
    message = {"id": f"m{parent}", "model": "claude-opus-4-6", "role": "assistant", "content": blocks}
    return {"type": "assistant", "uuid": uuid, "parentUuid": parent, "message": message}


def answered(uuid: str, parent: str, call: str) -> dict[str, Any]:
    """Return the row of a call's result."""
    block = {"type": "tool_result", "tool_use_id": call, "content": "ok"}
    return user(uuid, parent, "") | {"message": {"role": "user", "content": [block]}}


class TestRowsBeforeTheirParents:
    """Rows of one moment, which the agent writes in any order."""

    # Of a call with two tools, their results, and the notes of hooks; the next call comes after all of them.
    MOMENT = (
        answered("r1", "a1", "t1"), answered("r2", "a2", "t2"), hook("h1", "r2"), hook("h2", "h1", "Keep it short."),
        hook("h3", "h2", "The tests ran."),
    )  # fmt: skip

    @pytest.mark.parametrize("order", list(permutations(range(len(MOMENT)))))
    def test_miss_no_message_in_any_order(self, order: tuple[int, ...]) -> None:  # X12
        """Every message is in the context after the next call, whatever came first."""
        begun = [user("u", None, "Try."), called("a1", "u", "t1"), called("a2", "a1", "t2")]
        begun[2]["message"]["id"] = begun[1]["message"]["id"]
        moment = [self.MOMENT[n] for n in order]
        records = fed(
            claude_code.Decoder(), [*begun, *moment, called("b", "h3", "t3"), answered("r3", "b", "t3")]
        )
        assert sorted(live(records)) == sorted(["u", "a1", "a2", "r1", "r2", "h2", "h3", "b", "r3"])

    def test_leave_an_abandoned_branch_with_it(self) -> None:
        """A note that is written after the user went back is not in the context."""
        rows = [
            user("u", None, "1"),
            called("a", "u", "t"),
            hook("h2", "h1", "late child"),
            user("v", "u", "2"),
        ]
        records = fed(claude_code.Decoder(), [*rows, hook("h1", "a", "late"), user("w", "v", "3")])
        assert live(fed(claude_code.Decoder(), rows)) == ["u", "v"]
        assert live(records) == ["u", "v", "w"]


class TestRowsOfNewerVersions:
    """Rows that only newer versions write."""

    def test_for_the_screen_are_not_sent(self) -> None:  # X12
        """Messages marked virtual and commands marked as display only keep their place in the tree."""
        command = {
            "type": "system",
            "subtype": "local_command",
            "content": "<command-name>/usage</command-name>",
        }
        rows = [
            user("u", None, "hello"),
            user("v", "u", "never sent", isVirtual=True),
            {**command, "uuid": "c", "parentUuid": "v", "isDisplayOnly": True},
            {**command, "uuid": "d", "parentUuid": "c"},
            user("w", "d", "on"),
        ]
        records = fed(claude_code.Decoder(), rows)
        assert live(records) == ["u", "d", "w"]
        assert not [r for r in records if isinstance(r, Unknown | Rewind)]

    def test_written_again_have_the_uuid_they_were_sent_with(self) -> None:  # X12
        """A row that replaces a lost one is the parent of that one's children; beside it, it is a row of its own."""
        again = user("x", None, "hello", sentAsUuid="u")
        rows = [again, user("v", "u", "go"), user("w", "u", "other")]
        records = fed(claude_code.Decoder(), rows)
        assert [rewind.live for rewind in of(Rewind, records)] == [("u",)]
        assert live(fed(claude_code.Decoder(), [user("u", None, "hello"), again]))[-1] == "x"

    @pytest.mark.parametrize("fold", [None, {"command": {"commandMode": "prompt"}, "renderedRole": "user"}])
    def test_of_a_voice_call_are_what_was_said(self, fold: dict[str, Any] | None) -> None:  # X12
        """The system row of a voice call is a message, or an attachment in the agent's turn."""
        spoken = {
            "type": "system", "subtype": "voice_call_talk", "uuid": "v", "parentUuid": "u", "isMeta": True,
            "content": "plant beans", "origin": {"kind": "voice-call"}, **({"fold": fold} if fold else {}),
        }  # fmt: skip
        records = fed(claude_code.Decoder(), [user("u", None, "hello"), spoken, user("w", "v", "on")])
        assert [text for _, text in said(records)] == ["hello", "plant beans", "on"]
        assert not [r for r in records if isinstance(r, Unknown | Rewind)]


class TestCompaction:
    """Compactions by the agent."""

    def test_precedes_its_summary_and_names_the_kept_rows(self) -> None:  # X12
        """A compaction has its trigger and size, the summary follows, and preserved rows come after it."""
        records = decoded(SPRING, claude_code.Decoder())
        at = next(n for n, r in enumerate(records) if isinstance(r, Compaction))
        compaction, summary = records[at], records[at + 1]
        assert isinstance(compaction, Compaction)
        assert (compaction.trigger, compaction.tokens_before, compaction.kept) == (
            "auto",
            167094,
            ("b7", "b8"),
        )
        assert isinstance(summary, Entry)
        assert (summary.kind, summary.message.name) == ("compaction_summary", "reminder")
        assert live(records) == ["k2", "b7", "b8", "b9", "b10"]

    @staticmethod
    def talk() -> list[dict[str, Any]]:
        """Return four messages of a conversation."""
        names = ["u1", "u2", "u3", "u4"]
        return [user(name, before, name) for before, name in zip([None, *names], names, strict=False)]

    @staticmethod
    def boundary(kept: list[str], anchor: str, **about: Any) -> dict[str, Any]:
        """Return the row of a compaction by a newer version, which lists what it kept."""
        listed = {"anchorUuid": anchor, "uuids": kept, "allUuids": kept}
        return {
            "type": "system", "subtype": "compact_boundary", "uuid": "k", "parentUuid": None,
            "compactMetadata": {"trigger": "auto", "preTokens": 9, "preservedMessages": listed, **about},
        }  # fmt: skip

    @pytest.mark.parametrize("more", [{}, {"preservedSegment": {"headUuid": "u1", "tailUuid": "u4"}}])
    def test_of_newer_versions_lists_the_kept_rows(self, more: dict[str, Any]) -> None:  # X12
        """Exactly the listed rows stay, also where the first and the last one are named."""
        summary = user("s", "k", "a summary", isCompactSummary=True)
        rows = [*self.talk(), self.boundary(["u2", "u4"], "s", **more), summary, user("v", "s", "on")]
        records = fed(claude_code.Decoder(), rows)
        assert of(Compaction, records)[0].kept == ("u2", "u4")
        assert next(e.parent for e in of(Entry, records) if e.source_id == "s") is None
        assert live(records) == ["s", "u2", "u4", "v"]
        assert not of(Rewind, records)

    def test_of_a_part_keeps_rows_before_its_summary(self) -> None:  # X12
        """The conversation goes on from the summary, whose parent is the boundary, and can go back behind it."""
        summary = user("s", "k", "a summary", isCompactSummary=True)
        rows = [*self.talk(), self.boundary(["u1", "u2"], "k", durationMs=7), summary, user("v", "s", "on")]
        records = fed(claude_code.Decoder(), rows)
        assert [compaction.kept for compaction in of(Compaction, records)] == [("u1", "u2")]
        assert next(e.parent for e in of(Entry, records) if e.source_id == "s") == "u2"
        assert not of(Rewind, records)
        records = fed(claude_code.Decoder(), [*rows, user("w", "u2", "back")])
        assert of(Rewind, records)[0].live == ("u1", "u2")

    def test_that_took_no_time_is_a_rewind(self) -> None:  # X12
        """Sessions of the cloud record with such a row that the user went back."""
        rows = [*self.talk(), self.boundary(["u1", "u2"], "k", durationMs=0), user("v", "u2", "on")]
        records = fed(claude_code.Decoder(), rows)
        assert not of(Compaction, records)
        assert live(records) == ["u1", "u2", "v"]

    def test_of_older_versions_has_no_boundary(self) -> None:
        """A summary without a boundary is a compaction too."""
        records = decoded(BIRDS, claude_code.Decoder())
        (compaction,) = of(Compaction, records)
        assert (compaction.trigger, compaction.source_id) == ("unknown", "o5")
        assert live(records) == ["o5", "o6"]


def collapse(
    first: str, last: str, summary: str = "c1", kind: str = "marble-origami-commit"
) -> dict[str, Any]:
    """Return a row that replaces a span of messages by a summary."""
    return {
        "type": kind, "sessionId": "s", "collapseId": "1", "summaryUuid": summary, "summary": "short",
        "summaryContent": '<collapsed id="1">short</collapsed>', "firstArchivedUuid": first, "lastArchivedUuid": last,
    }  # fmt: skip


ROWS = [user(f"u{n}", f"u{n - 1}" if n else None, f"text {n}") for n in range(6)]


class TestCollapses:
    """Spans of messages that are sent as a summary."""

    @pytest.mark.parametrize("kind", ["marble-origami-commit", "context-collapse-commit"])
    def test_leave_the_summary_and_the_other_messages(self, kind: str) -> None:  # X12
        """The next row still follows the newest one."""
        records = fed(claude_code.Decoder(), [*ROWS[:4], collapse("u0", "u1", kind=kind), *ROWS[4:]])
        assert live(records) == ["c1", "u2", "u3", "u4", "u5"]
        (compaction,) = of(Compaction, records)
        assert compaction.kept == ("u2", "u3")
        summary = next(e for e in of(Entry, records) if e.source_id == "c1")
        assert (summary.kind, summary.message.text) == (
            "compaction_summary",
            '<collapsed id="1">short</collapsed>',
        )
        assert not any(isinstance(r, Unknown | Rewind) for r in records)

    def test_can_reach_to_the_newest_message(self) -> None:
        """The next message follows the summary, although its parent was collapsed."""
        records = fed(claude_code.Decoder(), [*ROWS[:4], collapse("u2", "u3"), *ROWS[4:]])
        assert live(records) == ["c1", "u0", "u1", "u4", "u5"]
        whole = fed(claude_code.Decoder(), [*ROWS[:4], collapse("u0", "u3"), *ROWS[4:]])
        assert live(whole) == ["c1", "u4", "u5"]

    def test_can_contain_an_earlier_one(self) -> None:
        """A summary can be collapsed with what follows it; the row written again adds nothing."""
        rows = [
            *ROWS[:4],
            collapse("u0", "u1"),
            ROWS[4],
            collapse("c1", "u2", "c2"),
            collapse("u0", "u1"),
            ROWS[5],
        ]
        assert live(fed(claude_code.Decoder(), rows)) == ["c2", "u3", "u4", "u5"]

    @pytest.mark.parametrize(
        "row",
        [
            collapse("u0", "elsewhere"),
            collapse("u2", "u1"),
            {"type": "marble-origami-commit"},
            {"type": "marble-origami-reset", "sessionId": "s", "reason": "rewind"},
        ],
    )
    def test_that_cannot_be_read_are_reported(self, row: dict[str, Any]) -> None:
        """The context stays as it was."""
        records = fed(claude_code.Decoder(), [*ROWS[:3], row, *ROWS[3:]])
        assert live(records) == [f"u{n}" for n in range(6)]
        assert [r.type for r in of(Unknown, records)] == [row["type"]]

    def test_that_are_only_planned_change_nothing(self) -> None:
        """A snapshot holds the spans that could be collapsed next."""
        row = {
            "type": "marble-origami-snapshot",
            "sessionId": "s",
            "staged": [],
            "armed": True,
            "lastSpawnTokens": 9,
        }
        assert of(Unknown, fed(claude_code.Decoder(), [*ROWS[:3], row])) == []


class TestSubAgents:
    """Sub-agents, inside the session's file or in their own."""

    def test_inside_the_file_are_streams(self) -> None:  # X12
        """Their rows are a separate stream with the title and type of the call that started it."""
        records = decoded(BIRDS, claude_code.Decoder())
        assert said(records, "agent-q1") == [("user", "Count the birds."), ("assistant", "Nine birds.")]
        assert facts(records, Meta, "title", "agent-q1") == ["Count birds"]
        assert facts(records, Meta, "agent_type", "agent-q1") == ["general-purpose"]
        assert "Count the birds." not in [text for _, text in said(records)]
        assert of(Rewind, records, None) == []

    def test_with_their_own_file_are_sessions(self) -> None:
        """Such a file is a session, even read without its name; the title comes from the meta file."""
        path = PROJECT / BEDS.stem / "subagents" / "agent-b1.jsonl"
        (file,) = [f for f in files.discover(PROJECT) if f.path == path]
        known, unknown = decoded(path, claude_code.Decoder(file)), decoded(path, claude_code.Decoder())
        assert (
            said(known)
            == said(unknown)
            == [("user", "Count the beds of the south side."), ("assistant", "Three.")]
        )
        assert facts(known, Meta, "title") == []
        assert facts(unknown, Meta, "parent") == [BEDS.stem]

    def test_forked_from_their_parent_inherit_its_context(self) -> None:  # X11
        """The first row points to the parent's file, which has the rows; the title is what the fork is to do."""
        begun = {
            "type": "fork-context-ref", "agentId": "f1", "parentSessionId": "p", "parentLastUuid": "u9",
            "contextLength": 6,
        }  # fmt: skip
        rules = (
            "<fork-boilerplate>\nYou are a worker fork.\n</fork-boilerplate>\n\nYour directive: Weed the beds"
        )
        asked = user("u", None, rules, isSidechain=True, agentId="f1", sessionId="p")
        records = fed(claude_code.Decoder(), [begun, asked])
        assert [meta for meta in of(Meta, records) if meta.inherits] == records[:1]
        assert facts(records, Meta, "title") == ["Weed the beds"]
        assert said(records) == [("user", rules)]


class TestBadRows:
    """Rows with any content."""

    def test_do_not_affect_other_rows(self) -> None:
        """Each bad row is one problem with its line and reason, and the others are read."""
        records = decoded(BROKEN, claude_code.Decoder())
        assert said(records) == [("user", "First."), ("user", "Half a pair: \ufffd and more.")]
        assert [p.line for p in of(Problem, records)] == [2, 3, 4, 5]
        assert all(p.reason for p in of(Problem, records))

    @pytest.mark.parametrize(
        ("line", "word"),
        [
            (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "deep"),
            (b"\x00\x01\xff\xfe{", "binary"),
            ('{"type":"user","m":"é"}'.encode("latin-1"), "UTF-8"),
            (b"\x00" * 50, "NUL"),
            (b"[" * 100_000, "deep"),
            (b"null", "null"),
        ],
    )
    def test_of_any_kind_are_one_problem(self, line: bytes, word: str) -> None:
        """A row that is nested too deeply, binary, wrongly encoded or no object is one problem with its reason."""
        (problem,) = claude_code.Decoder().feed(Line(7, line))
        assert isinstance(problem, Problem)
        assert problem.line == 7
        assert word in problem.reason

    @pytest.mark.parametrize(
        "key", ["message", "uuid", "parentUuid", "timestamp", "type", "attachment", "usage"]
    )
    @pytest.mark.parametrize("value", [None, 1, "x", [], [1], {}, {"content": 5}, True, -1e300])
    def test_with_any_value_anywhere_do_not_raise(self, key: str, value: Any) -> None:
        """A field of the wrong type never breaks the reading of what follows."""
        row = user("a", None, "1") | {"attachment": {"type": "file"}} | {key: value}
        odd = {"type": "assistant", "uuid": "b", "parentUuid": "a", "message": {"content": value, key: value}}
        records = fed(
            claude_code.Decoder(),
            [row, odd, {**row, "type": "attachment"}, {**row, "type": "system"}, user("z", "a", "last")],
        )
        assert ("user", "last") in said(records)


class TestRealSessions:
    """The shared transcripts, counted independently."""

    @pytest.mark.parametrize("path", REAL, ids=lambda p: p.name[:20])
    def test_lose_and_repeat_nothing(self, path: Path) -> None:
        """Each sent block and each call's usage occurs once, and each result has its call."""
        rows = [json.loads(line) for line in path.read_bytes().splitlines()]
        wanted: Counter[tuple[str, str]] = Counter()
        calls: dict[tuple[str, str], int] = {}
        for row in rows:
            if row["type"] not in ("user", "assistant"):
                continue
            content = row["message"]["content"]
            if isinstance(content, str) and "Context Usage" in content[:400]:
                continue  # drawn on the screen by /context
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            wanted.update((row["uuid"], b["type"]) for b in blocks if b != {"type": "text", "text": ""})
            if usage := row["message"].get("usage"):
                key = (row["message"]["id"], row["requestId"])
                calls[key] = max(calls.get(key, 0), usage["output_tokens"])
        records = decoded(path, claude_code.Decoder())
        entries = of(Entry, records, None)
        names = {
            "Text": "text", "Reasoning": "thinking", "ToolCall": "tool_use", "ToolResult": "tool_result",
            "Media": "image",
        }  # fmt: skip
        rows_of = {row["uuid"] for row in rows if row["type"] in ("user", "assistant")}
        got = Counter(
            (str(e.source_id), names[type(p).__name__])
            for e in entries
            if e.source_id in rows_of
            for p in e.message.parts
        )
        assert got == wanted
        used: dict[str, int] = {}
        for e in entries:
            if e.usage and e.call_key:
                used[e.call_key] = max(used.get(e.call_key, 0), e.usage.output_tokens)
        assert sorted(used.values()) == sorted(calls.values())
        made = {c.id for e in entries for c in e.message.calls}
        assert {r.call_id for e in entries for r in e.message.results} <= made
        assert of(Problem, records, None) == []
        assert of(Rewind, records, None) == []

    def test_show_the_compaction(self) -> None:  # X12
        """The only compaction is found, with its size."""
        path = shared_data("transcripts", "claude-code", "projects", "-work-spotter") / (
            "258c7280-ae70-4798-800f-63464d01a85d.jsonl"
        )
        records = decoded(path, claude_code.Decoder())
        assert [(c.trigger, c.tokens_before) for c in of(Compaction, records)] == [("auto", 167094)]
        assert [e.kind for e in of(Entry, records)].count("compaction_summary") == 1

    @pytest.mark.parametrize("name", ["small", "large", "schema_drift"])
    def test_of_drifted_formats_are_read(self, name: str) -> None:
        """Rows of drifted formats are read or counted, never fatal."""
        records = decoded(
            shared_data("transcripts", "small", "claude", f"{name}.jsonl"), claude_code.Decoder()
        )
        assert of(Entry, records, None)
        if name == "schema_drift":
            assert [who for who, _ in said(records)] == [
                "user",
                "assistant",
                "tool",
                "assistant",
                "reminder",
                "reminder",
            ]
            call, result = of(Entry, records)[1].message, of(Entry, records)[2].message
            assert call.calls[0].id == result.results[0].call_id
