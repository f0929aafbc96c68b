"""The status view of a session."""

from __future__ import annotations

from typing import Any

import pytest

from tests.webapp.building import conversation, entry, followed, managed, said, usage, user, wire
from webapp.agents.records import Compaction
from webapp.app import App
from webapp.bodies import ModelRow, SessionChange
from webapp.errors import Conflict, NotFound
from webapp.services.summaries.summarising import NOTHING_NEW


class TestStatus:
    """The fields of the status view (S7)."""

    def test_has_both_triggers_as_bars(self, app: App) -> None:  # S7
        """The bars count messages and tokens since the last summary."""
        app.models.put("small", ModelRow(window=100_000))
        followed(app, *conversation(4), user("end"), model="small")
        app.sessions.patch("s", SessionChange(settings={"auto_summarize": True}))
        bars = app.status.of("s").triggers
        assert bars[0].text == "Messages 17 / 30 (56.7 %)"
        assert (bars[1].name, bars[1].limit) == ("Tokens", 80_000)  # a share of the window

    @pytest.mark.parametrize(
        ("rules", "automatic", "made"),
        [
            ({}, False, "on request"),
            ({"strategy": "summarise"}, False, "on request"),
            ({"strategy": "summarise"}, True, "above the target"),
            ({"auto_summarize": True}, False, "when either is full"),
            (
                {"auto_summarize": True, "strategy": "summarise"},
                True,
                "when either is full, or above the target",
            ),
        ],
    )
    def test_says_when_a_summary_is_made(
        self, app: App, rules: dict[str, Any], automatic: bool, made: str
    ) -> None:  # S7, S3
        """The status has a percentage only if a summary is made at the limit."""
        app.background.close()  # no summary is made while the status is read
        session = managed(app, *[wire("user", "hi")] * 40, settings=rules)
        app.sessions.patch(session, SessionChange(automatic=automatic))
        status = app.status.of(session)
        assert status.made == made
        bar = status.triggers[0]
        if "auto_summarize" in rules:
            assert (bar.text, bar.percent) == ("Messages 40 / 30 (133.3 %)", 133.3)
        else:
            assert (bar.text, bar.percent) == ("Messages 40", None)

    def test_tells_tools_from_what_no_transcript_contains(self, app: App) -> None:  # S7, X11
        """A followed session has no definitions; its agent's prompt is in no message, and takes room as well."""
        followed(app, user("hi " * 100), model="claude-sonnet-4-5")
        call = entry(9, said("x"), usage=usage(20_000, 10), call_key="k")
        app.ingest.append_records("s", [call])
        status, session = app.status.of("s"), app.sessions.get("s")
        unseen = next(region.tokens for region in session.pruned.regions if region.name == "unseen")
        assert (status.tool_tokens, status.unseen_tokens) == (0, unseen)
        assert unseen > 19_000
        assert status.available < session.limit - unseen

    def test_counts_the_messages_since_the_last_summary_once(
        self, app: App, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # S7
        """The store reads every message of a session for it."""
        followed(app, *conversation(4), user("end"))
        count = app.store.summaries.since
        counted: list[int] = []

        def since(session: int) -> tuple[int, int]:
            counted.append(session)
            return count(session)

        monkeypatch.setattr(app.store.summaries, "since", since)
        app.status.of("s")
        assert len(counted) == 1

    def test_describes_the_last_summary(self, app: App) -> None:  # S7
        """The status has its messages, tokens and time."""
        followed(app, *conversation(6), user("end"))
        assert app.status.of("s").last_summary is None
        made = app.summarising.summarise("s").summary
        last = app.status.of("s").last_summary
        assert last.text == f"19 messages -> {made.tokens:,} tokens"
        assert last.at == made.at

    def test_sizes_a_summary_as_its_region(self, app: App) -> None:  # S7, X11
        """After real usage all are in the tokens of the model: bar, status, list, operation and answer."""
        session = managed(app)
        for n in range(12):
            turn = [wire("user", f"request {n}: " + "change the parser " * 200), wire("assistant", "done")]
            app.ingest.append_messages(session, turn, usage={"prompt_tokens": 900 * (n + 1)})
        made = app.summarising.summarise(session)
        [region] = [one for one in made.session.pruned.regions if one.name == "summary"]
        [listed], last = app.summarising.list(session).summaries, app.status.of(session).last_summary
        assert region.tokens == made.summary.tokens == listed.tokens == last.tokens
        assert made.message.endswith(f"-> {region.tokens:,} tokens")
        assert last.text == made.message
        stored = app.store.summaries.get(app.store.sessions.get(session).key, 1)
        assert stored.tokens != region.tokens, "the session's factor is 1"
        assert abs(made.operation.freed - (made.summary.replaced_tokens - region.tokens)) <= 2

    def test_says_when_there_is_nothing_to_summarise(self, app: App) -> None:  # S7
        """A summary never covers the six newest messages; system messages and summaries are no messages to cover."""
        session = managed(app, wire("system", "be brief"), *[wire("user", "hi " * 40)] * 6)
        assert app.status.of(session).nothing_to_summarise == NOTHING_NEW
        with pytest.raises(Conflict, match=NOTHING_NEW):
            app.summarising.summarise(session)
        app.ingest.append_messages(session, [wire("user", "one more " * 40)] * 4)
        assert app.status.of(session).nothing_to_summarise == ""
        app.summarising.summarise(session)
        assert app.status.of(session).nothing_to_summarise == NOTHING_NEW

    def test_names_the_agents_own_summary(self, app: App) -> None:  # S7
        """It counts from the agent's compaction until one of our summaries covers that."""
        followed(app, *conversation(6), user("end"))
        assert app.status.of("s").agent_summary is None
        brief = entry(40, user("a summary " * 40), kind="compaction_summary")
        later = [entry(50 + n, message) for n, message in enumerate(conversation(6))]
        app.ingest.append_records("s", [Compaction(None, "auto", 9_000, "c"), brief, *later])
        own = app.status.of("s").agent_summary
        assert own is not None
        [row] = app.messages.by_number("s", [own.number])
        assert (row.kind, row.tokens, row.at) == ("compaction_summary", own.tokens, own.at)
        app.summarising.summarise("s")
        status = app.status.of("s")
        assert status.agent_summary is None
        assert status.last_summary is not None

    def test_has_a_line_with_the_context(self, app: App) -> None:  # S7, S6
        """The available tokens exclude prompt, tools and reserve."""
        session = managed(
            app, wire("user", "hi " * 100), tools=[{"name": "read", "input_schema": {"type": "object"}}]
        )
        status = app.status.of(session)
        gauge = app.sessions.get(session)
        assert status.line.startswith("tokens: ")
        assert f"| context: {gauge.pruned.tokens:,} / {gauge.limit:,} (" in status.line
        assert status.available < gauge.limit - 4_096
        assert status.tool_count == 1

    def test_line_is_off_by_default(self, app: App) -> None:  # S7
        """A setting of the session switches the status line on."""
        quiet = managed(app, wire("user", "hi"))
        with_line = managed(app, wire("user", "hi"), settings={"status_line": True})
        assert app.status.line(quiet) is None
        assert (app.status.line(with_line) or "").startswith("tokens: ")

    def test_of_an_unknown_session_is_refused(self, app: App) -> None:
        """The error names the unknown session."""
        with pytest.raises(NotFound):
            app.status.of("nope")
