"""Suggested weights: learned from the sessions of the store, and not saved."""

from __future__ import annotations

import json
from typing import Any
from zlib import crc32

import pytest

from scoring.learning.labels import Case
from tests.shared import shared_files
from tests.webapp.building import context_numbers, conversation, entries, followed, mid, said, user
from webapp.agents.records import Rewind
from webapp.app import App
from webapp.bodies import PruneBody
from webapp.errors import Conflict, NotFound

TRANSCRIPTS = [
    path for path in shared_files("**/*.jsonl", "transcripts", "claude-code") if path.stat().st_size > 50_000
]
DEAF = {"weights": {"relevance": 0}}
TOPICS = "harbour violin glacier pepper lantern meadow anchor saddle copper walnut thunder candle".split()  # noqa: SIM905


def asking(app: App, session: int, **columns: Any) -> str:
    """Create a session whose last question names the message that its answer needs; return its id."""
    topics = [f"{one} {TOPICS[(n + 5) % 12]}" for n, one in enumerate(TOPICS)]
    talk = [
        (said if n % 2 else user)(f"For the {topic} we settled on code_{session}_{n} in the end.")
        for n, topic in enumerate([*topics, *(f"old {topic}" for topic in topics)])
    ]
    needed = crc32(b"%d" % session) % 12
    question = user(f"What did we settle on for the {topics[needed]}?")
    return followed(
        app, *talk, question, said(f"That is code_{session}_{needed}."), session_id=f"s{session}", **columns
    )


def cases(app: App, *names: str) -> list[Case]:
    """Return the cases from which weights are learned."""
    found: list[Case] = app.suggesting._cases(names, app.environment.settings())
    return found


class TestSuggesting:
    """Suggesting weights."""

    def test_suggests_weights_and_saves_nothing(self, app: App) -> None:  # X15
        """The suggestion has the retention of held-out sessions before and after, and the settings stay."""
        app.settings.put(DEAF)
        for n in range(12):
            asking(app, n)
        found = app.suggesting.suggest()
        assert found.weights is not None
        assert found.weights["relevance"] > found.present["relevance"] == 0
        assert found.after > found.before
        assert (found.held_out, found.sessions) == (6, 12)
        assert app.settings.get().settings.weights == found.present

    def test_explains_too_few_sessions(self, app: App) -> None:  # X15
        """An empty store has no suggestion, but a reason."""
        found = app.suggesting.suggest()
        assert (found.weights, found.before, found.after, found.cases) == (None, None, None, 0)
        assert "too few sessions" in found.reason

    def test_uses_only_the_named_sessions(self, app: App) -> None:
        """Other sessions give no cases, and an unknown one is an error."""
        for n in range(3):
            asking(app, n)
        assert {case.session for case in cases(app, "s1")} == {"s1"}
        with pytest.raises(NotFound, match="nobody"):
            app.suggesting.suggest(["nobody"])

    def test_keeps_sub_agents_with_their_session(self, app: App) -> None:
        """A session and its sub-agents share names, so they are one session of the split."""
        asking(app, 1)
        asking(app, 2, parent_id="s1")
        assert {case.session for case in cases(app)} == {"s1"}

    def test_runs_once_at_a_time(self, app: App) -> None:
        """A second search during the first is refused, but not one after it."""

        def again(*_: int) -> None:
            with pytest.raises(Conflict, match="already"):
                app.suggesting.suggest()
            refused.append(True)

        refused: list[bool] = []
        app.settings.put(DEAF)
        for n in range(6):
            asking(app, n)
        app.suggesting.suggest(progress=again)
        assert refused
        assert app.suggesting.suggest().cases

    def test_reads_messages_of_an_earlier_version(self, app: App) -> None:
        """Messages stored without their contents are read again from the log."""
        asking(app, 1)
        row = app.store.sessions.get("s1")
        known = [case.steps for case in cases(app)]
        rows = [app.store.log.message(row.key, no) for no in range(1, row.next_no)]
        with app.store.write():
            bare = [m._replace(features=json.dumps({**json.loads(m.features), "content": {}})) for m in rows]
            app.store.log.put_messages(row.key, bare)
        assert known
        assert [case.steps for case in cases(app)] == known

    @pytest.mark.skipif(len(TRANSCRIPTS) < 6, reason="shared/data/transcripts is not beside the repository")
    def test_accepts_real_sessions(self, app: App) -> None:  # X15
        """The result has a reason, and its retention is a percentage."""
        for path in TRANSCRIPTS[:10]:
            with path.open("rb") as file:
                app.importing.import_file(str(path), file, format="auto", model=None)
        found = app.suggesting.suggest()
        assert found.cases
        assert found.reason
        assert all(0 <= share <= 100 for share in (found.before, found.after) if share is not None)


class TestJudgements:
    """Judgements on messages, from pins, drops and restores."""

    @pytest.fixture
    def session(self, app: App) -> str:
        """A session of three turns of four messages."""
        return followed(app, *conversation(3))

    def judged(self, app: App) -> tuple[list[int], list[int]]:
        """Return the numbers of the messages judged as needed and as not needed."""
        [case] = [case for case in cases(app, "s") if case.needed or case.unneeded]
        return sorted(n + 1 for n in case.needed), sorted(n + 1 for n in case.unneeded)

    def test_of_a_pinned_message_is_needed(self, app: App, session: str) -> None:  # X15
        """The pin does not protect the message while plans are tried."""
        app.by_hand.pin(session, mid(app, session, 1))
        assert self.judged(app) == ([1], [])
        assert all(not case.history.pinned for case in cases(app, session))

    def test_of_a_dropped_message_is_not_needed(self, app: App, session: str) -> None:  # X15
        """The whole unit counts as not needed."""
        app.by_hand.drop(session, mid(app, session, 2))
        assert self.judged(app) == ([], [2, 3])

    def test_of_a_restored_message_is_needed(self, app: App, session: str) -> None:  # X15
        """The latest judgement counts."""
        app.by_hand.drop(session, mid(app, session, 2))
        app.by_hand.restore(session, mid(app, session, 2))
        assert self.judged(app) == ([2, 3], [])

    def test_of_messages_restored_by_undo_is_needed(self, app: App, session: str) -> None:  # X15
        """All messages of the undone prune count."""
        app.prunes.apply(session, PruneBody(max_tokens=400))
        gone = sorted(set(range(1, 13)) - set(context_numbers(app, session)))
        app.operations.undo(session)
        assert gone
        assert self.judged(app) == (gone, [])

    def test_of_an_undone_pin_is_none(self, app: App, session: str) -> None:
        """An undone pin is no judgement."""
        app.by_hand.pin(session, mid(app, session, 1))
        app.operations.undo(session)
        assert cases(app, session) == []


class TestRewoundMessages:
    """Messages that the agent rewound."""

    def test_do_not_introduce_a_name(self, app: App) -> None:
        """A name that occurs only in the abandoned branch gives no case."""
        talk = [m for n in range(12) for m in (user(f"step {n}"), said("done"))]
        app.ingest.ensure("s", "claude-code")
        app.ingest.append_records("s", entries(*talk, user("parse_rules"), said("fine")))
        live = tuple(f"id-{n}" for n in range(len(talk)))
        app.ingest.append_records("s", [Rewind("id-23", "id-40", live=live)])
        app.ingest.append_records("s", entries(user("go on"), said("I use parse_rules"), start=41))
        assert cases(app, "s") == []
