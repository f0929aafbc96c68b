"""New rollouts for Codex, as its versions resume from them."""

from __future__ import annotations

from pathlib import Path

import orjson

from tests.webapp.agents.codex.rollouts import OWN, SECOND, Rollouts, up_to
from webapp.agents.codex.transcript import write
from webapp.agents.view import View


def test_says_nothing_of_files_that_its_rows_are_not_in(tmp_path: Path) -> None:  # X22
    """The copy of a sub-agent is a session of its own: its first row names no parent, no copied rows, no other file."""
    meta = {
        "id": "019b7e01-0000-7000-8000-000000000002", "cwd": "/a", "cli_version": "0.171.0", "model_provider": "openai",
        "source": {"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}, "thread_source": "subagent",
        "parent_thread_id": "p", "subagent_history_start_ordinal": 7, "history_mode": "paginated",
        "history_base": {"thread_id": "p", "end_ordinal_exclusive": 7, "end_byte_offset": 900},
    }  # fmt: skip
    file = tmp_path / "rollout.jsonl"
    file.write_bytes(orjson.dumps({"ordinal": 0, "type": "session_meta", "payload": meta}) + b"\n")
    view = View("/a", "2026-01-02T11:00:00Z", [], file=file)
    first = orjson.loads(b"".join(write(view).lines).split(b"\n")[0])
    assert first["ordinal"] == 0
    kept = {name: first["payload"].get(name) for name in meta}
    assert kept == dict.fromkeys(kept) | {
        "id": first["payload"]["id"], "cwd": "/a", "cli_version": "0.171.0", "model_provider": "openai",
        "source": "cli",
    }  # fmt: skip


def test_carries_over_all_of_the_environment_that_the_model_was_told(tmp_path: Path) -> None:  # X22
    """The last full state, also from before a revert, and its changes; without, Codex sends prompt and tools again."""
    rollouts = Rollouts(tmp_path)
    full = {"full": True, "state": {"model": "a", "shell": "bash"}}
    first = rollouts.write(OWN, [("world_state", {"full": True, "state": {}}), ("world_state", full)])
    change = {"full": False, "state": {"model": "b"}}
    rollouts.write(f"{OWN}_{SECOND}", [("world_state", change)], history_base=up_to(first, 3))
    view = View("/a", "2026-01-02T11:00:00Z", [], file=rollouts.file().path)
    rows = [orjson.loads(line) for line in b"".join(write(view).lines).splitlines()]
    assert [row["payload"] for row in rows if row["type"] == "world_state"] == [full, change]
