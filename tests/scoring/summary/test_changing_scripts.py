"""The files that scripts change."""

from __future__ import annotations

import pytest

from scoring.summary.changing_commands import Change, changed_by
from scoring.summary.changing_scripts import changed_by_script


class TestFiles:
    """The files that a script opens to write."""

    @pytest.mark.parametrize(
        "script",
        [
            "from pathlib import Path\nPath('src/a.py').write_text('x')",
            "p = pathlib.Path('src/a.py')\np.write_text(p.read_text())",
            "name = \"src/a.py\"\nwith open(name, mode='w') as file: file.write('x')",
            "open('src/a.py', 'w').write('x')",
            "fs.writeFileSync('src/a.py', text)",
        ],
    )
    def test_have_names_in_quotes(self, script: str) -> None:  # S4
        """There, or in a variable; a command runs the script in a here-document or as an argument."""
        assert list(changed_by_script(script)) == [("src/a.py", "", "")]
        assert list(changed_by(f"python - <<'E'\n{script}\nE")) == [Change("src/a.py", "edited")]

    @pytest.mark.parametrize(
        "script", ["print(open('a.py', 'r').read())", "open(name, 'w')", "p = Path('a.py')\np.read_text()"]
    )
    def test_are_not_those_that_it_only_reads(self, script: str) -> None:
        """A name that the script computes is not known either."""
        assert list(changed_by_script(script)) == []


class TestTexts:
    """The texts that a script replaces."""

    @pytest.mark.parametrize(
        ("script", "expected"),
        [
            ("s = s.replace('a = 1', \"a = 2\")", ("a = 1", "a = 2")),
            ("old = '''x\ny\n'''\nnew = \"\"\"z\n\"\"\"\ns = s.replace(old, new)", ("x\ny\n", "z\n")),
            ("s = s.replace('x\\ny', '')", ("x\ny", "")),
            ("s = re.sub(r'limit_\\d+', 'x', s)", ("limit_ +", "x")),
            ("s = s.replace(computed, 'x')", ("", "")),
        ],
    )
    def test_are_literals(self, script: str, expected: tuple[str, str]) -> None:  # X23
        """By themselves, or in variables."""
        whole = f"s = open('a.py').read()\n{script}\nopen('a.py', 'w').write(s)"
        assert list(changed_by_script(whole)) == [("a.py", *expected)]


@pytest.mark.parametrize(
    "piece", ["a = ", "open(", "x.", "w", '"', "a='''", ".replace(", ".write_text(", "Path("]
)
def test_reads_any_script(piece: str) -> None:
    """One that repeats what a pattern looks for is read as well."""
    assert len(list(changed_by_script(f"open('a.py', 'w'){piece * 5_000}"))) < 20_000
