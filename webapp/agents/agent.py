"""The contract of an agent: everything that is known of one agent program, in one value.

Each agent has a folder beside this file, and the folder's `__init__` makes the value. No other code asks which agent
a session is from. docs/add-an-agent.md walks through it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from webapp.agents.reading.readers import Position, Reader
from webapp.agents.records import TranscriptFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent program whose sessions are read from its files.

    `source` names it in the store and the API, `label` on pages. `wire_format` is the format in which it talks to its
    model. `folder` is where its files usually are and `variable` the environment variable that moves it, as people
    are told. `roots` are the folders to follow, existing or not; `discover` finds the transcripts below one of them,
    newest first. `belongs` finds those that a changed file belongs to, where it is not simply one of its folder.
    `reader` reads one of them from a stored position.
    """

    source: str
    label: str
    wire_format: str
    folder: str
    variable: str
    roots: Callable[[Mapping[str, str]], list[Path]]
    discover: Callable[[Path], Iterator[TranscriptFile]]
    reader: Callable[[TranscriptFile, Position], Reader]
    belongs: Callable[[Path], list[TranscriptFile]] | None = None

    def files_at(self, path: Path) -> list[TranscriptFile]:
        """Return the transcripts that a changed file is or belongs to."""
        if self.belongs is not None:
            return self.belongs(path)
        return [file for file in self.discover(path.parent) if file.path == path]
