"""Serves the browser's files, each under a name that holds a hash of its content.

`static/` and `templates/` are at the top of the source tree, and beside the code in a wheel. A file has two addresses:
`/static/shared/api.js`, revalidated each time (ETag), and `/static/shared/api.<hash>.js`, cached for a year. Modules
import each other by the first; the import map of a page maps it to the second. So an edited file has a new address at
the next load of a page, and no other file is fetched again. A file is read, hashed and compressed once per change.
Comments are not sent: they are a fifth of what a page would load.
"""

from __future__ import annotations

import hashlib
import json
import os
import posixpath
import re
import stat
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from flask import Flask, Response, abort, request, url_for
from werkzeug.security import safe_join

from webapp.routes.compression import compress, is_text, takes_gzip
from webapp.routes.one_file import join

_PACKAGE = Path(__file__).resolve().parent.parent
ROOT = _PACKAGE if (_PACKAGE / "static").is_dir() else _PACKAGE.parent
STATIC = ROOT / "static"
TEMPLATES = ROOT / "templates"
YEAR_SECONDS = 365 * 24 * 3600
HASH_BYTES = 4
FILE_LEVEL = 9

# The bare names that modules import. Our own modules are imported by path.
VENDORED = {
    "lit-html": "vendor/lit-html/lit-html.js",
    "lit-html/directive.js": "vendor/lit-html/directive.js",
    "lit-html/directives/repeat.js": "vendor/lit-html/directives/repeat.js",
    "socket.io-client": "vendor/socket.io-client/socket.io.esm.min.js",
    "uplot": "vendor/uplot/uPlot.esm.js",
}
# The style sheets of a page, in order. They are sent as one file: a browser draws nothing before the last one is
# there, and seventeen small files cost twice the bytes of one.
SHEET = "styles.css"
SHEETS = (
    "vendor/uplot/uPlot.min.css",
    "styles/tokens.css",
    "styles/base.css",
    "styles/controls.css",
    "styles/shared.css",
    "styles/floating.css",
    "styles/gauge.css",
    "styles/overview.css",
    "styles/session.css",
    "styles/chart.css",
    "styles/messages.css",
    "styles/message-detail.css",
    "styles/panels.css",
    "styles/panel-lists.css",
    "styles/settings.css",
    "styles/settings-panels.css",
    "styles/pages.css",
    "styles/print.css",
)
# The style sheets of the widget, as a module that exports their text: those of a page do not reach a shadow root.
WIDGET_SHEET = "widget/sheet.js"
WIDGET_SHEETS = ("styles/tokens.css", "styles/gauge.css", "widget/widget.css")
# The widget and everything it imports as one script, and the module where it begins.
WIDGET = "context-manager-widget.js"
WIDGET_ENTRY = "widget/context-manager-widget.js"
# Some systems do not know these types, and a browser does not run a module with the wrong type.
TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".map": "application/json",
    ".json": "application/json",
}

# The imports of a module, minified or not. Types are imported in comments, which this does not match.
_IMPORT = re.compile(
    r"""(?:^|;)\s*(?:import|export)\s*(?:[\w*{}\s,$]+?\bfrom\s*)?["']([^"']+)["']""", re.MULTILINE
)
# Dynamic imports. An import of types in a comment also matches and does no harm.
_LATER = re.compile(r"""\bimport\(["']([^"']+)["']\)""")
_ROOT = re.compile(r":root(\[[^\]]*\])?")
# Comments on lines of their own. No string of ours has a line that looks like one; a test reads all files.
COMMENT = re.compile(r"^[ \t]*(?://.*|/\*(?:[^*]|\*(?!/))*\*/[ \t]*)$", re.MULTILINE)
# Templates do not depend on it: browsers show the blanks after a line break as one.
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
# A file name with a hash: the name before it, the hash, the suffix.
_LASTING = re.compile(rf"(.+)\.([0-9a-f]{{{2 * HASH_BYTES}}})(\.\w+)")


class ImportMap(dict[str, Any]):
    """An import map that a template can write into a script element without escaping."""

    def __html__(self) -> str:
        """Return the map as JSON, with `<` escaped so that it cannot end the script element."""
        return json.dumps(self, separators=(",", ":")).replace("<", "\\u003c")


@dataclass(frozen=True)
class Asset:
    """The content of a file; `mimetype` follows from its suffix."""

    content: bytes
    mimetype: str

    @cached_property
    def hash(self) -> str:
        """Return the hash of the content in hexadecimal digits."""
        return hashlib.blake2b(self.content, digest_size=HASH_BYTES).hexdigest()

    @cached_property
    def compressed(self) -> bytes | None:
        """Return the content as gzip; None if it is not text or would not be shorter."""
        shorter = compress(self.content, FILE_LEVEL) if is_text(self.mimetype) else self.content
        return shorter if len(shorter) < len(self.content) else None

    @cached_property
    def later(self) -> tuple[str, ...]:
        """Return the specifiers of this module's dynamic imports."""
        return tuple(_LATER.findall(self.content.decode()))

    @cached_property
    def imports(self) -> tuple[str, ...]:
        """Return the specifiers of this module's imports."""
        return tuple(_IMPORT.findall(self.content.decode()))


def asset(name: str) -> Asset | None:
    """Return the file `name` below `static/` as it is now, or None if there is none.

    Three names are made from several files: `SHEET`, `WIDGET_SHEET` and `WIDGET`.
    """
    if name == SHEET:
        return _joined(tuple(sheet for sheet in map(asset, SHEETS) if sheet))
    if name == WIDGET_SHEET:
        return _as_module(tuple(sheet for sheet in map(asset, WIDGET_SHEETS) if sheet))
    if name == WIDGET:
        return _one_script(tuple((one, found) for one in modules(WIDGET_ENTRY) if (found := asset(one))))
    path = _path_of(str(STATIC), name)
    try:
        facts = os.stat(path) if path else None  # noqa: PTH116 - a page asks for hundreds
    except (OSError, ValueError):  # there is none, or no file can have this name
        return None
    if path is None or facts is None or not stat.S_ISREG(facts.st_mode):
        return None
    return _read(path, facts.st_size, facts.st_mtime_ns)


_path_of = lru_cache(maxsize=256)(safe_join)


@lru_cache(maxsize=256)
def _read(path: str, _size: int, _mtime_ns: int) -> Asset:
    content, suffix = Path(path).read_bytes(), Path(path).suffix
    if suffix in (".js", ".css") and "vendor" not in Path(path).relative_to(STATIC).parts:
        content = condensed(content.decode()).encode()
    return Asset(content, TYPES.get(suffix, "text/plain"))


def condensed(source: str) -> str:
    """Return a module or sheet without the comments on lines of their own, and without indentation.

    Each statement keeps its line number, so that an error on a page names the line of the file.
    """
    return _INDENT.sub("", COMMENT.sub(lambda found: "\n" * found[0].count("\n"), source))


@lru_cache(maxsize=2)
def _joined(sheets: tuple[Asset, ...]) -> Asset:
    return Asset(b"\n".join(sheet.content for sheet in sheets), TYPES[".css"])


@lru_cache(maxsize=2)
def _as_module(sheets: tuple[Asset, ...]) -> Asset:
    """Return style sheets as a module for a shadow root: `:root` becomes `:host`, without its `color-scheme`."""
    text = "\n".join(sheet.content.decode() for sheet in sheets)
    text = _ROOT.sub(lambda found: f":host({found[1]})" if found[1] else ":host", text)
    text = text.replace(":host {\ncolor-scheme: light dark;\n", ":host {\n")
    return Asset(f"export const SHEET = {json.dumps(text)};\n".encode(), TYPES[".js"])


@lru_cache(maxsize=2)
def _one_script(parts: tuple[tuple[str, Asset], ...]) -> Asset:
    texts = {name: part.content.decode() for name, part in parts}
    return Asset(join(WIDGET_ENTRY, texts.__getitem__, imported).encode(), TYPES[".js"])


def lasting_name(name: str) -> str:
    """Return the name of a file with the hash of its content in it; a missing file keeps its name."""
    found = asset(name)
    stem, suffix = posixpath.splitext(name)
    return f"{stem}.{found.hash}{suffix}" if found and suffix else name


def modules(*entries: str, later: bool = False) -> list[str]:
    """Return these modules below `static/` and all that they import, so that a browser can request them at once.

    `later` adds dynamic imports. Empty names are skipped.
    """
    found: dict[str, None] = {}
    waiting = [name for name in reversed(entries) if name]
    while waiting:
        name = waiting.pop()
        if name not in found and (module := asset(name)) is not None:
            found[name] = None
            needed = module.imports + (module.later if later else ())
            waiting += [imported(name, one) for one in reversed(needed)]
    return list(found)


@lru_cache(maxsize=1024)
def imported(name: str, specifier: str) -> str:
    """Return the file that a specifier means in the module `name`."""
    if specifier.startswith("."):
        return posixpath.normpath(posixpath.join(posixpath.dirname(name), specifier))
    return VENDORED.get(specifier, specifier)


def import_map(*entries: str) -> ImportMap:
    """Return the import map of a page that loads these modules: each path and bare name with its hashed address."""
    addresses = {name: url_for("static", filename=name) for name in modules(*entries, later=True)}
    paths = {f"{request.script_root}/static/{name}": address for name, address in addresses.items()}
    bare = {name: addresses[path] for name, path in VENDORED.items() if path in addresses}
    return ImportMap(imports=paths | bare)


def to_prefetch(entry: str, *entries: str) -> list[str]:
    """Return the addresses of the modules that a page with `entry` loads besides those of `entries`."""
    here = set(modules(*entries))
    return [url_for("static", filename=name) for name in modules(entry) if name not in here]


def static_file(filename: str) -> Response:
    """Return one file of `static/`, or the range that the client asks for; compressed if the client accepts it.

    An outdated hash in the name still gets the current file, but not cached, so a page loaded before an update works.
    """
    split = _LASTING.fullmatch(filename)
    found = asset(split[1] + split[3] if split else filename)
    if found is None:
        abort(404)
    # A range is one of the uncompressed content, so that clients can join several.
    packed = found.compressed if takes_gzip() and "Range" not in request.headers else None
    response = Response(packed or found.content, mimetype=found.mimetype)
    if packed:
        response.headers["Content-Encoding"] = "gzip"
    if found.compressed:
        response.vary.add("Accept-Encoding")
    if split and split[2] == found.hash:
        response.cache_control.public = True
        response.cache_control.max_age = YEAR_SECONDS
        response.cache_control.immutable = True  # so no ETag either, which a page would get seventy times
    else:
        response.cache_control.no_cache = True
        response.set_etag(f"{found.hash}-gzip" if packed else found.hash)
    length = len(packed or found.content)
    response.make_conditional(request, accept_ranges=True, complete_length=length)
    if packed:
        del response.headers["Accept-Ranges"]  # a page has seventy files, and none is read in parts
    if filename == WIDGET:  # other origins may load it: it holds no data of this server
        response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
        response.headers["Access-Control-Allow-Origin"] = "*"
    del response.headers["Date"]  # set by make_conditional; the server sets its own
    return response


def install(flask_app: Flask) -> None:
    """Serve the files under the endpoint `static`; `url_for("static", filename=…)` gives the address with the hash."""
    flask_app.add_url_rule("/static/<path:filename>", "static", static_file)

    @flask_app.url_defaults
    def put_hash(endpoint: str, values: dict[str, Any]) -> None:
        if endpoint == "static":
            values["filename"] = lasting_name(values["filename"])
