"""Every folder with code (a "room") has tests in the same place under `tests/`.

`scoring/planning/stages` is tested by the modules of `tests/scoring/planning/stages`, or by one module,
`tests/scoring/planning/test_stages.py`; a folder of `static` by `tests/js/<folder>/*.test.js` or, where it needs a
page, by `tests/browser/test_<folder>.py`. A folder without functions and classes needs none. Exceptions are listed in
pyproject.toml under `[tool.coppice.without-own-test]`, each with its reason.
"""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

from tests.shared import ROOT
from tests.sources import Module, read_modules, read_scripts


def exceptions() -> dict[str, str]:
    """Return the rooms that need no test, each with the reason."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        found: dict[str, str] = tomllib.load(file)["tool"]["coppice"]["without-own-test"]
    return found


def does_something(module: Module) -> bool:
    """Return whether a module defines a function or a class."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return any(isinstance(node, kinds) for node in module.tree.body)


def rooms(root: Path) -> list[str]:
    """Return the folders under `root` that hold code of ours, sorted."""
    python = {
        module.path.parent.as_posix() for module in read_modules(root).values() if does_something(module)
    }
    scripts = {Path(path).parent.as_posix() for path in read_scripts("static", root)} - {"static"}
    return sorted(python | {room for room in scripts if not room.startswith("static/vendor")})


def places(room: str) -> list[str]:
    """Return patterns under the root; at least one of them must match a test of the room."""
    parent, _, name = room.rpartition("/")
    if room.startswith("static/"):
        inner = room.removeprefix("static/")
        return [f"tests/js/{inner}/*.test.js", f"tests/browser/test_{name}.py"]
    return [f"tests/{room}/test_*.py", f"tests/{parent}/test_{name}.py"]


def without_test(root: Path) -> list[str]:
    """Return the rooms under `root` that lack a test."""
    return [room for room in rooms(root) if not any(any(root.glob(place)) for place in places(room))]


class TestOurRooms:
    """The folders of this repository."""

    def test_have_each_a_test(self) -> None:
        """The failure names the rooms without one."""
        lacking = set(without_test(ROOT)) - set(exceptions())
        assert not lacking, "\n".join(f"{room} wants {places(room)[0]}" for room in sorted(lacking))

    def test_have_no_exception_that_is_not_needed(self) -> None:
        """An exception is removed when its room is removed or gets a test."""
        assert set(exceptions()) - set(without_test(ROOT)) == set()


class TestTheRule:
    """The rule itself, on a made-up tree."""

    def test_names_the_rooms_without_a_test(self, tmp_path: Path) -> None:
        """One test is enough for a room; a folder without functions and classes needs none."""
        code = "def f(): ...\n"
        sources = {
            "scoring/a.py": code,
            "scoring/b/c.py": code,
            "scoring/d/e.py": code,
            "scoring/f/__init__.py": "",
        }
        scripts = {"static/app.js": "", "static/g/h.js": "", "static/i/j.js": "", "static/k/l.js": ""}
        tests = ("scoring/test_b.py", "scoring/test_other.py", "js/g/h.test.js", "browser/test_i.py")
        for name, text in {**sources, **scripts, **{f"tests/{name}": "" for name in tests}}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        assert without_test(tmp_path) == ["scoring/d", "static/k"]
