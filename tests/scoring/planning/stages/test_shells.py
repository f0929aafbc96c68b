"""The folders of shells."""

from __future__ import annotations

import pytest

from scoring.history import MOVE, OTHER_SHELL, READ, UNKNOWN, Touch
from scoring.planning.stages.shells import Shells

FILE = (Touch(READ, "a.py", in_shell=True),)


def place_after(*moves: str, failed: bool = False, path: str = "a.py") -> str:
    """Return the place of a file that a shell reads after these moves."""
    shells = Shells()
    for folder in moves:
        shells.move((Touch(MOVE, folder, in_shell=True),), failed=failed)
    [file] = shells.files((Touch(READ, path, in_shell=True),))
    return file.place


class TestShells:
    """Relative paths in shells."""

    def test_are_in_the_folder_of_the_shell(self) -> None:  # X7
        """The folder is the same whichever moves led there."""
        assert place_after() == ""
        assert (
            place_after("/srv/app") == place_after("/srv", "app") == place_after("/", "/srv/app/docs", "..")
        )
        assert place_after("/srv") != place_after("/tmp")

    @pytest.mark.parametrize("move", [UNKNOWN, OTHER_SHELL])
    def test_are_nowhere_else_after_an_unknown_move(self, move: str) -> None:  # X7
        """Each unknown folder is another one."""
        assert len({place_after(), place_after(move), place_after(move, move)}) == 3

    def test_are_nowhere_else_after_a_failed_move(self) -> None:  # X7
        """A command that failed where it already was has not moved."""
        assert place_after("/srv", failed=True) not in ("", place_after("/srv"))
        shells = Shells()
        move = (Touch(MOVE, "/srv", in_shell=True),)
        shells.move(move, failed=False)
        before = shells.files(FILE)
        shells.move(move, failed=True)
        assert shells.files(FILE) == before

    def test_are_not_those_of_other_places(self) -> None:  # X7
        """A move in one shell moves no other, and no tool."""
        shells = Shells()
        shells.move((Touch(MOVE, "/srv", place="web1", in_shell=True),), failed=False)
        assert shells.files(FILE) == FILE
        assert shells.files((Touch(READ, "a.py", place="web1"),))[0].place == "web1"

    def test_are_told_from_absolute_paths(self) -> None:  # X7
        """Those mean the same file in every folder, except in another shell."""
        assert place_after("/srv", path="/etc/a.conf") == ""
        assert place_after(OTHER_SHELL, path="/etc/a.conf") != ""
