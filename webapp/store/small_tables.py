"""Small tables of the application itself: settings, model overrides, room revisions, read positions, answers."""

from __future__ import annotations

from typing import Any

import orjson

from webapp.store.engine import Subject
from webapp.store.keys import refuse_long
from webapp.store.sql import upsert


class SmallTables(Subject):
    """Named JSON values."""

    # -- settings and models

    def setting(self, name: str) -> Any:
        """Return a setting; None if it is not set or its value is damaged."""
        return _read(self._db.value("SELECT value FROM settings WHERE name = ?", (name,)))

    def fields(self, name: str) -> dict[str, Any]:
        """Return a setting that is an object; an empty one if it is not set or its value is damaged."""
        found = self.setting(name)
        return found if isinstance(found, dict) else {}

    def locked_fields(self, name: str) -> dict[str, Any]:
        """Return a setting that is an object, which no other transaction changes until the end of the caller's."""
        sql = (
            "INSERT INTO settings (name, value) VALUES (?, '{}') "
            "ON CONFLICT (name) DO UPDATE SET value = settings.value"
        )
        self._db.run(sql, (name,))
        return self.fields(name)

    def put_setting(self, name: str, value: Any) -> None:
        """Store a setting; None removes it."""
        self._put("settings", name, value)

    def model_overrides(self) -> dict[str, Any]:
        """Return the user's limits by model name."""
        rows = self._db.rows("SELECT name, value FROM model_overrides ORDER BY name")
        return {name: value for name, text in rows if isinstance(value := _read(text), dict)}

    def damaged(self) -> list[str]:
        """Return the names of settings and overrides whose value is damaged; they are left out."""
        rows = self._db.rows(
            "SELECT name, value FROM settings UNION ALL SELECT name, value FROM model_overrides"
        )
        return [name for name, text in rows if not isinstance(_read(text), dict | list | str | int | float)]

    def put_model_override(self, name: str, value: Any) -> bool:
        """Store an override; None removes it. Return False if there was none to remove."""
        return self._put("model_overrides", name, value)

    def _put(self, table: str, name: str, value: Any) -> bool:
        """Store a value under a name, or remove it; return False if there was none to remove."""
        if value is None:
            return self._db.run(f"DELETE FROM {table} WHERE name = ?", (name,)) > 0
        self._db.run(upsert(table, ("name", "value"), keys=1), (name, orjson.dumps(value).decode()))
        return True

    # -- revisions

    def revision(self, room: str) -> int:
        """Return the last revision used in a room."""
        return int(self._db.value("SELECT revision FROM revisions WHERE room = ?", (room,)) or 0)

    def put_revision(self, room: str, revision: int) -> None:
        """Store a room's revision if it is larger than the stored one."""
        sql = (
            "INSERT INTO revisions (room, revision) VALUES (?, ?) ON CONFLICT (room) DO UPDATE "
            "SET revision = excluded.revision WHERE excluded.revision > revisions.revision"
        )
        self._db.run(sql, (room, revision))

    # -- followed files

    def file(self, path: str) -> tuple[str | None, Any] | None:
        """Return (session id, read position) of a followed file."""
        row = self._db.row("SELECT session_id, position FROM files WHERE path = ?", (path,))
        return (row[0], orjson.loads(row[1])) if row else None

    def put_file(self, path: str, session_id: str | None, position: Any, at: int) -> None:
        """Store the read position of a file. Raises Invalid for a path that is too long."""
        refuse_long(path, "the path of a followed file")
        text = orjson.dumps(position).decode()
        sql = upsert("files", ("path", "session_id", "position", "looked_at"), keys=1)
        self._db.run(sql, (path, session_id, text, at))

    def looked_at(self) -> dict[str, int]:
        """Return when a file of each session was last read further, in ms by the server's own clock."""
        sql = "SELECT session_id, MAX(looked_at) FROM files WHERE session_id IS NOT NULL GROUP BY session_id"
        return dict(self._db.rows(sql))

    # -- answers to repeated requests

    def answer(self, session: int, name: str) -> tuple[bytes, Any] | None:
        """Return (digest of the request, answer) given under an idempotency key."""
        row = self._db.row(
            "SELECT digest, answer FROM idempotency WHERE session = ? AND name = ?", (session, name)
        )
        return (row[0], orjson.loads(row[1])) if row else None

    def put_answer(self, session: int, name: str, digest: bytes, answer: Any, at: int) -> None:
        """Store an answer; only the newest 200 of a session are kept."""
        values = (session, name, digest, orjson.dumps(answer).decode(), at)
        self._db.run(upsert("idempotency", ("session", "name", "digest", "answer", "at"), keys=2), values)
        self._db.run(
            "DELETE FROM idempotency WHERE session = ? AND name NOT IN "
            "(SELECT name FROM idempotency WHERE session = ? ORDER BY at DESC LIMIT 200)",
            (session, session),
        )


def _read(text: Any) -> Any:
    """Return the value of JSON text; None if it is invalid, so that one bad value does not break the others."""
    try:
        return None if text is None else orjson.loads(text)
    except (ValueError, TypeError):
        return None
