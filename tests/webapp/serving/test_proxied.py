"""TLS, and a server below a path behind a real nginx: pages, API and websocket."""

from __future__ import annotations

import json
import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
import websocket

from tests.ports import free_port
from tests.servers import Server, running_server
from tests.waiting import PATIENCE, until
from tests.webapp.serving.processes import certificate_of, started
from webapp.access.requests import Environ
from webapp.errors import Invalid
from webapp.serving.prefixed import Prefixed
from webapp.serving.server import check_certificate, has_gunicorn

NGINX = shutil.which("nginx") or (shutil.which("/usr/sbin/nginx"))
CONFIG = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
worker_processes 1;
events {{ worker_connections 64; }}
http {{
  access_log off;
  client_body_temp_path {folder}/1; proxy_temp_path {folder}/2; fastcgi_temp_path {folder}/3;
  uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5;
  map $http_upgrade $connection_upgrade {{ default upgrade; '' close; }}
  server {{
    listen 127.0.0.1:{port} ssl;
    ssl_certificate {certificate}; ssl_certificate_key {key};
    location /coppice/ {{
      proxy_pass {to};
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
    }}
  }}
}}
"""


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of 127.0.0.1 and its key."""
    return certificate_of(tmp_path_factory.mktemp("tls"), "IP:127.0.0.1")


def trusting(certificate: Path) -> ssl.SSLContext:
    """Return the client options that trust the certificate."""
    return ssl.create_default_context(cafile=str(certificate))


def subscribed(url: str, path: str, certificate: Path, **headers: str) -> Any:
    """Join the overview over a page's websocket with TLS; return the answer.

    One thread reads and writes: Python before 3.13 does not protect a TLS connection from two, as the client of
    Socket.IO has them, and loses it now and then on a busy machine.
    """
    address = f"wss{url.removeprefix('https')}/{path}/?EIO=4&transport=websocket"
    options = {"ca_certs": str(certificate)}
    with closing(websocket.create_connection(address, PATIENCE, sslopt=options, header=headers)) as page:
        assert str(page.recv()).startswith("0")
        page.send("40")
        assert str(page.recv()).startswith("40")
        page.send('420["subscribe", {"room": "overview"}]')
        while not (said := str(page.recv())).startswith("430"):
            pass
    return json.loads(said.removeprefix("430"))[0]


@pytest.fixture(scope="module")
def url(pair: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with TLS."""
    options = ("--port", "0", "--tls-cert", str(pair[0]), "--tls-key", str(pair[1]))
    with started(tmp_path_factory.mktemp("tls"), *options, verify=trusting(pair[0])) as (_, found):
        yield found


@pytest.mark.skipif(not has_gunicorn(), reason="gunicorn does not run on this system")
class TestTls:
    """`--tls-cert` and `--tls-key`."""

    def test_serves_requests_and_websockets(self, url: str, pair: tuple[Path, Path]) -> None:
        """The address has https."""
        assert url.startswith("https://")
        with httpx.Client(base_url=url, verify=trusting(pair[0]), timeout=PATIENCE) as http:
            assert [http.get(path).status_code for path in ("/", "/api/sessions")] == [200, 200]
            large = {"id": "a", "model": "gpt-5", "title": "x" * 200_000}
            assert http.post("/api/sessions", json=large).status_code in (201, 422)
        assert subscribed(url, "socket.io", pair[0])["room"] == "overview"

    def test_answers_beside_handshakes_that_never_end(self, url: str, pair: tuple[Path, Path]) -> None:
        """This includes clients that do not use TLS."""
        port = int(url.rpartition(":")[2])
        held = [socket.create_connection(("127.0.0.1", port)) for _ in range(150)]
        for n, one in enumerate(held):
            one.sendall(b"\x16\x03\x01" if n % 2 else b"GET / HTTP/1.1\r\n\r\n")
        assert httpx.get(url + "/healthz", verify=trusting(pair[0]), timeout=PATIENCE).status_code == 200
        for one in held:
            one.close()

    def test_is_refused_with_files_that_do_not_match(self, pair: tuple[Path, Path], tmp_path: Path) -> None:
        """The error names the files before anything starts."""
        bad = tmp_path / "bad.pem"
        bad.write_text("no certificate")
        for certificate, key in (
            (bad, pair[1]),
            (pair[0], bad),
            (pair[0], None),
            (tmp_path / "none", None),
            (None, pair[1]),
        ):
            with pytest.raises(Invalid, match="certificate"):
                check_certificate(certificate, key)


class TestThePrefix:
    """A path prefix that the proxy removes or passes on."""

    @pytest.mark.parametrize(
        ("path", "below"),
        [
            ("/coppice/api/sessions", "/api/sessions"),
            ("/api/sessions", "/api/sessions"),
            ("/coppice", "/"),
            ("/coppice/", "/"),
            ("/coppicer", "/coppicer"),
            ("/coppice/coppice/x", "/coppice/x"),
            ("//coppice/x", "//coppice/x"),
        ],
    )
    def test_is_removed_once(self, path: str, below: str) -> None:
        """The prefix is the root of the application's addresses."""
        seen: Environ = {}
        Prefixed(lambda environ, _: seen.update(environ) or [], "/coppice")(
            {"PATH_INFO": path}, lambda *_: None
        )
        assert (seen["SCRIPT_NAME"], seen["PATH_INFO"]) == ("/coppice", below)


@contextmanager
def nginx(folder: Path, to: str, pair: tuple[Path, Path]) -> Iterator[str]:
    """Run nginx in front of a server; yield its address."""
    if NGINX is None:
        pytest.skip("nginx is not installed")
    port = free_port()
    config = folder / "nginx.conf"
    config.write_text(CONFIG.format(folder=folder, port=port, to=to, certificate=pair[0], key=pair[1]))
    process = subprocess.Popen([NGINX, "-c", config, "-p", folder], stderr=subprocess.PIPE)
    url = f"https://127.0.0.1:{port}/coppice"

    def answers() -> bool:
        assert process.poll() is None, process.communicate()[1].decode()
        try:
            return httpx.get(url + "/healthz", verify=trusting(pair[0])).status_code == 200
        except httpx.TransportError:
            return False

    try:
        until(answers)
        yield url
    finally:
        process.terminate()
        process.communicate()


@pytest.mark.skipif(os.name != "posix", reason="nginx is started as on POSIX")
class Behind(NamedTuple):
    """A server behind nginx: its public address, itself, and a token."""

    url: str
    inner: Server
    token: str


@pytest.mark.parametrize("stripped", [False, True], ids=["prefix passed on", "prefix taken off"])
class TestBehindNginx:
    """A server below a path behind nginx, which ends TLS."""

    @pytest.fixture
    def server(self, tmp_path: Path, pair: tuple[Path, Path], stripped: bool) -> Iterator[Behind]:
        """Nginx in front of a server with a token."""
        given: dict[str, Any] = {"prefix": "/coppice", "proxies": 1, "tokenizer": False}
        with running_server(tmp_path, **given) as inner:
            to = inner.url + ("/" if stripped else "")
            with nginx(tmp_path, to, pair) as url:
                _, token = inner.app.access_tokens.make("")
                yield Behind(url, inner, token)

    @pytest.fixture
    def http(self, server: Behind, pair: tuple[Path, Path]) -> Iterator[httpx.Client]:
        """A client like a browser."""
        with httpx.Client(base_url=server.url, verify=trusting(pair[0]), timeout=PATIENCE) as made:
            yield made

    def test_a_browser_is_admitted_with_a_token(self, server: Behind, http: httpx.Client) -> None:
        """Addresses and the cookie are below the path, and the cookie is only sent over TLS."""
        assert http.get("/api/sessions").status_code == 401
        opened = http.get(f"/?token={server.token}")
        cookie = opened.headers["Set-Cookie"]
        assert (opened.status_code, opened.headers["Location"]) == (303, "/coppice/")
        assert ("Path=/coppice" in cookie, "Secure" in cookie) == (True, True)
        page = http.get("/").text
        assert 'data-root="/coppice"' in page
        assert 'src="/coppice/static/' in page
        assert 'href="/coppice/settings"' in page
        assert http.get("/api/sessions").status_code == 200
        origin = server.url.removesuffix("/coppice")
        headers = {"Origin": origin, "Sec-Fetch-Site": "same-origin"}
        assert (
            http.post("/api/sessions", json={"id": "a", "model": "gpt-5"}, headers=headers).status_code == 201
        )

    def test_a_page_gets_events(self, server: Behind, pair: tuple[Path, Path]) -> None:
        """Events arrive over a websocket through nginx."""
        origin = server.url.removesuffix("/coppice")
        token = f"Bearer {server.token}"
        assert subscribed(origin, "coppice/socket.io", pair[0], Authorization=token)["room"] == "overview"

    def test_guesses_are_counted_by_the_client_of_nginx(self, server: Behind, http: httpx.Client) -> None:
        """Neither nginx's own address nor a forged one is used."""
        for n in range(10):
            made_up = {"Authorization": "Bearer guess", "X-Forwarded-For": f"10.0.0.{n}"}
            assert http.get("/api/sessions", headers=made_up).status_code == 401
        right = {"Authorization": f"Bearer {server.token}"}
        assert http.get("/api/sessions", headers=right).status_code == 429
        other = {**right, "Host": httpx.URL(server.inner.url).netloc.decode(), "X-Forwarded-For": "10.9.9.9"}
        assert httpx.get(server.inner.url + "/api/sessions", headers=other).status_code == 200
