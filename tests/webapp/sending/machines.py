"""A machine with an agent's transcripts that pushes them, without threads: the test says when it reads and sends."""

from __future__ import annotations

from pathlib import Path

from webapp.redaction import Redactor
from webapp.sending.backlog import Backlog
from webapp.sending.sender import Sender, SentFiles
from webapp.sending.server import TeamServer


class Machine:
    """`home` has the transcripts, `again` lists the files that are to be read once more."""

    def __init__(
        self,
        url: str,
        home: Path,
        *,
        folder: Path | None = None,
        token: str | None = None,
        user: str = "ada",
        host: str = "laptop",
        redactor: Redactor | None = None,
        watch: tuple[Path, ...] = (),
        limit: int = 1 << 30,
    ) -> None:
        self.home, self.again = home, list[Path]()
        who = {"host": host, "user": user}
        self.backlog = Backlog(folder or home / "follow")
        self.files = SentFiles(self.backlog, who, watch, {"HOME": str(home)}, redactor, limit)
        self.server = TeamServer(url, token)
        self.sender = Sender(self.server, self.backlog, self.files, who, self.again.append)

    def read(self) -> int:
        """Read the new lines of every transcript into the backlog; return the number of entries."""
        return sum(self.files.read_new(file) for file in self.files.discover())

    def send(self) -> None:
        """Send the backlog, and read again the files that the server asks for."""
        while self.sender.send_next():
            pass
        while self.again:
            for file in self.files.files_at(self.again.pop()):
                self.files.read_new(file)
            self.send()

    def push(self) -> None:
        """Read and send."""
        self.read()
        self.send()

    def end(self) -> None:
        """End the process like a kill, so that only the disk remains."""
        self.backlog.close()
