"""A substitute for `opencode import`: a file becomes rows of the database, and known ids are unchanged."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path


def fake_import(file: Path, folder: Path) -> Path:
    """Put a file's session into the database in a folder, created if missing; return the database."""
    said = json.loads(file.read_bytes())
    info, times = said["info"], "time_created INT, time_updated INT"
    path = folder / "opencode.db"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(
            "CREATE TABLE IF NOT EXISTS session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, "
            f"title TEXT, version TEXT, permission TEXT, {times})"
        )
        for table, more in [("message", ""), ("part", "message_id TEXT, ")]:
            columns = f"id TEXT PRIMARY KEY, {more}session_id TEXT, {times}, data TEXT"
            db.execute(f"CREATE TABLE IF NOT EXISTS {table} ({columns})")
        about = [info["id"], info["projectID"], info["directory"], info["title"], info["version"]]
        about.append(json.dumps(info["permission"]) if "permission" in info else None)
        db.execute(
            "INSERT INTO session VALUES (?, ?, NULL, ?, ?, ?, ?, ?, ?)", [*about, *info["time"].values()]
        )
        for message in said["messages"]:
            row, at = message["info"], message["info"]["time"]["created"]
            ids = [row.pop("id"), row.pop("sessionID")]
            db.execute(
                "INSERT OR IGNORE INTO message VALUES (?, ?, ?, ?, ?)", [*ids, at, at, json.dumps(row)]
            )
            for part in message["parts"]:
                ids = [part.pop("id"), part.pop("messageID"), part.pop("sessionID")]
                db.execute(
                    "INSERT OR IGNORE INTO part VALUES (?, ?, ?, ?, ?, ?)", [*ids, at, at, json.dumps(part)]
                )
    return path
