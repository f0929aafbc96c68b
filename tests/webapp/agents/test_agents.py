"""The table of agents, which share one contract."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scoring.formats import FORMATS
from tests.decoders import Sample, all_samples
from tests.odd_values import faults
from tests.shared import ROOT
from tests.webapp.agents.samples import samples_of
from webapp.agents import AGENTS
from webapp.agents.agent import Agent
from webapp.agents.reading.finding import read_head

EVERY = pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)


class TestEveryAgent:
    """Every agent of the table."""

    @EVERY
    def test_has_its_source_as_key(self, agent: Agent) -> None:
        """The key is the name in the store and the API, and the label is shown to people."""
        assert AGENTS[agent.source] is agent
        assert agent.label

    @EVERY
    def test_has_a_known_wire_format(self, agent: Agent) -> None:
        """Contexts of its sessions can be written in that format."""
        assert agent.wire_format in FORMATS

    @EVERY
    def test_is_followed_in_the_folder_of_its_variable(self, agent: Agent, tmp_path: Path) -> None:  # X12
        """Every root is below the folder that the variable names, or else below the home folder."""
        env = {"HOME": "/home/ada"}
        assert all(root.is_relative_to("/home/ada") for root in agent.roots(env))
        assert all(
            root.is_relative_to(tmp_path) for root in agent.roots({**env, agent.variable: str(tmp_path)})
        )

    @EVERY
    def test_finds_nothing_in_an_empty_folder(self, agent: Agent, tmp_path: Path) -> None:
        """A folder without its files and a missing folder have no sessions."""
        assert list(agent.discover(tmp_path)) == list(agent.discover(tmp_path / "none")) == []

    @EVERY
    def test_is_watched_for_changes_of_its_files(self, agent: Agent) -> None:  # X12
        """Every file of a session has one of the agent's endings; otherwise the watcher would overlook its changes."""
        followed = samples_of(agent)
        assert followed, f"no sample of a session in tests/transcripts/{agent.source}"
        assert all(file.path.name.endswith(agent.endings) for file in followed)

    @EVERY
    def test_names_the_same_session_for_an_import(self, agent: Agent) -> None:  # X12
        """Importing a file of a followed session, a sub-agent's too, adds to that session."""
        followed = samples_of(agent)
        assert followed
        for file in followed:
            if agent.files is not None and not file.shared:
                imported = agent.files.origin(file.path, read_head(file.path), True)
                assert (imported.session_id, imported.parent_id) == (file.session_id, file.parent_id)

    @EVERY
    @pytest.mark.parametrize("path", ["README.md", "docs/using.md", "docs/transcripts.md"])
    def test_is_named_where_people_look_for_it(self, agent: Agent, path: str) -> None:
        """These pages are written by hand."""
        assert agent.label in (ROOT / path).read_text("utf-8"), f"{path} does not name {agent.label}"


# Modules in which such a name is no agent: wire formats, families of models, and menus of formats.
FORMATS_AND_MODELS = (
    "scoring/formats/",
    "scoring/models/",
    "scoring/tokens/families.py",
    "scoring/tokens/counting.py",
)


def names_of(agent: Agent) -> set[str]:
    """Return the words that only this agent has: its names, its variables, and the headers of its calls."""
    headers = agent.call_headers
    named = (headers.session, headers.subagent) if headers is not None else ()
    # Other headers are words that anybody uses.
    own = {name for name in named if name.startswith("x-")}
    return {agent.source, agent.label, agent.variable, agent.session_variable, *own} - {""}


def test_no_other_code_names_an_agent() -> None:
    """No string or comment outside `webapp/agents` has an agent's name, a variable of it or a header of its calls."""
    names = set().union(*map(names_of, AGENTS.values()))
    # "gemini" alone is a wire format, and "codex" in the name of a model is that model.
    said = re.compile(r"""(?<![\w./-])(""" + "|".join(map(re.escape, sorted(names))) + r""")(?![\w.-])""")
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for top in ("scoring", "webapp", "static", "templates")
        for path in sorted((ROOT / top).rglob("*"))
        if path.suffix in {".py", ".js", ".ts", ".html", ".css"}
        and not path.is_relative_to(ROOT / "webapp" / "agents")
        and "vendor" not in path.parts
        and not path.relative_to(ROOT).as_posix().startswith(FORMATS_AND_MODELS)
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if said.search(line)
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("sample", [*all_samples(6_000)], ids=lambda sample: sample.name)
def test_an_odd_value_affects_only_its_row(sample: Sample) -> None:  # X12
    """An odd value anywhere in a row raises no error, and the other rows are read."""
    assert not [fault for fault in faults(sample) if fault is not None]
