"""Usage reports that cannot be true: they move nothing, and are said."""

from __future__ import annotations

import pytest

from tests.webapp.building import entry, followed, managed, said, usage, user, wire
from webapp.app import App

WORDS = "value " * 20_000


class TestAFalseReport:
    """Anthropic's `input_tokens` leaves out what was cached: an easy mistake."""

    def test_never_lowers_the_total_or_the_budget(self, app: App) -> None:  # X11
        """The estimate stands, and what the model is sent still fits."""
        app.models.put("small", window=12_000)
        session_id = managed(app, wire("user", WORDS), model="small")
        before = app.sessions.get(session_id)
        app.ingest.append_messages(session_id, [wire("assistant", "ok")], usage={"input_tokens": 12})
        after = app.sessions.get(session_id)
        assert after.pruned.tokens >= before.pruned.tokens >= 20_000
        assert after.pruned.certainty == "estimated"
        assert any("1 usage report set aside: the last says 12 tokens" in note for note in after.notes)
        context = app.context.get(session_id)
        assert context.over_budget is not None or context.tokens <= 12_000

    def test_never_lowers_an_anchor(self, app: App) -> None:  # X11
        """Nor do any number of them."""
        session_id = managed(app, wire("user", WORDS), model="gpt-5")
        app.ingest.append_messages(session_id, [wire("assistant", "ok")], usage={"input_tokens": 20_100})
        for n in range(4):
            more = [wire("user", f"go on {n}"), wire("assistant", "ok")]
            app.ingest.append_messages(session_id, more, usage={"input_tokens": 15 + n})
        session = app.sessions.get(session_id)
        assert session.pruned.tokens > 20_100
        assert any("4 usage reports set aside" in note for note in session.notes)

    def test_is_counted_once_a_call(self, app: App) -> None:
        """A call that is written as several rows repeats its usage."""
        session_id = followed(app, user(WORDS), model="claude-sonnet-4-5")
        rows = [entry(n, said(f"part {n}"), usage=usage(12), call_key="k", group="k") for n in (5, 6, 7)]
        for row in rows:
            app.ingest.append_records(session_id, [row])
        assert any("1 usage report set" in note for note in app.sessions.get(session_id).notes)

    @pytest.mark.parametrize("tokens", [19_000, 22_000, 60_000])
    def test_is_told_from_a_true_one(self, app: App, tokens: int) -> None:  # X11
        """Tokenizers differ, and system prompts are not seen."""
        session_id = managed(app, wire("user", WORDS), model="gpt-5")
        app.ingest.append_messages(session_id, [wire("assistant", "ok")], usage={"input_tokens": tokens})
        session = app.sessions.get(session_id)
        assert session.notes == []
        assert abs(session.pruned.tokens - tokens) < 20
