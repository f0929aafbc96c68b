"""The project's own sources, read once and never imported, for the tests that check its structure.

A module is identified by its dotted name. Every import counts, also in a function or under TYPE_CHECKING.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from tests.shared import ROOT

PACKAGES = ("scoring", "webapp")


@dataclass(frozen=True)
class Module:
    """One source file: `path` relative to the root, `name` as in an import."""

    name: str
    path: Path
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """Return the syntax tree. Raises SyntaxError, as Python would."""
        return ast.parse(self.text, str(self.path))


@dataclass(frozen=True)
class Arrow:
    """`source` imports `target`, a module of ours or another's dotted name, in `line` of its file."""

    source: Module
    target: str
    line: int

    def __str__(self) -> str:
        """Return the arrow as a failure names it."""
        return f"{self.source.path}:{self.line} {self.source.name} -> {self.target}"


@cache
def read_modules(root: Path = ROOT) -> dict[str, Module]:
    """Return every module of our packages under `root` by dotted name."""
    found = {}
    for package in PACKAGES:
        for file in sorted((root / package).rglob("*.py")):
            path = file.relative_to(root)
            name = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
            found[name] = Module(name, path, file.read_text(encoding="utf-8"))
    return found


def arrows(modules: Mapping[str, Module]) -> Iterator[Arrow]:
    """Yield every import of every module. `from package import name` points at the module of that name, if any."""
    for module in modules.values():
        for node in ast.walk(module.tree):
            for target in _targets(node, modules):
                yield Arrow(module, target, getattr(node, "lineno", 0))


def _targets(node: ast.AST, modules: Mapping[str, Module]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        package = "." * node.level + (node.module or "")
        for name in sorted({alias.name for alias in node.names}):
            yield f"{package}.{name}" if f"{package}.{name}" in modules else package


def is_within(name: str, layer: str) -> bool:
    """Return whether a dotted name is the layer's, or of something in it."""
    return name == layer or name.startswith(layer + ".")


@cache
def read_scripts(folder: str, root: Path = ROOT) -> dict[str, str]:
    """Return the JavaScript files under `folder` of `root`: path -> text without comments."""
    files = sorted((root / folder).rglob("*.js"))
    return {file.relative_to(root).as_posix(): _without_comments(file.read_text("utf-8")) for file in files}


def _without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/|(?<![:\"'`])//[^\n]*", "", text, flags=re.DOTALL)
