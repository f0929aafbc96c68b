"""The speed of reading transcripts: from the file's bytes to committed messages, and the tokenizer's share of it.

Speeds are by processor time, so that they can be compared on a busy machine.

Reads the real transcripts beside the project where they are there, else an invented one of the same size.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress

from benchmarks import sessions
from benchmarks.prediction import root_of
from benchmarks.rows import Row
from webapp.errors import NoSession
from webapp.tokenizers import Tokenizers


def run() -> list[Row]:
    """Return megabytes of file per second of processor time, for transcripts and one long message list."""
    rows: list[Row] = []
    root = root_of()
    files = sorted((root / "claude-code").rglob("*.jsonl")) + sorted((root / "codex").rglob("*.jsonl"))
    files = [path for path in files if path.stat().st_size]
    if files:
        pairs = [(path.name, path.read_bytes()) for path in files]
        rows.append(Row("import, real transcripts", _import(pairs), "MB/s"))
    made = json.dumps(sessions.messages(20_000)).encode()
    rows.append(Row("import, a list of 20,000 messages", _import([("made.json", made)]), "MB/s"))
    rows.append(Row("the tokenizer alone on that list", _tokenize(made), "MB/s"))
    return rows


def _import(files: list[tuple[str, bytes]]) -> float:
    with sessions.app() as app:
        start = time.process_time()
        for name, data in files:
            with suppress(NoSession):  # what an agent asked itself
                app.importing.import_file(name, data)
        return sum(len(data) for _, data in files) / (time.process_time() - start) / 1e6


def _tokenize(made: bytes) -> float:
    counter = Tokenizers().counter("o200k_base")
    texts = [m["content"] or m["tool_calls"][0]["function"]["arguments"] for m in json.loads(made)]
    counter.count("warm")
    start = time.process_time()
    for one in texts:
        counter.count(one)
    return len(made) / (time.process_time() - start) / 1e6
