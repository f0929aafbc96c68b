"""Several workers over one store: plans, jobs of one worker, and killed processes."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import socketio

from tests.queues import missing, redis_server
from tests.waiting import PATIENCE, until
from tests.webapp.serving.processes import answers, started, workers_of
from tests.webapp.workers import Worker, say
from webapp.bodies import PlanBody, PruneBody, SessionChange
from webapp.config import Config
from webapp.errors import Conflict, StalePlan
from webapp.services.pruning.background import BackgroundSummaries
from webapp.services.summaries.summarising import Summarising, Written
from webapp.serving.server import RunningServer

WORDS = "the parser reads one line and stops at the first brace that nothing opens "


@pytest.fixture
def pair(workers: tuple[Worker, Worker]) -> tuple[Worker, Worker]:
    """Two workers and a session `a`."""
    first, _ = workers
    first.app.new_sessions.create(id="a", model="gpt-5")
    say(first, *(f"{n} {WORDS * 5}" for n in range(30)))
    return workers


class TestPlans:
    """A plan that one worker shows and another applies."""

    def test_are_applied_by_another_worker(self, pair: tuple[Worker, Worker]) -> None:
        """Another worker applies exactly the shown plan."""
        first, second = pair
        shown = first.app.prunes.plan("a", PlanBody(max_tokens=900))
        done = second.app.prunes.apply("a", PruneBody(plan_id=shown.plan_id))
        assert done.operation.messages == shown.removed_count > 0
        assert done.operation.tokens_after == shown.after.tokens

    def test_with_choices_are_applied_with_them(self, pair: tuple[Worker, Worker]) -> None:
        """The choices are tried settings, spared and dropped messages, and the strategy."""
        first, second = pair
        rows = first.app.messages.page("a").messages
        wanted = PlanBody(
            max_tokens=900, spare=[rows[1].id], drop=[rows[3].id], strategy="score",
            settings={"fresh_tail": 2},
        )  # fmt: skip
        shown = first.app.prunes.plan("a", wanted)
        done = second.app.prunes.apply("a", PruneBody(plan_id=shown.plan_id))
        out = second.app.operations.one("a", done.operation.n)
        assert rows[3].id in {row.id for row in shown.removed}
        assert done.operation.tokens_after == shown.after.tokens
        assert {row.id for row in shown.removed} <= {row.id for row in out.items}

    def test_are_stale_after_a_change_of_the_session(self, pair: tuple[Worker, Worker]) -> None:
        """The change may be made by any worker."""
        first, second = pair
        shown = first.app.prunes.plan("a", PlanBody(max_tokens=900))
        say(first, "more")
        with pytest.raises(StalePlan, match="the session has changed"):
            second.app.prunes.apply("a", PruneBody(plan_id=shown.plan_id))

    def test_are_stale_after_a_change_of_the_settings(self, pair: tuple[Worker, Worker]) -> None:
        """A stale plan is not applied."""
        first, second = pair
        shown = first.app.prunes.plan("a", PlanBody(max_tokens=900))
        second.app.sessions.patch("a", SessionChange(settings={"fresh_tail": 9}))
        with pytest.raises(StalePlan, match="look at a new one"):
            second.app.prunes.apply("a", PruneBody(plan_id=shown.plan_id))

    def test_with_an_invented_id_are_unknown(self, pair: tuple[Worker, Worker]) -> None:
        """The plan of another session is unknown, too."""
        first, second = pair
        first.app.new_sessions.create(id="b", model="gpt-5")
        shown = first.app.prunes.plan("a", PlanBody(max_tokens=900))
        for session, plan in (("a", "nothing"), ("b", shown.plan_id)):
            with pytest.raises(StalePlan, match="no longer known"):
                second.app.prunes.apply(session, PruneBody(plan_id=plan))


class Slow:
    """A model that answers when `go` is set or it is cancelled."""

    def __init__(self) -> None:
        self.asked, self.go = threading.Event(), threading.Event()

    def __call__(self, system: str, text: str, cancelled: threading.Event | None) -> Written:
        """Wait until either happens."""
        self.asked.set()
        until(lambda: self.go.is_set() or (cancelled is not None and cancelled.is_set()))
        return Written("", "cancelled", cancelled=True)


class TestOneAtATime:
    """Work that only one worker may do at a time."""

    def test_one_summary_of_a_session(
        self, pair: tuple[Worker, Worker], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Another worker sees that it runs, and can cancel it."""
        monkeypatch.setattr("webapp.services.session.leases.RENEW_SECONDS", 0.01)
        first, second = pair
        model = Slow()
        slow = BackgroundSummaries(
            first.app.environment, Summarising(first.app.environment, first.app.histories, model),
            first.app.automatic,
        )  # fmt: skip
        assert slow.summarise("a").started
        assert model.asked.wait(PATIENCE)
        assert second.app.background.running("a")
        with pytest.raises(Conflict, match="already"):
            second.app.background.summarise("a")
        assert second.app.background.cancel("a")
        until(lambda: not second.app.background.running("a"))
        slow.close()

    def test_one_automatic_prune(self, pair: tuple[Worker, Worker]) -> None:
        """Several workers may append while the target is crossed."""
        first, _ = pair
        tokens = first.app.sessions.stats("a").tokens
        settings = {"cap_tokens": tokens + 2_000, "target_percent": 100, "fresh_tail": 2}
        first.app.sessions.patch("a", SessionChange(automatic=True, settings=settings))
        threads = [
            threading.Thread(target=say, args=(at, *(f"{n} {at is first} {WORDS * 6}" for n in range(20))))
            for at in pair
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert first.app.sessions.get("a").messages == 70
        target = first.app.sessions.get("a").target_tokens
        pruned = [one for one in first.app.operations.list("a") if one.reason == "automatic"]
        assert pruned
        assert all(one.tokens_before > target >= one.tokens_after for one in pruned)
        assert list(first.app.verify()) == []


def is_following(worker: RunningServer) -> bool:
    """Return whether a worker follows transcripts."""
    return bool(worker.app.watcher._threads)


class TestFollowing:
    """The transcripts of a machine."""

    def test_is_done_by_one_worker_at_a_time(
        self, config: Config, queue_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Another takes over when the first ends."""
        monkeypatch.setattr("webapp.services.session.leases.RETRY_SECONDS", 0.05)
        shared = replace(config, follow=True, queue=queue_url)
        first, second = RunningServer(shared), RunningServer(shared)
        until(lambda: is_following(first) or is_following(second))
        follows, waits = (first, second) if is_following(first) else (second, first)
        assert not is_following(waits)
        follows.close()
        until(lambda: is_following(waits))
        waits.close()
        assert not is_following(follows)

    @pytest.mark.parametrize("differs", ["machine", "user"])
    def test_is_done_for_each_machine_and_user(
        self, config: Config, queue_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, differs: str
    ) -> None:
        """Clones and containers can have the same name, and a machine several users."""
        first = replace(config, follow=True, queue=queue_url)
        running = [RunningServer(first)]
        if differs == "machine":
            other = tmp_path / "boot_id"
            other.write_text("another start of another machine\n")
            monkeypatch.setattr("webapp.agents.following.BOOT_ID", other)
        home = tmp_path / "ben"
        home.mkdir()
        second = replace(first, env={"HOME": str(home)}) if differs == "user" else first
        running.append(RunningServer(second))
        until(lambda: all(map(is_following, running)))
        for one in running:
            one.close()


class Viewer:
    """A page that reconnects when its worker ends."""

    def __init__(self, url: str, room: str) -> None:
        self.numbers: set[int] = set()
        self.revision: int | None = None
        self.room, self.url = room, url
        self.closed = threading.Event()
        # The client's own reconnection ends when the server disconnects it.
        self.client = socketio.Client(reconnection=False)
        self.client.on("connect", self.join)
        self.client.on("messages:appended", self.take)
        self.client.on("context:stats", self.note)
        self.thread = threading.Thread(target=self.stay, daemon=True)
        self.thread.start()

    def stay(self) -> None:
        """Reconnect repeatedly, like a browser."""
        while not self.closed.wait(0.05):
            with suppress(socketio.exceptions.ConnectionError):
                self.client.connect(self.url, transports=["websocket"])
                self.client.wait()

    def close(self) -> None:
        """Leave the page."""
        self.closed.set()
        self.client.disconnect()
        self.thread.join(PATIENCE)

    def join(self) -> None:
        """Join the room again, with the last revision."""
        wish = {"room": self.room} | ({} if self.revision is None else {"revision": self.revision})
        self.client.emit("subscribe", wish, callback=self.joined)

    def joined(self, answer: dict[str, Any]) -> None:
        """Use the snapshot, or continue."""
        self.revision = answer["revision"]
        if answer["snapshot"] is not None:
            self.numbers |= {row["number"] for row in answer["snapshot"]["page"]["messages"]}

    def take(self, payload: dict[str, Any]) -> None:
        """Record new messages."""
        self.numbers |= {row["number"] for row in payload["messages"]}
        self.note(payload)

    def note(self, payload: dict[str, Any]) -> None:
        """Record the revision."""
        self.revision = payload["revision"]


class TestProcesses:
    """`coppice serve --workers 2`."""

    def test_lose_nothing_when_one_is_killed(self, tmp_path: Path, queue_url: str) -> None:
        """Every answered message is stored, pages come back to another worker, and another worker is started."""
        with started(tmp_path, "--port", "0", "--workers", "2", "--queue", queue_url) as (process, url):
            until(lambda: len(workers_of(process)) == 2)
            httpx.post(f"{url}/api/sessions", json={"id": "a", "model": "gpt-5"}, timeout=PATIENCE)
            viewers = [Viewer(url, "session:a") for _ in range(6)]
            until(lambda: all(one.revision is not None for one in viewers))
            answered = 0
            for n in range(30):
                if n == 10:
                    os.kill(workers_of(process)[0], signal.SIGKILL)
                message = {"role": "user", "content": f"message {n}"}
                body = {"messages": [message], "idempotency_key": f"k{n}"}
                until(lambda body=body: said(url, body))  # type: ignore[misc]
                answered += 1
            until(lambda: all(one.numbers == set(range(1, answered + 1)) for one in viewers))
            until(lambda: len(workers_of(process)) == 2)
            for one in viewers:
                one.close()

    def test_outlive_an_outage_of_redis(self, tmp_path: Path) -> None:
        """A worker that ends is restarted until Redis answers, and the others continue."""
        if reason := missing():
            pytest.skip(reason)
        with (
            redis_server(tmp_path) as redis,
            started(tmp_path, "--port", "0", "--workers", "2", "--queue", redis.url) as (process, url),
        ):
            until(lambda: redis.waiting_workers() == 2)
            httpx.post(f"{url}/api/sessions", json={"id": "a", "model": "gpt-5"}, timeout=PATIENCE)
            stays, killed = workers_of(process)
            redis.stop()
            os.kill(killed, signal.SIGKILL)
            until(lambda: not {*workers_of(process)} <= {stays, killed})
            tried = {*workers_of(process)} - {stays, killed}
            until(lambda: not {*workers_of(process)} & tried)
            body = {"messages": [{"role": "user", "content": "meanwhile"}], "idempotency_key": "k"}
            until(lambda: said(url, body))  # a starting worker may lock the store for a moment
            redis.start()
            until(lambda: answers(url, verify=True))
            until(lambda: len(workers_of(process)) == 2)
            assert stays in workers_of(process)

    def test_end_together(self, tmp_path: Path, queue_url: str) -> None:
        """They end with a signal to their parent, or when it dies."""
        for sent in (signal.SIGTERM, signal.SIGKILL):
            with started(tmp_path, "--port", "0", "--workers", "2", "--queue", queue_url) as (process, _):
                until(lambda process=process: len(workers_of(process)) == 2)  # type: ignore[misc]
                workers = workers_of(process)
                process.send_signal(sent)
                process.wait(PATIENCE)
                until(lambda workers=workers: not any(Path(f"/proc/{pid}").exists() for pid in workers))  # type: ignore[misc]


def said(url: str, body: dict[str, Any]) -> bool:
    """Send a message, once even if repeated; return whether it was accepted."""
    try:
        return httpx.post(f"{url}/api/sessions/a/messages", json=body, timeout=PATIENCE).is_success
    except httpx.HTTPError:
        return False
