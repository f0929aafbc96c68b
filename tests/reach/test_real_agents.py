"""Real agents resume from pruned copies: `make agents` installs them from npm and runs this.

The upstream refuses whatever a provider would: an orphan, a wrong order, a thought behind another history.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.reach.agents import ASK, COMPACT, PROGRAMS, Machine, newest, size
from tests.reach.upstream import strict_upstream
from tests.servers import running_server
from tests.waiting import until
from webapp.agents import AGENTS
from webapp.agents.hook_runtime import hints
from webapp.app import App
from webapp.bodies import PruneBody
from webapp.config import Config
from webapp.services.integrations import agent_config
from webapp.services.session.session import Session
from webapp.wiring import build

pytestmark = pytest.mark.skipif(
    not PROGRAMS.is_dir(), reason="`make agents` installs the agents and runs this"
)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    """A machine on which nobody has worked yet, with a file of 3,000 lines."""
    with strict_upstream() as upstream:
        made = Machine(tmp_path / "home", tmp_path / "work", PROGRAMS.absolute(), upstream)
        made.home.mkdir()
        made.work.mkdir()
        (made.work / "big.txt").write_text("".join(f"{n}\n" for n in range(3_000)))
        made.configure()
        yield made


@pytest.fixture
def app(machine: Machine) -> Iterator[App]:
    """The services, over the agents' folders of that machine."""
    made = build(Config(db=machine.home / "c.db", follow=False, env=machine.env))
    yield made
    made.close()


def session_of(app: App, machine: Machine, source: str) -> str:
    """Import the agent's newest session; return its id."""
    agent = AGENTS[source]
    files = [file for root in agent.roots(machine.env) for file in agent.discover(root)]
    file = max(files, key=lambda file: file.modified)
    if file.shared:
        list(app.importing.import_sessions(file.path))
        return file.session_id
    return app.importing.import_file(file.path.name, file.path.read_bytes(), place=file.path)[0].session_id


@pytest.mark.parametrize("source", [one for one in ASK if AGENTS[one].transcripts is not None])
class TestResuming:
    """A run, a prune, a copy, and the agent goes on from it."""

    def test_from_a_pruned_copy_sends_less_and_is_refused_nothing(
        self, machine: Machine, app: App, source: str
    ) -> None:  # X22
        """Its tool loop works, and its page shows the first call. The upstream counts characters, not tokens."""
        machine.run(*ASK[source]("Please RUN(cat big.txt) now", None))
        before = size(machine)
        session = session_of(app, machine, source)
        tokens = app.sessions.get(session).pruned.tokens
        made = app.resuming.resume(session, prune=True, max_tokens=int(tokens * 0.8))
        if made.import_command:
            machine.run(*made.import_command)
        machine.upstream.clear()
        machine.run(*ASK[source]("Again: RUN(cat big.txt) now", made.session_id))
        first = len(json.dumps(machine.upstream.requests[0][2]))
        assert machine.upstream.refused == []
        assert first < before
        session_of(app, machine, source)
        copy = app.sessions.stats(made.session_id).copy_of
        assert copy is not None
        assert copy.tokens_first_call is not None
        assert copy.tokens_first_call < made.tokens_before


@pytest.mark.parametrize("source", [one for one in ASK if AGENTS[one].edit_key is not None])
class TestPruning:
    """A prune of a session that goes on, applied in the agent's own process by what `coppice hooks install` adds."""

    def test_takes_effect_with_the_next_call_and_is_refused_nothing(
        self, machine: Machine, app: App, source: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X27
        """The server writes the edit script, and the agent sends less of the same session."""
        monkeypatch.setenv("COPPICE_HINTS", machine.env["COPPICE_HINTS"])
        agent_config.apply(agent_config.installing(source, machine.env, "coppice"), remember=True)
        machine.run(*ASK[source]("Please RUN(cat big.txt) now", None))
        machine.run(*ASK[source]("Thank you", newest(machine, source)))
        before, session = size(machine), newest(machine, source)
        with running_server(machine.home, env=machine.env, db=machine.home / "followed.db") as server:
            until(lambda: session in {one.id for one in server.app.sessions.list()})
            until(lambda: server.app.sessions.get(session).messages >= 6)
            tokens = server.app.sessions.get(session).pruned.tokens
            server.app.prunes.apply(session, PruneBody(max_tokens=tokens // 4))
            until(lambda: hints.read(session, hints.EDITS).get("edits"))
        machine.upstream.clear()
        machine.run(*ASK[source]("Go on", session))
        assert machine.upstream.refused == []
        assert size(machine) < before


@pytest.mark.parametrize("source", list(COMPACT))
class TestCompacting:
    """A compaction, with the hooks that `coppice hooks install` puts into the agent's settings."""

    def test_carries_over_what_must_survive_and_says_what_was_lost(
        self, machine: Machine, app: App, source: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X20
        """Pins reach the summariser or the agent after it, with how to get back the rest; nothing is refused."""
        monkeypatch.setenv("COPPICE_HINTS", machine.env["COPPICE_HINTS"])
        program = str(Path(sys.executable).with_name("coppice"))
        agent_config.apply(agent_config.installing(source, machine.env, program), remember=True)
        machine.run(*ASK[source]("Never touch port 8443. Please RUN(cat big.txt) now", None))
        session = session_of(app, machine, source)
        app.by_hand.pin(session, app.search.everywhere("8443", session).results[0].message_id)
        hint = app.hints.hint(Session.load(app.environment, session))
        hints.write(session, hints.HINT, hint)
        machine.upstream.clear()
        machine.run(*COMPACT[source](session, "Again: RUN(cat big.txt) now"))
        if source == "claude-code":  # it goes on in the next call
            machine.run(*ASK[source]("Go on", session))
        sent = [json.dumps(body) for _, _, body in machine.upstream.requests]
        assert machine.upstream.refused == []
        assert any("What must survive this compaction" in one and "8443" in one for one in sent)
        assert "The context was compacted." in sent[-1]
        assert "context_restore" in sent[-1]
