"""Following files: what came since the last look, once, across restarts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.webapp.building import heard
from webapp.config import Config
from webapp.errors import BusyStore
from webapp.events import ProblemReported
from webapp.services.following import Following
from webapp.wiring import App, build

NAME = "11111111-2222-4333-8444-555555555555"


def row(n: int, text: str = "hello") -> bytes:
    """A line of a Claude Code transcript."""
    return json.dumps(
        {
            "type": "user", "uuid": f"u{n}", "parentUuid": f"u{n - 1}" if n else None, "sessionId": NAME,
            "timestamp": "2026-01-31T12:00:00Z", "message": {"role": "user", "content": f"{text} {n}"},
        },
        separators=(",", ":"),
    ).encode() + b"\n"  # fmt: skip


class Place:
    """A home with one transcript, and an application that follows it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.file = home / ".claude" / "projects" / "-src" / f"{NAME}.jsonl"
        self.file.parent.mkdir(parents=True)
        self.app: App = self.open()

    def open(self) -> App:
        """An application over the same store."""
        return build(Config(db=self.home / "a.db", tokenizer=False, env={"HOME": str(self.home)}))

    def write(self, *lines: bytes) -> None:
        """Appends to the transcript."""
        with self.file.open("ab") as out:
            out.write(b"".join(lines))

    def look(self, app: App | None = None) -> int:
        """Looks at every file once; how many messages came."""
        following = (app or self.app).following.following
        return sum(following.look(file) for file in following.discover())

    def texts(self) -> list[str]:
        """What the session says, oldest first."""
        return [m["text"] for m in self.app.messages.page(NAME, sort="oldest")["messages"]]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A home of its own."""
    made = Place(tmp_path)
    yield made
    made.app.close()


class TestFollowing:
    """One file."""

    def test_brings_in_what_came_since_the_last_look(self, place: Place) -> None:  # X12
        """Each line once; half a line is not yet a line."""
        place.write(row(0), row(1)[:20])
        assert place.look() == 1
        place.write(row(1)[20:], row(2))
        assert place.look() == 2
        assert place.look() == 0
        assert place.texts() == ["hello 0", "hello 1", "hello 2"]

    def test_goes_on_after_a_restart(self, place: Place) -> None:  # X12
        """Where it was; an unchanged file is not even opened."""
        place.write(row(0), row(1))
        place.look()
        place.app.close()
        place.app = place.open()
        assert place.look() == 0
        place.write(row(2))
        assert place.look() == 1
        assert place.app.sessions.get(NAME)["messages"] == 3
        assert place.app.operations.list(NAME) == []

    def test_survives_a_file_that_was_cut_off_or_replaced(self, place: Place) -> None:
        """Nothing already stored changes, what is new comes in."""
        place.write(row(0), row(1))
        place.look()
        place.file.write_bytes(row(0))
        place.look()
        place.write(row(7))
        place.look()
        assert place.texts() == ["hello 0", "hello 1", "hello 7"]
        assert list(place.app.verify()) == []

    def test_counts_bad_lines_once(self, place: Place) -> None:
        """With their numbers, and uses the others."""
        place.write(row(0), b"{broken\n", row(1))
        place.look()
        place.look()
        session = place.app.sessions.get(NAME)
        assert (session["malformed"], session["messages"]) == (1, 2)
        assert session["notes"][0].startswith("line 2: ")

    def test_leaves_a_deleted_session_alone(self, place: Place) -> None:
        """However its file grows, and after a restart."""
        place.write(row(0))
        place.look()
        place.app.sessions.delete(NAME)
        place.write(row(1))
        assert place.look() == 0
        assert place.app.sessions.list() == []

    def test_never_writes_to_the_agents_files(self, place: Place) -> None:  # X12
        """Not a byte, not a time, not a file beside it."""
        place.write(row(0), row(1))
        before = place.file.stat()
        place.look()
        place.app.sessions.get(NAME)
        after = place.file.stat()
        assert (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size)
        assert [p.name for p in place.file.parent.iterdir()] == [place.file.name]

    def test_finds_folders_that_were_named(self, place: Place, tmp_path: Path) -> None:
        """Besides the usual ones."""
        extra = tmp_path / "elsewhere"
        extra.mkdir()
        (extra / f"{NAME}.jsonl").write_bytes(row(0))
        following = Following(place.app.desk, place.app.ingest, (extra,), {"HOME": str(tmp_path / "none")})
        assert [f.path.parent for f in following.discover()] == [extra]
        assert following.file_at(extra / f"{NAME}.jsonl") is not None
        assert following.file_at(tmp_path / "other.jsonl") is None

    def test_reports_a_file_that_fails(self, place: Place) -> None:
        """On the session it belongs to."""
        place.write(row(0))
        place.look()
        events: list[Any] = heard(place.app)
        following = place.app.following.following
        following.failed(following.discover()[0], BusyStore("busy"))
        assert events == [ProblemReported(NAME, f"{NAME}.jsonl could not be read: busy")]
