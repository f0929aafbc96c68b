"""The places of Codex's rollouts, and their origin."""

from __future__ import annotations

import json
from pathlib import Path, PurePath
from typing import Any

import pytest

from tests.webapp.agents.samples import SAMPLES
from webapp.agents.codex.files import discover, origin, origin_of, roots
from webapp.agents.records import Origin

OWN, FORK = "019b7e00-0000-7000-8000-000000000001", "019b7e01-0000-7000-8000-000000000002"


def test_the_folders_are_those_of_the_environment() -> None:
    """The folders are those of CODEX_HOME or of the home folder, with archived sessions and the index of names."""
    names = ("sessions", "archived_sessions", "session_index.jsonl")
    assert roots({"CODEX_HOME": "/c", "HOME": "/h"}) == [Path("/c") / name for name in names]
    assert roots({"HOME": "/h"})[0] == Path("/h/.codex/sessions")


class TestDiscovery:
    """Finding rollouts."""

    def test_finds_sessions_and_their_parents(self) -> None:  # X12
        """The id comes from the file name, and the parent from the first row."""
        files = {f.session_id: f for f in discover(SAMPLES / "codex" / "sessions")}
        assert files.keys() == {OWN, FORK}
        assert files[OWN].parent_id is None
        fork = files[FORK]
        assert (fork.parent_id, fork.title, fork.agent_type) == (OWN, "Robin", "explorer")

    def test_finds_older_files(self) -> None:
        """A first row of another shape names no parent."""
        (file,) = discover(SAMPLES / "codex" / "archived_sessions")
        assert (file.session_id, file.parent_id) == ("0198619a-0000-7000-8000-000000000003", None)

    def test_ignores_other_files(self, tmp_path: Path) -> None:
        """Only rollouts with an id count."""
        for name in ("rollout-x.jsonl", f"notes-{OWN}.jsonl"):
            (tmp_path / name).write_text("{}\n")
        assert list(discover(tmp_path)) == []


SPAWNED = {"thread_spawn": {"parent_thread_id": "p", "agent_nickname": "Robin", "agent_role": "explorer"}}


@pytest.mark.parametrize(
    ("meta", "parent", "title", "kind"),
    [
        ({"source": "cli"}, None, None, None),
        ({"forked_from_id": "a"}, "a", None, "fork"),
        ({"source": {"subagent": "review"}, "parent_thread_id": "p"}, "p", None, "review"),
        ({"source": {"subagent": SPAWNED}, "forked_from_id": "p"}, "p", "Robin", "explorer"),
        ({"forked_from_id": OWN}, None, None, "fork"),
        ({"source": {"subagent": {"other": "x"}}}, None, None, "sub-agent"),
        (
            {"source": {"subagent": {"thread_spawn": {"agent_role": "r"}}}, "forked_from_id": "p"},
            "p",
            None,
            "r",
        ),
    ],
)
def test_the_origin_may_be_a_fork_or_a_review(
    meta: dict[str, Any], parent: str | None, title: str | None, kind: str | None
) -> None:
    """Discovery, which sees only the beginning of a file, and the decoder agree on parent, title and type."""
    expected = Origin(OWN, parent, title, kind)
    meta = {"id": OWN, **meta}
    row = json.dumps({"type": "session_meta", "payload": {**meta, "instructions": "…"}})
    assert origin_of(meta) == expected
    assert origin(PurePath("rollout-x.jsonl"), row.encode()[: row.index("instructions") + 4]) == expected
