"""Sessions held out are predicted from the others only."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.held_out import KINDS, Trial, by_version
from tests.browser.writing import ClaudeFolder
from webapp.tokenizers import Tokenizers


@pytest.fixture
def trial(tmp_path: Path) -> Trial:
    """Two sessions in one folder of one version, of some 20,000 tokens each."""
    folder = ClaudeFolder(tmp_path / "claude-code")
    for size in (20_000, 22_000):
        transcript = folder.transcript()
        transcript.user("Fix the login race")
        transcript.assistant("Done.", tokens=size)
    return Trial(tmp_path, Tokenizers())


class TestHeldOut:
    """A group is left out of both the constants and the lessons."""

    def test_sessions_know_the_others_earlier_and_later(self, trial: Trial) -> None:
        """Each is predicted from the other one."""
        calls, choices = trial.held_out("session")
        assert sorted((c.real, c.predicted) for c in calls) == [(20_000, 22_000), (22_000, 20_000)]
        assert len(choices) == 2

    @pytest.mark.parametrize("kind", ["project", "version", "agent"])
    def test_a_group_knows_nothing_of_itself(self, trial: Trial, kind: str) -> None:
        """Neither session teaches the other: nothing is made up."""
        calls, _ = trial.held_out(kind)
        assert [c.predicted for c in calls] == [c.by_factors for c in calls]
        assert len(calls) == len(trial.shipped) == 2

    def test_is_told_by_agent_and_version(self, trial: Trial) -> None:
        """A row for each, with its calls."""
        assert set(map(KINDS["version"], trial.shipped)) == {"claude-code 2.1.0"}
        assert by_version("version", trial.shipped).row_count == 1
