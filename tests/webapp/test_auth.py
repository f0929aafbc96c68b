"""Access control, tested on the gate itself and on a WSGI application behind it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from werkzeug.test import Client, EnvironBuilder

from webapp.auth import Gate, Guarded, content_policy, host_name, sent_token

OWN = "127.0.0.1:5000"


def environ(
    method: str = "GET", path: str = "/api/sessions", host: str = OWN, **headers: str
) -> dict[str, Any]:
    """A request as WSGI hands it over."""
    made = EnvironBuilder(method=method, path=path, headers=list(headers.items())).get_environ()
    return {**made, "HTTP_HOST": host}


def is_page(request: dict[str, Any]) -> bool:
    """Return whether a request is for a page; the application has a table for it."""
    return not request["PATH_INFO"].startswith(("/api", "/socket.io"))


def asking(token: str) -> Gate:
    """A gate that asks for a token, but not for a page."""
    return Gate(token=token, is_open=is_page)


def behind(gate: Gate) -> Client:
    """A client of an application that always says yes, behind a gate."""

    def yes(_: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [b"yes"]

    return Client(Guarded(yes, gate))


class TestHosts:
    """Only names of this machine are answered, so that no rebound DNS name reaches us."""

    @pytest.mark.parametrize("host", ["127.0.0.1:5000", "localhost", "LOCALHOST:80", "[::1]:5000", "[::1]"])
    def test_of_this_machine_pass(self, host: str) -> None:
        """With or without a port, in any case."""
        assert Gate().refusal(environ(host=host)) is None

    @pytest.mark.parametrize(
        "host",
        ["evil.example", "evil.example:5000", "127.0.0.1.evil.example", "localhost.evil.example", "", "0.0.0.0",
         "127.0.0.1,evil.example", "[::1", "localhost@evil.example"],
    )  # fmt: skip
    def test_of_others_are_refused(self, host: str) -> None:
        """Whatever is not exactly one of ours."""
        refusal = Gate().refusal(environ(host=host))
        assert refusal is not None
        assert refusal.type == "unknown_host"

    def test_that_are_configured_pass(self) -> None:
        """A name given at the start is one of ours."""
        assert Gate(hosts=frozenset({"box.local"})).refusal(environ(host="Box.Local:5000")) is None

    def test_refused_are_told_how_to_be_allowed(self) -> None:
        """The message names the option to start with."""
        answer = behind(Gate()).get("/api/sessions", headers={"Host": "box.local"})
        assert answer.status_code == 403
        assert "--allow-host box.local" in json.loads(answer.data)["error"]["message"]

    def test_refused_at_a_page_get_plain_text(self) -> None:
        """Someone at a browser reads words, never HTML made of what they sent."""
        answer = behind(Gate()).get("/", headers={"Host": "<b>.example"})
        assert answer.mimetype == "text/plain"

    def test_lose_their_port_but_keep_their_brackets(self) -> None:
        """As they are compared."""
        assert [host_name(h) for h in ("A:1", "[::1]:5", " b ")] == ["a", "[::1]", "b"]


class TestOrigins:
    """A page that is not ours changes nothing."""

    @pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
    @pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:3000", "file://"])
    def test_foreign_ones_are_refused(self, method: str, origin: str) -> None:
        """Another port of this machine is another origin."""
        refusal = Gate().refusal(environ(method, Origin=origin))
        assert refusal is not None
        assert refusal.type == "foreign_origin"

    def test_of_our_own_pages_pass(self) -> None:
        """The host that the request itself names, with either scheme."""
        for scheme in ("http", "https"):
            assert Gate().refusal(environ("POST", Origin=f"{scheme}://{OWN}")) is None

    def test_programs_pass(self) -> None:
        """A program names no origin."""
        assert Gate().refusal(environ("POST")) is None

    def test_reading_is_left_to_the_browser(self) -> None:
        """A foreign page may send a GET, for it has no effect and the answer is withheld from it."""
        assert Gate().refusal(environ("GET", Origin="http://evil.example")) is None

    def test_of_sockets_are_checked_whatever_the_method(self) -> None:
        """A handshake is a GET, and what follows may change things."""
        refusal = Gate().refusal(environ(path="/socket.io/", Origin="http://evil.example"))
        assert refusal is not None

    @pytest.mark.parametrize("site", ["cross-site", "same-site"])
    def test_of_other_sites_are_refused_without_a_name(self, site: str) -> None:
        """A browser that withholds the origin still says that the page is another's."""
        assert Gate().refusal(environ("POST", **{"Sec-Fetch-Site": site})) is not None
        assert Gate().refusal(environ(path="/socket.io/", **{"Sec-Fetch-Site": site})) is not None

    def test_that_are_configured_pass(self) -> None:
        """An origin given at the start may do what our own may."""
        gate = Gate(origins=frozenset({"https://environment.example"}))
        headers = {"Origin": "https://environment.example", "Sec-Fetch-Site": "cross-site"}
        assert gate.refusal(environ("POST", **headers)) is None


class TestTokens:
    """With a token set, every request needs it."""

    def test_are_taken_as_bearer_or_cookie(self) -> None:
        """Programs send the one, pages the other."""
        gate = Gate(token="secret")
        assert gate.refusal(environ(Authorization="Bearer secret")) is None
        assert gate.refusal(environ(Cookie="coppice_token=secret")) is None

    @pytest.mark.parametrize(
        "headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic secret"}]
    )
    def test_missing_or_wrong_are_refused(self, headers: dict[str, str]) -> None:
        """With 401 and the way to send it."""
        answer = behind(asking("secret")).get("/api/sessions", headers={"Host": OWN, **headers})
        assert answer.status_code == 401
        assert "Bearer" in answer.headers["WWW-Authenticate"]

    def test_are_not_asked_for_a_page(self) -> None:
        """A page tells nothing about a session by itself."""
        assert asking("secret").refusal(environ(path="/")) is None

    def test_in_the_address_of_a_page_become_a_cookie(self) -> None:
        """One that no script reads and no other site sends, and the address is clean again."""
        answer = behind(asking("secret")).get("/sessions/a?token=secret", headers={"Host": OWN})
        assert (answer.status_code, answer.headers["Location"]) == (303, "/sessions/a")
        cookie = answer.headers["Set-Cookie"]
        assert {"HttpOnly", "SameSite=Strict"} <= set(cookie.split("; "))
        assert Gate(token="secret").refusal(environ(Cookie=cookie.partition(";")[0])) is None

    def test_in_an_address_lead_nowhere_else(self) -> None:
        """A path that looks like another host stays a path."""
        request = {**environ(path="/"), "PATH_INFO": "//evil.example/", "QUERY_STRING": "token=secret"}
        headers: dict[str, str] = {}
        Guarded(lambda *_: [], asking("secret"))(request, lambda _, found: headers.update(found))
        assert headers["Location"] == "/evil.example/"

    @pytest.mark.parametrize("token", ["güess", "secre", ""])
    def test_in_the_address_are_compared_whole(self, token: str) -> None:
        """Whatever letters it has, only the token itself becomes a cookie."""
        answer = behind(asking("secret")).get("/", query_string={"token": token}, headers={"Host": OWN})
        assert "Set-Cookie" not in answer.headers

    def test_that_are_wrong_make_no_cookie(self) -> None:
        """The page is shown, and its data is refused."""
        answer = behind(asking("secret")).get("/?token=guess", headers={"Host": OWN})
        assert "Set-Cookie" not in answer.headers

    def test_in_a_broken_cookie_are_none(self) -> None:
        """A cookie that cannot be read is no token, and no failure."""
        assert sent_token({"HTTP_COOKIE": "a]b=;;\x00"}) == ""


class TestThePolicy:
    """The content policy of pages."""

    def test_allows_no_inline_script_without_the_nonce(self) -> None:
        """Neither inline nor from elsewhere, and nobody may frame us."""
        policy = content_policy("n0nce", OWN)
        assert "script-src 'self' 'nonce-n0nce'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
