"""Rooms among several workers, on two workers over one store and a real Redis."""

from __future__ import annotations

import threading

from tests.waiting import until
from tests.webapp.workers import Visitor, Worker, say, worker
from webapp.config import Config
from webapp.events import SessionUpdated
from webapp.live.notices import Note, notes_of
from webapp.live.shared import NOTES, RecentNotes, SharedRoom
from webapp.queue import LOST


class TestRecent:
    """The notes that a worker holds."""

    def test_give_a_page_what_its_room_was_told_since(self) -> None:
        """In order, with the notes for every room, and nothing of other rooms."""
        recent = RecentNotes()
        for revision, room in enumerate(("a", "b", None, "a"), 10):
            recent.add(revision, (Note(room, ""),))
        assert [one.revision for one in recent.missed("a", 9) or ()] == [10, 12, 13]
        assert recent.missed("a", 13) == []

    def test_give_nothing_where_some_may_be_missing(self) -> None:
        """Before the first note, after the last, and once events were lost: the page then gets a snapshot."""
        recent = RecentNotes()
        recent.add(10, (Note("a", ""),))
        assert recent.missed("a", 8) is None
        assert recent.missed("a", 11) is None
        assert recent.missed("a", None) is None
        recent.forget()
        assert recent.missed("a", 10) is None

    def test_are_bounded(self) -> None:
        """The oldest go first."""
        recent = RecentNotes()
        for revision in range(1, NOTES + 11):
            recent.add(revision, (Note("a", ""),))
        assert recent.missed("b", 9) is None
        assert recent.missed("b", 10) == []


class TestRevisions:
    """The place up to which a room's pages were told everything."""

    def test_move_on_with_the_last_message_of_those_sent_together(self) -> None:
        """A page that has only the first of them gets all of them again."""
        recent = RecentNotes()
        recent.add(10, notes_of(SessionUpdated("a")))
        room = SharedRoom("session:a", recent)
        room.revision, room.ahead = 9, 10
        assert [room.stamp("x", {}, last=last).revision for last in (False, True)] == [9, 10]

    def test_stay_while_a_message_of_the_room_waits(self, workers: tuple[Worker, Worker]) -> None:
        """A page that resumes from a message gets what another session of its room was still waiting for."""
        first, _ = workers
        gateway = first.gateway
        with gateway._wake:
            gateway._closed = True  # nobody sends meanwhile
            gateway._wake.notify()
        gateway._thread.join()
        for name in "ab":
            first.app.sessions.create(id=name, model="gpt-5")
        until(lambda: {"a", "b"} <= {key.subject for key in gateway._pending})
        page = Visitor(first)
        began = page.joins("overview")["revision"]
        waiting = next(one for key, one in gateway._pending.items() if key[:2] == ("overview", "a"))
        waiting.pace.took(100, gateway.clock())
        gateway.flush()
        [(_, told)] = [one for one in page.has_heard() if one[0] == "session:updated"]
        assert (told["id"], told["revision"]) == ("b", began)


class TestWorkers:
    """Two workers and their pages."""

    def test_a_page_hears_of_what_another_worker_changed(self, workers: tuple[Worker, Worker]) -> None:
        """Whichever worker took a message, the pages of all of them get it, under one revision."""
        first, second = workers
        first.app.sessions.create(id="a", model="gpt-5")
        pages = Visitor(first), Visitor(second)
        for page in pages:
            page.joins("session:a")
        say(first, "one")
        say(second, "two")
        say(first, "three")
        for page in pages:
            page.waits_for(1, 2, 3)
            until(lambda page=page: page.has_heard()[-1][1]["revision"] == first.gateway._recent.latest)  # type: ignore[misc]

    def test_revisions_never_fall(self, workers: tuple[Worker, Worker]) -> None:
        """While both workers append at once."""
        first, second = workers
        first.app.sessions.create(id="a", model="gpt-5")
        page = Visitor(second)
        page.joins("session:a")
        threads = [
            threading.Thread(target=say, args=(at, *(f"{n}" for n in range(20)))) for at in (first, second)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        page.waits_for(*range(1, 41))
        revisions = [payload["revision"] for _, payload in page.has_heard()]
        assert revisions == sorted(revisions)

    def test_a_page_resumes_on_another_worker(self, workers: tuple[Worker, Worker]) -> None:
        """By its last revision: it gets what it missed, and no snapshot."""
        first, second = workers
        first.app.sessions.create(id="a", model="gpt-5")
        page = Visitor(first)
        page.joins("session:a")
        say(first, "one")
        page.waits_for(1)
        until(lambda: page.has_heard()[-1][1]["revision"] == first.gateway._recent.latest)
        last = page.has_heard()[-1][1]["revision"]
        page.client.disconnect()
        say(first, "two")
        again = Visitor(second)
        until(lambda: second.gateway._recent.latest > last)
        answer = again.joins("session:a", last)
        assert (answer["snapshot"], answer["missed"] > 0) == (None, True)
        again.waits_for(2)
        assert again.numbers() == [2]

    def test_a_page_gets_a_snapshot_where_events_are_missing(self, workers: tuple[Worker, Worker]) -> None:
        """A worker that vanished may have stored what it told nobody."""
        first, second = workers
        first.app.sessions.create(id="a", model="gpt-5")
        page = Visitor(second)
        revision = page.joins("session:a")["revision"]
        second.gateway.lost()
        assert Visitor(second).joins("session:a", revision)["snapshot"] is not None

    def test_a_page_gets_a_snapshot_on_a_worker_that_started_after_events_were_lost(
        self, workers: tuple[Worker, Worker], config: Config, queue_url: str
    ) -> None:
        """It has read the events before and after, and not those that are missing."""
        first, _ = workers
        first.app.sessions.create(id="a", model="gpt-5")
        page = Visitor(first)
        page.joins("session:a")
        say(first, "one")
        page.waits_for(1)
        revision = page.has_heard()[-1][1]["revision"]
        assert first.app.queue is not None
        before = first.gateway._recent.latest
        first.app.queue._add(LOST)
        until(lambda: first.gateway._recent.latest > before)
        third = worker(config, queue_url)
        assert Visitor(third).joins("session:a", revision)["snapshot"] is not None
        third.close()

    def test_a_page_hears_of_what_a_worker_stores_while_it_ends(self, workers: tuple[Worker, Worker]) -> None:
        """Requests that still run are told to the pages of the others, though its own pages are gone."""
        first, second = workers
        first.app.sessions.create(id="a", model="gpt-5")
        page = Visitor(second)
        page.joins("session:a")
        first.gateway.close()
        say(first, "one")
        page.waits_for(1)

    def test_settings_and_models_reach_other_workers(self, workers: tuple[Worker, Worker]) -> None:
        """With the event, and not only when the store is looked at."""
        first, second = workers
        assert second.app.environment.settings().target_percent != 55
        second.app.environment._checked_at = second.app.environment.clock() + 10**9
        first.app.settings.put({"target_percent": 55})
        first.app.models.put("ours", window=50_000)
        until(lambda: second.app.environment.settings().target_percent == 55)
        until(lambda: second.app.environment.model("ours").window == 50_000)

    def test_pages_connect_by_websocket_only(self, workers: tuple[Worker, Worker]) -> None:
        """A page that polls would reach another worker each time, which does not know it."""
        first, _ = workers
        refused = first.flask.test_client().get("/socket.io/?EIO=4&transport=polling")
        assert refused.status_code == 400
