"""Reads rollouts and the names of their sessions, and finds the rollouts that a changed file is about."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from webapp.agents.codex.decoder import Decoder
from webapp.agents.codex.files import discover, rollouts_of, roots_beside
from webapp.agents.codex.names import INDEX, name_of, names_in
from webapp.agents.reading.readers import Chunk, LineReader, Position
from webapp.agents.records import Meta, TranscriptFile

# A change of the index can be about so many sessions at most, those named last.
NAMED_LAST = 8


class Reader:
    """Reads a rollout, and the name of its session. The position has the name that was read last."""

    def __init__(self, file: TranscriptFile, position: Position) -> None:
        self._file, self._position = file, position
        self._lines = LineReader(file, position, Decoder)

    def read(self) -> Iterator[Chunk]:
        """Yield the records of the new lines, and then the name if it is another one now."""
        said = self._position.get("name")
        for chunk in self._lines.read():
            said = None if chunk.restarted else said
            yield self._at(chunk, said)
        name = name_of(self._file.path, self._file.session_id)
        if name is not None and name != said and self._position:
            yield self._at(Chunk([Meta(title=name)], self._position), name)

    def _at(self, chunk: Chunk, name: str | None) -> Chunk:
        self._position = chunk.position if name is None else {**chunk.position, "name": name}
        return Chunk(chunk.records, self._position, chunk.restarted, chunk.unreadable)


def transcripts_of(path: Path, root: Path) -> list[TranscriptFile]:
    """Return the rollout that a changed file is; for the index, those of the sessions named last."""
    if path.name != INDEX or path != root:
        return list(discover(path))
    named = set(list(names_in(path))[-NAMED_LAST:])
    return [file for folder in roots_beside(path.parent) for file in rollouts_of(folder, named)]
