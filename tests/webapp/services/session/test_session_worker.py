"""The thread that handles sessions."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.waiting import PATIENCE, until
from webapp.errors import NotFound
from webapp.services.session.session_worker import SessionWorker


class Handled(list[str]):
    """The sessions that were handled, in order; the first one waits for `go`, and `bad` ones fail."""

    def __init__(self, *bad: str) -> None:
        super().__init__()
        self.began, self.go, self.bad = threading.Event(), threading.Event(), bad

    def handle(self, session_id: str) -> None:
        """Handle one session."""
        self.append(session_id)
        self.began.set()
        assert self.go.wait(PATIENCE)
        if session_id in self.bad:
            raise NotFound("session", session_id) if session_id == "gone" else ValueError(session_id)


@contextmanager
def working(handled: Handled, interval_seconds: float = 0.0) -> Iterator[SessionWorker]:
    """Yield a worker that is closed afterwards."""
    worker = SessionWorker("test", handled.handle, interval_seconds=interval_seconds)
    try:
        yield worker
    finally:
        handled.go.set()
        worker.close()


class TestSessions:
    """Sessions that are queued."""

    def test_are_handled_in_order_and_once_however_often_they_were_queued(self) -> None:
        """A session that is being handled can be queued again."""
        handled = Handled()
        with working(handled) as worker:
            worker.put("a")
            assert handled.began.wait(PATIENCE)
            worker.put("b", "a")
            worker.put("b")
            assert worker.queued == 2
            handled.go.set()
            until(lambda: len(handled) == 3)
            assert worker.queued == 0
        assert handled == ["a", "b", "a"]

    def test_that_are_due_later_hold_up_no_others(self) -> None:
        """The last time that was given for a session counts."""
        handled = Handled()
        handled.go.set()
        with working(handled) as worker:
            worker.put("a", "b", after_seconds=3_600)
            worker.put("c")
            until(lambda: handled == ["c"])
            worker.put("b")
            until(lambda: handled == ["c", "b"])
            assert worker.queued == 1

    @pytest.mark.parametrize("bad", ["gone", "broken"])
    def test_that_fail_hold_up_no_other(self, bad: str) -> None:
        """A session that changed meanwhile and a fault of the handler alike."""
        handled = Handled(bad)
        handled.go.set()
        with working(handled) as worker:
            worker.put(bad, "b")
            until(lambda: len(handled) == 2)
        assert handled == [bad, "b"]

    def test_wait_for_the_interval_unless_queued_at_once(self) -> None:
        """A session that was just handled waits, and others go first."""
        handled = Handled()
        handled.go.set()
        with working(handled, interval_seconds=1e6) as worker:
            worker.put("a")
            until(lambda: handled == ["a"])
            worker.put("a", "b")
            until(lambda: handled == ["a", "b"])
            assert worker.queued == 1
            worker.put("a", at_once=True)
            until(lambda: len(handled) == 3)
        assert handled == ["a", "b", "a"]

    def test_are_forgotten_once_their_interval_has_passed(self) -> None:
        """A server that handles thousands of sessions keeps no time of each."""
        handled = Handled()
        handled.go.set()
        with working(handled, interval_seconds=1e-9) as worker:
            worker.put(*map(str, range(50)))
            until(lambda: len(handled) == 50)
            assert len(worker._began) == 1

    def test_are_dropped_once_the_worker_is_closed(self) -> None:
        """Those that wait, and those that come later."""
        handled = Handled()
        with working(handled) as worker:
            worker.put("a", "b")
            assert handled.began.wait(PATIENCE)
            closing = threading.Thread(target=worker.close)
            closing.start()
            until(lambda: worker._closed)
            handled.go.set()
            closing.join()
            worker.put("c")
        assert handled == ["a"]
