"""An application over a store of its own, and a client of its routes, for the tests of the edges."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from tests.queues import missing, redis_server
from tests.servers import Server, running_server
from tests.webapp.promises import Client
from tests.webapp.workers import Worker, worker
from webapp import create_app
from webapp.app import App
from webapp.config import Config, Database
from webapp.wiring import build


@pytest.fixture
def config(tmp_path: Path, database: Database) -> Config:
    """Nothing followed, tokens estimated: what an edge does depends on neither."""
    return Config(db=database, follow=False, tokenizer=False, env={"HOME": str(tmp_path)})


@pytest.fixture
def app(config: Config) -> Iterator[App]:
    """The services over a fresh store."""
    made = build(config)
    yield made
    made.close()


@pytest.fixture
def flask_app(config: Config, app: App) -> Iterator[Flask]:
    """The WSGI application over the services, Socket.IO included."""
    made = create_app(config, app=app)
    made.test_client_class = Client
    yield made
    made.extensions["coppice.live"].close()


@pytest.fixture
def client(flask_app: Flask) -> Client:
    """A client of every route, on this machine."""
    return Client(flask_app, flask_app.response_class)


@pytest.fixture(scope="session")
def queue_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Redis; each store has its own names in it."""
    if reason := missing():
        pytest.skip(reason)
    with redis_server(tmp_path_factory.mktemp("redis")) as redis:
        yield redis.url


@pytest.fixture
def workers(config: Config, queue_url: str) -> Iterator[tuple[Worker, Worker]]:
    """Two workers that serve one store."""
    made = worker(config, queue_url), worker(config, queue_url)
    yield made
    for one in made:
        one.close()


@pytest.fixture
def live_server(tmp_path: Path) -> Iterator[Server]:
    """A real server on a free port."""
    with running_server(tmp_path, tokenizer=False) as server:
        yield server
