"""Imports of broken files, made by mutating real ones: `python -m tests.fuzzing SECONDS`.

An import must return messages and problems, or raise one of our own errors. It must not raise another exception, leave
a store that `verify` rejects, or change other sessions.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scoring.errors import ScoringError
from tests.odd_values import VALUES
from tests.shared import samples
from webapp.app import App
from webapp.config import Config
from webapp.errors import CoppiceError, StoreError
from webapp.wiring import build

LARGEST = 200_000
ODD: tuple[Any, ...] = (
    *VALUES, 0, 1.5, 1e300, float("inf"), -(2**63), 2**60, " ", "\0", "user", "tool",
    "2026-13-45", "0001-01-01T00:00:00", "9999-12-31T23:59:59Z",
    [[]], [{}], ["a", 1, {"b": [None]}], {"": ""}, {"type": []}, {"type": "text", "text": 5},
    {"type": "tool_use", "id": None}, {"type": "tool_result", "content": [{"type": "image", "source": {}}]},
    {"input_tokens": -5, "output_tokens": "x"}, {"input_tokens": 2**60},
)  # fmt: skip
GARBAGE = (
    b"\x00" * 40, b"\xff\xfe{", b"{}", b"[]", b"null", b"5", b'"x"', b"{broken", b"[" * 2_000, b'{"a":' * 400,
    b'{"type":"user","message":{"role":"user","content":5}}', b'{"type":"assistant","message":7,"uuid":{}}',
    b'{"role":"user","content":[[]]}', b'{"type":"event_msg","payload":[]}', b'{"$set":5}', b'{"$rewindTo":[]}',
    b'{"timestamp":1e400,"type":"user","uuid":"x","message":{"content":"\\ud800"}}', b"NaN", b"\xe9" * 20,
    b'{"type":"system","subtype":"compact_boundary","uuid":"u","compactMetadata":{"preTokens":-1}}', b"\r", b",",
)  # fmt: skip


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Return the bytes, broken in one to four ways."""
    for _ in range(rng.randint(1, 4)):
        data = rng.choice(
            (_cut, _flipped, _shuffled, _mixed, _spliced, _replaced, _retyped, _retyped, _retyped)
        )(data, rng)
    return data


def _cut(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] if rng.random() < 0.8 else data[at:]


def _flipped(data: bytes, rng: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(rng.randint(1, 30) if out else 0):
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def _shuffled(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    for _ in range(rng.randint(1, 6)):
        a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
        if rng.random() < 0.5:
            lines[a], lines[b] = lines[b], lines[a]
        else:
            lines.insert(a, lines[b])
    return b"\n".join(lines)


def _mixed(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    for _ in range(rng.randint(1, 5)):
        lines.insert(rng.randrange(len(lines) + 1), rng.choice(GARBAGE))
    return b"\n".join(lines)


def _spliced(data: bytes, rng: random.Random) -> bytes:
    a, b = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return data[:a] + rng.choice(GARBAGE) + data[b:] if rng.random() < 0.5 else data[:b] + data[a:]


def _replaced(data: bytes, rng: random.Random) -> bytes:
    """Return the bytes with a few pieces of syntax replaced by others."""
    old, new = (
        rng.choice((b'"', b"[", b"{", b"null", b"true", b"1", b":", b",", b'"user"', b'"id"')) for _ in "ab"
    )
    return (
        data.replace(old, new, rng.randint(1, 3))
        if rng.random() < 0.5
        else data[::-1].replace(old, new, 2)[::-1]
    )


def _retyped(data: bytes, rng: random.Random) -> bytes:
    """Return the JSON, still valid, with a few values replaced by others of any kind."""
    lines = data.split(b"\n")
    whole = data[:1] == b"[" or len(lines) < 2 or not _parsed(lines[0])
    pieces = [data] if whole else lines
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(pieces))
        value = _parsed(pieces[at])
        if isinstance(value, dict | list) and value:
            _retype(value, rng)
            pieces[at] = json.dumps(value).encode()
    return b"\n".join(pieces)


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _retype(value: Any, rng: random.Random) -> None:
    """Replace or delete one value at a random place below `value`."""
    while True:
        key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
        inner = value[key]
        if isinstance(inner, dict | list) and inner and rng.random() < 0.8:
            value = inner
            continue
        if rng.random() < 0.1 and isinstance(value, dict):
            del value[key]
        else:
            value[key] = rng.choice(ODD)
        return


def trial(app: App, path: Path, rng: random.Random) -> str | None:
    """Import one broken file; return the fault that it revealed, or None."""
    data = path.read_bytes()
    if len(data) > LARGEST:
        at = rng.randrange(len(data) - LARGEST)
        data = data[at : at + LARGEST]
    data = mutated(data, rng)
    if rng.random() < 0.05:
        data = data.decode("utf-8", "replace").encode(rng.choice(("utf-16", "utf-32", "utf-16-le")))
    before = _stored(app)
    named: set[str] = set()
    try:
        name = str(path) if rng.random() < 0.5 else path.name
        answer = app.importing.import_file(name, data)
        named = {one.session_id for one in answer}
        app.sessions.list()
    except StoreError as error:
        return f"{type(error).__name__}: {error}"
    except (CoppiceError, ScoringError) as error:
        if not str(error).strip():
            return f"{type(error).__name__} without a message"
    except Exception as error:  # noqa: BLE001  # what this is for
        where = traceback.extract_tb(error.__traceback__)[-3:]
        frames = ", ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in where)
        return f"{type(error).__name__}: {error} ({frames})"
    after = _stored(app)
    for session_id, log in before.items():
        own = any(session_id == name or session_id.startswith(f"{name}.") for name in named)
        if after.get(session_id, ())[: len(log)] != log or (not own and after[session_id] != log):
            return f"what was stored of {session_id} changed"
    return None


def _stored(app: App) -> dict[str, tuple[Any, ...]]:
    """Return the ids of the entries of every session."""
    found: dict[str, tuple[Any, ...]] = {}
    for row in app.store.sessions.all():
        found[row.id] = tuple(entry.id for entry in app.store.log.entries(row.key, 0, row.next_seq))
    return found


def rounds(folder: Path, seed: int) -> Iterator[tuple[str, str | None]]:
    """Yield (name, fault or None) of each trial, without end. Forty trials share a store."""
    files, number = samples(), 0
    while True:
        rng = random.Random(f"{seed}-{number}")
        app = build(Config(db=folder / f"{seed}-{number}.db", tokenizer=False, follow=False, env={}))
        for n in range(40):
            path = rng.choice(files)
            which = f"seed {seed}, store {number}, trial {n}, {path.name}"
            fault = trial(app, path, rng)
            yield which, fault
            if fault is not None:
                break
        yield f"seed {seed}, store {number}", next(app.verify(), None)
        app.close()
        (folder / f"{seed}-{number}.db").unlink()
        number += 1


def main(seconds: float, seed: int) -> int:
    """Run trials for `seconds` and print the faults; return 1 if there were any."""
    end, count, faults = time.monotonic() + seconds, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for which, fault in rounds(Path(folder), seed):
            count += 1
            if fault is not None:
                faults += 1
                sys.stdout.write(f"{which}: {fault}\n")
            if time.monotonic() > end:
                break
    sys.stdout.write(f"{count} trials, {faults} faults\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1))
