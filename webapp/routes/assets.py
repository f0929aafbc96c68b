"""Serves the browser's files under addresses that can be cached.

In the tree `static/` and `templates/` stand at the top, in the wheel beside the code. Every file has two addresses:
`/static/app.js`, revalidated each time (ETag), and `/static/v-<version>/app.js`, kept for a year. The version is a
hash over the names, sizes and times of all files, so a module's relative imports stay within one version.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

from flask import Flask, Response, g, send_from_directory, url_for

_PACKAGE = Path(__file__).resolve().parent.parent
ROOT = _PACKAGE if (_PACKAGE / "static").is_dir() else _PACKAGE.parent
STATIC = ROOT / "static"
TEMPLATES = ROOT / "templates"
YEAR_SECONDS = 365 * 24 * 3600

# The bare names that modules import. Everything of ours is imported by its path.
VENDORED = {
    "lit-html": "vendor/lit-html/lit-html.js",
    "lit-html/directive.js": "vendor/lit-html/directive.js",
    "lit-html/directives/repeat.js": "vendor/lit-html/directives/repeat.js",
    "socket.io-client": "vendor/socket.io-client/socket.io.esm.min.js",
    "uplot": "vendor/uplot/uPlot.esm.js",
}
# Not every system's table of types knows these, and a module with the wrong type is not run.
TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


class ImportMap(dict[str, Any]):
    """An import map that a template may write as it is, inside a script element."""

    def __html__(self) -> str:
        """Return JSON that cannot end the script element it is in."""
        return json.dumps(self).replace("<", "\\u003c")


def version() -> str:
    """Return the version of the browser's files as they lie there: 12 hexadecimal digits.

    One for a whole answer, and looked at once a second: a page asks for some fifty files, each of which would stat
    them all.
    """
    if "static_version" not in g:
        g.static_version = _version_at(int(time.monotonic()))
    return str(g.static_version)


@lru_cache(maxsize=1)
def _version_at(_second: int) -> str:
    return fingerprint(STATIC)


# A module's own imports as they are written here; types are imported in comments.
_IMPORT = re.compile(r'^(?:import|export) (?:[^"]* from )?"(\.[^"]+)"', re.MULTILINE)


def modules(*entries: str) -> list[str]:
    """Return the modules below `static/` that these load, themselves first, so that a browser can request them all at
    once. Empty names are skipped.
    """
    return list(_modules(version(), tuple(filter(None, entries))))


@lru_cache(maxsize=16)
def _modules(_version: str, entries: tuple[str, ...]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    waiting = list(reversed(entries))
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found[name] = None
        path = STATIC / name
        imported = [
            (path.parent / one).resolve() for one in _IMPORT.findall(path.read_text(encoding="utf-8"))
        ]
        waiting += [str(one.relative_to(STATIC)) for one in reversed(imported)]
    return tuple(found)


def fingerprint(folder: Path) -> str:
    """Return a hash over names, sizes and times of all files below `folder`."""
    digest = hashlib.blake2b(digest_size=6)
    for path in sorted(folder.rglob("*")):
        facts = path.stat()
        digest.update(f"{path}\0{facts.st_size}\0{facts.st_mtime_ns}\0".encode())
    return digest.hexdigest()


def import_map() -> ImportMap:
    """Return the addresses of the vendored libraries, for the page's import map."""
    return ImportMap(imports={name: url_for("static", filename=path) for name, path in VENDORED.items()})


def static_file(filename: str, v: str | None = None) -> Response:
    """Return one file of `static/`; `v` is the version in its address."""
    response = send_from_directory(STATIC, filename, mimetype=TYPES.get(Path(filename).suffix))
    if v is not None and v == version():
        response.cache_control.no_cache = None
        response.cache_control.public = True
        response.cache_control.max_age = YEAR_SECONDS
        response.cache_control.immutable = True
    else:
        response.cache_control.no_cache = True
    return response


def install(flask_app: Flask) -> None:
    """Serve the files under the endpoint `static`; `url_for("static", filename=…)` gives the lasting address."""
    flask_app.add_url_rule("/static/<path:filename>", "static", static_file)
    flask_app.add_url_rule("/static/v-<v>/<path:filename>", "static", static_file)

    @flask_app.url_defaults
    def put_version(endpoint: str, values: dict[str, Any]) -> None:
        if endpoint == "static":
            values.setdefault("v", version())
