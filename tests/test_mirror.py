"""Every source has a test file of its own, in the same place under `tests/`.

`scoring/planning/signals/recency.py` is tested by `tests/scoring/planning/signals/test_recency.py`, or by several
`test_recency_*.py` when one grew too long; `static/shared/times.js` by `tests/js/shared/times.test.js`; a custom
element by the browser tests. A package's
`__init__.py` needs one only when it does something. Exceptions stand in pyproject.toml under
`[tool.coppice.without-own-test]`, with a reason.
"""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

from tests.shared import ROOT
from tests.sources import Module, read_modules, read_scripts


def exceptions() -> dict[str, str]:
    """Source path -> why it has no test of its own."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        found: dict[str, str] = tomllib.load(file)["tool"]["coppice"]["without-own-test"]
    return found


def does_something(module: Module) -> bool:
    """Whether a module defines a function or a class, rather than only naming what lies beside it."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return any(isinstance(node, kinds) for node in module.tree.body)


def wants_test(path: str, script: str) -> bool:
    """Whether a script is one of a page's room, and no custom element, which the browser tests cover."""
    room = path.split("/")[1]
    return not room.endswith((".js", "vendor")) and "customElements.define(" not in script


def mirrors(path: Path) -> list[str]:
    """Where the test of a source may lie, as patterns under the tree."""
    if path.suffix == ".js":
        inner = path.relative_to("static").with_suffix(".test.js")
        return [f"tests/js/{inner.as_posix()}"]
    if path.name == "__init__.py":
        package = path.parent
        return [f"tests/{folder.as_posix()}/test_{package.name}.py" for folder in (package, package.parent)]
    stem = path.stem.strip("_")
    return [f"tests/{path.parent.as_posix()}/test_{stem}{rest}.py" for rest in ("", "_*")]


def without_test(root: Path) -> list[str]:
    """The sources under `root` that lack a test file, each with where it would lie."""
    modules = [m for m in read_modules(root).values() if m.path.name != "__init__.py" or does_something(m)]
    scripts = [Path(path) for path, text in read_scripts("static", root).items() if wants_test(path, text)]
    paths = [module.path for module in modules] + scripts
    return [
        f"{p.as_posix()} wants {mirrors(p)[0]}"
        for p in paths
        if not any(any(root.glob(m)) for m in mirrors(p))
    ]


class TestOurSources:
    """The tree as it stands."""

    def test_have_each_a_test_of_their_own(self) -> None:
        """A source without one is named, with the file that it wants."""
        excused = exceptions()
        lines = [line for line in without_test(ROOT) if line.partition(" ")[0] not in excused]
        assert not lines, "\n" + "\n".join(lines)

    def test_have_no_exception_that_is_not_needed(self) -> None:
        """An exception goes when its source does, or gets a test."""
        lacking = {line.partition(" ")[0] for line in without_test(ROOT)}
        existing = {path for path in exceptions() if (ROOT / path).exists()}
        assert existing - lacking == set()


class TestTheRule:
    """The rule itself, on a tree made up to break it."""

    def test_names_the_source_and_the_test_that_it_wants(self, tmp_path: Path) -> None:
        """Only sources without a test are named; a package that only names things needs none."""
        sources = ("scoring/a.py", "scoring/b.py", "scoring/c.py", "scoring/__init__.py", "static/a/d.js")
        tests = ("tests/scoring/test_a.py", "tests/scoring/test_b_long.py")
        for name in (*sources, *tests):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("")
        assert without_test(tmp_path) == [
            "scoring/c.py wants tests/scoring/test_c.py",
            "static/a/d.js wants tests/js/a/d.test.js",
        ]

    def test_wants_one_of_a_package_that_does_something(self, tmp_path: Path) -> None:
        """A function in `__init__.py` is code like any other."""
        (tmp_path / "webapp").mkdir()
        (tmp_path / "webapp" / "__init__.py").write_text("def create_app(): ...\n")
        assert without_test(tmp_path) == ["webapp/__init__.py wants tests/webapp/test_webapp.py"]
