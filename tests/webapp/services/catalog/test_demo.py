"""The demo session."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.waiting import PATIENCE
from tests.webapp.building import heard
from webapp.app import App
from webapp.events import MessagesAppended
from webapp.services.catalog.demo import Demo


@pytest.fixture
def demo(app: App) -> Iterator[Demo]:
    """A demo with steps of 10 ms."""
    made = Demo(app.ingest, app.new_sessions, app.sessions, step_seconds=0.01)
    yield made
    made.stop()


class TestDemo:
    """The demo session."""

    def test_begins_with_messages(self, demo: Demo) -> None:
        """A new demo has a request and some calls with results."""
        session = demo.start()
        assert session.messages >= 6
        assert (session.source, session.kind) == ("demo", "managed")

    def test_grows_until_it_is_stopped(self, app: App, demo: Demo) -> None:
        """The session stays unchanged afterwards."""
        from threading import Event

        grew = Event()
        session = demo.start().id
        app.bus.subscribe(lambda e: grew.set() if isinstance(e, MessagesAppended) else None)
        assert grew.wait(PATIENCE)
        demo.stop()
        count = app.sessions.get(session).messages
        events = heard(app)
        assert app.sessions.get(session).messages == count
        assert events == []

    def test_is_not_started_twice(self, app: App, demo: Demo) -> None:
        """A new demo session begins only after the old one is deleted."""
        first = demo.start().id
        assert demo.start().id == first
        app.sessions.delete(first)
        assert demo.start().id != first
