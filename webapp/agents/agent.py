"""The contract of an agent: everything known about one agent program, in one value.

Each agent has a folder beside this file, and the folder's `__init__` defines the value. No other code asks which agent
a session is from. docs/add-an-agent.md explains how to add one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Protocol

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
    """The import of single files of an agent.

    `match_score` rates if a row of JSON is the agent's: 2 by a field that only it has, 1 by one that others have too, 0
    if not. `is_document` checks an object that is a whole file, `begins` the first bytes of a file that is too long to
    be parsed. `origin` returns the session of a file, from its path, its first bytes and, if the file is at that path
    on this machine, the files beside it. `decode` yields the records of the content, given the file if it is known.
    `replaced` returns those files of a folder that are not imported, because other files in it continue them.
    """

    match_score: Callable[[dict[str, Any]], int]
    origin: Callable[[PurePath, bytes, bool], Origin]
    decode: Decode
    is_document: Callable[[dict[str, Any]], bool] | None = None
    begins: Callable[[bytes], bool] | None = None
    replaced: Callable[[Collection[PurePath]], set[PurePath]] | None = None


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
    """Writes new transcripts, for the agent to resume from.

    `write` returns one, or raises `Conflict` with the reason why it cannot. `folder` returns the folder in
    which the agent looks for it, given the agent's roots; an agent without such a folder has `import_command`
    instead, which returns the agent's command that imports the file. `command` returns the agent's command
    that resumes a session, by its id. `keeps_thinking` is True if the agent's models accept thoughts after a
    history from which messages were removed; most refuse them. `cwd_of` returns the working directory of a
    session by its file, if its rows do not name it.
    """

    write: Callable[[View], Transcript]
    command: Callable[[str], list[str]]
    folder: Callable[[View, Sequence[Path]], Path] | None = None
    import_command: Callable[[Path], list[str]] | None = None
    keeps_thinking: bool = False
    cwd_of: Callable[[Path], str | None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Integration:
    """A file of an agent's configuration or extensions to which we add a part of ours.

    `use` describes the benefit for the user in a sentence. `file` returns the path. `add` returns the text with our
    part added, given the command that starts this program; `remove` returns the text without it, None if nothing is
    left. `installed_parts` returns those of our `parts` that are in a text. These three raise `Malformed` if the text
    has an unknown structure. `has_hooks` is True if the part has the agent run `coppice hook`.
    """

    use: str
    parts: Sequence[str]
    file: Callable[[Mapping[str, str]], Path]
    add: Callable[[str | None, str], str]
    remove: Callable[[str], str | None]
    installed_parts: Callable[[str], list[str]]
    has_hooks: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CallHeaders:
    """The headers, in lower case, by which an agent's calls name their session, and the sub-agent in it.

    `user_id` is the form of a user id in a call's metadata that names the session, which is its first group.
    """

    session: str
    subagent: str = ""
    user_id: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearingHabit:
    """An agent's habit of replacing old outputs of `tools` by `text`, all but the newest `kept`."""

    tools: frozenset[str]
    kept: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent program whose sessions are read from its files.

    `source` is its name in the store and the API, `label` on pages. `wire_format` is the format of its calls to its
    model. `variable` is the environment variable that moves the folder of its files. `roots` returns the folders to
    follow, existing or not; `discover` finds the transcripts below one of them, newest first, or that of a single file.
    `transcripts_of` finds the transcripts that a changed file belongs to, if a file is not simply a transcript. A
    change is noticed in files with one of the `endings`. `reader` reads a transcript from a stored position. `clears`
    is its habit of removing outputs from its context without recording it.

    A `legacy` agent is read for existing sessions, and marked as such. Optional parts are None by default. `files`
    and `archives` import what it wrote. `transcripts` writes a pruned view in its format. `integration` is our
    addition to its configuration or extensions. `session_variable` is the environment variable that tells the
    programs it starts the id of its session; `call_headers` name the session in its calls to a provider. `edit_key`
    returns the key that identifies a row's message in the agent's own process. `window_of_compaction` derives the
    window from the tokens at which the agent compacted by itself, None if they imply none; `usual_window` is the
    agent's default window, even if its model accepts more; `usual_model` is the model used for counting until a
    session names its own. `unwritten` predicts what the agent sends without writing it.
    """

    source: str
    label: str
    wire_format: str
    variable: str
    roots: Callable[[Mapping[str, str]], list[Path]]
    discover: Callable[[Path], Iterator[TranscriptFile]]
    reader: Callable[[TranscriptFile, Position], Reader]
    transcripts_of: Callable[[Path], list[TranscriptFile]] | None = None
    endings: tuple[str, ...] = (".jsonl",)
    files: FileImport | None = None
    archives: Archives | None = None
    transcripts: Transcripts | None = None
    integration: Integration | None = None
    session_variable: str = ""
    call_headers: CallHeaders | None = None
    edit_key: Callable[[ViewRow], str | None] | None = None
    window_of_compaction: Callable[[int], int | None] | None = None
    usual_window: int | None = None
    usual_model: str | None = None
    clears: ClearingHabit | None = None
    unwritten: type[Unwritten] = Unwritten
    legacy: bool = False

    def files_at(self, path: Path) -> list[TranscriptFile]:
        """Return the transcripts that a changed file is or belongs to."""
        if self.transcripts_of is not None:
            return self.transcripts_of(path)
        return list(self.discover(path))
