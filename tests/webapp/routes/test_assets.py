"""The browser's files: cached for a year under their version, revalidated without one."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from flask import Flask, url_for

from tests.webapp.promises import Client
from webapp.routes.assets import STATIC, VENDORED, ImportMap, fingerprint, modules


def lasting(flask_app: Flask, filename: str) -> str:
    """The address of a file with its version in it."""
    with flask_app.test_request_context("/"):
        return url_for("static", filename=filename)


class TestFiles:
    """One file, two addresses."""

    def test_with_their_version_are_kept_for_a_year(self, flask_app: Flask, client: Client) -> None:
        """Nobody asks again."""
        answer = client.get(lasting(flask_app, "app.js"))
        assert answer.status_code == 200
        assert "immutable" in answer.headers["Cache-Control"]
        assert "max-age=31536000" in answer.headers["Cache-Control"]

    def test_with_an_old_version_are_not_kept(self, client: Client) -> None:
        """A page from before an update gets what there is, and nobody remembers it under that name."""
        answer = client.get("/static/v-000000000000/app.js")
        assert answer.status_code == 200
        assert "immutable" not in answer.headers["Cache-Control"]

    def test_without_a_version_are_asked_for_anew(self, client: Client) -> None:
        """And answered briefly when nothing changed."""
        first = client.get("/static/app.js")
        again = client.get("/static/app.js", headers={"If-None-Match": first.headers["ETag"]})
        assert "no-cache" in first.headers["Cache-Control"]
        assert again.status_code == 304

    @pytest.mark.parametrize("path", ["../pyproject.toml", "..%2fpyproject.toml", "/etc/passwd", "vendor"])
    def test_outside_the_folder_are_not_served(self, client: Client, path: str) -> None:
        """Neither folders nor what lies beside them."""
        assert client.get(f"/static/{path}").status_code == 404

    def test_of_javascript_have_its_type(self, client: Client) -> None:
        """A module of another type is not run."""
        assert client.get("/static/app.js").mimetype == "text/javascript"


class TestModules:
    """The modules that a page loads, read from its imports."""

    def test_are_those_that_are_imported_each_once(self, flask_app: Flask) -> None:
        """All of them lie there, and every import of any of them is among them."""
        with flask_app.test_request_context("/"):
            found = modules("app.js", "session/coppice-session.js", "")
        assert found[0] == "app.js"
        assert len(found) == len(set(found)) > 20
        for name in found:
            for one in re.findall(r'^import [^;]*"(\.[^"]+)";', (STATIC / name).read_text(), re.MULTILINE):
                assert os.path.relpath((STATIC / name).parent / one, STATIC) in found


class TestTheVersion:
    """A hash over all files."""

    def test_changes_with_any_file(self, tmp_path: Path) -> None:
        """Its size, its time, or its being there."""
        file = tmp_path / "lib" / "a.js"
        file.parent.mkdir()
        file.write_text("1")
        seen = {fingerprint(tmp_path)}
        os.utime(file, ns=(1, 1))
        seen.add(fingerprint(tmp_path))
        (tmp_path / "b.js").write_text("2")
        seen.add(fingerprint(tmp_path))
        assert len(seen) == 3


class TestTheImportMap:
    """The addresses of the vendored libraries."""

    def test_names_files_that_exist(self) -> None:
        """Every one of them."""
        assert [path for path in VENDORED.values() if not (STATIC / path).is_file()] == []

    def test_stands_in_the_page_with_the_nonce(self, client: Client) -> None:
        """The one inline script, allowed by name; it is JSON as it stands."""
        answer = client.get("/")
        found = re.search(r'<script type="importmap" nonce="([^"]+)">(.*?)</script>', answer.text, re.DOTALL)
        assert found is not None
        assert f"'nonce-{found[1]}'" in answer.headers["Content-Security-Policy"]
        assert set(json.loads(found[2])["imports"]) == set(VENDORED)

    def test_cannot_end_its_script_element(self) -> None:
        """Whatever a path holds."""
        assert "</script>" not in ImportMap(imports={"x": "</script><script>alert(1)"}).__html__()
