"""Clearings of an agent: detected from its usage, or recorded."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.webapp.building import call, entry, followed, result, said, usage, user
from webapp.agents.records import Cleared, Entry, Record, Usage
from webapp.app import App
from webapp.bodies import MessagesQuery
from webapp.errors import Conflict
from webapp.services.session.replacements import Replacement

OUTPUT = "a line of output " * 250  # some 1,200 tokens with this model


def working(count: int, real: int, cleared_at: int | None = None, lost: int = 0) -> list[Record]:
    """Return records of `count` Bash calls; the input of call `cleared_at` is `lost` tokens smaller."""
    records: list[Record] = [entry(0, user("go"))]
    at = real
    for n in range(count):
        at += 1_250 - (lost if n == cleared_at else 0)
        records.append(entry(2 * n + 1, call(f"c{n}"), usage=usage(at, 50), call_key=f"k{n}"))
        records.append(entry(2 * n + 2, result(f"c{n}", OUTPUT)))
    at += 1_250
    records.append(entry(2 * count + 1, said("done"), usage=usage(at, 10), call_key="last"))
    return records


def reasons(app: App) -> dict[int, str | None]:
    """Return the reasons of the messages whose outputs are not sent as they are, by number."""
    shown = app.messages.page("s", MessagesQuery(limit=100)).messages
    return {message.number: message.reason for message in shown if message.shortened}


def session(app: App, records: list[Record], step: int = 1_000) -> str:
    """Append records to a session of Claude Code, `step` at a time; return its id."""
    followed(app, model="claude-sonnet-4-5")
    for start in range(0, len(records), step):
        app.ingest.append_records("s", records[start : start + step])
    return "s"


class TestAClearing:
    """A fall of the reported input without a compaction."""

    def test_is_on_the_timeline_with_the_probable_outputs(self, app: App) -> None:  # X24
        """The timeline has the tokens lost and the tool of the outputs."""
        session(app, working(20, 20_000, cleared_at=15, lost=6_000))
        [mark] = [m for m in app.timelines.of("s").changes if m.kind == "clearing"]
        assert mark.before is not None
        assert mark.after is not None
        assert 5_000 < mark.before - mark.after < 7_500
        assert mark.label is not None
        assert "the agent cleared about" in mark.label
        assert "not recorded; probably" in mark.label
        assert "(Bash)" in mark.label
        [operation] = app.operations.list("s")
        assert (operation.kind, operation.actor, operation.undoable) == ("clearing", "agent", False)

    @pytest.mark.parametrize(
        ("minutes", "read", "kinds"),
        [(1, 0, []), (1, 15_000, []), (1, 21_500, ["clearing"]), (60, 0, ["clearing"])],
    )
    def test_is_not_that_of_tools_which_an_agent_lacks_now(
        self, app: App, minutes: int, read: int, kinds: list[str]
    ) -> None:  # X24
        """A warm cache that is not read from its beginning shows that the tools have changed, not the conversation."""
        records = working(6, 20_000)
        for n, record in enumerate(records):
            if isinstance(record, Entry) and record.usage is not None:
                tokens = record.usage.input_tokens
                seen = replace(record.usage, cached_tokens=tokens - 1_250, cache_write_tokens=1_250)
                records[n] = replace(record, usage=seen)
        last = records.pop()
        assert isinstance(last, Entry)
        less = 20_000 + 7 * 1_250 - 6_000
        fallen = Usage(less, 10, read, less - read)
        assert last.at is not None
        records.append(replace(last, usage=fallen, at=last.at + timedelta(minutes=minutes)))
        session(app, records)
        assert [one.kind for one in app.operations.list("s")] == kinds
        agent = app.sessions.get("s").agent
        assert agent is not None
        assert agent.tokens == less + 10
        tools = next(one.tokens for one in agent.regions if one.name == "tool")
        assert (tools > 6_500) == (not kinds)

    def test_reduces_the_region_of_tools(self, app: App) -> None:  # X24
        """The total is the reported one, and outputs that were probably cleared leave their region."""
        whole, less = working(20, 20_000), working(20, 20_000, cleared_at=15, lost=6_000)
        app.ingest.ensure("whole", "claude-code", model="claude-sonnet-4-5")
        app.ingest.append_records("whole", whole)
        session(app, less)
        tokens = [app.sessions.get(name).agent for name in ("whole", "s")]
        assert tokens[0] is not None
        assert tokens[1] is not None
        assert tokens[1].tokens == 20_000 + 21 * 1_250 - 6_000 + 10
        tools = [next(r.tokens for r in one.regions if r.name == "tool") for one in tokens]
        assert tools[0] - tools[1] > 4_500
        assert sum(r.tokens for r in tokens[1].regions) == tokens[1].tokens

    def test_of_more_than_old_outputs_takes_newer_ones(self, app: App) -> None:  # X24
        """A fall beyond the agent's habit took more outputs: the prompt that is in no transcript does not shrink."""
        session(app, working(9, 20_000, cleared_at=8, lost=8_000))
        agent = app.sessions.get("s").agent
        assert agent is not None
        regions = {region.name: region.tokens for region in agent.regions}
        assert regions["tool"] < 3 * 1_250
        assert regions["unseen"] > 18_500

    @pytest.mark.parametrize("step", [1, 7])
    def test_is_the_same_for_any_batch_size(self, app: App, step: int) -> None:  # X24
        """Reading row by row and reading the whole file give the same result."""
        records = working(20, 20_000, cleared_at=15, lost=6_000)
        session(app, records, step)
        app.ingest.ensure("t", "claude-code", model="claude-sonnet-4-5")
        app.ingest.append_records("t", records)
        for figures in (lambda i: app.sessions.get(i).agent, app.timelines.of):
            assert figures("s") == figures("t")

    def test_does_not_affect_later_estimates(self, app: App) -> None:  # X24
        """Estimates after the clearing are as exact as before."""
        session(app, working(30, 20_000, cleared_at=15, lost=6_000))
        calls = app.store.usage.calls(app.store.sessions.get("s").key)
        assert all(abs((c.estimated or 0) - c.input_tokens) < 250 for c in calls[20:])

    def test_blocks_undo(self, app: App) -> None:
        """It cannot be undone, like a compaction."""
        session(app, working(20, 20_000, cleared_at=15, lost=6_000))
        with pytest.raises(Conflict):
            app.operations.undo("s", 1)

    def test_is_not_detected_while_input_grows(self, app: App) -> None:
        """Growing input causes no clearing."""
        session(app, working(20, 20_000))
        assert app.timelines.of("s").changes == []

    def test_leaves_a_valid_store(self, app: App) -> None:
        """`verify` finds no fault."""
        session(app, working(20, 20_000, cleared_at=15, lost=6_000))
        assert list(app.verify()) == []


class TestAClearedMessage:
    """A message whose output the agent probably cleared."""

    def test_names_the_agent_as_the_cause(self, app: App) -> None:  # X24
        """Its reason is the agent's clearing, not a prune."""
        session(app, working(20, 20_000, cleared_at=15, lost=6_000))
        assert set(reasons(app).values()) == {"the agent probably cleared its output, without recording it"}


class TestARecordedClearing:
    """A clearing that the agent recorded with its outputs."""

    @staticmethod
    def records() -> list[Record]:
        """Return the records of a session whose first three of six outputs were cleared."""
        records = working(6, 20_000, cleared_at=5, lost=3_600)
        return [*records[:11], Cleared(("c0", "c1", "c2"), 3_600, "micro"), *records[11:]]

    def test_is_on_the_timeline_once(self, app: App) -> None:  # X24
        """The fall of the next input is not reported as another clearing."""
        session(app, self.records())
        [mark] = [m for m in app.timelines.of("s").changes if m.kind == "clearing"]
        assert mark.label == "the agent cleared about 3,600 tokens: 3 old outputs (Bash)"
        assert app.ingest.append_records("s", self.records()).nos == []
        assert len(app.operations.list("s")) == 1

    def test_removes_these_outputs_from_the_regions(self, app: App) -> None:  # X24
        """These outputs leave the regions before the next usage report; the others stay."""
        session(app, self.records()[:11])
        before = app.sessions.get("s").agent
        app.ingest.append_records("s", self.records()[11:12])
        after = app.sessions.get("s").agent
        assert before is not None
        assert after is not None
        assert 2_500 < before.tokens - after.tokens < 4_500
        assert sum(r.tokens for r in after.regions) == after.tokens
        shown = app.store.contexts.items(app.store.sessions.get("s").key, 1)
        assert sum(item.replacement is not None for item in shown) == 3

    def test_has_the_texts_that_are_sent_instead(self, app: App) -> None:  # X24
        """An agent that names the texts sends those, for each output its own."""
        cleared = Cleared(("c0", "c2"), 0, "cut", texts=("first", "third"))
        session(app, [*self.records()[:11], cleared])
        stored = app.store.sessions.get("s").key
        texts = [i.replacement for i in app.store.contexts.items(stored, 1) if i.replacement is not None]
        assert [Replacement.of_text(text).results for text in texts] == [{"c0": "first"}, {"c2": "third"}]
        [mark] = [m for m in app.timelines.of("s").changes if m.kind == "clearing"]
        assert mark.label == "the agent replaced by shorter texts: 2 old outputs (Bash)"

    @pytest.mark.parametrize("texts", [(), ("[Old tool result content cleared]",) * 3])
    def test_says_so_of_each_output(self, app: App, texts: tuple[str, ...]) -> None:  # X24
        """Nothing is probable about what the agent recorded, in whichever way; the message before it says when."""
        records = self.records()
        records[11] = Cleared(("c0", "c1", "c2"), 3_600, "micro", texts=texts)
        session(app, records)
        said = "the agent cleared its output, as it recorded after message 11"
        assert reasons(app) == dict.fromkeys((3, 5, 7), said)
        [mark] = [m for m in app.timelines.of("s").changes if m.kind == "clearing"]
        assert mark.label == "the agent cleared about 3,600 tokens: 3 old outputs (Bash)"

    def test_says_that_an_output_is_a_shorter_text(self, app: App) -> None:  # X24
        """An output that is replaced by words of its own is not gone."""
        session(app, [*self.records()[:11], Cleared(("c0",), 0, "cut", texts=("first lines",))])
        said = "the agent replaced its output by shorter texts, as it recorded after message 11"
        assert reasons(app) == {3: said}

    def test_is_told_from_a_later_probable_one(self, app: App) -> None:  # X24
        """Each message has the sentence of its own clearing."""
        records = working(20, 20_000, cleared_at=15, lost=6_000)
        session(app, [*records[:11], Cleared(("c0",), 0, "micro"), *records[11:]])
        found = reasons(app)
        assert found.pop(3) == "the agent cleared its output, as it recorded after message 11"
        assert found
        assert set(found.values()) == {"the agent probably cleared its output, without recording it"}
