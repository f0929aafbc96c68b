"""Joins a module and all it imports into one classic script, for pages of other origins.

Each module becomes a function that is called once and returns its exports; an import becomes a constant. This covers
the forms that our modules and their libraries use: named imports and exports, at the start of a line or after a
semicolon or a brace. Any other form is an error. Dynamic imports are not changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from webapp.errors import Invalid

_IMPORT = re.compile(r"""(^|;)\s*import\s*(?:\{([^}]*)\}\s*from\s*)?["']([^"']+)["']""", re.MULTILINE)
_AGAIN = re.compile(r"""(^|;)\s*export\s*\{([^}]*)\}\s*from\s*["']([^"']+)["']""", re.MULTILINE)
_LIST = re.compile(r"(^|[;}])\s*export\s*\{([^}]*)\};?", re.MULTILINE)
_DECLARED = re.compile(r"^export ((?:const|let|class|function|async function)\s+(\w+))", re.MULTILINE)
_LEFT = re.compile(r"(?:^|[;}])(?:import\b(?!\()|export\b)", re.MULTILINE)
_MAP = re.compile(r"^//# sourceMappingURL=.*$", re.MULTILINE)

Read = Callable[[str], str]
Resolve = Callable[[str, str], str]


def join(entry: str, read: Read, resolve: Resolve) -> str:
    """Return the script of `entry`; `resolve` gives the file for a module and a specifier in it.

    Raises:
        Invalid: a module imports or exports in another form.
    """
    done: dict[str, str] = {}
    parts: list[str] = []

    def place(name: str) -> str:
        if name not in done:
            body = _body(name, read(name), lambda specifier: place(resolve(name, specifier)))
            done[name] = f"m{len(done)}"
            parts.append(f"const {done[name]} = (() => {{\n{body}\n}})();")
        return done[name]

    place(entry)
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "\n})();\n"


def _body(name: str, text: str, place: Callable[[str], str]) -> str:
    exports: list[str] = []

    def imported(found: re.Match[str]) -> str:
        module = place(found[3])
        return f"{found[1]}const {{{_renamed(found[2])}}} = {module}" if found[2] else found[1]

    def again(found: re.Match[str]) -> str:
        module = place(found[3])
        exports.extend(f"{new}: {module}.{old}" for old, new in _pairs(found[2]))
        return found[1]

    def listed(found: re.Match[str]) -> str:
        exports.extend(f"{new}: {old}" for old, new in _pairs(found[2]))
        return found[1]

    def declared(found: re.Match[str]) -> str:
        exports.append(found[2])
        return found[1]

    for pattern, replaced in ((_IMPORT, imported), (_AGAIN, again), (_LIST, listed), (_DECLARED, declared)):
        text = pattern.sub(replaced, text)
    if _LEFT.search(text):
        raise Invalid(f"cannot join {name}: it imports or exports in another form than by name", name)
    return f"{_MAP.sub('', text)}\nreturn {{ {', '.join(exports)} }};"


def _pairs(names: str) -> list[tuple[str, str]]:
    """Return the names of a list as pairs (old, new); equal unless renamed by `as`."""
    words = [one.split(" as ") for one in names.split(",") if one.strip()]
    return [(pair[0].strip(), pair[-1].strip()) for pair in words]


def _renamed(names: str) -> str:
    return ", ".join(f"{old}: {new}" for old, new in _pairs(names))
