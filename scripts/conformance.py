"""Writes docs/conformance.md: each requirement with the tests that prove it, from the tests themselves.

A test names what it proves in a comment on its def line: `# B3`, `# B1-B4, X2`; in JavaScript `// B5` after
`test("…", () => {`. The requirements are in docs/requirements.toml. `--missing` lists those that no test
proves yet and exits with 1 if there are any.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = Path("docs/conformance.md")
REQUIREMENTS = Path("docs/requirements.toml")

RANGE = r"[A-Z]\d+(?:[-–][A-Z]?\d+)?"  # people write the longer dash too
IDS = re.compile(rf"(?:#|//)\s*({RANGE}(?:\s*,\s*{RANGE})*)(?![\w-])")
JS_TEST = re.compile(r"""^\s*(?:test|it)\(\s*(["'`])(?P<name>.*?)\1.*?(?P<comment>//.*)$""", re.MULTILINE)

INTRODUCTION = """\
# Conformance

What Coppice must do, and the tests that prove it.
`make docs` writes this page from the comments on the tests.
"""


class UnknownRequirementError(Exception):
    """A test names an id that docs/requirements.toml does not have."""


def ids_in(comment: str) -> list[str]:
    """Return the ids that a comment begins with, ranges written out: `# B1-B3, X2` gives B1, B2, B3, X2."""
    found = IDS.match(comment.strip())
    names = re.split(r"\s*,\s*", found.group(1)) if found else []
    return [single for name in names for single in _written_out(name)]


def _written_out(name: str) -> list[str]:
    first, _, last = name.replace("–", "-").partition("-")
    end = int(last.lstrip(first[0]) or first[1:])
    return [f"{first[0]}{number}" for number in range(int(first[1:]), end + 1)]


def python_tests(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each test of a Python file that names ids: `TestSubject.test_promise` and the ids."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}
    tree = ast.parse(text)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    for prefix, body in [("", tree.body), *((f"{node.name}.", node.body) for node in classes)]:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                header = range(node.lineno, node.body[0].lineno)
                ids = [name for line in header for name in ids_in(comments.get(line, ""))]
                if ids:
                    yield prefix + node.name, ids


def js_tests(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each test of a JavaScript file that names ids: its sentence and the ids."""
    for found in JS_TEST.finditer(text):
        if ids := ids_in(found["comment"]):
            yield found["name"], ids


def proofs(root: Path) -> dict[str, dict[str, list[str]]]:
    """Return requirement id -> the files under `root` with tests that name it -> these tests, in their order there."""
    found: dict[str, dict[str, list[str]]] = {}
    files = [
        (file.relative_to(root).as_posix(), read(file.read_text(encoding="utf-8")))
        for pattern, read in (("test_*.py", python_tests), ("*.test.js", js_tests))
        for file in (root / "tests").rglob(pattern)
    ]
    for path, tests in sorted(files):
        for test, ids in tests:
            for name in dict.fromkeys(ids):
                found.setdefault(name, {}).setdefault(path, []).append(test.replace("_", " "))
    return found


def requirements(root: Path) -> dict[str, dict[str, str]]:
    """Return section letter -> its title and its requirements by id."""
    with (root / REQUIREMENTS).open("rb") as file:
        return tomllib.load(file)


def page(root: Path) -> str:
    """Return the text of docs/conformance.md. Raises UnknownRequirementError with the id and a test naming it."""
    proved, sections = proofs(root), requirements(root)
    known = {name for section in sections.values() for name in section}
    for name in sorted(set(proved) - known):
        raise UnknownRequirementError(
            f"{name} is not in {REQUIREMENTS}, but named by {next(iter(proved[name]))}"
        )
    parts = [INTRODUCTION]
    for letter, section in sections.items():
        parts.append(f"## {letter}. {section['title']}\n")
        parts += [
            _entry(name, text, proved.get(name, {})) for name, text in section.items() if name != "title"
        ]
    return "\n".join(parts)


def _entry(name: str, text: str, tests: dict[str, list[str]]) -> str:
    lines = [f"- [{path}](../{path}): {'; '.join(names)}" for path, names in tests.items()]
    return "\n".join([f"### {name}: {text}\n", *(lines or ["No test yet."]), ""])


def missing(root: Path) -> list[str]:
    """Return the ids of the requirements that no test names."""
    proved = proofs(root)
    names = [name for section in requirements(root).values() for name in section if name != "title"]
    return [name for name in names if name not in proved]


def main(arguments: list[str]) -> int:
    """Write the page, or with `--missing` list the requirements without a test."""
    if "--missing" in arguments:
        unproved = missing(ROOT)
        print("\n".join(unproved))
        return 1 if unproved else 0
    try:
        (ROOT / PAGE).write_text(page(ROOT), encoding="utf-8")
    except UnknownRequirementError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
