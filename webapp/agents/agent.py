"""The contract of an agent: everything that is known of one agent program, in one value.

Each agent has a folder beside this file, and the folder's `__init__` makes the value. No other code asks which agent
a session is from. docs/add-an-agent.md walks through it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from webapp.agents.records import TranscriptFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent program whose sessions are read from its files.

    `source` names it in the store and the API, `label` on pages. `wire_format` is the format in which it talks to its
    model. `folder` is where its files usually are and `variable` the environment variable that moves it, as people
    are told. `roots` are the folders to follow, existing or not; `discover` finds the transcripts below one of them,
    newest first.
    """

    source: str
    label: str
    wire_format: str
    folder: str
    variable: str
    roots: Callable[[Mapping[str, str]], list[Path]]
    discover: Callable[[Path], Iterator[TranscriptFile]]
