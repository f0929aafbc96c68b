"""Answers about imports."""

from __future__ import annotations

from webapp.answers import answer


@answer
class ImportedSession:
    """The result of importing one session of a file."""

    session_id: str
    title: str | None
    source: str
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
    added: int
    known: int
    skipped: int
    problems: list[str]


@answer
class Imported:
    """The results of an import."""

    imported: list[ImportedSession | UnreadableFile]
    """One for each session in the files."""
