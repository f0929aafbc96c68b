"""Compare numbers that must agree, over all real sessions: regions with totals, live with imported, once with twice.

The transcripts of `benchmarks.prediction` are followed as a user's own, then imported again as files, then read row by
row as they were written. Each figure is a number of sessions, and should be 0.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.prediction import root_of, sessions
from benchmarks.rows import Row
from webapp.agents.records import Problem, Record, Unknown
from webapp.config import Config
from webapp.services.session.answers import Session
from webapp.wiring import build


def run() -> list[Row]:
    """Return the numbers of sessions that disagree; [] without transcripts."""
    root = root_of()
    if not root.is_dir():
        return []
    with tempfile.TemporaryDirectory() as folder:
        places = {
            "CLAUDE_CONFIG_DIR": str(root / "claude-code"),
            "CODEX_HOME": str(root / "codex"),
            "HOME": folder,
        }
        return [*_followed(Config(db=Path(folder) / "followed.db", env=places)), *_live(Path(folder), root)]


def _followed(config: Config) -> list[Row]:
    app = build(config)
    try:
        files = app.watcher.following.discover()
        for file in files:
            app.watcher.following.read_new(file)
        known = {s.id: s for s in app.sessions.list()}
        calls = {name: _calls(app, name) for name in known}
        for file in files:
            if file.path.stat().st_size:
                app.importing.import_file(file.path.name, file.path.read_bytes())
        after = {s.id: s for s in app.sessions.list()}
        twice = [n for n, s in after.items() if n not in known or s.messages != known[n].messages]
        twice += [n for n, keys in calls.items() if len(set(keys)) < len(keys) or _calls(app, n) != keys]
        off = [n for n, s in after.items() if not _adds_up(s)]
        return [
            Row("agreement: sessions followed and imported again", len(after), "sessions"),
            Row("agreement: of them, counted twice in part or whole", len(set(twice)), "sessions", 0),
            Row("agreement: of them, with regions that miss the total", len(off), "sessions", 0),
        ]
    finally:
        app.close()


def _calls(app: Any, name: str) -> list[str]:
    return [call.call_key for call in app.store.usage.calls(app.store.sessions.get(name).key)]


def _adds_up(session: Session) -> bool:
    gauges = [gauge for gauge in (session.agent, session.pruned) if gauge is not None]
    return all(sum(region.tokens for region in gauge.regions) == gauge.tokens for gauge in gauges)


def _live(folder: Path, root: Path) -> list[Row]:
    """Return the sessions that differ between an application that reads them whole and one that reads them by row."""
    whole, live = (build(Config(db=folder / f"{name}.db")) for name in ("whole", "live"))
    try:
        differing = 0
        for n, (file, _, records) in enumerate(sessions(root)):
            plain = [r if isinstance(r, Problem | Unknown) else replace(r, stream="") for r in records]
            read = [
                _read(app, f"s{n}", file.source, batches)
                for app, batches in ((whole, [plain]), (live, [[record] for record in plain]))
            ]
            differing += read[0] != read[1]
        return [Row("agreement: sessions that differ, read live and imported", differing, "sessions", 0)]
    finally:
        whole.close()
        live.close()


def _read(app: Any, name: str, source: str, batches: list[list[Record]]) -> tuple[Any, ...]:
    app.ingest.ensure(name, source)
    for batch in batches:
        app.ingest.append_records(name, batch)
    session = app.sessions.get(name)
    said = [(c.input_tokens, c.estimated) for c in app.store.usage.calls(app.store.sessions.get(name).key)]
    return session.agent, session.pruned, session.messages, said
