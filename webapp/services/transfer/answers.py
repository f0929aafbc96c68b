"""Answers about imports."""

from __future__ import annotations

from webapp.answers import answer


@answer
class ImportedSession:
    """The result of importing one session of a file."""

    session_id: str
    title: str | None
    source: str
    source_label: str
    """The agent's name, for people."""
    added: int
    """Messages that are new."""
    known: int
    """Messages that were there already."""
    skipped: int
    """Messages that could not be read."""
    problems: list[str]
    """The faults, each with its place."""


@answer
class UnreadableFile:
    """A file of which nothing could be read, imported together with others."""

    session_id: None
    title: str
    """The file's name."""
    source: None
    source_label: None
    added: int
    known: int
    skipped: int
    problems: list[str]


@answer
class Imported:
    """The results of an import."""

    imported: list[ImportedSession | UnreadableFile]
    """One for each session in the files."""


@answer
class Resumed:
    """A pruned copy of a session, written where its agent finds it."""

    session_id: str
    """The copy's id. Its session is known as soon as the agent's folder is looked at."""
    title: str
    path: str
    """The file that was written."""
    cwd: str
    """The folder to resume in."""
    import_command: list[str]
    """The agent's command that makes a session of the file, to be run first; empty where the agent finds the file."""
    command: list[str]
    """The agent's command that resumes from the copy, to be run in `cwd`."""
    line: str
    """The same as a line for a shell, with the change of folder."""
    tokens_before: int
    """The tokens in the agent's context now."""
    tokens_promised: int
    """The expected tokens of the copy's context, without the next message."""
    operation: int | None
    """The number of the requested prune."""
