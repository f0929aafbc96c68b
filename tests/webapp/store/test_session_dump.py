"""A dump is all of a session."""

from __future__ import annotations

from pathlib import Path

import orjson

from tests.webapp.building import conversation, followed, user
from webapp.app import App
from webapp.bodies import PruneBody
from webapp.store import Store


class TestDump:
    """Rows out and in."""

    def test_loads_to_the_same_rows(self, app: App, tmp_path: Path) -> None:  # S1
        """A loaded session dumps to the same records."""
        followed(app, *conversation(6), user("end"))
        app.prunes.apply("s", PruneBody(max_tokens=400))
        records = list(app.store.dump.records(app.store.sessions.get("s")))
        head, rows = records[0], orjson.loads(orjson.dumps(records[1:]))
        other = Store(tmp_path / "other.db")
        with other.write():
            columns = {k: v for k, v in head.items() if k not in ("type", "last_entry_id") and v is not None}
            row = other.sessions.create(**columns)
            other.dump.load(row.key, rows)
        assert list(other.dump.records(other.sessions.get("s")))[1:] == records[1:]
        other.close()
