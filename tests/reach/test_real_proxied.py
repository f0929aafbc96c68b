"""Real agents work through the proxy: `make agents` installs them from npm and runs this.

A few turns with tool calls, first observed and then pruned; the upstream refuses whatever a provider would.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.reach.agents import ASK, FOLDER, PROGRAMS, Machine, newest, size
from tests.reach.upstream import Upstream, strict_upstream
from tests.servers import Server, running_server
from tests.waiting import until
from tests.webapp.proxy.conftest import running_proxy
from webapp.agents.hook_runtime import hints
from webapp.bodies import PruneBody, SessionChange
from webapp.services.session.session import Session

pytestmark = pytest.mark.skipif(
    not PROGRAMS.is_dir(),
    reason=f"`make agents` installs the agents and runs this ({FOLDER} names their folder)",
)


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    """The strict provider."""
    with strict_upstream() as made:
        yield made


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server that follows nothing: what it knows of a session came through the proxy."""
    monkeypatch.setenv("COPPICE_HINTS", str(tmp_path / "hints"))
    with running_server(tmp_path, tokenizer=False) as made:
        yield made


@pytest.fixture
def machine(tmp_path: Path, upstream: Upstream, server: Server) -> Iterator[Machine]:
    """A machine whose agents reach the provider through a proxy."""
    with running_proxy(upstream.url, server.url, tmp_path) as url:
        made = Machine(tmp_path / "agent", tmp_path / "work", PROGRAMS.absolute(), upstream, proxy=url)
        made.home.mkdir()
        made.work.mkdir()
        (made.work / "big.txt").write_text("".join(f"{n}\n" for n in range(3_000)))
        made.configure()
        yield made


def main_session(server: Server) -> str:
    """Return the proxied session with the most messages that is nobody's sub-session."""
    found = [one for one in server.app.sessions.list() if one.source == "proxy" and one.parent_id is None]
    return max(found, key=lambda one: one.messages).id


@pytest.mark.parametrize("source", ["claude-code", "codex", "opencode"])
class TestThroughTheProxy:
    """An agent that works, is switched on, pruned, and works on."""

    def test_is_observed_with_exact_usage_and_pruned_without_a_refusal(
        self, machine: Machine, server: Server, upstream: Upstream, source: str
    ) -> None:  # X13
        """Its session appears with the provider's own figures; the pruned one is refused nothing and sends less."""
        machine.run(*ASK[source]("Please RUN(cat big.txt) now", None))
        until(
            lambda: [one for one in server.app.sessions.list() if one.source == "proxy" and one.messages >= 4]
        )
        name = main_session(server)
        own = newest(machine, source)
        machine.run(*ASK[source]("Again: RUN(cat big.txt) now", own))
        until(lambda: server.app.sessions.get(name).messages >= 8)
        seen = server.app.sessions.get(name)
        assert upstream.refused == []
        assert seen.agent is not None
        assert seen.agent.certainty == "exact"
        assert seen.agent.tokens == upstream.usages[-1][0] + 20
        url = f"{server.url}/api/sessions/{name}"
        httpx.patch(url, json={"proxy_prunes": True}, timeout=60).raise_for_status()
        before = size(machine)
        regions = {one.name: one.tokens for one in seen.agent.regions}
        fixed = sum(regions.get(one, 0) for one in ("unseen", "tools", "system"))
        pruned = httpx.post(f"{url}/prune", json={"max_tokens": fixed + 3_000}, timeout=60)
        pruned.raise_for_status()
        until(lambda: hints.read(name, hints.EDITS, hints.proxy_folder()).get("edits"))
        upstream.clear()
        machine.run(*ASK[source]("Go on", own))
        less = size(machine)
        machine.run(*ASK[source]("Again: RUN(cat big.txt) now", own))
        until(lambda: server.app.sessions.get(name).proxy.pruned_calls >= 2)
        after = server.app.sessions.get(name)
        assert upstream.refused == []
        assert after.proxy.applied, after.proxy
        assert less < before


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("source", ["claude-code", "codex", "opencode"])
def test_followed_and_proxied_is_one_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, upstream: Upstream, source: str, *, restarted: bool
) -> None:  # X13
    """The text is the transcript's, the usage of each call the provider's; a prune reaches the very next call."""
    monkeypatch.setenv("COPPICE_HINTS", str(tmp_path / "hints"))
    home = tmp_path / "agent"
    home.mkdir()
    machine = Machine(home, tmp_path / "work", PROGRAMS.absolute(), upstream)
    machine.work.mkdir()
    (machine.work / "big.txt").write_text("".join(f"{n}\n" for n in range(3_000)))
    with ExitStack() as running:

        def start() -> Server:
            server = running.enter_context(running_server(tmp_path, env={"HOME": str(home)}, tokenizer=False))
            machine.proxy = running.enter_context(running_proxy(upstream.url, server.url, tmp_path))
            machine.configure()
            return server

        server = start()
        machine.run(*ASK[source]("Please RUN(cat big.txt) now", None))
        own = newest(machine, source)
        machine.run(*ASK[source]("Again: RUN(cat big.txt) now", own))
        until(
            lambda: (
                (found := server.app.store.sessions.find(own)) is not None
                and found.next_no > 6
                and (proxied := server.app.sessions.get(own).proxy) is not None
                and proxied.calls >= 4
            )
        )
        key = server.app.store.sessions.get(own).key
        until(lambda: server.app.store.usage.calls(key)[-1].input_tokens == upstream.usages[-1][0])
        alone = [one.id for one in server.app.sessions.list() if one.parent_id is None]
        assert alone == [own]
        if restarted:
            running.close()
            server = start()
        before, name = size(machine), Session.load(server.app.environment, own).state.proxy.name
        server.app.sessions.patch(own, SessionChange(proxy_prunes=True))
        tokens = server.app.sessions.get(own).pruned.tokens
        server.app.prunes.apply(own, PruneBody(max_tokens=tokens - 3_000))
        until(lambda: hints.read(name, hints.EDITS, hints.proxy_folder()).get("edits"))
        upstream.clear()
        machine.run(*ASK[source]("Go on", own))
        assert upstream.refused == []
        assert size(machine) < before
