"""Rooms shared by two workers, with one store and a real Redis."""

from __future__ import annotations

import threading
import time

from tests.waiting import until
from tests.webapp.workers import Visitor, Worker, say, worker
from webapp.bodies import ModelRow
from webapp.config import Config
from webapp.events import SessionUpdated
from webapp.live.gateway import Gateway
from webapp.live.notices import Notice, notices_of
from webapp.live.shared_rooms import NOTICES_KEPT, RecentNotices, SharedRoom
from webapp.queue import LOST


class TestRecent:
    """The recent notices of a worker."""

    def test_give_a_page_the_notes_since_its_revision(self) -> None:
        """They are in order, with notices for all rooms but not those of other rooms."""
        recent = RecentNotices()
        for revision, room in enumerate(("a", "b", None, "a"), 10):
            recent.add(revision, (Notice(room, ""),))
        assert [one.revision for one in recent.missed("a", 9) or ()] == [10, 12, 13]
        assert recent.missed("a", 13) == []

    def test_give_nothing_if_some_may_be_missing(self) -> None:
        """Before the first notice, after the last and after lost events, a page gets a snapshot."""
        recent = RecentNotices()
        recent.add(10, (Notice("a", ""),))
        assert recent.missed("a", 8) is None
        assert recent.missed("a", 11) is None
        assert recent.missed("a", None) is None
        recent.forget()
        assert recent.missed("a", 10) is None

    def test_are_bounded(self) -> None:
        """The oldest notices are removed first."""
        recent = RecentNotices()
        for revision in range(1, NOTICES_KEPT + 11):
            recent.add(revision, (Notice("a", ""),))
        assert recent.missed("b", 9) is None
        assert recent.missed("b", 10) == []


class TestRevisions:
    """The revision up to which the pages of a room got everything."""

    def test_advance_with_the_last_message_of_a_group(self) -> None:
        """A page that has only a part of a group gets all of it again."""
        recent = RecentNotices()
        recent.add(10, notices_of(SessionUpdated("a")))
        room = SharedRoom("session:a", recent)
        room.revision, room.ahead = 9, 10
        assert [room.stamp("x", {}, last=last).revision for last in (False, True)] == [9, 10]

    def test_stay_while_a_message_is_pending(self, workers: tuple[Worker, Worker]) -> None:
        """A page that resumes also gets the pending message of another session."""
        first, _ = workers
        gateway = first.gateway
        send_by_hand(gateway)
        Visitor(first).joins("overview")
        for name in "ab":
            first.app.new_sessions.create(id=name, model="gpt-5")
        until(lambda: {"a", "b"} <= {key.subject for key in gateway.broadcaster._pending})
        page = Visitor(first)
        began = page.joins("overview")["revision"]
        waiting = next(
            one for key, one in gateway.broadcaster._pending.items() if key[:2] == ("overview", "a")
        )
        waiting.pace.took(100, time.monotonic())
        gateway.broadcaster.flush()
        [(_, payload)] = [one for one in page.has_heard() if one[0] == "session:updated"]
        assert (payload["id"], payload["revision"]) == ("b", began)


def send_by_hand(gateway: Gateway) -> None:
    """End the thread of a gateway that sends, so that only `flush` does."""
    gateway.broadcaster.close()
    gateway._thread.join()


def appended(recent: RecentNotices) -> int:
    """Return the number of messages in the notices for the room of session "a"."""
    return sum(one.notice.appended for one in list(recent._notices) if one.notice.room == "session:a")


class TestWorkers:
    """Two workers and their pages."""

    def test_a_page_gets_changes_of_another_worker(self, workers: tuple[Worker, Worker]) -> None:
        """Pages of all workers get a message under the same revision."""
        first, second = workers
        first.app.new_sessions.create(id="a", model="gpt-5")
        pages = Visitor(first), Visitor(second)
        for page in pages:
            page.joins("session:a")
        say(first, "one")
        say(second, "two")
        say(first, "three")
        for page in pages:
            page.waits_for(1, 2, 3)
            until(lambda page=page: page.has_heard()[-1][1]["revision"] == first.recent.latest)  # type: ignore[misc]

    def test_revisions_never_fall(self, workers: tuple[Worker, Worker]) -> None:
        """They grow even while both workers append."""
        first, second = workers
        first.app.new_sessions.create(id="a", model="gpt-5")
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
        """With its last revision it gets the missed messages, not a snapshot."""
        first, second = workers
        first.app.new_sessions.create(id="a", model="gpt-5")
        page = Visitor(first)
        page.joins("session:a")
        say(first, "one")
        page.waits_for(1)
        until(lambda: page.has_heard()[-1][1]["revision"] == first.recent.latest)
        last = page.has_heard()[-1][1]["revision"]
        page.client.disconnect()
        say(first, "two")
        again = Visitor(second)
        until(lambda: second.recent.latest > last)
        answer = again.joins("session:a", last)
        assert (answer["snapshot"], answer["missed"] > 0) == (None, True)
        again.waits_for(2)
        assert again.numbers() == [2]

    def test_a_page_resumes_on_a_busy_worker(self, workers: tuple[Worker, Worker]) -> None:
        """It gets nothing twice where that worker has not yet sent what came before the page."""
        first, second = workers
        send_by_hand(second.gateway)
        first.app.new_sessions.create(id="a", model="gpt-5")
        recent = second.recent
        say(first, "one")
        until(lambda: appended(recent) == 1)
        last = recent.latest
        say(first, "two")
        until(lambda: appended(recent) == 2)
        page = Visitor(second)
        page.joins("session:a", last)
        second.gateway.broadcaster.flush()
        assert page.numbers() == [2]

    def test_a_page_gets_a_snapshot_if_events_are_missing(self, workers: tuple[Worker, Worker]) -> None:
        """A worker that crashed may have stored changes without sending them."""
        first, second = workers
        first.app.new_sessions.create(id="a", model="gpt-5")
        page = Visitor(second)
        revision = page.joins("session:a")["revision"]
        second.gateway.on_events_lost()
        assert Visitor(second).joins("session:a", revision)["snapshot"] is not None

    def test_a_page_gets_a_snapshot_from_a_worker_that_missed_events(
        self, workers: tuple[Worker, Worker], config: Config, queue_url: str
    ) -> None:
        """The worker has the events before and after the lost ones."""
        first, _ = workers
        first.app.new_sessions.create(id="a", model="gpt-5")
        page = Visitor(first)
        page.joins("session:a")
        say(first, "one")
        page.waits_for(1)
        revision = page.has_heard()[-1][1]["revision"]
        assert first.app.queue is not None
        before = first.recent.latest
        first.app.queue._add(LOST)
        until(lambda: first.recent.latest > before)
        third = worker(config, queue_url)
        assert Visitor(third).joins("session:a", revision)["snapshot"] is not None
        third.close()

    def test_a_page_gets_changes_of_a_worker_that_is_ending(self, workers: tuple[Worker, Worker]) -> None:
        """Its last requests are sent to the pages of other workers."""
        first, second = workers
        first.app.new_sessions.create(id="a", model="gpt-5")
        page = Visitor(second)
        page.joins("session:a")
        first.gateway.close()
        say(first, "one")
        page.waits_for(1)

    def test_settings_and_models_reach_other_workers(self, workers: tuple[Worker, Worker]) -> None:
        """They arrive with the event, before the next check of the store."""
        first, second = workers
        assert second.app.environment.settings().target_percent != 55
        second.app.environment._checked_at = second.app.environment.clock() + 10**9
        first.app.settings.put({"target_percent": 55})
        first.app.models.put("ours", ModelRow(window=50_000))
        until(lambda: second.app.environment.settings().target_percent == 55)
        until(lambda: second.app.environment.model("ours").window == 50_000)

    def test_pages_connect_by_websocket_only(self, workers: tuple[Worker, Worker]) -> None:
        """Each poll would reach another worker, which does not know the page."""
        first, _ = workers
        refused = first.flask.test_client().get("/socket.io/?EIO=4&transport=polling")
        assert refused.status_code == 400
