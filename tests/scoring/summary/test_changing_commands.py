"""The files that commands of the shell change."""

from __future__ import annotations

import pytest

from scoring.summary.changing_commands import changed_by


def changed(command: str) -> list[tuple[str, str]]:
    """Return the files that a command changes, and how."""
    return [(one.path, one.how) for one in changed_by(command)]


class TestPrograms:
    """Programs that change the files they name."""

    @pytest.mark.parametrize(
        ("command", "expected"),
        [
            ("sed -i s/a/b/ src/a.py", [("src/a.py", "edited")]),
            ("sed -i.bak 's/a;b/c/' a.py b.yml", [("a.py", "edited"), ("b.yml", "edited")]),
            ("sed -i '5a\\x = 1' a.py; sed -i '/^def/i # here' a.py", [("a.py", "added to")] * 2),
            ("sed -i '1s/^/import os\\n/' a.py; sed -i '5r more.txt' a.py", [("a.py", "added to")] * 2),
            ("perl -0pi -e 's/a/b/' a.cfg", [("a.cfg", "edited")]),
            ("sed -i '' 's/a/b/' a.py && make", [("a.py", "edited")]),
            ("sed --in-place 's/a/b/' a.py", [("a.py", "edited")]),
            ("perl -pi -e 's/a/b/' a.cfg", [("a.cfg", "edited")]),
            ("bash -lc 'sed -i s/a/b/ a.py'", [("a.py", "edited")]),
            ("sed -n 1,5p a.py; perl -MFile::Find -e 1 a.py", []),
            ("git checkout HEAD~1 -- src/a.py", [("src/a.py", "restored")]),
            ("git checkout main && git restore a.py", [("a.py", "restored")]),
            ("cp a.py b.py; cp a.py folder", [("b.py", "written")]),
            ("git mv a.py b.py", [("b.py", "moved")]),
            ("rm -rf build a.py", [("build", "deleted"), ("a.py", "deleted")]),
            ("git rm --cached a.py", []),
            ("touch a.py", [("a.py", "created")]),
            ("make | tee out.log; make | tee -a all.log", [("out.log", "written"), ("all.log", "added to")]),
            ("echo 'rm a.py'", []),
        ],
    )
    def test_are_known(self, command: str, expected: list[tuple[str, str]]) -> None:  # S4
        """The expression is no file, and neither is a branch."""
        assert changed(command) == expected


class TestTexts:
    """The texts that an expression replaces."""

    @pytest.mark.parametrize(
        ("expression", "expected"),
        [
            ("s/a_b/c_d/", [("a_b", "c_d")]),
            (r"54s|x\[0\]|x/1|g", [("x[0]", "x/1")]),
            (r"/start_of\b/d", [("start_of ", "")]),
            ("4,5d", [("", "")]),
            ("s/a", [("", "")]),
            ("s/a/b/' -e 's/c/d/", [("a", "b"), ("c", "d")]),
        ],
    )
    def test_are_those_of_sed(self, expression: str, expected: list[tuple[str, str]]) -> None:  # X23
        """A pattern is read as the text that it looks for."""
        assert [(one.old, one.new) for one in changed_by(f"sed -i -e '{expression}' a.py")] == expected


class TestOutputs:
    """Outputs that go into a file."""

    @pytest.mark.parametrize(
        ("command", "expected"),
        [
            ("make > out.log 2>&1", [("out.log", "written")]),
            ("make >> out/log", [("out/log", "added to")]),
            ("make 2>/dev/null > /dev/null", []),
            ("cat > a.py <<E\nrm b.py\nx > c.py\nE\nrm d.py", [("a.py", "written"), ("d.py", "deleted")]),
        ],
    )
    def test_write_it(self, command: str, expected: list[tuple[str, str]]) -> None:  # S4
        """A text that a program gets as its input is no command."""
        assert changed(command) == expected


@pytest.mark.parametrize("piece", ["<<a\n", "rm '", "a = ", "open(", "x.", "sed -i ", "> ", "w", '"'])
def test_reads_any_command(piece: str) -> None:
    """One that repeats what a pattern looks for is read as well."""
    assert len(list(changed_by(piece * 20_000))) < 20_000
