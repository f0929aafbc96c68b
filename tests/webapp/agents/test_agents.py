"""The table of agents: one contract, the same for all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scoring.formats import FORMATS
from tests.decoders import Sample, all_samples
from tests.odd_values import faults
from tests.shared import ROOT
from webapp.agents import AGENTS
from webapp.agents.agent import Agent

EVERY = pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)


class TestEveryAgent:
    """The contract, held by each agent of the table."""

    @EVERY
    def test_is_known_by_its_source(self, agent: Agent) -> None:
        """The table's key is the name that the store and the API use; people read the label."""
        assert AGENTS[agent.source] is agent
        assert agent.label

    @EVERY
    def test_talks_to_its_model_in_a_known_wire_format(self, agent: Agent) -> None:
        """The context of its sessions can be written in that format."""
        assert agent.wire_format in FORMATS

    @EVERY
    def test_is_followed_where_its_variable_says(self, agent: Agent, tmp_path: Path) -> None:  # X12
        """Every root lies below the folder that the variable names, else below the home folder."""
        env = {"HOME": "/home/ada"}
        usual = agent.roots(env)
        assert Path(agent.folder.replace("~", "/home/ada")) in usual
        assert all(
            root.is_relative_to(tmp_path) for root in agent.roots({**env, agent.variable: str(tmp_path)})
        )

    @EVERY
    def test_finds_nothing_in_an_empty_folder(self, agent: Agent, tmp_path: Path) -> None:
        """A folder without its files, or no folder at all, has no sessions."""
        assert list(agent.discover(tmp_path)) == list(agent.discover(tmp_path / "none")) == []


# Sources of what is not about an agent: wire formats, families of models, and the menus that name those formats.
FORMATS_AND_MODELS = (
    "scoring/formats/",
    "scoring/models/",
    "scoring/tokens/families.py",
    "scoring/tokens/counting.py",
)


def test_no_other_code_names_an_agent() -> None:
    """Neither its source nor its label stands in a string or comment outside `webapp/agents`."""
    names = {name for agent in AGENTS.values() for name in (agent.source, agent.label)}
    # "gemini" alone is a wire format; "codex" within a model's name is that model.
    said = re.compile(r"""(?<![\w./-])(""" + "|".join(map(re.escape, sorted(names))) + r""")(?![\w.-])""")
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for top in ("scoring", "webapp", "static")
        for path in sorted((ROOT / top).rglob("*.[pj][ys]"))
        if not path.is_relative_to(ROOT / "webapp" / "agents")
        and "vendor" not in path.parts
        and not path.relative_to(ROOT).as_posix().startswith(FORMATS_AND_MODELS)
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if said.search(line)
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("sample", [*all_samples(6_000)], ids=lambda sample: sample.name)
def test_an_odd_value_costs_its_row(sample: Sample) -> None:  # X12
    """In whatever place of whatever row: nothing is raised, and the other rows are read."""
    assert not [fault for fault in faults(sample) if fault is not None]
