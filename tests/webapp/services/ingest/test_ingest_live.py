"""The same transcript, followed row by row and imported as a whole."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.prediction import sessions
from tests.shared import shared_data
from webapp.agents.records import Entry, Record, TranscriptFile
from webapp.app import App
from webapp.config import Config
from webapp.wiring import build

FILES = sessions(shared_data("transcripts"))


def read(app: App, records: list[Record], source: str, name: str, at_once: bool) -> dict[str, Any]:
    """Return the numbers of a session appended at once or record by record."""
    app.ingest.ensure(name, source)
    plain = [replace(r, stream="") if isinstance(r, Entry) else r for r in records]
    for part in [plain] if at_once else [[record] for record in plain]:
        app.ingest.append_records(name, part)
    session = app.sessions.get(name)
    calls = app.store.usage.calls(app.store.sessions.get(name).key)
    return {
        "agent": session.agent, "pruned": session.pruned, "messages": session.messages,
        "turns": session.turns, "calls": [call._replace(seq=0) for call in calls], "trend": session.trend,
        "points": [(one.number, one.agent, one.regions) for one in app.timelines.of(name).points],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("file", "stream", "records"), FILES, ids=[f"{f.path.stem[:18]}{s}" for f, s, _ in FILES]
)
class TestRealSessions:
    """Every conversation of the shared transcripts."""

    def test_read_live_and_imported_give_the_same_numbers(
        self,
        app: App,
        config: Config,
        tmp_path: Path,
        file: TranscriptFile,
        stream: str,
        records: list[Record],
    ) -> None:  # X11, X12
        """Gauges, regions, turns and predictions are equal, and regions add up to the total."""
        whole = read(app, records, file.source, "s", at_once=True)
        other = build(replace(config, db=tmp_path / "live.db"))
        try:
            live = read(other, records, file.source, "s", at_once=False)
        finally:
            other.close()
        assert whole == live
        for gauge in (whole["agent"], whole["pruned"]):
            assert sum(region.tokens for region in gauge.regions) == gauge.tokens
