"""The contract of an agent: everything known about one agent program, in one value.

Each agent has a folder beside this file, and the folder's `__init__` defines the value. No other code asks which agent
a session is from. docs/add-an-agent.md explains how to add one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Protocol

from scoring.models import ModelLimits
from webapp.agents.reading.content import Content
from webapp.agents.reading.readers import Position, Reader
from webapp.agents.records import Origin, Record, TranscriptFile
from webapp.agents.unwritten import Unwritten
from webapp.agents.view import Transcript, View, ViewRow


class Decode(Protocol):
    """Decodes the whole content of a file."""

    def __call__(self, content: Content, file: TranscriptFile | None = None) -> Iterator[Record]:
        """Yield the records of the content."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FileImport:
    """The import of single files of an agent."""

    match_score: Callable[[dict[str, Any]], int]
    """Return how surely a row of JSON is the agent's: 2 by a field of it alone, 1 by a shared one, 0 without any."""
    origin: Callable[[PurePath, bytes, bool], Origin]
    """Return the session of a file: from its path, its first bytes and, if it is at that path here, files beside it."""
    decode: Decode
    """Yield the records of the content, given the file if it is known."""
    is_document: Callable[[dict[str, Any]], bool] | None = None
    """Return whether an object is a whole file."""
    begins: Callable[[bytes], bool] | None = None
    """Return whether these are the first bytes of a file, for one that is too long to be parsed."""
    replaced: Callable[[Collection[PurePath]], set[PurePath]] | None = None
    """Return those files of a folder that are not imported, because other files in it continue them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Archives:
    """The import of databases and trees of files, which hold many sessions.

    `find` returns those at or below a path, `sessions` the sessions in one of them, `read` the records of a session.
    """

    find: Callable[[Path], list[Path]]
    sessions: Callable[[Path], Iterator[TranscriptFile]]
    read: Callable[[TranscriptFile], Iterator[Record]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcripts:
    """Writes new transcripts, for the agent to resume from."""

    write: Callable[[View], Transcript]
    """Return a new transcript. Raises `Conflict` with the reason if it cannot be written."""
    command: Callable[[str], list[str]]
    """Return the agent's command that resumes a session, by its id."""
    folder: Callable[[View, Sequence[Path]], Path] | None = None
    """Return the folder in which the agent looks for the file, given the agent's roots."""
    import_command: Callable[[Path], list[str]] | None = None
    """Return the agent's command that imports the file, for an agent without such a folder."""
    keeps_thinking: bool = False
    """The agent's models accept thoughts after a history from which messages were removed; most refuse them."""
    cwd_of: Callable[[Path], str | None] | None = None
    """Return the working directory of a session by its file; for sessions whose rows do not name it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Integration:
    """A file of an agent's configuration or extensions to which we add a part of ours.

    `add`, `remove` and `installed_parts` raise `Malformed` if the text has an unknown structure.
    """

    use: str
    """The benefit for the user, in a sentence."""
    parts: Sequence[str]
    file: Callable[[Mapping[str, str]], Path]
    """Return the path of the file."""
    add: Callable[[str | None, str], str]
    """Return the text with our part added, given the command that starts this program."""
    remove: Callable[[str], str | None]
    """Return the text without our part; None if nothing is left."""
    installed_parts: Callable[[str], list[str]]
    """Return those of our `parts` that are in a text."""
    has_hooks: bool = False
    """The part has the agent run `coppice hook`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallHeaders:
    """The headers, in lower case, by which an agent's calls name their session, and the sub-agent in it.

    If sub-agents have sessions with ids of their own, `thread` names the session of a call, which is `session` unless a
    sub-agent calls, and `parent` the one that started it.
    `user_id` is the form of a user id in a call's metadata that names the session, which is its first group.
    `side` is found in the client's metadata in calls for a title and the like, which have a session id of their own.
    """

    session: str
    subagent: str = ""
    thread: str = ""
    parent: str = ""
    user_id: re.Pattern[str] | None = None
    side: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearingHabit:
    """An agent's habit of replacing old outputs of `tools` by `text`, all but the newest `kept`."""

    tools: frozenset[str]
    kept: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredWindows:
    """The windows that the user's configuration of an agent gives to models, such as local ones."""

    place: str
    """The place of these settings, as pages name it."""
    read: Callable[[Mapping[str, str], str | None], Iterable[tuple[str, int]]]
    """Yield models, named as in sessions, with their windows, given the environment and a session's folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent program whose sessions are read from its files."""

    source: str
    """Its name in the store and the API."""
    label: str
    """Its name on pages."""
    wire_format: str
    """The format of its calls to its model."""
    variable: str
    """The environment variable that moves the folder of its files."""
    roots: Callable[[Mapping[str, str]], list[Path]]
    """Return the folders and single files to follow, existing or not."""
    discover: Callable[[Path], Iterator[TranscriptFile]]
    """Yield the transcripts below one of these folders, newest first, or those of a single file."""
    reader: Callable[[TranscriptFile, Position], Reader]
    """Return a reader of a transcript from a stored position."""
    transcripts_of: Callable[[Path, Path], list[TranscriptFile]] | None = None
    """Return the transcripts that a changed file, at or below a root, belongs to. Without it each file is one."""
    endings: tuple[str, ...] = (".jsonl",)
    """The ends of the names of files that are watched for changes."""
    files: FileImport | None = None
    """The import of single files that it wrote."""
    archives: Archives | None = None
    """The import of its databases and trees of files."""
    transcripts: Transcripts | None = None
    """The writing of a pruned view in its format."""
    integration: Integration | None = None
    """Our addition to its configuration or extensions."""
    session_variable: str = ""
    """The environment variable that tells the programs it starts the id of its session."""
    call_headers: CallHeaders | None = None
    """The headers that name the session in its calls to a provider."""
    edit_key: Callable[[ViewRow], str | None] | None = None
    """Return the key that identifies a row's message in the agent's own process."""
    window_of_compaction: Callable[[int], int | None] | None = None
    """Return the window by the tokens at which it compacted by itself; None if they imply none."""
    usual_window: Callable[[ModelLimits, str, bool], int | None] | None = None
    """Return its default window with a model, given its version and whether its calls go through a proxy; None if it
    is the model's own window."""
    declared_windows: DeclaredWindows | None = None
    """The windows that the user sets for models, of an agent whose sessions do not say the window."""
    usual_model: str | None = None
    """The model used for counting until a session names its own."""
    clears: ClearingHabit | None = None
    """Its habit of removing outputs from its context without recording it."""
    unwritten: type[Unwritten] = Unwritten
    """The prediction of what it sends without writing it."""
    legacy: bool = False
    """It is read for existing sessions, and marked as such."""

    def files_at(self, path: Path, root: Path) -> list[TranscriptFile]:
        """Return the transcripts that a changed file, at or below a root, is or belongs to."""
        if self.transcripts_of is not None:
            return self.transcripts_of(path, root)
        return list(self.discover(path))
