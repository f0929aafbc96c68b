"""Gemini CLI's files: their folder, the session of each by its place and its first bytes, and its working directory.

`<home>/.gemini/tmp/<folder by project>/chats/session-….jsonl`, or `.json` in the older layout. A folder below `chats`
is named after a session, and has the files of its sub-agents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath

from webapp.agents.reading.finding import (
    folder_of,
    leads_out,
    read_file,
    read_head,
    session_in,
    transcripts_below,
)
from webapp.agents.records import Origin, TranscriptFile

SOURCE = "gemini-cli"
_HEAD = 4096  # bytes, of which the first contain the session's id


def roots(env: Mapping[str, str]) -> list[Path]:
    """Return the folder with projects, existing or not: below GEMINI_CLI_HOME, else below the home folder."""
    return [folder_of(env, "GEMINI_CLI_HOME") / ".gemini" / "tmp"]


def discover(root: Path) -> Iterator[TranscriptFile]:
    """Return the sessions below `root`, newest first. Reads the first bytes of each, which contain its id."""
    return transcripts_below(root, (".jsonl", ".json"), SOURCE, _describe)


def _describe(path: Path) -> Origin:
    folder, above = path.parent.name, path.parent.parent.name
    if path.suffix == ".json" and (
        not path.name.startswith("session-") or path.with_suffix(".jsonl").exists()
    ):
        return Origin()  # a document that was resumed continues in lines
    if folder == "chats":
        head = read_head(path, _HEAD)
        session = session_in(head)
        if session is None and len(head) < _HEAD and _is_unfinished(path, head):
            return Origin()  # its id is still being written
        return Origin(session or path.stem)
    return Origin(f"{folder}.agent-{path.stem}", folder, None, "sub-agent") if above == "chats" else Origin()


def _is_unfinished(path: Path, head: bytes) -> bool:
    """Return whether the first row is not complete yet, or the agent has emptied a document to write it again."""
    return not head if path.suffix == ".json" else b"\n" not in head


def origin(path: PurePath, head: bytes, on_disk: bool) -> Origin:
    """Return the session of an imported file: by its place among the agent's files, else by its first bytes."""
    found = _describe(Path(path)) if on_disk else Origin()
    return found if found.session_id is not None else Origin(session_in(head))


def cwd_of(file: Path) -> str | None:
    """Return the working directory of a session by its file: the agent notes it beside the folder of chats.

    A path that is not absolute is only a name.
    """
    chats = next((folder for folder in file.parents if folder.name == "chats"), None)
    if chats is None or not chats.is_absolute():
        return None
    note = chats.with_name(".project_root")
    if leads_out(note, note.parent):
        return None
    try:
        return read_file(note).decode("utf-8", "replace").strip() or None
    except OSError:
        return None
