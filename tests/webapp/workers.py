"""Workers of one store in the test's own process, and pages that are connected to one of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from flask import Flask

from tests.waiting import PATIENCE, until
from webapp import create_app
from webapp.app import App
from webapp.config import Config
from webapp.live.gateway import Gateway
from webapp.live.shared_rooms import RecentNotices
from webapp.wiring import build


@dataclass(frozen=True)
class Worker:
    """One worker: its services, and the WSGI application over them."""

    app: App
    flask: Flask

    @property
    def recent(self) -> RecentNotices:
        """The last notices of all rooms that the worker holds."""
        found = self.gateway.broadcaster._recent
        assert found is not None
        return found

    @property
    def gateway(self) -> Gateway:
        """Return its connection with the pages."""
        found: Gateway = self.flask.extensions["coppice.live"]
        return found

    def close(self) -> None:
        """End it as a signal does."""
        self.gateway.close()
        self.app.close()


def worker(config: Config, queue_url: str) -> Worker:
    """Return one more worker of a store, which waits for the others however busy the machine is."""
    config = replace(config, queue=queue_url, busy_seconds=PATIENCE)
    app = build(config, serves=True)
    return Worker(app, create_app(config, app=app))


class Visitor:
    """A page of one worker: what it says, and what it heard."""

    def __init__(self, at: Worker) -> None:
        self.client = at.gateway.socketio.test_client(at.flask)
        self.heard: list[tuple[str, dict[str, Any]]] = []

    def joins(self, room: str, revision: int | None = None) -> dict[str, Any]:
        """Join a room; return the answer."""
        message = {"room": room} if revision is None else {"room": room, "revision": revision}
        answer: dict[str, Any] = self.client.emit("subscribe", message, callback=True)
        return answer

    def has_heard(self) -> list[tuple[str, dict[str, Any]]]:
        """Return everything heard so far, in order."""
        self.heard += [(one["name"], one["args"][0]) for one in self.client.get_received()]
        return self.heard

    def numbers(self) -> list[int]:
        """Return the numbers of the messages heard so far, in order."""
        said = [payload for name, payload in self.has_heard() if name == "messages:appended"]
        return [row["number"] for payload in said for row in payload["messages"]]

    def waits_for(self, *numbers: int) -> None:
        """Wait until the messages of these numbers were heard."""
        until(lambda: set(numbers) <= set(self.numbers()))


def say(at: Worker, *texts: str, session: str = "a") -> None:
    """Append a message of a user for each text."""
    for text in texts:
        at.app.ingest.append_messages(session, [{"role": "user", "content": text}])
