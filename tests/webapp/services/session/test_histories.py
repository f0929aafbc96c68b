"""Histories in memory, which always equal the store."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Thread
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings

from scoring.errors import ScoringError
from scoring.history import Features, TaskCounts, analyse
from scoring.messages import Message
from tests.scoring.builders import any_messages
from tests.shared import shared_files
from tests.webapp.building import (
    call,
    conversation,
    entries,
    entry,
    followed,
    mid,
    result,
    said,
    transactions,
    user,
)
from webapp.agents.records import Compaction
from webapp.app import App
from webapp.bodies import MessagesQuery, PlanBody, PruneBody
from webapp.errors import BusyStore, Conflict, CoppiceError, StalePlan
from webapp.services.planning.planning import PlanInputs, Planning
from webapp.services.session.histories import Histories, SessionHistory
from webapp.services.session.session import Session
from webapp.services.session.stored_messages import whole
from webapp.store.log import Log

NUMBERS = count()


def same(app: App, session: str = "s") -> bool:
    """Return whether the cached view equals one read from the store."""
    row = app.store.sessions.get(session)
    kept, fresh = (
        app.histories.of(Session.of(app.environment, row)),
        Histories(app.store).of(Session.of(app.environment, row)),
    )

    def facts(view: SessionHistory) -> tuple[Any, ...]:
        history = view.history
        return (
            view.nos,
            history.tokens,
            history.units.head,
            history.pinned,
            history.drop_first,
            history.summarised,
            history.features,
            history.task_counts,
            view.replacements,
            view.version,
        )

    return facts(kept) == facts(fresh)


class TestViews:
    """The cached view of a session."""

    def test_follow_appends_without_reading(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        """An append extends the cached history."""
        followed(app, *conversation(2))
        app.histories.of(Session.load(app.environment, "s"))
        monkeypatch.setattr(Histories, "_gather", lambda *_: pytest.fail("the view was read again"))
        app.ingest.append_records("s", entries(*conversation(2), start=50))
        assert len(app.histories.of(Session.load(app.environment, "s")).nos) == 16

    def test_count_the_messages_before_a_summary(self, app: App) -> None:  # C8
        """A pinned message may precede a summary; after its undo no message does."""
        followed(app, *conversation(6), user("end"))
        app.by_hand.pin("s", mid(app, "s", 1))
        made = app.summarising.summarise("s")
        assert app.histories.of(Session.load(app.environment, "s")).history.summarised == 1
        app.operations.undo("s", made.operation.n)
        assert app.histories.of(Session.load(app.environment, "s")).history.summarised == 0

    def test_know_the_agents_own_summary(self, app: App) -> None:  # C8
        """The agent's summary is a message and precedes the later ones."""
        summary = entry(90, user("what was before"), kind="compaction_summary")
        followed(app, *conversation(3))
        app.ingest.append_records("s", [Compaction(None, "auto", None, "c", None), summary])
        app.ingest.append_records("s", entries(*conversation(2), start=100))
        assert app.histories.of(Session.load(app.environment, "s")).history.summarised == 1
        assert same(app)

    @pytest.mark.parametrize("what", ["pin", "drop_first", "drop"])
    def test_are_read_again_after_other_operations(self, app: App, what: str) -> None:
        """Marks and context are those of the store."""
        followed(app, *conversation(3), user("end"))
        app.histories.of(Session.load(app.environment, "s"))
        getattr(app.by_hand, what)("s", mid(app, "s", 2))
        assert same(app)

    def test_include_appends_made_while_they_were_read(
        self, app: App, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Appends during the first read are added to it, so it is not repeated."""
        followed(app, *conversation(2))
        gather = Histories._gather

        def slowly(*of: Any) -> Any:
            found = gather(*of)
            appending = Thread(
                target=app.ingest.append_records, args=("s", entries(*conversation(2), start=50))
            )
            appending.start()
            appending.join()
            return found

        monkeypatch.setattr(Histories, "_gather", slowly)
        assert len(app.histories.of(Session.load(app.environment, "s")).nos) == 8
        monkeypatch.setattr(Histories, "_gather", lambda *_: pytest.fail("the view was read again"))
        assert app.messages.page("s").total == 16
        assert len(app.histories.of(Session.load(app.environment, "s")).nos) == 16

    def test_are_read_again_when_a_message_grows(self, app: App) -> None:
        """A further block of a call changes the view."""
        followed(app, user("go"))
        app.ingest.append_records("s", [entry(5, said("a"), group="g")])
        app.histories.of(Session.load(app.environment, "s"))
        app.ingest.append_records("s", [entry(6, said("b " * 50), group="g")])
        assert same(app)

    def test_forget_the_ratings_of_a_deleted_session(self, app: App) -> None:
        """The key of a deleted session may be used again; a dropped view keeps its ratings."""
        app.settings.put({"strategy": "score"})
        followed(app, *conversation(3), user("end"))
        app.settings.put({"keywords": []})
        app.prunes.plan("s", PlanBody())
        row = app.store.sessions.get("s")
        rated = app.histories.of(Session.of(app.environment, row)).ratings
        app.histories.drop(row.key)
        assert rated
        assert app.histories.of(Session.of(app.environment, row)).ratings is rated
        app.histories.forget(row.key)
        assert app.histories.of(Session.of(app.environment, row)).ratings == {}

    def test_are_evicted_least_recently_used_first(self, app: App) -> None:
        """The cache is bounded by the messages of all views."""
        views = Histories(app.store, messages_kept=10)
        rows = []
        for name in ("a", "b", "c"):
            followed(app, *conversation(1), session_id=name)
            rows.append(Session.load(app.environment, name))
        first = views.of(rows[0])
        views.of(rows[1])
        assert views.of(rows[0]) is first
        views.of(rows[2])
        views.of(rows[1])
        assert views.of(rows[0]) is not first

    def test_know_the_cost_of_a_replacement(self, app: App) -> None:
        """A shortened message costs the tokens of its replacement."""
        from webapp.services.session.replacements import Replacement

        followed(app, *conversation(1))
        row = app.store.sessions.get("s")
        message = app.store.log.message(row.key, 3)
        with app.store.write():
            app.store.contexts.set_replacements(
                row.key, 1, [(message.first_seq, Replacement(7, {"call-0": "cut"}).text)]
            )
        assert Histories(app.store).of(Session.of(app.environment, row)).history.tokens[2] == 7


def in_full(app: App, session: str) -> list[Features]:
    """Return the features of a session's messages, each analysed in full from the log."""
    loaded = Session.load(app.environment, session)
    rows = app.store.log.rows_of(loaded.key, range(1, loaded.row.next_no))
    made = []
    for no, row in sorted(app.store.log.messages(loaded.key, list(rows)).items()):
        full = analyse(whole(row.role, rows[no]), row.tokens, loaded.lexicon, content=True)
        stored = Features.from_dict(orjson.loads(row.features))  # rated by the keywords of its time
        rated = full._replace(keywords=stored.keywords, lexicon=stored.lexicon)
        made.append(rated._replace(own_words=stored.own_words))
    return made


class TestContents:
    """The contents of calls and outputs, which only a plan reads."""

    @pytest.mark.parametrize("path", shared_files("transcripts/*/**/*.jsonl"), ids=lambda path: path.name)
    def test_equal_those_of_a_full_analysis(self, app: App, path: Path) -> None:
        """Real transcripts give the same features and the same counts for the task type."""
        with suppress(CoppiceError, ScoringError):
            app.importing.import_file(path.name, path.read_bytes())
        for row in app.store.sessions.all():
            loaded = Session.of(app.environment, row)
            view, full = app.histories.of(loaded), in_full(app, row.id)
            assert view.history.features == [full[no - 1] for no in view.nos]
            counts = TaskCounts()
            counts.extend(full)
            assert loaded.state.facts == counts
        assert not list(app.verify())

    @settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(before=any_messages, after=any_messages)
    def test_are_found_for_any_messages(self, app: App, before: list[Message], after: list[Message]) -> None:
        """Messages appended before and after a read have equal contents."""
        session = f"s{next(NUMBERS)}"
        followed(app, *before, session_id=session)
        app.histories.of(Session.load(app.environment, session))
        app.ingest.append_records(session, entries(*after, start=500))
        view = app.histories.of(Session.load(app.environment, session))
        full = in_full(app, session)
        assert view.history.features == [full[no - 1] for no in view.nos]
        assert same(app, session)

    def test_are_stored_after_the_first_read(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        """Another process reads the stored contents, and verify finds no fault."""
        followed(app, *conversation(3))
        session = Session.load(app.environment, "s")
        found = app.histories.of(session).history.features
        monkeypatch.setattr(Log, "rows_of", lambda *_: pytest.fail("the log was read again"))
        assert Histories(app.store).of(session).history.features == found
        assert not list(app.verify())

    def test_are_stored_without_blocking_other_sessions(
        self, app: App, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The transaction that stores them writes to their session only."""
        followed(app, *conversation(3))
        opened = transactions(app, monkeypatch)
        assert app.histories.of(Session.load(app.environment, "s")).history.features == in_full(app, "s")
        assert opened == ["s"]

    @pytest.mark.parametrize("look", ["page", "heaviest", "plan", "one"])
    def test_are_stored_by_any_first_read(self, app: App, monkeypatch: pytest.MonkeyPatch, look: str) -> None:
        """A page of messages stores the contents like a plan does."""
        followed(app, *conversation(3))
        looks: dict[str, Callable[[], object]] = {
            "page": lambda: app.messages.page("s"),
            "heaviest": lambda: app.heaviest.of("s"),
            "plan": lambda: app.prunes.plan("s", PlanBody(max_tokens=100)),
            "one": lambda: app.messages.one("s", mid(app, "s", 1)),
        }
        looks[look]()
        monkeypatch.setattr(Log, "rows_of", lambda *_: pytest.fail("the log was read again"))
        assert len(Histories(app.store).of(Session.load(app.environment, "s")).nos) == 12

    def test_do_not_need_a_writable_store(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        """Contents are found even if they cannot be stored."""
        followed(app, *conversation(3))

        def refuse(*_: object) -> None:
            raise BusyStore("another process is writing")

        monkeypatch.setattr(Log, "put_features", refuse)
        assert app.histories.of(Session.load(app.environment, "s")).history.features == in_full(app, "s")

    def test_of_an_outdated_message_are_not_stored(self, app: App) -> None:
        """Contents of an earlier state of a message do not overwrite newer ones."""
        followed(app, call("a"))
        key = app.store.sessions.get("s").key
        with app.store.write():
            app.store.log.put_features(key, [(1, "as it was", "found")])
        row = app.store.log.message(key, 1)
        assert row is not None
        assert row.features != "found"


class TestSnapshots:
    """Histories of one version, read while the session continues."""

    def test_stay_unchanged_while_the_session_grows(self, app: App) -> None:  # X1
        """A plan for one version keeps its history."""
        followed(app, *conversation(2), call("open"))
        before = app.histories.of(Session.load(app.environment, "s"))
        session = Session.load(app.environment, "s")
        plan = Planning(app.environment, app.histories).make(session, PlanInputs(max_tokens=200))
        app.ingest.append_records("s", entries(result("open", "gamma.py " * 20), *conversation(2), start=50))
        assert before.nos == list(range(1, 10))
        assert len(before.history) == len(before.index) == len(list(plan.plan.scores)) == 9
        assert plan.view is before
        assert app.histories.of(Session.load(app.environment, "s")).nos == list(range(1, 19))

    def test_of_an_old_version_are_refused(self, app: App) -> None:  # X1
        """A session loaded before a change, outside a transaction, would mix two versions."""
        followed(app, *conversation(2))
        session = Session.load(app.environment, "s")
        app.ingest.append_records("s", entries(*conversation(1), start=50))
        with pytest.raises(StalePlan):
            app.histories.of(session)

    def test_of_an_older_transaction_do_not_replace_newer_ones(
        self, app: App, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A transaction begun before an append reads its own version, and the newer one stays in memory."""
        followed(app, *conversation(2))
        app.histories.of(Session.load(app.environment, "s"))
        with app.store.read():
            session = Session.load(app.environment, "s")
            appending = Thread(
                target=app.ingest.append_records, args=("s", entries(*conversation(1), start=50))
            )
            appending.start()
            appending.join()
            assert len(app.histories.of(session).nos) == 8
        monkeypatch.setattr(Histories, "_gather", lambda *_: pytest.fail("the view was read again"))
        assert len(app.histories.of(Session.load(app.environment, "s")).nos) == 12

    @pytest.mark.parametrize("ahead", [False, True], ids=["unread", "read"])
    def test_of_an_older_transaction_are_derived_from_newer_ones(
        self, app: App, monkeypatch: pytest.MonkeyPatch, ahead: bool
    ) -> None:
        """A transaction begun before a few appends does not read the log again."""
        followed(app, *conversation(2), call("open"))
        app.by_hand.pin("s", mid(app, "s", 2))
        before = app.histories.of(Session.load(app.environment, "s"))
        session = Session.load(app.environment, "s")

        def append() -> None:
            for n in (50, 90):
                app.ingest.append_records("s", entries(result("open", "late"), *conversation(1), start=n))
                if ahead:
                    app.histories.of(Session.load(app.environment, "s"))

        with app.store.read():
            session = Session.load(app.environment, "s")
            appending = Thread(target=append)
            appending.start()
            appending.join()
            monkeypatch.setattr(Histories, "_gather", lambda *_: pytest.fail("the view was read again"))
            found = app.histories.of(session)
        assert (found.nos, found.index, found.version) == (before.nos, before.index, before.version)
        assert found.history.features == before.history.features
        assert found.history.units.head == before.history.units.head
        assert found.history.pinned == before.history.pinned
        assert found.history.task_counts == before.history.task_counts
        assert found.history.unit_tokens == before.history.unit_tokens

    def test_answer_pages_plans_and_undos_beside_appends(self, app: App) -> None:  # X1, X2
        """Every answer comes from one version, and only stale plans fail."""
        followed(app, *conversation(12))
        todo = 60

        def append() -> None:
            for n in range(todo):
                app.ingest.append_records(
                    "s",
                    entries(call(f"late-{n}"), result(f"late-{n}", f"file_{n}.py " * 30), start=100 + 2 * n),
                )

        def look() -> None:
            for n in range(todo):
                page = app.messages.page("s", MessagesQuery(sort=("newest", "score")[n % 2], limit=1000))
                assert page.counts["all"] >= len(page.messages) > 0

        def plan() -> None:
            for _ in range(todo):
                shown = app.prunes.plan("s", PlanBody(max_tokens=300))
                assert shown.before.messages >= shown.removed_count

        def prune_and_undo() -> None:
            for n in range(todo // 6):
                with suppress(Conflict):
                    done = app.prunes.apply("s", PruneBody(max_tokens=300 + n))
                    app.operations.undo("s", done.operation.n)

        with ThreadPoolExecutor(5) as threads:
            for done in [threads.submit(act) for act in (append, look, look, plan, prune_and_undo)]:
                done.result()
        assert same(app)
        assert not list(app.verify())
