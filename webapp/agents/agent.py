"""The contract of an agent: everything that is known of one agent program, in one value.

Each agent has a folder beside this file, and the folder's `__init__` makes the value. No other code asks which agent
a session is from. docs/add-an-agent.md walks through it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Protocol

from webapp.agents.reading.readers import Position, Reader
from webapp.agents.reading.text import Content
from webapp.agents.records import Origin, Record, TranscriptFile
from webapp.agents.unwritten import Unwritten
from webapp.agents.view import Transcript, View, ViewRow


class Decode(Protocol):
    """Decodes the whole content of a file."""

    def __call__(self, content: Content, file: TranscriptFile | None = None) -> Iterator[Record]:
        """Yield what the content says."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FileImport:
    """The import of single files of an agent.

    `likeness` says how surely a row of JSON is the agent's: 2 by a sign of its own, 1 by one that others have too, 0
    not. `is_document` is asked of an object that is a whole file, `begins` of the first bytes of one that is too long
    to be parsed. `origin` tells whose a file is, from its path, its first bytes and, where it lies at that path on
    this machine, what lies beside it. `decode` yields what its content says, of the
    file that is named where that is known.
    """

    likeness: Callable[[dict[str, Any]], int]
    origin: Callable[[PurePath, bytes, bool], Origin]
    decode: Decode
    is_document: Callable[[dict[str, Any]], bool] | None = None
    begins: Callable[[bytes], bool] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Archives:
    """The import of databases and trees of files, which hold many sessions.

    `find` returns those at or below a path, `sessions` what one of them holds, `read` all that a session says.
    """

    find: Callable[[Path], list[Path]]
    sessions: Callable[[Path], Iterator[TranscriptFile]]
    read: Callable[[TranscriptFile], Iterator[Record]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcripts:
    """The making of new transcripts, for the agent to resume from.

    `write` makes one, and raises `Conflict` with the reason where it cannot. `folder` returns where the agent looks for
    it, given the agent's roots; an agent that looks in no folder has `takes_in` instead, its command that makes a
    session of such a file. `command` returns the agent's command that resumes a session, by its id. `keeps_thinking`
    says that thoughts may follow a history from which something was taken; the models of most agents refuse that.
    `cwd_of` returns the working directory of a session by its file, where its rows do not say it.
    """

    write: Callable[[View], Transcript]
    command: Callable[[str], list[str]]
    folder: Callable[[View, Sequence[Path]], Path] | None = None
    takes_in: Callable[[Path], list[str]] | None = None
    keeps_thinking: bool = False
    cwd_of: Callable[[Path], str | None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """A way into an agent's own process or configuration: one file of its own that holds a part of ours.

    `use` says in a sentence what it does for the user. `file` returns its path. `put` returns its text with our part
    in it, given how this program is started; `take` the text without it, None where nothing is left. `has` returns
    which of our `parts` are in a text. Those three raise `Malformed` where the text is not of a shape that is known.
    """

    use: str
    parts: Sequence[str]
    file: Callable[[Mapping[str, str]], Path]
    put: Callable[[str | None, str], str]
    take: Callable[[str], str | None]
    has: Callable[[str], list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clears:
    """An agent's habit of replacing old outputs of `tools` by `text`, all but the newest `kept`."""

    tools: frozenset[str]
    kept: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent program whose sessions are read from its files.

    `source` names it in the store and the API, `label` on pages. `wire_format` is the format in which it talks to its
    model. `folder` is where its files usually are and `variable` the environment variable that moves it, as people
    read it. `roots` are the folders to follow, existing or not; `discover` finds the transcripts below one of them,
    newest first. `belongs` finds those that a changed file belongs to, where it is not simply one of its folder.
    `reader` reads one of them from a stored position. `clears` is its habit of taking outputs out of its context
    without recording it.

    `legacy`: it is read for the sessions that people have of it, and marked so. A part that an agent lacks is None.
    `files` and `archives` import what it wrote, `transcripts` writes a pruned view in its format, or
    `why_no_transcripts` says why it is not written; `door` is how it is reached;
    `session_variable` is the environment variable by which what it starts knows its session. `edit_key` returns the
    key under which the agent's own process knows a row's message. `window_of_compaction` derives the window from the
    tokens at which the agent compacted by itself, None where they imply none; `usual_window` is the window that the
    agent starts with by default, even where its model could take more, `usual_model` the one by which a session
    counts until it names its own. `unwritten` follows what the agent sends without writing it.
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
    files: FileImport | None = None
    archives: Archives | None = None
    transcripts: Transcripts | None = None
    why_no_transcripts: str = ""
    door: Door | None = None
    session_variable: str = ""
    edit_key: Callable[[ViewRow], str | None] | None = None
    window_of_compaction: Callable[[int], int | None] | None = None
    usual_window: int | None = None
    usual_model: str | None = None
    clears: Clears | None = None
    unwritten: type[Unwritten] = Unwritten
    legacy: bool = False

    def files_at(self, path: Path) -> list[TranscriptFile]:
        """Return the transcripts that a changed file is or belongs to."""
        if self.belongs is not None:
            return self.belongs(path)
        return [file for file in self.discover(path.parent) if file.path == path]
