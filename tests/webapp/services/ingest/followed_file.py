"""A transcript of Claude Code that an application follows."""

from __future__ import annotations

import json
from pathlib import Path

from webapp.app import App
from webapp.bodies import MessagesQuery
from webapp.config import Config
from webapp.wiring import build

NAME = "11111111-2222-4333-8444-555555555555"


def row(n: int, text: str = "hello") -> bytes:
    """Return a line of a Claude Code transcript."""
    return json.dumps(
        {
            "type": "user", "uuid": f"u{n}", "parentUuid": f"u{n - 1}" if n else None, "sessionId": NAME,
            "timestamp": "2026-01-31T12:00:00Z", "message": {"role": "user", "content": f"{text} {n}"},
        },
        separators=(",", ":"),
    ).encode() + b"\n"  # fmt: skip


class Place:
    """A home directory with one transcript, and an application that follows it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.file = home / ".claude" / "projects" / "-src" / f"{NAME}.jsonl"
        self.file.parent.mkdir(parents=True)
        self.app: App = self.open()

    def open(self) -> App:
        """Return an application over the same store."""
        return build(Config(db=self.home / "a.db", tokenizer=False, env={"HOME": str(self.home)}))

    def write(self, *lines: bytes) -> None:
        """Append lines to the transcript."""
        with self.file.open("ab") as out:
            out.write(b"".join(lines))

    def look(self, app: App | None = None) -> int:
        """Read every file once; return the number of new messages."""
        following = (app or self.app).watcher.following
        return sum(following.read_new(file) for file in following.discover())

    def texts(self, session: str = NAME) -> list[str]:
        """Return the texts of a session, oldest first; none before it exists."""
        if self.app.store.sessions.find(session) is None:
            return []
        return [m.text for m in self.app.messages.page(session, MessagesQuery(sort="oldest")).messages]
