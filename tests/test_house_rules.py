"""Rules for the sources that are not about imports: which modules may contain SQL, emit, open files, and so on.

Each rule is a function that yields the violations in a source file. It is tested on a made-up violation and then
applied to all sources.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields
from itertools import pairwise
from pathlib import Path

import pytest

from scoring.settings import Settings
from tests.shared import ROOT
from tests.sources import Module, is_within, read_modules, read_scripts

# The width of biome.json, in characters.
WIDTH = 110
SQL = re.compile(
    r"\s*(SELECT\s.+\sFROM\s|SELECT\s+\w+\(|INSERT\s+(OR\s+\w+\s+)?INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s"
    r"|(CREATE|DROP|ALTER)\s+(TEMP\s+|UNIQUE\s+|VIRTUAL\s+)?(TABLE|INDEX|TRIGGER|VIEW)\s|PRAGMA\s|BEGIN\s+IMMEDIATE)",
    re.IGNORECASE | re.DOTALL,
)

# More arguments than these are passed by their names. The table of models has a heading; features are made for every
# message, and names would make that half as slow again.
MOST_BY_POSITION = 8
BY_POSITION = ("scoring.models.table", "scoring.history.features")
# Calls that open a file, and the modules of agents that may use them, for our own files or those of the system.
OPENS = re.compile(r"(^|\.)open$|\.read_bytes$|\.read_text$")
OPENERS = (
    "webapp.agents.reading.finding",
    "webapp.agents.following",
    "webapp.agents.extension",
    "webapp.agents.hook_runtime.hints",
)
# Modules that a pure function must not use. `pathlib` is allowed, because its Pure classes only split names.
IMPURE_MODULES = frozenset(
    {"asyncio", "http", "io", "logging", "multiprocessing", "os", "random", "secrets", "shutil", "socket"}
    | {"sqlite3", "subprocess", "sys", "tempfile", "threading", "time", "urllib.request", "uuid"}
)
IMPURE_CALLS = frozenset({"open", "print", "input"})
IMPURE_METHODS = frozenset({"now", "utcnow", "today", "read_text", "read_bytes", "write_text", "write_bytes"})


def to_mend(advice: str, places: Iterable[str]) -> str:
    """Return the message of a failure: what to do, then each place."""
    return "\n".join([f"{advice}:", *places])


def sql_in(module: Module) -> Iterator[str]:
    """Yield the string literals that begin like an SQL statement."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.match(node.value):
            yield f"{module.path}:{node.lineno} has SQL; it belongs to webapp/store"


def emits_in(module: Module) -> Iterator[str]:
    """Yield the calls of a method `emit`."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "emit":
            yield f"{module.path}:{node.lineno} emits; only webapp/live/gateway.py does"


def unpacked_in(module: Module) -> Iterator[str]:
    """Yield the calls with keywords out of a mapping, whose names no type checker compares."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and any(keyword.arg is None for keyword in node.keywords):
            yield f"{module.path}:{node.lineno} unpacks keywords; pass the body itself, or its fields by name"


def unnamed_in(module: Module) -> Iterator[str]:
    """Yield the calls with so many arguments by position that a reader cannot see which is which."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and len(node.args) > MOST_BY_POSITION:
            yield f"{module.path}:{node.lineno} passes {len(node.args)} arguments by position"


def operations_in(module: Module) -> Iterator[str]:
    """Yield the calls that store an operation."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("operations.add"):
            yield f"{module.path}:{node.lineno} stores an operation; only ContextChange does"


def impurities_in(module: Module) -> Iterator[str]:
    """Yield the imports and calls that make a function depend on more than its arguments."""
    for node in ast.walk(module.tree):
        for name in _names_reached(node):
            yield f"{module.path}:{getattr(node, 'lineno', 0)} reaches for {name}; hand its result in instead"


def _names_reached(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in IMPURE_MODULES)
    elif isinstance(node, ast.ImportFrom) and node.module in IMPURE_MODULES:
        yield str(node.module)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in IMPURE_CALLS:
        yield f"{node.func.id}()"
    elif (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in IMPURE_METHODS
    ):
        yield f".{node.func.attr}()"


def opened_files_in(module: Module) -> Iterator[str]:
    """Yield the calls that open a file without `open_file`, and so would block forever on a pipe."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and (found := OPENS.search(ast.unparse(node.func))):
            yield f"{module.path}:{node.lineno} opens a file by {found[0].strip('.')}(); use open_file or read_file"


def elements_in(script: str) -> list[str]:
    """Return the names of the custom elements that a script defines."""
    return re.findall(r"customElements\.define\(\s*([^,\s]+)", script)


FOCUSES = re.compile(r"(?<!\bwindow)\??\.focus\(")


def unread_by_safari(css: str) -> list[str]:
    """Return the declarations of a style sheet that Safari leaves out.

    It reads the shorthand for underlines with one value only, and the property for selecting with its prefix only.
    """
    lines = [line.strip() for line in css.splitlines()]
    return [
        line
        for before, line in pairwise(lines)
        if re.match("text-decoration: [^ ]+ ", line)
        or (line.startswith("user-select: ") and before != f"-webkit-{line}")
    ]


def our_scripts() -> dict[str, str]:
    """Return the scripts of the pages, without the libraries that set-up copies beside them."""
    scripts = read_scripts("static")
    return {path: text for path, text in scripts.items() if not path.startswith("static/vendor/")}


def source(text: str, name: str = "scoring.example") -> Module:
    """Return a made-up module."""
    return Module(name, Path(name.replace(".", "/") + ".py"), text)


class TestAFailure:
    """The message of a rule that is broken."""

    def test_says_what_to_do_and_where(self) -> None:
        """A newcomer knows neither the rule nor its reason."""
        assert to_mend("move this", ["a.py:1", "b.py:2"]) == "move this:\na.py:1\nb.py:2"


class TestWidth:
    """The width of lines, which the formatters do not change in templates, comments and styles."""

    @pytest.mark.parametrize("folder", ["static", "tests/js"])
    def test_is_that_of_the_formatter(self, folder: str) -> None:
        """No line of a script, a style sheet or a declaration exceeds 110 characters."""
        files = [
            file
            for file in (ROOT / folder).rglob("*")
            if file.suffix in {".js", ".css", ".ts"} and "vendor" not in file.parts
        ]
        wide = [
            f"{file.relative_to(ROOT)}:{number}"
            for file in files
            for number, line in enumerate(file.read_text("utf-8").splitlines(), 1)
            if len(line) > WIDTH
        ]
        assert files
        assert not wide, to_mend(f"break these lines at {WIDTH} characters", wide)


# First words of docstrings and comments that are no whole sentence: of an indirect question, or of the end of the
# test's name.
_FRAGMENT = r"(?:What|How|Which|Who|Whose|Whether|Why|When|Where|And|Or|Nor|However|Whatever|Although|Though|So that)\b"
NO_FRAGMENT = "write a statement, without a question word or conjunction as its first word"
FRAGMENT = re.compile(rf'"""{_FRAGMENT}')
COMMENT = re.compile(r"\s*(?:#|//|/\*\*?|\*) ")


def comment_fragments(text: str) -> Iterator[int]:
    """Yield the numbers of the lines at which a comment begins with a fragment; only its first words count."""
    lines = text.splitlines()
    for number, (before, line) in enumerate(zip(["", *lines], lines, strict=False), 1):
        said = COMMENT.match(line)
        if said and not COMMENT.match(before) and re.match(_FRAGMENT, line[said.end() :]):
            yield number


# First words of docstrings that only name what a function returns: articles and the like, possessives, plurals.
NO_VERB = re.compile(
    r"(?:The|A|An|It|Its|This|These|All|Each|Every|True|False|None|From|With|[\w-]+'s|[A-Z]\w*[^\Ws]s)\b"
)


def verbless(text: str, path: str) -> Iterator[str]:
    """Yield the functions whose docstring does not open with a verb."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        said = ast.get_docstring(node) or ""
        if NO_VERB.match(said):
            yield f"{path}:{node.lineno} {node.name}: {said.splitlines()[0]}"


class TestDocstrings:
    """The first words of docstrings."""

    def test_of_functions_open_with_a_verb(self) -> None:
        """This holds outside the tests, whose docstrings complete the sentence of their name."""
        folders = ("scoring", "webapp", "benchmarks", "scripts", "examples")
        files = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
        found = [line for path in files for line in verbless(path.read_text("utf-8"), str(path))]
        assert not found, to_mend("begin these docstrings with a verb, such as Return", found)

    @pytest.mark.parametrize("opening", ["The size.", "A size.", "True if so.", "Its size.", "Tokens of it."])
    def test_without_a_verb_is_seen(self, opening: str) -> None:
        """Only functions and methods are checked; the docstring of a class says what an instance is."""
        method = f'class A:\n    """The size."""\n    def f(self):\n        """{opening}"""'
        assert len(list(verbless(method, "x.py"))) == 1
        assert not list(verbless(method.replace(opening, "Return it."), "x.py"))

    def test_open_with_no_question_word_or_conjunction(self) -> None:
        """This holds in every Python file."""
        folders = ("scoring", "webapp", "tests", "benchmarks", "scripts", "examples")
        files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
        found = [
            f"{path.relative_to(ROOT)}:{number}"
            for path in files
            for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
            if FRAGMENT.search(line)
        ]
        assert len(files) > 500
        assert not found, to_mend(NO_FRAGMENT, found)

    @pytest.mark.parametrize("word", ["What", "Whether", "However"])
    def test_an_offender_is_seen(self, word: str) -> None:
        """Only the first word of a docstring is an offence."""
        assert FRAGMENT.search(f'    """{word} it is."""')
        assert not FRAGMENT.search(f'    """Return {word.lower()} it is."""')


class TestComments:
    """The first words of comments, in Python, JavaScript and CSS."""

    def test_open_with_no_question_word_or_conjunction(self) -> None:
        """A comment is a statement, or names the thing below it."""
        folders = ("scoring", "webapp", "static", "tests", "benchmarks", "scripts", "examples")
        files = [
            path
            for folder in folders
            for path in (ROOT / folder).rglob("*")
            if path.suffix in {".py", ".js", ".css"} and "vendor" not in path.parts
        ]
        found = [
            f"{path.relative_to(ROOT)}:{number}"
            for path in files
            for number in comment_fragments(path.read_text("utf-8"))
        ]
        assert len(files) > 800
        assert not found, to_mend(NO_FRAGMENT, found)

    @pytest.mark.parametrize("line", ["# What it is.", "    // Whether it is.", "/* Where it is. */"])
    def test_an_offender_is_seen(self, line: str) -> None:
        """Its second line may begin with any word."""
        assert list(comment_fragments(line)) == [1]
        assert not list(comment_fragments(f"# It says\n{line}"))
        assert not list(comment_fragments(line.replace("W", "It is w")))


class TestSql:
    """SQL is in one place."""

    def test_stands_only_in_the_store(self) -> None:
        """No module outside webapp/store has a statement in a string."""
        # Our store, and the databases of agents.
        allowed = ("webapp.store", "webapp.agents.reading.databases")
        others = [m for m in read_modules().values() if not any(is_within(m.name, name) for name in allowed)]
        lines = [line for module in others for line in sql_in(module)]
        assert not lines, to_mend("move this SQL to webapp/store", lines)

    @pytest.mark.parametrize(
        "statement",
        [
            "'SELECT id FROM sessions WHERE id = ?'",
            "f'insert or ignore into {table} values (?)'",
            "'''\n  CREATE VIRTUAL TABLE x USING fts5(y)'''",
            "'UPDATE sessions SET title = ?'",
            "'DELETE FROM entries'",
        ],
    )
    def test_is_seen_in_any_string(self, statement: str) -> None:
        """Case, quotes and inserted values do not matter."""
        assert len(list(sql_in(source(f"x = {statement}")))) == 1

    @pytest.mark.parametrize("text", ["'CREATE:'", "'Update the session'", "'Select a message'", "'deleted'"])
    def test_is_not_seen_in_words(self, text: str) -> None:
        """Ordinary words of pages and keyword lists are not SQL."""
        assert list(sql_in(source(f"x = {text}"))) == []


class TestSocketIo:
    """Only one module sends messages to browsers."""

    def test_only_live_emits(self) -> None:
        """Everything else publishes on the bus."""
        others = [module for module in read_modules().values() if module.name != "webapp.live.gateway"]
        lines = [line for module in others for line in emits_in(module)]
        assert not lines, to_mend(
            "publish an event on the bus instead; its notices are in webapp/live/notices.py", lines
        )

    def test_an_emit_is_seen(self) -> None:
        """A call on any object counts."""
        assert len(list(emits_in(source("socketio.emit('x')\nemit = 1\n")))) == 1

    def test_only_one_script_knows_the_client(self) -> None:
        """Elements take their data from static/shared/socket.js."""
        knowing = [path for path, text in our_scripts().items() if "socket.io-client" in text]
        assert knowing == ["static/shared/socket.js"]


class TestRequests:
    """The bodies and queries of HTTP and Socket.IO."""

    def test_are_passed_where_the_type_checker_sees_it(self) -> None:
        """A renamed field fails it, instead of the request."""
        edge = [one for one in read_modules().values() if re.match(r"webapp\.(routes|live)\.", one.name)]
        # The parsed arguments of a route, which its signature names, and the options of a table.
        lines = [line for one in edge if one.name != "webapp.routes.api.routing" for line in unpacked_in(one)]
        assert not lines, to_mend("name each argument: no type checker compares the keys of a mapping", lines)

    @pytest.mark.parametrize("text", ["plan(**body.sent_fields())", "plan(PlanRequest(**fields))"])
    def test_that_are_unpacked_are_seen(self, text: str) -> None:
        """The mapping can come from anywhere."""
        assert len(list(unpacked_in(source(text)))) == 1


class TestArguments:
    """The arguments of a call."""

    def test_are_named_where_there_are_many(self) -> None:
        """A row of numbers without names hides two that changed places."""
        others = [one for one in read_modules().values() if one.name not in BY_POSITION]
        lines = [line for module in others for line in unnamed_in(module)]
        assert not lines, to_mend("name the arguments", lines)

    def test_without_names_are_seen(self) -> None:
        """The ninth is one too many."""
        assert list(unnamed_in(source("f(1, 2, 3, 4, 5, 6, 7, 8)\n"))) == []
        assert len(list(unnamed_in(source("f(1, 2, 3, 4, 5, 6, 7, 8, 9)\n")))) == 1


class TestOperations:
    """There is one way to make an operation, and undo reads only operations."""

    def test_are_stored_by_context_change_only(self) -> None:
        """Prunes, drops, pins, summaries, emergencies and compactions by the agent all use it."""
        others = [one for one in read_modules().values() if one.name != "webapp.services.session.operation"]
        lines = [line for module in others for line in operations_in(module)]
        assert not lines, to_mend("make this operation by ContextChange", lines)

    def test_that_are_stored_elsewhere_are_seen(self) -> None:
        """The object that has the table can have any name."""
        assert len(list(operations_in(source("self._store.operations.add(1, row, items)\n")))) == 1


class TestFollowedFiles:
    """Files in the folders of agents, where other programs write."""

    def test_are_opened_in_one_place(self) -> None:
        """A pipe in place of a transcript must not block the reading thread."""
        modules = [one for one in read_modules().values() if is_within(one.name, "webapp.agents")]
        lines = [line for one in modules if one.name not in OPENERS for line in opened_files_in(one)]
        assert not lines, to_mend("open these files by open_file of webapp/agents/reading/finding.py", lines)

    @pytest.mark.parametrize("text", ["open(x)", "x.open('rb')", "Path(x).read_bytes()", "x.read_text()"])
    def test_that_are_opened_elsewhere_are_seen(self, text: str) -> None:
        """Each way to open one is reported."""
        assert len(list(opened_files_in(source(text)))) == 1


class TestScoring:
    """The core is pure."""

    def test_reaches_for_nothing(self) -> None:
        """No file, clock, randomness or environment: whatever it needs is an argument."""
        core = [module for module in read_modules().values() if is_within(module.name, "scoring")]
        lines = [line for module in core for line in impurities_in(module)]
        assert not lines, to_mend("make what this reads an argument", lines)

    @pytest.mark.parametrize(
        "text",
        [
            "import time",
            "from random import choice",
            "import os",
            "open('x')",
            "datetime.now()",
            "path.read_text()",
        ],
    )
    def test_every_way_out_is_seen(self, text: str) -> None:
        """Each way to depend on more than the arguments is reported."""
        assert len(list(impurities_in(source(text)))) == 1


class TestElements:
    """One custom element for each file, named after the file."""

    def test_each_is_defined_in_the_file_of_its_name(self) -> None:
        """A script defines either no custom element or the one with its own name."""
        defined = {path: elements_in(text) for path, text in our_scripts().items()}
        wrong = [
            f"{path} defines {', '.join(names)}"
            for path, names in defined.items()
            if names not in ([], [f'"{Path(path).stem}"'])
        ]
        assert not wrong, to_mend("name the file after its one element", wrong)

    def test_a_definition_is_seen_and_a_comment_is_not(self, tmp_path: Path) -> None:
        """A name in a comment is not a definition."""
        (tmp_path / "a.js").write_text(
            '// customElements.define("b-c", B)\ncustomElements.define("a-b", A);\n'
        )
        (script,) = read_scripts(".", tmp_path).values()
        assert elements_in(script) == ['"a-b"']


class TestSafari:
    """A browser that the tests do not use, and that does some things in another way."""

    def test_is_told_which_focus_came_by_a_key(self) -> None:
        """Only `focusOn` moves the focus in a page, because Safari rings it only if it is asked to."""
        wrong = [
            path
            for path, text in our_scripts().items()
            if FOCUSES.search(text) and path != "static/shared/keys.js"
        ]
        assert not wrong, to_mend("move the focus by focusOn of static/shared/keys.js", wrong)

    def test_reads_every_declaration(self) -> None:
        """No style sheet has a form that Safari leaves out."""
        sheets = (ROOT / "static").rglob("*.css")
        wrong = [
            f"{sheet.name}: {line}" for sheet in sheets for line in unread_by_safari(sheet.read_text("utf-8"))
        ]
        assert not wrong, to_mend("write long forms of text-decoration, and -webkit-user-select first", wrong)

    @pytest.mark.parametrize(
        ("css", "found"),
        [
            ("text-decoration: underline dotted;", True),
            ("text-decoration: underline;", False),
            ("text-decoration-color: light-dark(red, blue);", False),
            ("user-select: all;", True),
            ("-webkit-user-select: all;\n  user-select: all;", False),
        ],
    )
    def test_leaves_out_some_forms(self, css: str, found: bool) -> None:
        """A shorthand with several values, and a property without its prefix."""
        assert bool(unread_by_safari(f"a {{\n  {css}\n}}\n")) == found


class TestHelpers:
    """Functions and samples that several test modules use."""

    def test_are_outside_test_modules(self) -> None:
        """No module imports from a test module: a reader of one need not know another, nor does its run collect it."""
        imports = re.compile(
            r"^(?:from|import) (?:\S+\.)?test_\w+\b.*|^from tests\S* import test_\w+.*", re.MULTILINE
        )
        wrong = [
            f"{path.relative_to(ROOT)}: {found[0]}"
            for path in sorted((ROOT / "tests").rglob("*.py"))
            for found in imports.finditer(path.read_text(encoding="utf-8"))
        ]
        assert not wrong, to_mend("move what is shared to a module without test_ in its name", wrong)


class TestSettingsPage:
    """The page of the settings."""

    def test_has_a_control_for_every_setting(self) -> None:
        """A field of `Settings` that no script of the page names could be changed only over the API."""
        page = "\n".join(text for path, text in our_scripts().items() if "/settings/" in path)
        without = [one.name for one in fields(Settings) if not re.search(rf"\b{one.name}\b", page)]
        assert not without, "add a row to static/settings/fields.js"
