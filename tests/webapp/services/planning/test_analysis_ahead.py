"""Analysis ahead: contents are stored before somebody waits for them."""

from __future__ import annotations

from threading import Thread

import pytest

from scoring.history import Features, with_content
from scoring.messages import Message
from tests.waiting import until
from tests.webapp.building import call, conversation, entries, followed, result
from webapp.app import App
from webapp.services.planning import analysis_ahead
from webapp.services.session import histories
from webapp.services.session.histories import Histories
from webapp.services.session.session import Session
from webapp.services.session.stored_messages import HAS_CONTENT
from webapp.store.context import PRUNED


def lacking(app: App, session: str = "s") -> list[int]:
    """Return the numbers of the messages of a session whose contents are not stored."""
    key = app.store.sessions.get(session).key
    return [no for _, no, _ in app.store.contexts.without(key, PRUNED, HAS_CONTENT, -1.0, 10_000)]


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for nothing between the last message and the analysis, and between batches."""
    monkeypatch.setattr(analysis_ahead, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(analysis_ahead, "REST", 0.0)


@pytest.mark.usefixtures("quiet")
class TestAnalysisAhead:
    """A server that has nothing else to do."""

    def test_analyses_what_was_there_and_what_arrives(self, app: App) -> None:
        """First the sessions used last, then each session that grows."""
        followed(app, *conversation(2))
        assert lacking(app)
        app.analysis_ahead.start()
        until(lambda: not lacking(app))
        followed(app, call("more"), result("more", "a line of output"), session_id="other")
        until(lambda: not lacking(app, "other"))

    def test_leaves_nothing_to_compute_for_a_plan(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        """The first page with fates is made of what is stored."""
        monkeypatch.setattr(histories, "CONTENT_BATCH", 3)
        followed(app, *conversation(3))
        app.analysis_ahead.analyse("s")
        monkeypatch.delattr(histories, "with_content")
        assert len(app.messages.page("s").messages) == 12

    def test_completes_a_history_in_memory(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        """Messages that arrived after a page was read are not analysed again for the next page."""
        every = entries(*conversation(1), call("more"), result("more", "a line of output"))
        followed(app)
        app.ingest.append_records("s", every[:4])
        app.messages.page("s")
        app.ingest.append_records("s", every[4:])
        app.analysis_ahead.analyse("s")
        monkeypatch.delattr(histories, "with_content")
        assert len(app.histories.of(Session.load(app.environment, "s")).nos) == 6


class TestAMessageThatArrives:
    """Appends come first."""

    def test_puts_the_analysis_off(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nothing is analysed until no message has arrived for a while, and a server that ends does not wait."""
        monkeypatch.setattr(analysis_ahead, "QUIET_SECONDS", 3_600.0)
        app.analysis_ahead.start()
        followed(app, *conversation(1))
        before = lacking(app)
        thread = Thread(target=app.analysis_ahead.analyse, args=("s",))
        thread.start()
        app.analysis_ahead.close()
        thread.join()
        assert lacking(app) == before != []


class TestAPlanThatIsMade:
    """Somebody waits for it."""

    def test_puts_the_analysis_off(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        """Otherwise both would analyse the same messages."""
        monkeypatch.setattr(analysis_ahead, "QUIET_SECONDS", 0.001)
        followed(app, *conversation(1))
        before, asked = lacking(app), list[list[int]]()

        def at_first(_: object) -> bool:
            asked.append(lacking(app))
            return len(asked) == 1

        monkeypatch.setattr(Histories, "is_computing", property(at_first))
        app.analysis_ahead.analyse("s")
        assert asked[:2] == [before, before] != [[], []]
        assert not lacking(app)

    def test_is_known_while_contents_are_computed(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        """It is made from the history of the session."""
        followed(app, *conversation(1))
        seen = set[bool]()

        def computed(features: Features, message: Message) -> Features:
            seen.add(app.histories.is_computing)
            return with_content(features, message)

        monkeypatch.setattr(histories, "with_content", computed)
        app.messages.page("s")
        assert (seen, app.histories.is_computing) == ({True}, False)
