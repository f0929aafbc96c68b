"""Fixtures for every test: a separate home, no network beyond this machine, bounded examples, a browser.

Builders and fakes do not belong here; they stand beside the tests that use them.
"""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import logging
import os
import shutil
import socket
from collections.abc import Generator, Iterator
from contextlib import ExitStack, suppress
from functools import cache, partial, wraps
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from flask import Flask
from httpx import create_ssl_context
from hypothesis import HealthCheck, settings
from jinja2.bccache import Bucket, BytecodeCache
from werkzeug.routing import Rule

from scripts import browser
from tests import postgresql, servers
from tests.postgresql import Cluster
from tests.shared import is_idle, shared_data
from webapp.config import Database
from webapp.store import Store
from webapp.store.sqlite.connection import Connections

# A race in python-engineio's client can leave a thread behind when a test disconnects. Half a minute later the thread
# reports a timeout to the standard error of whichever test runs then.
logging.getLogger("engineio.client").disabled = True

# Prefixes of the variables that lead Coppice and its agents to the user's own files.
PERSONAL = ("COPPICE_", "XDG_", "CLAUDE_", "CODEX_", "GEMINI_", "OPENCODE_")
KEPT = {browser.VARIABLE, "COPPICE_SHARED"}

# A page of a test is gone before code that Chromium optimises for it has paid; without, pages take up to a fourteenth
# less processor time. What the code does is the same.
UNOPTIMISED = "--js-flags=--no-opt --no-maglev"

# No limit on time, so that a busy machine fails nothing, and the same examples in every run, so that a failure comes
# from the change under test. `make fuzz` tries other examples, and five times as many.
settings.register_profile(
    "same",
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile(
    "other", settings.get_profile("same"), max_examples=200, derandomize=False, print_blob=True
)
settings.load_profile("same")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exclude what a worker imports and collects from garbage collection, and collect as rarely as a server does.

    All of it lives until the run ends; visiting it again and again took two fifths of a worker's time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 10, 10)
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Collect garbage once more, and exclude what is left: pytest and the end of Python would visit it all again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give the whole run an empty home, so that no test reads or writes the user's files."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        own_browsers = Path.home() / ".cache" / "ms-playwright"
        if own_browsers.is_dir() and "PLAYWRIGHT_BROWSERS_PATH" not in os.environ:
            patch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(own_browsers))
        for name in list(os.environ):
            if name.startswith(PERSONAL) and name not in KEPT:
                patch.delenv(name)
        patch.setenv("HOME", str(home))
        yield home


@pytest.fixture(scope="session", autouse=True)
def only_this_machine() -> Iterator[None]:
    """Refuse every connection to another machine: nothing is fetched at run time."""
    connect = socket.socket.connect

    def connect_here(self: socket.socket, address: Any) -> None:
        if self.family in {socket.AF_INET, socket.AF_INET6} and not _is_loopback(address[0]):
            raise OSError(f"a test tried to reach {address[0]}; only this machine may be asked")
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", connect_here)
        yield


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@pytest.fixture(scope="session", autouse=True)
def migrated_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Create each new store file as a copy of one that the worker has already migrated.

    The tests of `store/sqlite`, and the processes that tests start, migrate their own.
    """
    template, begin = tmp_path_factory.mktemp("template") / "store.db", Connections.__init__
    Store(template).close()

    @wraps(begin)
    def copied(self: Connections, path: Path, *given: Any, **named: Any) -> None:
        with suppress(OSError):  # it exists, or its folder does not
            copy = path.with_name(f"{path.name}.{os.urandom(8).hex()}")
            if not path.exists():
                shutil.copy(template, copy)
                try:
                    os.link(copy, path)
                finally:
                    copy.unlink()
        begin(self, path, *given, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Connections, "__init__", copied)
        yield


@pytest.fixture(scope="session", autouse=True)
def rules_compiled_once() -> Iterator[None]:
    """Compile each route once for all applications of a worker; the result depends only on the route's parts."""
    compile_builder = Rule._compile_builder
    known: dict[Any, Any] = {}

    def compiled(self: Rule, append_unknown: bool = True) -> Any:
        if self.defaults:
            return compile_builder(self, append_unknown)
        key = (self.rule, *self._trace, append_unknown)
        if key not in known:
            known[key] = compile_builder(self, append_unknown)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rule, "_compile_builder", compiled)
        yield


class Compiled(BytecodeCache):
    """The compiled templates of a worker."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Give a template its code, if its source was compiled before."""
        bucket.code = self._known.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the code of a template."""
        if bucket.code is not None:
            self._known[bucket.key, bucket.checksum] = bucket.code


@pytest.fixture(scope="session", autouse=True)
def templates_compiled_once() -> Iterator[None]:
    """Compile each template once for all applications of a worker; a page that is not compiled takes a third of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Flask, "jinja_options", {**Flask.jinja_options, "bytecode_cache": Compiled()})
        yield


@pytest.fixture(scope="session", autouse=True)
def authorities_read_once() -> Iterator[None]:
    """Read the certificates of all authorities once for the HTTP clients of a worker, not once for each client."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("httpx._transports.default.create_ssl_context", cache(create_ssl_context))
        yield


@pytest.fixture(autouse=True)
def without_browsers_loop(request: pytest.FixtureRequest) -> Iterator[None]:
    """Hide the event loop that Playwright leaves in a worker's thread from tests without a browser.

    Otherwise what runs a loop of its own would fail, but only where a browser test came before it.
    """
    if "browser" in request.fixturenames:
        yield
        return
    loop = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(loop)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run choose the engine below the application; the store itself is tested on both."""
    parser.addoption("--engine", choices=("sqlite", "postgresql"), default="sqlite")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the tests, and fail those that are parametrised with nothing; pytest would always skip them."""
    items[:] = pages_first(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))
    for item in items:
        if is_idle(item.nodeid):
            item.own_markers.clear()
            item.setup = partial(pytest.fail, "it is parametrised with nothing")


def pages_first(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """Return the tests in an order in which all workers but one begin with tests of the pages.

    Each worker gets an equal part, and idle ones take tests from its end. Tests of the pages wait often; run by all
    workers at the end, they left cores idle.
    """
    pages = [item for item in items if "tests/browser/" in item.nodeid]
    others = [item for item in items if "tests/browser/" not in item.nodeid]
    if workers < 3 or not pages or not others:
        return items
    share, size = len(items) // workers, -(-len(pages) // (workers - 1))
    ordered: list[pytest.Item] = []
    for n in range(workers - 1):
        own = pages[n * size : (n + 1) * size]
        ordered += own + others[: share - len(own)]
        del others[: share - len(own)]
    return ordered + others


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The run's PostgreSQL; skips where there is none."""
    if reason := postgresql.why_not():
        pytest.skip(reason)
    base = tmp_path_factory.getbasetemp()
    with postgresql.cluster(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) as running:
        yield running


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> str:
    """The engine below the application: sqlite or postgresql."""
    return str(request.config.getoption("--engine"))


@pytest.fixture(autouse=True)
def databases_of_servers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """In a run over PostgreSQL, give the servers that a test starts a database for each folder."""
    with ExitStack() as stack:
        lent: dict[Path, Database] = {}

        def database_in(folder: Path) -> Database:
            if folder not in lent:
                lent[folder] = stack.enter_context(request.getfixturevalue("cluster").database())
            return lent[folder]

        if request.config.getoption("--engine") == "postgresql":
            monkeypatch.setattr(servers, "database_in", database_in)
        yield


@pytest.fixture
def database(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A place for a store."""
    if engine == "sqlite":
        yield servers.store_in(tmp_path)
    else:
        with request.getfixturevalue("cluster").database() as lent:
            yield lent


@pytest.fixture(scope="session")
def transcripts() -> Path:
    """The folder of real transcripts; skips where the shared material is missing."""
    return shared_data("transcripts")


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Playwright's launch arguments, with the Chromium that this machine has and the flags it needs here."""
    found = browser.named_or_system()
    given = browser_type_launch_args.get("args", [])
    arguments = [*given, *browser.launch_arguments(), UNOPTIMISED]
    return {**browser_type_launch_args, "args": arguments, **({"executable_path": found} if found else {})}
