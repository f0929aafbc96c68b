"""The browser's files: kept for a year under their hash, revalidated without one; compressed for those who take it."""

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
    imported,
    modules,
    without_comments,
)

PACKED = {"Accept-Encoding": "gzip"}


def lasting(flask_app: Flask, filename: str) -> str:
    """The address of a file with its hash in it."""
    with flask_app.test_request_context("/"):
        return url_for("static", filename=filename)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of files in the place of ours."""
    for name, text in {"app.js": 'import "./lib/a.js";', "lib/a.js": "1;" * 500, "lib/b.js": "2;"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(assets, "STATIC", tmp_path)
    return tmp_path


class TestFiles:
    """One file, two addresses."""

    def test_with_their_hash_are_kept_for_a_year(self, flask_app: Flask, client: Client) -> None:
        """Browsers do not ask for them again."""
        answer = client.get(lasting(flask_app, "app.js"))
        assert answer.status_code == 200
        assert "immutable" in answer.headers["Cache-Control"]
        assert "max-age=31536000" in answer.headers["Cache-Control"]

    def test_with_another_hash_are_not_kept(self, client: Client) -> None:
        """An old page gets the current file, which no cache keeps under the old name."""
        answer = client.get("/static/app.0000000000.js")
        assert answer.status_code == 200
        assert answer.headers["Cache-Control"] == "no-cache"

    def test_without_a_hash_are_revalidated(self, client: Client) -> None:
        """The answer is short while nothing has changed."""
        first = client.get("/static/app.js")
        again = client.get("/static/app.js", headers={"If-None-Match": first.headers["ETag"]})
        assert first.headers["Cache-Control"] == "no-cache"
        assert (again.status_code, again.headers["Vary"]) == (304, "Accept-Encoding")

    def test_that_are_edited_have_a_new_address_and_the_others_keep_theirs(
        self, flask_app: Flask, client: Client, folder: Path
    ) -> None:
        """The next load of the page shows the change, and fetches that file alone."""
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

    def test_of_javascript_have_its_type(self, client: Client) -> None:
        """A module of another type is not run."""
        assert client.get("/static/app.js").mimetype == "text/javascript"

    def test_have_addresses_below_the_prefix(self, flask_app: Flask) -> None:
        """Keys and addresses of the import map as well."""
        with flask_app.test_request_context("/", environ_overrides={"SCRIPT_NAME": "/below"}):
            found = assets.import_map("theme.js")["imports"]
        assert list(found) == ["/below/static/theme.js"]
        assert re.fullmatch(r"/below/static/theme\.[0-9a-f]{10}\.js", found["/below/static/theme.js"])


class TestTheSheet:
    """The style sheets of a page."""

    def test_is_all_of_them_in_their_order(self, client: Client) -> None:
        """No stylesheet is missing."""
        names = [f"styles/{path.name}" for path in (STATIC / "styles").glob("*.css")]
        assert set(assets.SHEETS) == {*names, "vendor/uplot/uPlot.min.css"}
        assert client.get("/static/styles.css").text == "\n".join(
            without_comments((STATIC / name).read_text()) for name in assets.SHEETS
        )


class TestComments:
    """Comments, written for the readers of the source."""

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

    def test_on_lines_of_their_own_are_not_sent(self) -> None:
        """Each statement keeps its line, and a comment after a statement stays."""
        lines = self.SOURCE.splitlines()
        sent = without_comments(self.SOURCE).splitlines()
        assert sent == ["", lines[1], "", "", lines[4], "", *lines[6:]]

    def test_of_other_people_are_sent(self, client: Client) -> None:
        """A library keeps its licence."""
        name = "vendor/uplot/uPlot.min.css"
        assert client.get(f"/static/{name}").data == (STATIC / name).read_bytes()

    def test_are_in_no_file_that_is_sent(self, client: Client) -> None:
        """Every module of ours; and none loses a line."""
        ours = [path for path in STATIC.rglob("*.js") if "vendor" not in path.parts]
        assert len(ours) > 50
        for path in ours:
            sent = client.get(f"/static/{path.relative_to(STATIC).as_posix()}").text
            assert not re.search(r"^\s*//", sent, re.MULTILINE), path
            assert sent.count("\n") == path.read_text().count("\n"), path

    def test_are_taken_out_of_no_text(self) -> None:
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
    """One file, two encodings."""

    def test_is_for_those_who_take_it(self, client: Client) -> None:
        """The same text, shorter; a cache between keeps both apart."""
        full, packed = client.get("/static/app.js"), client.get("/static/app.js", headers=PACKED)
        assert "Content-Encoding" not in full.headers
        assert packed.headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(packed.data) == full.data
        assert len(packed.data) < len(full.data)
        assert full.headers["Vary"] == packed.headers["Vary"] == "Accept-Encoding"
        assert full.headers["ETag"] != packed.headers["ETag"]

    def test_is_not_for_those_who_refuse_it(self, client: Client) -> None:
        """A weight of 0 is a refusal."""
        answer = client.get("/static/app.js", headers={"Accept-Encoding": "gzip;q=0, br"})
        assert "Content-Encoding" not in answer.headers

    def test_of_a_head_is_that_of_the_get(self, client: Client) -> None:
        """The same headers, without the content."""
        got, told = (ask("/static/app.js", headers=PACKED) for ask in (client.get, client.head))
        assert told.data == b""
        for name in ("Content-Length", "Content-Encoding", "ETag", "Vary", "Cache-Control"):
            assert told.headers[name] == got.headers[name]

    def test_leaves_parts_alone(self, client: Client) -> None:
        """A part is of the text, for those who take gzip too."""
        whole = client.get("/static/app.js").data
        part = client.get("/static/app.js", headers=PACKED | {"Range": "bytes=3-9"})
        assert (part.status_code, part.data) == (206, whole[3:10])
        assert part.headers["Content-Range"] == f"bytes 3-9/{len(whole)}"
        assert "Content-Encoding" not in part.headers

    def test_is_kept_for_the_next_one(self) -> None:
        """A file is compressed once until it changes."""
        first, second = asset("app.js"), asset("app.js")
        assert first is not None
        assert first is second
        assert first.compressed is first.compressed


class TestModules:
    """The modules that a page loads, read from its imports."""

    def test_are_those_that_are_imported_each_once(self, flask_app: Flask) -> None:
        """All of them lie there, and every import of any of them is among them, libraries too."""
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
    def test_are_found_however_they_are_written(self, code: str) -> None:
        """Minified ones too."""
        assert assets.Asset(code.encode(), "text/javascript").imports == ("./a.js",)

    @pytest.mark.parametrize(
        "code", ['export const a = "./a.js";', '/** @type {import("./a.js").A} */', "important();"]
    )
    def test_are_not_in_other_code(self, code: str) -> None:
        """Texts and types are not imported."""
        assert assets.Asset(code.encode(), "text/javascript").imports == ()


class TestTheImportMap:
    """The addresses of a page's modules."""

    def test_names_files_that_exist(self) -> None:
        """Every one of them."""
        assert [path for path in VENDORED.values() if not (STATIC / path).is_file()] == []

    def test_stands_in_the_page_with_the_nonce(self, client: Client) -> None:
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

    def test_leads_to_what_is_loaded_later(self, flask_app: Flask) -> None:
        """A panel that is opened has a lasting address, and is not requested before."""
        with flask_app.test_request_context("/"):
            leads = assets.import_map("session/coppice-session.js")["imports"]
        assert "/static/session/history-panel.js" in leads

    def test_cannot_end_its_script_element(self) -> None:
        """Any path is escaped."""
        assert "</script>" not in ImportMap(imports={"x": "</script><script>alert(1)"}).__html__()
