"""Suggestions from the sessions of a store: the needed messages, and that nothing is saved."""

from __future__ import annotations

import json
from typing import Any
from zlib import crc32

import pytest

from scoring.learning.labels import Case
from tests.shared import shared_files
from tests.webapp.building import conversation, entries, followed, mid, said, user
from webapp.agents.records import Rewind
from webapp.app import App
from webapp.errors import Conflict, NotFound
from webapp.services.planning.requests import PruneRequest

TRANSCRIPTS = [
    path for path in shared_files("**/*.jsonl", "transcripts", "claude-code") if path.stat().st_size > 50_000
]
DEAF = {"weights": {"relevance": 0}}
TOPICS = "harbour violin glacier pepper lantern meadow anchor saddle copper walnut thunder candle".split()  # noqa: SIM905


def asking(app: App, session: int, **columns: Any) -> str:
    """Return a session whose last question says what its answer needs."""
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
    """Return the cases that would be learned from."""
    found: list[Case] = app.suggesting._cases(names, app.environment.settings())
    return found


class TestSuggesting:
    """The use case."""

    def test_speaks_for_weights_and_saves_nothing(self, app: App) -> None:  # X15
        """The suggestion has the held-out retention before and after; the settings stay."""
        app.settings.put(DEAF)
        for n in range(12):
            asking(app, n)
        found = app.suggesting.suggest()
        assert found.weights is not None
        assert found.weights["relevance"] > found.present["relevance"] == 0
        assert found.after > found.before
        assert (found.held_out, found.sessions) == (6, 12)
        assert app.settings.get().settings.weights == found.present

    def test_says_that_there_is_too_little(self, app: App) -> None:  # X15
        """An empty store is no error."""
        found = app.suggesting.suggest()
        assert (found.weights, found.before, found.after, found.cases) == (None, None, None, 0)
        assert "too few sessions" in found.reason

    def test_looks_at_the_sessions_that_are_named(self, app: App) -> None:
        """Only named sessions are used; an unknown one is reported."""
        for n in range(3):
            asking(app, n)
        assert {case.session for case in cases(app, "s1")} == {"s1"}
        with pytest.raises(NotFound, match="nobody"):
            app.suggesting.suggest(["nobody"])

    def test_keeps_sub_agents_with_their_session(self, app: App) -> None:
        """Sessions and sub-agents share names, so they are in the same half of the split."""
        asking(app, 1)
        asking(app, 2, parent_id="s1")
        assert {case.session for case in cases(app)} == {"s1"}

    def test_is_made_one_at_a_time(self, app: App) -> None:
        """A second one while the first works is refused, the next one after it is not."""

        def again(*_: int) -> None:
            with pytest.raises(Conflict, match="already"):
                app.suggesting.suggest()
            told.append(True)

        told: list[bool] = []
        app.settings.put(DEAF)
        for n in range(6):
            asking(app, n)
        app.suggesting.suggest(progress=again)
        assert told
        assert app.suggesting.suggest().cases

    def test_reads_what_earlier_versions_did_not_keep(self, app: App) -> None:
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
    def test_stands_real_sessions(self, app: App) -> None:  # X15
        """Every outcome has a reason, and its retention is in percent."""
        for path in TRANSCRIPTS[:10]:
            with path.open("rb") as file:
                app.importing.import_file(str(path), file, format="auto", model=None)
        found = app.suggesting.suggest()
        assert found.cases
        assert found.reason
        assert all(0 <= share <= 100 for share in (found.before, found.after) if share is not None)


class TestJudgements:
    """Judgements on messages, given by pins, drops and restores."""

    @pytest.fixture
    def session(self, app: App) -> str:
        """Three turns of four messages."""
        return followed(app, *conversation(3))

    def judged(self, app: App) -> tuple[list[int], list[int]]:
        """Message numbers that were needed, and that were not."""
        [case] = [case for case in cases(app, "s") if case.needed or case.unneeded]
        return sorted(n + 1 for n in case.needed), sorted(n + 1 for n in case.unneeded)

    def test_of_what_was_pinned_is_needed(self, app: App, session: str) -> None:  # X15
        """The pin does not protect the message while plans are tried."""
        app.operations.pin(session, mid(app, session, 1))
        assert self.judged(app) == ([1], [])
        assert all(not case.history.pinned for case in cases(app, session))

    def test_of_what_was_dropped_is_not_needed(self, app: App, session: str) -> None:  # X15
        """The whole unit counts as not needed."""
        app.operations.drop(session, mid(app, session, 2))
        assert self.judged(app) == ([], [2, 3])

    def test_of_what_was_restored_is_needed(self, app: App, session: str) -> None:  # X15
        """The latest word counts."""
        app.operations.drop(session, mid(app, session, 2))
        app.operations.restore(session, mid(app, session, 2))
        assert self.judged(app) == ([2, 3], [])

    def test_of_what_a_prune_took_and_undo_gave_back_is_needed(self, app: App, session: str) -> None:  # X15
        """All of it."""
        app.prunes.apply(session, PruneRequest(max_tokens=400))
        gone = sorted(set(range(1, 13)) - set(app_numbers(app, session)))
        app.operations.undo(session)
        assert gone
        assert self.judged(app) == (gone, [])

    def test_of_what_was_unpinned_is_none(self, app: App, session: str) -> None:
        """An undone pin says nothing."""
        app.operations.pin(session, mid(app, session, 1))
        app.operations.undo(session)
        assert cases(app, session) == []


def app_numbers(app: App, session: str) -> list[int]:
    """Numbers of the messages in the pruned view."""
    row = app.store.sessions.get(session)
    return [item.ref for item in app.store.contexts.items(row.key, 1)]


class TestWhatTheAgentTookBack:
    """Rewound messages were not in the context."""

    def test_is_no_place_to_know_a_name_from(self, app: App) -> None:
        """Without the abandoned branch, no message before the cut contains the name."""
        talk = [m for n in range(12) for m in (user(f"step {n}"), said("done"))]
        app.ingest.ensure("s", "claude-code")
        app.ingest.append_records("s", entries(*talk, user("parse_rules"), said("fine")))
        live = tuple(f"id-{n}" for n in range(len(talk)))
        app.ingest.append_records("s", [Rewind("id-23", "id-40", live=live)])
        app.ingest.append_records("s", entries(user("go on"), said("I use parse_rules"), start=41))
        assert cases(app, "s") == []
