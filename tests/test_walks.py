"""The walks on the architecture page: each stop exists, and the counts above the tables are right."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePath

import pytest

from tests.shared import ROOT

STOP = re.compile(r"^\| `([^`]+\.(?:py|js))` \| `([^`]+)` \|", re.MULTILINE)
WALK = re.compile(r"^\*\*[^*]+:\*\* (\d+) stops in (\d+) files and (\d+) folders\.", re.MULTILINE)
TEXT = (ROOT / "docs/architecture.md").read_text("utf-8")


def functions(tree: ast.AST, within: str = "") -> Iterator[str]:
    """Yield the functions of a module, those of a class as `Class.method`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from functions(node, f"{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield within + node.name


def is_there(path: str, name: str) -> bool:
    """Return whether a file defines a function."""
    text = (ROOT / path).read_text("utf-8")
    if path.endswith(".py"):
        return name in functions(ast.parse(text))
    return re.search(rf"(?m)^ *(?:async |export function )?{re.escape(name)}(?:\(|: \()", text) is not None


@pytest.mark.parametrize(("path", "name"), sorted(set(STOP.findall(TEXT))))
def test_a_stop_exists(path: str, name: str) -> None:
    """A function that is moved or renamed must be changed on the page, too."""
    assert is_there(path, name)


def test_the_counts_are_those_of_the_tables() -> None:
    """The counts of stops, files and folders are right."""
    _, *walks = re.split(r"(?m)^(?=\*\*[^*]+:\*\* \d+ stops)", TEXT)
    assert len(walks) == 2
    for walk in walks:
        said = WALK.match(walk)
        assert said is not None
        files = [path for path, _ in STOP.findall(walk)]
        folders = {PurePath(path).parent for path in files}
        assert tuple(map(int, said.groups())) == (len(files), len(set(files)), len(folders))


def test_a_missing_stop_is_seen() -> None:
    """A function of another class, or of none, does not count."""
    assert is_there("webapp/bus.py", "Bus.publish")
    assert not is_there("webapp/bus.py", "publish")
    assert not is_there("static/shared/socket.js", "receive")
