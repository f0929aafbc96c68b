"""The folders of shells, as far as earlier commands tell.

Some shells keep the folder that a command changed to, others start each command in the same one. So a relative path
means the same file as before only if neither makes a difference: in the same folder by the same path.
"""

from __future__ import annotations

import posixpath
from typing import NamedTuple

from scoring.history import MOVE, OTHER_SHELL, UNKNOWN, Touch


class Folder(NamedTuple):
    """The folder of a shell, "" for the first one, and a code for the shell in it that answers, "" for itself."""

    path: str = ""
    shell: str = ""


class Shells:
    """The shell of each place, and where it is."""

    def __init__(self) -> None:
        self._at: dict[str, Folder] = {}
        self._moves = 0

    def files(self, acts: tuple[Touch, ...]) -> tuple[Touch, ...]:
        """Return the files that a call reads or writes, each with the folder of its shell in its place."""
        return tuple(self._located(act) for act in acts if act.kind != MOVE)

    def move(self, acts: tuple[Touch, ...], *, failed: bool) -> None:
        """Take the moves of a call; if it failed, nobody knows how far it came."""
        for act in acts:
            if act.kind == MOVE:
                before = self._at.get(act.place, Folder())
                now = self._moved(before, act.path)
                self._at[act.place] = self._moved(before, UNKNOWN) if failed and now != before else now

    def _located(self, touch: Touch) -> Touch:
        at = self._at.get(touch.place) if touch.in_shell else None
        if at is None:
            return touch
        folder = "" if touch.path.startswith(("/", "~")) else at.path
        return touch._replace(place=f"{touch.place}{at.shell}{folder and f' in {folder}'}")

    def _moved(self, at: Folder, folder: str) -> Folder:
        self._moves += 1
        if folder == OTHER_SHELL:
            return Folder("", f"{OTHER_SHELL}{self._moves}")
        if folder == UNKNOWN:
            return at._replace(path=f"{UNKNOWN}{self._moves}")
        absolute = folder.startswith(("/", "~"))
        return at._replace(path=folder if absolute else posixpath.normpath(posixpath.join(at.path, folder)))
