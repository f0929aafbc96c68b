"""Additions to an agent's own configuration: add, remove and inspect them (X20, X27).

A change is shown as a diff before it is written. The previous text is remembered, so that removing the addition
restores the same bytes if the file has not changed since; otherwise only our own part is removed.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from webapp.agents import AGENTS
from webapp.agents.agent import Integration
from webapp.agents.hook_runtime import hints
from webapp.errors import Conflict, Invalid, Malformed
from webapp.services.settings.answers import ChoiceText
from webapp.store.private import replacing

_BEFORE = "before"


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one file: its text before and after, None where there is no file."""

    agent: str
    path: Path
    before: str | None
    after: str | None

    @property
    def diff(self) -> str:
        """Return the change as a unified diff; "" if nothing changes."""
        if self.before == self.after:
            return ""
        old, new = ((text or "").splitlines() for text in (self.before, self.after))
        was, will_be = (os.devnull if text is None else str(self.path) for text in (self.before, self.after))
        return "\n".join(difflib.unified_diff(old, new, was, will_be, lineterm="")) + "\n"


def integrations() -> dict[str, Integration]:
    """Return the integration of each agent that has one, by source."""
    return {agent.source: agent.integration for agent in AGENTS.values() if agent.integration is not None}


def integration_texts() -> list[ChoiceText]:
    """Return the command that installs each integration, with its use."""
    first, *_ = found = integrations()
    return [
        ChoiceText(
            name=source,
            label="coppice hooks install" + ("" if source == first else f" --agent {source}"),
            meaning=integration.use,
        )
        for source, integration in found.items()
    ]


def installing(source: str, env: Mapping[str, str], program: str) -> Change:
    """Return the change that adds our part to an agent's configuration, or brings the part that is there up to date.

    Raises:
        Invalid: there is no integration for the agent.
        Malformed: its configuration cannot be read.
    """
    integration, path, before = _present(source, env)
    with _named(path):
        return Change(source, path, before, integration.add(before, program))


def uninstalling(source: str, env: Mapping[str, str]) -> Change:
    """Return the change that removes our part.

    Raises:
        Invalid: there is no integration for the agent.
        Malformed: its configuration cannot be read.
    """
    _, path, before = _present(source, env)
    with _named(path):
        return Change(source, path, before, _original(source, path, before))


def installed(source: str, env: Mapping[str, str]) -> tuple[Path, list[str]]:
    """Return an agent's configuration file, and our parts that are in it.

    Raises:
        Invalid: there is no integration for the agent.
        Malformed: its configuration cannot be read.
    """
    integration, path, text = _present(source, env)
    with _named(path):
        return path, integration.installed_parts(text) if text is not None else []


def apply(change: Change, *, remember: bool) -> None:
    """Write a change; if it adds something, `remember` the text without our part.

    Raises:
        Conflict: the file cannot be written, or is not the one from which the change was made any more.
    """
    # The agent writes its settings too, also while a person is asked.
    if _text(change.path) != change.before:
        raise Conflict(f"{change.path} was changed meanwhile, so nothing was written; run the command again")
    path = change.path.resolve()
    try:
        if change.after is None:
            path.unlink(missing_ok=True)
            if AGENTS[change.agent].edit_key is not None:
                _forget_scripts()
            return
        if remember:
            _make_folder_of_hints()
            original = _original(change.agent, change.path, change.before)
            hints.write(
                change.agent,
                _BEFORE,
                {"path": str(change.path), "before": original, "after": change.after},
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(change.after.encode())
    except OSError as error:
        raise Conflict(f"{path} cannot be written: {error.strerror}") from error


def _original(source: str, path: Path, text: str | None) -> str | None:
    """Return a configuration without our part: the remembered text if it has not changed since, to the byte."""
    integration = integrations()[source]
    if text is None or not integration.installed_parts(text):
        return text
    known = hints.read(source, _BEFORE)
    if known.get("path") == str(path) and known.get("after") == text:
        original = known.get("before")
        if isinstance(original, str):  # without a text there was no file, or the record of it is damaged
            return original
    return integration.remove(text)


def _make_folder_of_hints() -> None:
    """Create the folder of the hints, without which the part that is added would do nothing. Raises Conflict."""
    folder = Path(hints.folder())
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise Conflict(f"the folder {folder} cannot be created: {error.strerror}") from error


def _forget_scripts() -> None:
    """Remove the notes on which scripts calls were sent with; an extension that still runs writes its own again."""
    for note in Path(hints.folder()).glob(f"*.{hints.ACTIVE}.json"):
        note.unlink(missing_ok=True)


def _present(source: str, env: Mapping[str, str]) -> tuple[Integration, Path, str | None]:
    """Return an agent's integration, its configuration file, and the text of that; None if there is no file."""
    found = integrations()
    if source not in found:
        raise Invalid(f"there is no integration for {source}; expected one of {', '.join(found)}", "agent")
    path = found[source].file(env)
    return found[source], path, _text(path)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Name the file in an error about its content."""
    try:
        yield
    except Malformed as error:
        raise Malformed(f"{path}: {error}") from None


def _text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8")  # with the ends of lines as they are
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise Conflict(f"{path} cannot be read: {reason}") from error
