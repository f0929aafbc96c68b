"""OpenCode's sessions in its layouts, as its tests write them."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

from tests.webapp.agents.samples import SAMPLES

TREE = SAMPLES / "opencode" / "opencode"


def copied(tmp_path: Path) -> Path:
    """Copy the sample tree to a folder; return the copy."""
    root = tmp_path / "opencode"
    shutil.copytree(TREE, root)
    return root


def as_projects(root: Path) -> Path:
    """Copy the sample tree into the layout of versions until 0.5: a tree for each project; return the data folder."""
    below = root / "project" / "garden" / "storage" / "session"
    for file in sorted((TREE / "storage").rglob("*.json")):
        row = json.loads(file.read_bytes())
        kind = file.parent.parent.name
        if kind == "session":
            del row["directory"]
            place = below / "info"
        elif kind == "message":
            place = below / "message" / file.parent.name
            row |= {"path": {"cwd": "/garden", "root": "/"}} if row["role"] == "assistant" else {}
        else:
            place = below / "part" / row["sessionID"] / file.parent.name
        place.mkdir(parents=True, exist_ok=True)
        (place / file.name).write_text(json.dumps(row))
    return root


def as_database(root: Path) -> Path:
    """Copy the sample tree into a database of the newer layout, in WAL mode like the agent's."""
    path = root / "opencode.db"
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode=WAL")
    times = "time_created INT, time_updated INT"
    db.execute(
        f"CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, title TEXT, version TEXT, {times})"
    )
    db.execute(f"CREATE TABLE message (id TEXT, session_id TEXT, {times}, data TEXT)")
    db.execute(f"CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, {times}, data TEXT)")
    for file in sorted((TREE / "storage").rglob("*.json")):
        row = json.loads(file.read_bytes())
        if file.parent.parent.name == "session":
            about = [row["id"], row.get("parentID"), row["directory"], row["title"], "1.2.0"]
            values = [*about, 1, row["time"]["updated"]]
            db.execute("INSERT INTO session VALUES (?,?,?,?,?,?,?)", values)
        elif file.parent.parent.name == "message":
            at = row["time"]["created"]
            db.execute(
                "INSERT INTO message VALUES (?,?,?,?,?)", [row.pop("id"), "ses_1", at, at, json.dumps(row)]
            )
        else:
            ids = [row.pop("id"), row.pop("messageID"), row.pop("sessionID")]
            db.execute("INSERT INTO part VALUES (?,?,?,?,?,?)", [*ids, 1, 1, json.dumps(row)])
    db.commit()
    db.close()
    return path
