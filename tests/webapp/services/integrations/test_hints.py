"""Hints: the files that the server writes for hooks and status lines."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from scoring.messages import REMINDER, Message, Text
from tests.waiting import until
from tests.webapp.building import conversation, entries, followed, said, user
from webapp.agents.hook_runtime import hints as files
from webapp.app import App
from webapp.bodies import MessagesQuery, PlanBody, PruneBody, SessionChange
from webapp.services.integrations import hints
from webapp.services.session.session import Session


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for hints, which does not exist yet."""
    monkeypatch.setenv("COPPICE_HINTS", str(tmp_path / "hints"))
    return tmp_path / "hints"


@pytest.fixture
def session(app: App, monkeypatch: pytest.MonkeyPatch) -> str:
    """A followed session with a decision, a pin and many outputs."""
    monkeypatch.setattr(hints, "AT_WORK_MS", 10**15)
    followed(
        app,
        *conversation(20),
        user("We decided to keep port 8443 because the proxy needs it."),
        said("Kept."),
    )
    return "s"


def hint_of(app: App, session: str) -> dict[str, object]:
    """Return the current hint of a session."""
    return app.hints.hint(Session.load(app.environment, session))


class TestAHint:
    """The hint of one session."""

    def test_contains_pins_learnings_and_decisions(self, app: App, session: str, folder: Path) -> None:  # X20
        """The text for the agent's summariser is within its budget."""
        rows = app.messages.page(session, MessagesQuery(limit=3)).messages
        app.by_hand.pin(session, rows[0].id)
        app.memory.add("learning", "Tests need the database.", session)
        survive = str(hint_of(app, session)["survive"])
        assert " ".join(rows[0].text.split())[:40] in survive
        assert "Tests need the database." in survive
        assert "port 8443" in survive
        counter = Session.load(app.environment, session).counter
        assert counter.count(survive) <= hints.SURVIVE_TOKENS

    def test_leaves_out_what_the_agent_sends_again_by_itself(
        self, app: App, session: str, folder: Path
    ) -> None:  # X20
        """The names in the agent's own prompt and reminders are none of the work."""
        listed = Message("user", (Text("Run /babysit-prs, then write to noreply@example.org"),), REMINDER)
        prompt = Message("system", (Text("Read skills/imagegen/SKILL.md, and wait 30000 ms."),))
        app.ingest.append_records(
            session, entries(prompt, listed, user("Ship to ada@example.org"), start=100)
        )
        survive = str(hint_of(app, session)["survive"])
        assert "ada@example.org" in survive
        assert "SKILL.md" not in survive
        assert "/babysit-prs" not in survive
        assert "noreply@example.org" not in survive

    def test_describes_the_context_before_a_compaction(
        self, app: App, session: str, folder: Path
    ) -> None:  # X20
        """The hint after a compaction keeps the description of the context before it."""
        folder.mkdir()
        assert app.hints.write(session)
        before = files.read(session, files.HINT)
        files.write(session, files.HINT, {**before, "tokens": 10_000_000})
        assert hint_of(app, session)["lost"] == before["lost"]
        assert "42 messages" not in str(before["lost"])
        assert "messages" in str(before["lost"])

    def test_warns_of_a_full_context(self, app: App, session: str, folder: Path) -> None:  # X20
        """The warning names the command that helps."""
        assert hint_of(app, session)["warning"] == ""
        app.sessions.patch(session, SessionChange(settings={"target_percent": 2.0, "aim_percent": 1.0}))
        full = hint_of(app, session)
        assert full["warns_of"] == "full"
        assert f"coppice resume {session} --prune" in str(full["warning"])

    def test_counts_what_earlier_prunes_took_out(
        self, app: App, session: str, folder: Path
    ) -> None:  # X20, X22
        """A copy is resumed from the pruned view, but the agent still sends, and would lose, its whole context."""
        app.sessions.patch(session, SessionChange(settings={"target_percent": 2.0, "aim_percent": 1.0}))
        whole, first = app.sessions.get(session), hint_of(app, session)
        least = app.prunes.apply(session, PruneBody(max_tokens=whole.pruned.tokens // 2)).session.pruned
        after = hint_of(app, session)
        plan = app.prunes.plan(session, PlanBody())
        saved = whole.main.tokens - least.tokens + plan.freed
        assert f"a copy with {saved:,} tokens less on each call" in str(after["warning"])
        assert after["lost"] == first["lost"]

    def test_says_how_full_as_the_page_does(self, app: App, session: str, folder: Path) -> None:  # X20, X18
        """Rounded, a context just below its limit would be 100 % full."""
        tokens = app.sessions.get(session).main.tokens
        app.sessions.patch(session, SessionChange(window=tokens + 1, settings={"response_reserve": 1_000}))
        shown = app.sessions.get(session)
        assert (shown.limit, shown.main.utilization) == (tokens + 1, 99.9)
        assert "The context is 99.9 % full." in str(hint_of(app, session)["warning"])


class TestWriting:
    """Hints are written automatically when the session changes."""

    def test_happens_only_with_the_folder(self, app: App, session: str, folder: Path) -> None:
        """Without the folder of the hooks nothing is written; with it a hint follows each message."""
        more = iter(range(1_000, 2_000))
        append_one(app, next(more))
        assert not folder.exists()
        folder.mkdir()
        append_one(app, next(more))
        until(lambda: files.read(session, files.HINT).get("tokens"))

    def test_ends_with_the_session(self, app: App, session: str, folder: Path) -> None:  # X20
        """No file with its text stays, whether the server, a hook or an extension wrote it."""
        folder.mkdir()
        assert app.hints.write(session)
        for kind in (files.EDITS, files.STATE, files.ACTIVE):
            files.write(session, kind, {"text": "secret"})
        app.sessions.delete(session)
        until(lambda: not [*folder.iterdir()])

    def test_skips_idle_sessions(self, app: App, session: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Thousands of old sessions cause no plan at a start."""
        monkeypatch.setattr(hints, "AT_WORK_MS", 1)
        assert not app.hints.write(session)


def append_one(app: App, n: int) -> None:
    """Append a message to the session."""
    app.ingest.append_records("s", entries(user(f"message {n} at {datetime.now(UTC)}"), start=n))
