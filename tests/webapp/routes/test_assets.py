"""Static files: cached for a year under their hash, revalidated otherwise, and compressed."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
from flask import Flask, url_for
from pygments.lexers.javascript import JavascriptLexer  # type: ignore[import-untyped]
from pygments.token import Comment  # type: ignore[import-untyped]

from tests.webapp.promises import Client
from webapp.routes import assets
from webapp.routes.assets import (
    COMMENT,
    STATIC,
    VENDORED,
    ImportMap,
    asset,
    condensed,
    imported,
    modules,
)

PACKED = {"Accept-Encoding": "gzip"}


def lasting(flask_app: Flask, filename: str) -> str:
    """Return the address of a file with its hash."""
    with flask_app.test_request_context("/"):
        return url_for("static", filename=filename)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of files in place of Coppice's."""
    for name, text in {"app.js": 'import "./lib/a.js";', "lib/a.js": "1;" * 500, "lib/b.js": "2;"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(assets, "STATIC", tmp_path)
    return tmp_path


class TestFiles:
    """Files with two addresses each."""

    def test_with_their_hash_are_cached_for_a_year(self, flask_app: Flask, client: Client) -> None:
        """Browsers do not request them again."""
        answer = client.get(lasting(flask_app, "app.js"))
        assert answer.status_code == 200
        assert "immutable" in answer.headers["Cache-Control"]
        assert "max-age=31536000" in answer.headers["Cache-Control"]
        assert "ETag" not in answer.headers

    def test_with_another_hash_are_not_cached(self, client: Client) -> None:
        """An old page gets the current file, which is not cached under the old hash."""
        answer = client.get("/static/app.00000000.js")
        assert answer.status_code == 200
        assert answer.headers["Cache-Control"] == "no-cache"

    def test_without_a_hash_are_revalidated(self, client: Client) -> None:
        """The answer is short while nothing has changed."""
        first = client.get("/static/app.js")
        again = client.get("/static/app.js", headers={"If-None-Match": first.headers["ETag"]})
        assert first.headers["Cache-Control"] == "no-cache"
        assert (again.status_code, again.headers["Vary"]) == (304, "Accept-Encoding")

    def test_have_a_new_address_only_after_an_edit(
        self, flask_app: Flask, client: Client, folder: Path
    ) -> None:
        """The next load of the page fetches the edited file only."""
        names = ("lib/a.js", "lib/b.js")
        before = [lasting(flask_app, name) for name in names]
        (folder / "lib/a.js").write_text("3;" * 501)
        after = [lasting(flask_app, name) for name in names]
        assert (after[0] != before[0], after[1]) == (True, before[1])
        assert client.get(after[0]).text == "3;" * 501

    @pytest.mark.parametrize("path", ["../pyproject.toml", "..%2fpyproject.toml", "/etc/passwd", "vendor"])
    def test_outside_the_folder_are_not_served(self, client: Client, path: str) -> None:
        """Folders and neighbouring files are refused."""
        assert client.get(f"/static/{path}").status_code == 404

    @pytest.mark.parametrize("path", ["a" * 300, "a/" * 3_000, "a%00b"])
    def test_of_an_impossible_name_are_not_found(self, client: Client, path: str) -> None:
        """A name that no file can have is answered as any unknown one."""
        assert client.get(f"/static/{path}").status_code == 404

    def test_of_javascript_have_its_type(self, client: Client) -> None:
        """Browsers do not run modules of another type."""
        assert client.get("/static/app.js").mimetype == "text/javascript"

    def test_have_addresses_below_the_prefix(self, flask_app: Flask) -> None:
        """This includes the keys and addresses of the import map."""
        with flask_app.test_request_context("/", environ_overrides={"SCRIPT_NAME": "/below"}):
            found = assets.import_map("theme.js")["imports"]
        assert list(found) == ["/below/static/theme.js"]
        assert re.fullmatch(r"/below/static/theme\.[0-9a-f]{8}\.js", found["/below/static/theme.js"])


class TestStyleSheets:
    """The style sheets of a page."""

    def test_are_all_in_their_order(self, client: Client) -> None:
        """No style sheet is missing."""
        names = [f"styles/{path.name}" for path in (STATIC / "styles").glob("*.css")]
        assert set(assets.SHEETS) == {*names, "vendor/uplot/uPlot.min.css"}
        assert client.get("/static/styles.css").text == "\n".join(
            condensed((STATIC / name).read_text()) for name in assets.SHEETS
        )


class TestComments:
    """Comments and indentation in the sources, which are not sent."""

    SOURCE = """// A module.
import { a } from "./a.js"; // a
/** Two
 * lines. */
const address = "http://a/*b*/"; /* three */
  /* four */
const more = 1 /* five
 * six */ + 2;
/** @type {number} */ (more).toFixed();
"""

    def test_on_separate_lines_are_not_sent(self) -> None:
        """Each statement keeps its line number, and a comment after a statement stays."""
        lines = [line.lstrip() for line in self.SOURCE.splitlines()]
        sent = condensed(self.SOURCE).splitlines()
        assert sent == ["", lines[1], "", "", lines[4], "", *lines[6:]]

    def test_of_libraries_are_sent(self, client: Client) -> None:
        """A library keeps its licence text."""
        name = "vendor/uplot/uPlot.min.css"
        assert client.get(f"/static/{name}").data == (STATIC / name).read_bytes()

    def test_are_removed_from_every_module(self, client: Client) -> None:
        """No module of Coppice has a comment line or indentation, and none loses a line."""
        ours = [path for path in STATIC.rglob("*.js") if "vendor" not in path.parts]
        assert len(ours) > 50
        for path in ours:
            sent = client.get(f"/static/{path.relative_to(STATIC).as_posix()}").text
            assert not re.search(r"^(?:\s*//|[ \t])", sent, re.MULTILINE), path
            assert sent.count("\n") == path.read_text().count("\n"), path

    def test_in_strings_are_kept(self) -> None:
        """A lexer of the language confirms that only comments are removed."""
        for path in [path for path in STATIC.rglob("*.js") if "vendor" not in path.parts]:
            source = path.read_text()
            comments: set[int] = set()
            at = 0
            for kind, text in JavascriptLexer(stripnl=False, ensurenl=False).get_tokens(source):
                if kind in Comment or text.isspace():
                    comments.update(range(at, at + len(text)))
                at += len(text)
            for found in COMMENT.finditer(source):
                assert comments.issuperset(range(*found.span())), f"{path.name}: {found[0]}"


class TestCompression:
    """Compressed files."""

    def test_is_used_for_clients_that_accept_it(self, client: Client) -> None:
        """The text is the same, and Vary keeps caches correct."""
        full, packed = client.get("/static/app.js"), client.get("/static/app.js", headers=PACKED)
        assert "Content-Encoding" not in full.headers
        assert packed.headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(packed.data) == full.data
        assert len(packed.data) < len(full.data)
        assert full.headers["Vary"] == packed.headers["Vary"] == "Accept-Encoding"
        assert full.headers["ETag"] != packed.headers["ETag"]

    def test_is_not_used_for_clients_that_refuse_it(self, client: Client) -> None:
        """A weight of 0 is a refusal."""
        answer = client.get("/static/app.js", headers={"Accept-Encoding": "gzip;q=0, br"})
        assert "Content-Encoding" not in answer.headers

    def test_of_head_is_that_of_get(self, client: Client) -> None:
        """The headers are the same, without the content."""
        got, head = (ask("/static/app.js", headers=PACKED) for ask in (client.get, client.head))
        assert head.data == b""
        for name in ("Content-Length", "Content-Encoding", "ETag", "Vary", "Cache-Control"):
            assert head.headers[name] == got.headers[name]

    def test_does_not_affect_ranges(self, client: Client) -> None:
        """A range is a part of the uncompressed text, even for clients that accept gzip."""
        whole = client.get("/static/app.js").data
        part = client.get("/static/app.js", headers=PACKED | {"Range": "bytes=3-9"})
        assert (part.status_code, part.data) == (206, whole[3:10])
        assert part.headers["Content-Range"] == f"bytes 3-9/{len(whole)}"
        assert "Content-Encoding" not in part.headers
        assert client.get("/static/app.js").headers["Accept-Ranges"] == "bytes"
        assert "Accept-Ranges" not in client.get("/static/app.js", headers=PACKED).headers

    def test_is_cached(self) -> None:
        """A file is compressed once until it changes."""
        first, second = asset("app.js"), asset("app.js")
        assert first is not None
        assert first is second
        assert first.compressed is first.compressed


class TestModules:
    """The modules that a page loads, read from its imports."""

    def test_are_all_imported_modules_once(self, flask_app: Flask) -> None:
        """All exist, and the list has every import of each module, with libraries."""
        with flask_app.test_request_context("/"):
            found = modules("app.js", "session/coppice-session.js", "")
        assert found[0] == "app.js"
        assert len(found) == len(set(found)) > 20
        assert set(VENDORED.values()) <= set(found)
        assert "session/history-panel.js" not in found
        for name in found:
            module = asset(name)
            assert module is not None
            assert {imported(name, one) for one in module.imports} <= set(found)

    def test_are_looked_at_once_each(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A page does not look at a module again for every module that imports it."""
        asked: list[str] = []
        monkeypatch.setattr(assets, "asset", lambda name: asked.append(name) or asset(name))
        found = modules("app.js", "session/coppice-session.js")
        assert asked == found

    @pytest.mark.parametrize(
        "code",
        [
            'import "./a.js";',
            "import { one, two as b } from './a.js';",
            'import {\n  one,\n} from "./a.js";',
            'export * from "./a.js";',
            'let x=1;import{nothing as t}from"./a.js";export{t};',
            'import*as all from"./a.js"',
        ],
    )
    def test_are_found_in_any_form(self, code: str) -> None:
        """Imports of minified modules are found, too."""
        assert assets.Asset(code.encode(), "text/javascript").imports == ("./a.js",)

    @pytest.mark.parametrize(
        "code", ['export const a = "./a.js";', '/** @type {import("./a.js").A} */', "important();"]
    )
    def test_are_not_found_in_other_code(self, code: str) -> None:
        """Strings and types are no imports."""
        assert assets.Asset(code.encode(), "text/javascript").imports == ()


class TestTheImportMap:
    """The addresses of a page's modules."""

    def test_names_existing_files(self) -> None:
        """Every file of the map exists."""
        assert [path for path in VENDORED.values() if not (STATIC / path).is_file()] == []

    def test_is_in_the_page_with_the_nonce(self, client: Client) -> None:
        """It is the only inline script, and maps every module to its hashed address."""
        answer = client.get("/")
        found = re.search(r'<script type="importmap" nonce="([^"]+)">(.*?)</script>', answer.text, re.DOTALL)
        assert found is not None
        assert f"'nonce-{found[1]}'" in answer.headers["Content-Security-Policy"]
        leads = json.loads(found[2])["imports"]
        asked = re.findall(r'rel="modulepreload" href="([^"]+)"', answer.text)
        assert set(leads.values()) >= set(asked)
        assert {"lit-html", "socket.io-client", "/static/shared/api.js"} <= set(leads)
        for address in asked:
            assert "immutable" in client.get(address).headers["Cache-Control"]

    def test_has_the_modules_that_are_loaded_later(self, flask_app: Flask) -> None:
        """A panel is requested when it is opened, under its hashed address."""
        with flask_app.test_request_context("/"):
            leads = assets.import_map("session/coppice-session.js")["imports"]
        assert "/static/session/history-panel.js" in leads

    def test_cannot_end_its_script_element(self) -> None:
        """Any path is escaped."""
        assert "</script>" not in ImportMap(imports={"x": "</script><script>alert(1)"}).__html__()
