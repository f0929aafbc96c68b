"""The walks on the architecture page and the steps of the guides: all that they name exists."""

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
GUIDES = ("CONTRIBUTING.md", "docs/add-an-agent.md")
CODE = ("scoring", "webapp", "static", "scripts", "tests")


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


def names_in(text: str) -> set[str]:
    """Return the names of code in backticks, outside code blocks: words with an underscore or a capital letter."""
    prose = re.sub(r"(?ms)^```.*?^```$", "", text)
    return {name for name in re.findall(r"`(\w+)`", prose) if re.search("[A-Z_]", name.strip("_"))}


@pytest.mark.parametrize("guide", GUIDES)
def test_a_guide_names_only_names_of_the_code(guide: str) -> None:
    """A name that is changed in the code must be changed in the guide, too."""
    files = [
        path
        for folder in CODE
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".js", ".ts")
        and "vendor" not in path.parts
        and path.name != "test_walks.py"
    ]
    known = set(re.findall(r"\w+", " ".join(path.read_text("utf-8") for path in files)))
    assert len(names_in((ROOT / guide).read_text("utf-8"))) > 5
    assert names_in((ROOT / guide).read_text("utf-8")) <= known


def test_a_name_outside_code_blocks_is_found() -> None:
    """Commands, words and values in lower case are no names of code."""
    assert names_in("`NOTICES`, `read_all`, `json`, `make docs`\n```\n`Hidden`\n```\n") == {
        "NOTICES",
        "read_all",
    }
