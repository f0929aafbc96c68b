"""create_app: everything connected, and nothing loaded before."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from flask import Flask

from tests.shared import ROOT
from webapp import create_app
from webapp.app import App
from webapp.config import Config


class TestCreateApp:
    """The WSGI application."""

    def test_builds_its_own_services(self, config: Config) -> None:
        """The configuration is sufficient."""
        flask_app = create_app(config)
        assert flask_app.test_client().get("/api/sessions").json == {
            "sessions": [],
            "total": 0,
            "next": None,
        }
        flask_app.extensions["coppice.live"].close()
        flask_app.extensions["coppice"].close()

    def test_takes_services_that_are_there(self, flask_app: Flask, app: App) -> None:
        """A server and a watcher can share services."""
        assert flask_app.extensions["coppice"] is app

    def test_puts_the_gate_before_everything(self, flask_app: Flask) -> None:
        """Pages, files, the API and Socket.IO are behind the gate."""
        client = flask_app.test_client()
        for path in (
            "/",
            "/static/app.js",
            "/api/sessions",
            "/metrics",
            "/socket.io/?EIO=4&transport=polling",
        ):
            assert client.get(path, headers={"Host": "evil.example"}).status_code == 403

    def test_lets_in_the_hosts_that_are_configured(self, app: App, tmp_path: Path) -> None:
        """Hosts are given by name."""
        flask_app = create_app(Config(db=tmp_path / "x.db", allowed_hosts=("Box.local",)), app=app)
        assert flask_app.test_client().get("/", headers={"Host": "box.local:5000"}).status_code == 200
        flask_app.extensions["coppice.live"].close()

    def test_lets_in_the_address_that_it_listens_on(self, app: App, tmp_path: Path) -> None:
        """The printed address is allowed; a wildcard address adds none."""
        for host, name, status in (
            ("192.168.1.5", "192.168.1.5:5000", 200),
            ("Box.local", "box.local:5000", 200),
            ("fe80::1", "[fe80::1]:5000", 200),
            ("0.0.0.0", "0.0.0.0:5000", 403),
            ("::", "[::]:5000", 403),
            ("", "", 403),
        ):
            flask_app = create_app(Config(db=tmp_path / "x.db", host=host), app=app)
            assert flask_app.test_client().get("/", headers={"Host": name}).status_code == status
            flask_app.extensions["coppice.live"].close()

    def test_asks_for_the_token_that_is_configured(self, config: Config) -> None:
        """The API requires it, the page does not."""
        flask_app = create_app(replace(config, token="secret"))
        client = flask_app.test_client()
        assert [client.get(path).status_code for path in ("/", "/api/sessions")] == [200, 401]
        assert client.get("/?token=secret", follow_redirects=True).status_code == 200
        assert client.get("/api/sessions").status_code == 200
        flask_app.extensions["coppice.live"].close()
        flask_app.extensions["coppice"].close()


class TestImporting:
    """The package."""

    def test_loads_nothing(self) -> None:
        """Flask comes in when an application is made."""
        code = "import sys, webapp; print('flask' in sys.modules)"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "False"
