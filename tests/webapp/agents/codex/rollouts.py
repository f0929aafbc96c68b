"""Rollouts of Codex in a folder of its sessions, in the form that version 0.171.0 writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from webapp.agents.codex import files
from webapp.agents.codex.earlier_rollouts import ids_in
from webapp.agents.records import TranscriptFile

OWN, SECOND, THIRD = (f"019b7e0{n}-0000-7000-8000-00000000000{n}" for n in (1, 2, 3))
FORK = "019b7e09-0000-7000-8000-000000000009"
USED = {"input_tokens": 900, "cached_input_tokens": 0, "output_tokens": 9}

Row = tuple[str, dict[str, Any]]


def turn(text: str, calls: int) -> list[Row]:
    """Return the rows of a turn, after which there were so many calls."""
    total = {name: count * calls for name, count in USED.items()}
    return [
        ("response_item", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}),
        ("response_item", {"type": "message", "role": "assistant", "content": [
            {"type": "output_text", "text": f"{text} Done."}]}),
        ("event_msg", {"type": "token_count", "info": {"last_token_usage": USED, "total_token_usage": total}}),
    ]  # fmt: skip


class Rollouts:
    """The sessions folder of Codex."""

    def __init__(self, root: Path) -> None:
        self.root = root / "sessions"

    def write(self, ids: str, rows: list[Row], **about: Any) -> Path:
        """Write a rollout and return its path."""
        session = ids.partition("_")[0]
        path = self.root / "2026" / "01" / "02" / f"rollout-2026-01-02T11-00-00-{ids}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        meta = {"id": session, "timestamp": "2026-01-02T11:00:00Z", "cwd": "/a", **about}
        lines = [
            orjson.dumps(
                {"timestamp": "2026-01-02T11:00:00Z", "ordinal": n, "type": kind, "payload": payload}
            )
            for n, (kind, payload) in enumerate([("session_meta", meta), *rows])
        ]
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        return path

    def file(self) -> TranscriptFile:
        """Return the only transcript in the folder."""
        (file,) = files.discover(self.root)
        return file


def up_to(path: Path, rows: int) -> dict[str, Any]:
    """Return the `history_base` that names the first rows of a file."""
    data = b"".join(path.read_bytes().splitlines(keepends=True)[:rows])
    rollout = (ids_in(path.name) or ("", ""))[1]
    return {"thread_id": rollout, "end_ordinal_exclusive": rows, "end_byte_offset": len(data)}
