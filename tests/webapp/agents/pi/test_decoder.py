"""pi's sessions: a tree of rows, its branches and its compactions."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.webapp.agents import samples
from tests.webapp.agents.pi.rows import row
from tests.webapp.agents.samples import SAMPLES, decoded, facts, of, said
from webapp.agents.pi.decoder import Decoder
from webapp.agents.records import Compaction, Entry, Meta, Problem, Record, Rewind, Unknown, UsageReport
from webapp.app import App
from webapp.config import Config
from webapp.wiring import build

ROOT = SAMPLES / "pi" / "sessions"
GARDEN_ID, FORK_ID = "019b7e10-0000-7000-8000-00000000000a", "019b7e10-0000-7000-8000-00000000000b"
[GARDEN], [BIRDS] = ROOT.rglob(f"*{GARDEN_ID}.jsonl"), ROOT.rglob("2025*.jsonl")


def fed(*rows: dict[str, Any]) -> list[Record]:
    """Return the records of rows."""
    return samples.fed(Decoder(), rows)


class TestASession:
    """The sample: two branches, parallel calls, a compaction, a broken line and half a line."""

    RECORDS = decoded(GARDEN, Decoder())

    def test_gives_sent_messages(self) -> None:  # X12
        """An aborted answer and a private command are skipped, and texts of extensions are reminders."""
        assert [(who, text[:20]) for who, text in said(self.RECORDS)] == [
            ("user", "List the beds."), ("assistant", "I look at both."), ("tool", "rose\nthyme"),
            ("tool", "ls: paths: no such f"), ("assistant", "Two beds: rose and t"),
            ("user", "Draw a plan of the p"), ("assistant", "A long plan of the p"),
            ("reminder", "The following is a s"),
            ("user", "Count the trees inst"), ("assistant", "Four trees."), ("reminder", "Ran `git status`\n```"),
            ("reminder", "Two tasks are open."), ("reminder", "The conversation his"), ("user", "And the hedge?"),
            ("assistant", "One hedge."),
        ]  # fmt: skip

    def test_links_parallel_calls_and_their_results(self) -> None:  # P4
        """Each result is a message; the failed one is marked, and a picture belongs to its result."""
        entries = of(Entry, self.RECORDS)
        results = [r for e in entries for r in e.message.results]
        assert (
            [c.id for e in entries for c in e.message.calls] == [r.call_id for r in results] == ["c1", "c2"]
        )
        assert [(r.is_error, [m.mime for m in r.media]) for r in results] == [
            (False, ["image/png"]),
            (True, []),
        ]

    def test_rewinds_to_another_branch(self) -> None:  # X12
        """A row with an earlier row as parent removes the branch after that parent from the context."""
        [rewind] = of(Rewind, self.RECORDS)
        assert rewind.live == ("u0000001", "a0000001", "r0000001", "r0000002", "a0000002")
        assert (rewind.to_source_id, rewind.source_id) == ("a0000002", "b0000001")

    def test_shows_the_compaction(self) -> None:  # X12
        """The summary comes first, then the kept messages."""
        [compaction] = of(Compaction, self.RECORDS)
        assert compaction.tokens_before == 1150
        assert compaction.kept == ("u0000003", "a0000005", "x0000001", "k0000002")
        summary = self.RECORDS[self.RECORDS.index(compaction) + 1]
        assert isinstance(summary, Entry)
        assert (summary.kind, summary.parent) == ("compaction_summary", None)
        assert "two beds and four trees" in summary.message.text

    def test_reports_usage_with_the_cache(self) -> None:
        """Input is the sum of sent, cached and newly cached tokens, once per answer."""
        usages = {e.call_key: e.usage for e in of(Entry, self.RECORDS) if e.usage}
        assert [
            (u.input_tokens, u.output_tokens, u.cached_tokens, u.cache_write_tokens) for u in usages.values()
        ][:2] == [(1000, 40, 0, 100), (1060, 12, 1000, 0)]

    def test_reports_what_was_written_for_an_hour(self) -> None:
        """It is a part of what was written to the cache, and reasoning is a part of the output."""
        usage = {"input": 1, "output": 9, "cacheRead": 0, "cacheWrite": 8, "cacheWrite1h": 6, "reasoning": 4}
        [entry] = of(Entry, fed(row("a", None, "x", "assistant", usage=usage)))
        assert entry.usage is not None
        assert (entry.usage.cache_write_hour_tokens, entry.usage.reasoning_tokens) == (6, 4)

    def test_reports_the_usage_of_calls_apart_from_the_conversation(self) -> None:  # X9
        """An answer that is not sent again is paid, as are summaries, warm caches and what tools asked models for."""
        usage = {"input": 1_000, "output": 9}
        aborted = row("b", "a", "half", "assistant", usage=usage, model="m", stopReason="aborted")
        records = fed(
            row("a", None, "x"),
            aborted,
            {"type": "usage", "id": "c", "parentId": "b", "model": "m", "usage": usage},
            {"type": "compaction", "id": "d", "parentId": "c", "summary": "s", "usage": usage},
            {"type": "branch_summary", "id": "e", "parentId": "d", "summary": "s", "usage": usage},
            row("f", "e", [], "assistant", usage=usage, model="m", stopReason="deferred"),
            row("g", "f", "found", "toolResult", toolCallId="t", toolName="ask", usage=usage),
        )
        reports = of(UsageReport, records)
        assert [one.call_key for one in reports] == ["b", "c", "compaction d", "e", "f", "g"]
        assert all(one.apart and one.usage.input_tokens == 1_000 for one in reports)
        assert facts(records, Meta, "model") == ["m"]

    def test_reports_changed_facts(self) -> None:
        """A name replaces the first request as title, and a new model is reported before its answer."""
        assert facts(self.RECORDS, Meta, "title") == ["List the beds.", "The garden"]
        assert facts(self.RECORDS, Meta, "model") == ["claude-sonnet-4-5", "gpt-5.1"]

    def test_names_a_host_that_has_windows_of_its_own(self) -> None:  # X10
        """Copilot's windows are not the maker's; a change of models and an answer name it alike."""
        records = fed(
            {"type": "model_change", "id": "a", "provider": "github-copilot", "modelId": "gpt-5.5"},
            row("b", "a", "Seven.", "assistant", provider="github-copilot", model="gpt-5.5"),
            row("c", "b", "Eight.", "assistant", provider="openai", model="gpt-5.5"),
        )
        assert facts(records, Meta, "model") == ["github-copilot/gpt-5.5", "gpt-5.5"]
        assert facts(self.RECORDS, Meta, "cwd") == ["/home/ada/garden"]

    def test_reports_unusable_lines(self) -> None:
        """Malformed lines are reported by number and unknown rows by type, even half a line at the end."""
        assert [p.line for p in of(Problem, self.RECORDS)] == [13, 27]
        assert [u.type for u in of(Unknown, self.RECORDS)] == ["answer that ended with aborted", "hologram"]

    def test_reports_unknown_blocks_of_extensions(self) -> None:
        """The rest of such a message is read."""
        blocks = [{"type": "text", "text": "look"}, {"type": "hologram", "data": "x"}]
        records = fed({"type": "custom_message", "id": "a", "customType": "x", "content": blocks})
        assert said(records) == [("reminder", "look")]
        assert [u.type for u in of(Unknown, records)] == ["block hologram"]


class TestTheTree:
    """The parents of rows."""

    def test_continues_after_a_missing_row(self) -> None:
        """A parent may be missing because its line was malformed."""
        assert of(Rewind, fed(row("a", None, "one"), row("b", "lost", "two"))) == []

    def test_rewinds_only_if_the_context_changes(self) -> None:
        """A row whose parent precedes only unsent rows causes no rewind."""
        label = {"type": "label", "id": "l", "parentId": "a", "targetId": "a"}
        assert of(Rewind, fed(row("a", None, "one"), label, row("b", "a", "two"))) == []

    def test_can_rewind_before_a_compaction(self) -> None:
        """Compacted messages return to the context on a branch from before the compaction."""
        compaction = {
            "type": "compaction",
            "id": "c",
            "parentId": "b",
            "summary": "s",
            "firstKeptEntryId": "b",
        }
        rows = [row("a", None, "1"), row("b", "a", "2"), compaction, row("d", "c", "3"), row("e", "b", "4")]
        assert of(Rewind, fed(*rows))[-1].live == ("a", "b")
        assert of(Rewind, fed(*rows, row("f", "d", "5")))[-1].live == ("c", "b", "d")

    def test_can_begin_again(self) -> None:
        """A second row without a parent is a new beginning."""
        assert of(Rewind, fed(row("a", None, "1"), row("b", None, "2")))[-1].live == ()

    def test_reads_a_row_once(self) -> None:
        """A copy of a row is ignored."""
        assert len(of(Entry, fed(row("a", None, "1"), row("a", None, "1")))) == 1


PROMPT: dict[str, Any] = {
    "content": "Be brief.",
    "sections": {"cwd": "/p", "gone": None},
    "toolsAdded": [{"name": "read"}],
}


class TestSystemMessages:
    """The prompt, and changes of it."""

    def test_are_read_with_their_sections(self) -> None:
        """A section without a text was removed, and a row with tools only says nothing."""
        tools = row("b", "a", "", "system", toolsAdded=[{"name": "edit"}])
        assert said(fed(row("a", None, "", "system", **PROMPT), tools)) == [("system", "Be brief.\n/p")]
        assert of(Unknown, fed(tools)) == []

    @pytest.mark.parametrize("repeats", [True, False])
    def test_stay_after_a_compaction_that_repeats_them(self, repeats: bool) -> None:
        """Those among the kept rows are not sent again."""
        compaction: dict[str, Any] = {"type": "compaction", "id": "c", "parentId": "b"}
        compaction |= {"summary": "s", "firstKeptEntryId": "a"}
        if repeats:
            compaction["systemMessage"] = {"role": "system", **PROMPT}
        [made] = of(Compaction, fed(row("a", None, "", "system", **PROMPT), row("b", "a", "1"), compaction))
        assert made.kept == (("a", "b") if repeats else ("b",))


class TestEdits:
    """Edits: rows that change an earlier row."""

    def edit(self, target: str, content: Any) -> dict[str, Any]:
        """Return an edit; None removes the row."""
        new = None if content is None else {"content": content}
        return {"type": "context_edit", "id": "e", "parentId": "b", "targetId": target, "replacement": new}

    def test_remove_a_row(self) -> None:
        """The row is removed on the branch of the edit only."""
        rows = [row("a", None, "1"), row("b", "a", "2"), self.edit("a", None)]
        assert of(Rewind, fed(*rows))[-1].live == ("b",)
        assert of(Rewind, fed(*rows, row("c", "b", "3")))[-1].live == ("a", "b")
        assert of(Rewind, fed(*rows, row("c", "e", "3")))[-1].live == ("b",)

    def test_replace_the_text_of_a_row(self) -> None:
        """The row gets a new version, and a result remains that of its call."""
        rows = [
            row("a", None, "1"),
            row("b", "a", "long", "toolResult", toolCallId="c1"),
            self.edit("b", "short"),
        ]
        entry = of(Entry, fed(*rows))[-1]
        assert (entry.source_id, entry.supersedes) == ("e", "b")
        assert [(r.call_id, r.text) for r in entry.message.results] == [("c1", "short")]

    def test_hold_on_their_branch_only(self) -> None:
        """On another branch the row is as it was before, and it is edited again on the first one."""
        rows = [row("a", None, "long"), row("b", "a", "2"), self.edit("a", "short"), row("c", "b", "3")]
        back, again = of(Entry, fed(*rows, row("d", "e", "4")))[3::2]
        assert (back.source_id, back.supersedes, back.message.text) == ("c.a", "e", "long")
        assert (again.source_id, again.supersedes, again.message.text) == ("d.a", "c.a", "short")

    def test_can_bring_back_a_row(self) -> None:
        """The newest edit of a row is the one that applies."""
        newer = {**self.edit("a", "short"), "id": "f", "parentId": "e"}
        records = fed(row("a", None, "1"), row("b", "a", "2"), self.edit("a", None), newer)
        assert [r.live for r in of(Rewind, records)] == [("b",), ("f", "b")]

    def test_after_a_turn_are_one_rewind(self) -> None:
        """Two rewinds of one row would have the same name, and the second would be taken for the first."""
        rows = [row("a", None, "1"), row("b", "a", "2"), row("c", "b", "3"), self.edit("a", None)]
        assert [(r.source_id, r.live) for r in of(Rewind, fed(*rows))] == [("e", ("b",))]

    def test_of_a_missing_row_change_nothing(self) -> None:
        """The target is unknown, or has left the context."""
        assert len(fed(row("a", None, "1"), row("b", "a", "2"), self.edit("z", None))) == 3


class TestForks:
    """Sessions that begin with the rows of another one."""

    def test_tell_their_own_rows_by_the_time(self) -> None:  # X12
        """A copy has its own time, which is before that of the file; calls apart are the parent's, too."""

        def fork(minute: int, **more: Any) -> dict[str, Any]:
            return {"timestamp": f"2026-01-02T12:{minute:02}:00.000Z", **more}

        usage = {"usage": {"input": 70, "output": 5}}
        first = fork(30, type="session", id="s", parentSession="/x/2026_p.jsonl")
        rows = [
            fork(1, **row("a", None, "hi")),
            fork(2, **row("b", "a", [{"type": "text", "text": "Hello."}], "assistant", **usage)),
            fork(3, type="usage", id="c", parentId="b", **usage),
            fork(30, **row("d", "c", "on")),
            fork(31, type="usage", id="e", parentId="d", **usage),
            fork(4, **row("f", "e", [{"type": "text", "text": "Yes."}], "assistant", **usage)),
        ]
        for more, copied in ((first, True), ({**first, "parentSession": ""}, False)):
            records = fed(more, *rows)
            assert [one.inherited for one in of(Entry, records)] == [copied, copied, False, False]
            assert [one.usage is not None for one in of(Entry, records)] == [False, True, False, True]
            assert [one.call_key for one in of(UsageReport, records)] == ["e"] if copied else ["c", "e"]


class TestOtherLayouts:
    """Files of older and newer versions."""

    def test_without_a_tree_are_a_list(self) -> None:
        """A compaction names a row by its number, and texts of hooks are reminders."""
        records = decoded(BIRDS, Decoder())
        [compaction] = of(Compaction, records)
        assert compaction.kept == ("line 4", "line 5")
        assert said(records)[-2:] == [("reminder", "It rains."), ("user", "And now?")]
        assert of(Rewind, records) == []

    def test_list_the_messages_that_a_compaction_keeps(self) -> None:
        """Known messages keep their ids, and others are new."""
        tail = [row("", None, "2")["message"], row("", None, "new")["message"]]
        compaction = {"type": "compaction", "id": "c", "parentId": "b", "summary": "s", "retainedTail": tail}
        rows = [row("a", None, "1"), row("b", "a", "2"), compaction, row("d", "c", "3")]
        [made] = of(Compaction, fed(*rows))
        assert [e.source_id for e in made.replacement or ()] == ["c", "b", "c.1"]
        assert of(Rewind, fed(*rows, row("e", "c", "4")))[-1].live == ("c", "b", "c.1")

    @pytest.mark.parametrize(
        "key", ["id", "parentId", "type", "message", "timestamp", "summary", "firstKeptEntryId", "targetId"]
    )
    @pytest.mark.parametrize("value", [None, 1, "x", [], [1], {}, {"role": 5, "content": [7]}, True])
    def test_with_any_value_anywhere_do_not_raise(self, key: str, value: Any) -> None:
        """A field of the wrong type never breaks the reading of what follows."""
        for kind in ("message", "compaction", "context_edit", "session_info"):
            odd = {**row("b", "a", "odd"), "type": kind, key: value}
            assert ("user", "last") in said(fed(row("a", None, "1"), odd, row("z", "b", "last")))


class TestSessions:
    """Sessions in the store, followed and imported."""

    @pytest.fixture
    def app(self, tmp_path: Path) -> Iterator[App]:
        """An application that follows a copy of the samples."""
        shutil.copytree(ROOT, tmp_path / "pi" / "sessions")
        env = {"HOME": str(tmp_path / "home"), "PI_CODING_AGENT_DIR": str(tmp_path / "pi")}
        app = build(Config(db=tmp_path / "a.db", tokenizer=False, env=env))
        yield app
        app.close()

    def look(self, app: App) -> int:
        """Look at every file once, and return the number of new messages."""
        following = app.watcher.following
        return sum(following.read_new(file) for file in following.discover())

    def test_are_followed_as_they_grow(self, app: App, tmp_path: Path) -> None:  # X12
        """Half a line is read when it is complete, and a fork has its parent."""
        assert self.look(app) > 20
        assert self.look(app) == 0
        [path] = (tmp_path / "pi").rglob(f"*{GARDEN_ID}.jsonl")
        whole = json.dumps(row("u0000005", "a0000006", "half"), separators=(",", ":"))
        begun = path.read_text().rpartition("\n")[2]
        with path.open("a") as file:
            file.write(f"\n{whole}\n")
        assert (begun[:30], self.look(app)) == (whole[:30], 1)
        found = {s.id: s for s in app.sessions.list()}
        assert (found[GARDEN_ID].title, found[GARDEN_ID].source_label) == ("The garden", "pi")
        assert (found[GARDEN_ID].malformed, found[GARDEN_ID].unknown) == (2, 2)
        assert (found[FORK_ID].parent_id, found[FORK_ID].agent_type) == (GARDEN_ID, "fork")
        assert list(app.verify()) == []

    def test_show_the_context_of_the_agent(self, app: App) -> None:
        """The context excludes other branches and compacted messages, and the gauge is the last usage."""
        self.look(app)
        agent = app.sessions.get(GARDEN_ID).agent
        assert agent is not None
        assert (agent.messages, agent.tokens) == (7, 408)
        kinds = [o.kind for o in app.operations.list(GARDEN_ID)]
        assert sorted(kinds) == ["compaction", "rewind"]

    def test_are_imported_by_their_content(self, app: App) -> None:
        """An import belongs to the followed session, and adds nothing twice."""
        self.look(app)
        for path in (GARDEN, BIRDS):
            [imported] = app.importing.import_file("upload.jsonl", path.read_bytes())
            assert (imported.source, imported.added) == ("pi", 0)
