"""Access control, tested on the gate itself and on a WSGI application behind it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, ClassVar

import pytest
from werkzeug.test import Client, EnvironBuilder

from webapp.access.failures import Failures
from webapp.access.gate import Gate, Needs
from webapp.access.guard import Guarded
from webapp.access.headers import content_policy
from webapp.access.identity import OPERATOR, VIEWER, Identity
from webapp.access.requests import host_name, sign_in_cookies
from webapp.errors import BusyStore

OWN = "127.0.0.1:5000"


def environ(
    method: str = "GET", path: str = "/api/sessions", host: str = OWN, **headers: str
) -> dict[str, Any]:
    """Return the WSGI environment of a request."""
    made = EnvironBuilder(method=method, path=path, headers=list(headers.items())).get_environ()
    return {**made, "HTTP_HOST": host}


def posted(**headers: str) -> dict[str, Any]:
    """Return the WSGI environment of a POST of JSON."""
    return {**environ("POST", **headers), "CONTENT_TYPE": "application/json"}


class Ring:
    """A keyring with two tokens; a session's secret is its token and its server."""

    identities: ClassVar = {"secret": Identity(OPERATOR, "1"), "look": Identity(VIEWER, "2")}

    def __init__(self) -> None:
        self.broken = False

    def requires_token(self) -> bool:
        """Return True, unless the store is broken."""
        if self.broken:
            raise BusyStore("the database is busy")
        return True

    def authenticate(self, token: str) -> Identity | None:
        """Return the identity of a token."""
        return self.identities.get(token)

    def sign_in(self, token: str, server: str) -> str | None:
        """Return a session's secret."""
        return f"{token}.{server.replace(':', '.')}" if token in self.identities else None

    def signed_in(self, secret: str, server: str) -> Identity | None:
        """Return the identity of a session."""
        token, _, own = secret.partition(".")
        return self.identities.get(token) if own == server.replace(":", ".") else None

    def is_still_valid(self, held: Identity) -> bool:
        """Return True."""
        return True


def needs(request: dict[str, Any]) -> str | None:
    """Return the role that a request needs; the application has a table for it."""
    if not request["PATH_INFO"].startswith(("/api", "/socket.io")):
        return None
    return VIEWER if request["REQUEST_METHOD"] == "GET" else OPERATOR


class NoTokens(Ring):
    """A keyring of a server that asks for no token."""

    identities: ClassVar = {}

    def requires_token(self) -> bool:
        """Return False."""
        return False


def an_operator(_: dict[str, Any]) -> str | None:
    """Return the operator's role: no route is open."""
    return OPERATOR


def open_gate(needs: Needs = an_operator, **rest: Any) -> Gate:
    """Return a gate that asks for no token."""
    return Gate(tokens=NoTokens(), needs=needs, **rest)


def asking(failures: Failures | None = None) -> Gate:
    """Return a gate that requires a token, except for pages."""
    return Gate(tokens=Ring(), needs=needs, failures=failures or Failures())


def behind(gate: Gate) -> Client:
    """Return a client of an application behind a gate that answers every request."""

    def yes(_: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [b"yes"]

    return Client(Guarded(yes, gate), use_cookies=False)


class TestHosts:
    """The Host header: only names of this machine are answered, against DNS rebinding."""

    @pytest.mark.parametrize("host", ["127.0.0.1:5000", "localhost", "LOCALHOST:80", "[::1]:5000", "[::1]"])
    def test_of_this_machine_pass(self, host: str) -> None:
        """A port is optional, and case does not matter."""
        assert open_gate().refusal(environ(host=host)) is None

    @pytest.mark.parametrize(
        "host",
        ["evil.example", "evil.example:5000", "127.0.0.1.evil.example", "localhost.evil.example", "", "0.0.0.0",
         "127.0.0.1,evil.example", "[::1", "localhost@evil.example"],
    )  # fmt: skip
    def test_of_others_are_refused(self, host: str) -> None:
        """Any other name is refused."""
        refusal = open_gate().refusal(environ(host=host))
        assert refusal is not None
        assert refusal.type == "unknown_host"

    def test_that_are_configured_pass(self) -> None:
        """A name allowed at the start is answered."""
        assert open_gate(hosts=frozenset({"box.local"})).refusal(environ(host="Box.Local:5000")) is None

    def test_refused_are_told_how_to_be_allowed(self) -> None:
        """The message names the option to start with."""
        answer = behind(open_gate()).get("/api/sessions", headers={"Host": "box.local"})
        assert answer.status_code == 403
        assert "--allow-host box.local" in json.loads(answer.data)["error"]["message"]

    def test_refused_at_a_page_get_plain_text(self) -> None:
        """The answer is text, never HTML that contains the request's own words."""
        answer = behind(open_gate()).get("/", headers={"Host": "<b>.example"})
        assert answer.mimetype == "text/plain"

    def test_lose_their_port_but_keep_their_brackets(self) -> None:
        """Hosts are compared in this form."""
        assert [host_name(h) for h in ("A:1", "[::1]:5", " b ")] == ["a", "[::1]", "b"]


class TestOrigins:
    """Origins: pages of other origins change nothing."""

    @pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
    @pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:3000", "file://"])
    def test_foreign_ones_are_refused(self, method: str, origin: str) -> None:
        """Another port of this machine is another origin."""
        refusal = open_gate().refusal(environ(method, Origin=origin))
        assert refusal is not None
        assert refusal.type == "foreign_origin"
        assert "--allow-origin" in refusal.message

    def test_of_our_own_pages_pass(self) -> None:
        """The origin of the requested host passes, with either scheme."""
        for scheme in ("http", "https"):
            assert open_gate().refusal(posted(Origin=f"{scheme}://{OWN}")) is None

    def test_programs_pass(self) -> None:
        """A program names no origin."""
        assert open_gate().refusal(posted()) is None

    @pytest.mark.parametrize(
        "headers",
        [
            {"Origin": "http://evil.example"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
        ],
    )
    def test_read_nothing_either(self, headers: dict[str, str]) -> None:
        """Even an answer that the browser hides would reveal something by its duration."""
        gate = open_gate(needs=needs)
        assert gate.refusal(environ("GET", **headers)) is not None
        assert gate.refusal(environ("GET", path="/", **headers)) is None

    def test_of_sockets_are_checked_for_every_method(self) -> None:
        """A handshake is a GET, but later messages may change data."""
        refusal = open_gate().refusal(environ(path="/socket.io/", Origin="http://evil.example"))
        assert refusal is not None

    @pytest.mark.parametrize("site", ["cross-site", "same-site"])
    def test_of_other_sites_are_refused_without_a_name(self, site: str) -> None:
        """A browser that withholds the origin still sends Sec-Fetch-Site."""
        assert open_gate().refusal(environ("POST", **{"Sec-Fetch-Site": site})) is not None
        assert open_gate().refusal(environ(path="/socket.io/", **{"Sec-Fetch-Site": site})) is not None

    def test_that_are_configured_pass(self) -> None:
        """An origin configured at the start may do the same as our own."""
        gate = open_gate(origins=frozenset({"https://environment.example"}))
        headers = {"Origin": "https://environment.example", "Sec-Fetch-Site": "cross-site"}
        assert gate.refusal(posted(**headers)) is None


class TestForms:
    """A POST needs a header or type that no form can send."""

    @pytest.mark.parametrize(
        "kind", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
    )
    def test_are_refused(self, kind: str) -> None:
        """Any content type of a form is refused, even without an origin."""
        refusal = open_gate().refusal({**environ("POST"), "CONTENT_TYPE": kind})
        assert refusal is not None
        assert (refusal.status[:3], refusal.type) == ("415", "unsupported_type")
        assert "without a body or with uploaded files, the header X-Coppice: 1" in refusal.message

    @pytest.mark.parametrize(
        ("kind", "headers"),
        [
            ("application/json", {}),
            ("application/vnd.x+json; charset=utf-8", {}),
            ("multipart/form-data; boundary=x", {"X-Coppice": "1"}),
            ("", {"Authorization": "Bearer x"}),
        ],
    )
    def test_are_distinguished_from_programs_and_own_pages(self, kind: str, headers: dict[str, str]) -> None:
        """For such a type or header, a browser would ask first if a foreign page sent it."""
        assert open_gate().refusal({**environ("POST", **headers), "CONTENT_TYPE": kind}) is None

    def test_of_sockets_are_not_asked(self) -> None:
        """Socket requests contain the secret of their connection."""
        assert open_gate().refusal({**environ("POST", "/socket.io/"), "CONTENT_TYPE": "text/plain"}) is None


class TestTokens:
    """A token is required once one has been made."""

    @pytest.mark.parametrize(
        "headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic secret"}]
    )
    def test_missing_or_wrong_are_refused(self, headers: dict[str, str]) -> None:
        """The answer is 401 and says how to send a token."""
        answer = behind(asking()).get("/api/sessions", headers={"Host": OWN, **headers})
        assert answer.status_code == 401
        assert "Bearer" in answer.headers["WWW-Authenticate"]

    def test_that_are_wrong_are_not_taken_for_missing_ones(self) -> None:
        """The message says what is wrong with the token, instead of how to send one."""
        refusal = asking().refusal(environ(Authorization="Bearer wrong"))
        assert refusal is not None
        assert (
            refusal.message == "this token is unknown or revoked; `coppice token` on the server makes another"
        )

    def test_of_programs_are_accepted(self) -> None:
        """Programs send a bearer token."""
        assert asking().refusal(environ(Authorization="Bearer secret")) is None

    def test_are_not_required_for_a_page(self) -> None:
        """A page contains no data of a session."""
        assert asking().refusal(environ(path="/")) is None

    def test_are_required_if_the_store_fails(self) -> None:
        """If the store does not answer, the request is refused."""
        ring = Ring()
        ring.broken = True
        answer = behind(Gate(tokens=ring, needs=needs)).get("/api/sessions", headers={"Host": OWN})
        assert answer.status_code == 503

    def test_are_always_required_by_a_server_for_other_machines(self) -> None:
        """Such a server is closed even before a token is made."""
        assert open_gate(closed=True, needs=needs).refusal(environ()) is not None

    def test_of_a_viewer_allow_reading_only(self) -> None:
        """A change is refused with 403, which asks for an operator's token."""
        gate, look = asking(), {"Authorization": "Bearer look"}
        assert gate.refusal(environ("GET", **look)) is None
        refusal = gate.refusal(environ("DELETE", **look))
        assert refusal is not None
        assert (refusal.status[:3], refusal.type) == ("403", "operator_needed")
        assert refusal.message.endswith("; this needs an operator's")


class TestSessions:
    """Sessions of browsers, which keep a cookie and no token."""

    def opened(self, gate: Gate, path: str = "/sessions/a?token=secret", **headers: str) -> Any:
        """Open a page with a token."""
        return behind(gate).get(path, headers={"Host": OWN, **headers})

    def test_begin_with_a_token_in_the_address(self) -> None:
        """The cookie is hidden from scripts and other sites, and the token leaves the address."""
        gate = asking()
        answer = self.opened(gate)
        assert (answer.status_code, answer.headers["Location"]) == (303, "/sessions/a")
        cookie = answer.headers["Set-Cookie"]
        assert {"HttpOnly", "SameSite=Strict"} <= set(cookie.split("; "))
        assert gate.refusal(environ(Cookie=cookie.partition(";")[0])) is None

    def test_keep_the_rest_of_the_address(self) -> None:
        """A shared link with filters and a token shows what it names; nothing in it adds a header."""
        answer = self.opened(asking(), "/search?q=a%26b%0D%0AX:+1&token=secret&role=")
        assert answer.headers["Location"] == "/search?q=a%26b%0D%0AX%3A+1&role="

    @pytest.mark.parametrize(
        ("held", "brought", "replaced"),
        [("secret", "look", False), ("secret", "secret", True), ("look", "secret", True), ("look", "look", True)],
    )  # fmt: skip
    def test_keep_the_wider_role(self, held: str, brought: str, *, replaced: bool) -> None:
        """A link with a viewer's token does not replace an operator's session; the token leaves the address."""
        own = self.opened(asking(), f"/?token={held}").headers["Set-Cookie"].partition(";")[0]
        answer = self.opened(asking(), f"/a?token={brought}", Cookie=own)
        assert (answer.status_code, answer.headers["Location"]) == (303, "/a")
        assert ("Set-Cookie" in answer.headers) == replaced

    def test_are_not_begun_directly_by_a_link_of_another_site(self) -> None:
        """A browser sends no cookie with such a request, so a page with a link of our own is shown first."""
        foreign = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}
        answer = self.opened(asking(), "/a?token=look&x=<b>", **foreign)
        assert (answer.status_code, "Set-Cookie" in answer.headers) == (200, False)
        assert '<a href="?token=look&amp;x=' in answer.text
        assert "<b>" not in answer.text
        assert "script" not in answer.headers["Content-Security-Policy"]
        assert self.opened(asking(), "/a?token=guess", **foreign).text == "yes"

    def test_are_named_for_their_port_and_bound_to_it(self) -> None:
        """Browsers send a cookie to every port of a host; another server's cookie is not accepted."""
        gate = asking()
        cookie = self.opened(gate).headers["Set-Cookie"].partition(";")[0]
        assert cookie.startswith("coppice_5000=")
        assert gate.refusal(environ(host="127.0.0.1:5001", Cookie=cookie)) is not None
        renamed = cookie.replace("_5000", "_5001")
        assert gate.refusal(environ(host="127.0.0.1:5001", Cookie=renamed)) is not None

    def test_are_secure_over_tls(self) -> None:
        """The cookie is never sent in clear text."""
        request = {**environ(path="/"), "QUERY_STRING": "token=secret", "wsgi.url_scheme": "https"}
        headers: dict[str, str] = {}
        Guarded(lambda *_: [], asking())(request, lambda _, found: headers.update(found))
        assert "Secure" in headers["Set-Cookie"]

    def test_never_redirect_to_another_host(self) -> None:
        """A path that looks like another host stays a path."""
        request = {**environ(path="/"), "PATH_INFO": "//evil.example/", "QUERY_STRING": "token=secret"}
        headers: dict[str, str] = {}
        Guarded(lambda *_: [], asking())(request, lambda _, found: headers.update(found))
        assert headers["Location"] == "/evil.example/"

    @pytest.mark.parametrize("token", ["güess", "secre", "", "guess"])
    def test_need_the_whole_token(self, token: str) -> None:
        """With a wrong token the page is shown, but no session begins."""
        answer = self.opened(asking(), "/?token=" + token)
        assert (answer.status_code, "Set-Cookie" in answer.headers) == (200, False)

    def test_are_not_found_in_a_malformed_cookie(self) -> None:
        """A malformed cookie gives no session and no error."""
        for cookie in ("a]b=;;\x00", "coppice_5000", "coppice_5000=", "xcoppice_5000=a"):
            assert sign_in_cookies({"HTTP_COOKIE": cookie, "HTTP_HOST": OWN}) == []

    @pytest.mark.parametrize(
        "cookies",
        [
            'seen={"a":"b, c"}; {}',
            "a b=c; {}",
            "x; {}",
            "é=1; =2; {}; a@b=3",
            "path=/; expires=never; {}",
            "coppice_5000=planted; {}",
            "{}; coppice_5000=planted",
            "; ".join(["coppice_5000=planted"] * 9) + "; {}",
        ],
    )
    def test_work_beside_the_cookies_of_other_servers(self, cookies: str) -> None:
        """A server on another port may set cookies of any form, even of the same name."""
        gate = asking()
        own = self.opened(gate).headers["Set-Cookie"].partition(";")[0]
        assert gate.refusal(environ(Cookie=cookies.replace("{}", own))) is None
        assert gate.refusal(environ(Cookie=cookies.replace("{}", "coppice_5000=guess"))) is not None

    def test_never_use_a_secret_of_the_browser(self) -> None:
        """A planted secret does not become that of the session."""
        headers = {"Cookie": "coppice_5000=planted"}
        gate = asking()
        assert "planted" not in self.opened(gate, **headers).headers["Set-Cookie"]
        assert gate.refusal(environ(**headers)) is not None


class TestGuessing:
    """Guessing tokens: after ten wrong ones a minute from an address, none is checked."""

    @pytest.fixture
    def now(self) -> list[float]:
        """The time in seconds, which a test can change."""
        return [100.0]

    @pytest.fixture
    def client(self, now: list[float]) -> Client:
        """A client of a gate with that time."""
        return behind(asking(Failures(lambda: now[0])))

    def status(self, client: Client, token: str, address: str = "10.0.0.1", path: str = "/api/x") -> int:
        """Return the status for a token from an address."""
        headers = {"Host": OWN, "Authorization": f"Bearer {token}"}
        return client.get(path, headers=headers, environ_base={"REMOTE_ADDR": address}).status_code

    def test_is_stopped_after_ten(self, client: Client) -> None:
        """The right token is refused too; the answer says when to try again."""
        assert [self.status(client, f"guess{n}") for n in range(12)] == [401] * 10 + [429] * 2
        assert self.status(client, "secret") == 429

    def test_is_allowed_again_after_a_minute(self, client: Client, now: list[float]) -> None:
        """Wrong tokens are forgotten after a minute."""
        for n in range(10):
            self.status(client, f"guess{n}")
        now[0] += 60
        assert self.status(client, "secret") == 200

    def test_is_counted_per_address(self, client: Client) -> None:
        """Addresses are counted separately, and those of one IPv6 network together."""
        for n in range(10):
            self.status(client, "guess", f"2001:db8::{n}")
        assert self.status(client, "secret", "2001:db8::abcd") == 429
        assert self.status(client, "secret", "10.0.0.2") == 200

    def test_in_the_address_of_a_page_is_counted(self, client: Client) -> None:
        """The address is another way to send a token."""
        address = {"REMOTE_ADDR": "10.0.0.1"}
        for n in range(10):
            client.get(f"/?token=guess{n}", headers={"Host": OWN}, environ_base=address)
        assert client.get("/?token=secret", headers={"Host": OWN}, environ_base=address).status_code == 429

    def test_by_a_foreign_page_in_the_background_is_not_counted(self, client: Client) -> None:
        """Otherwise any page could lock out the programs of this machine."""
        foreign = {"Host": OWN, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "image"}
        for n in range(20):
            client.get(f"/?token=guess{n}", headers=foreign, environ_base={"REMOTE_ADDR": "10.0.0.1"})
        assert self.status(client, "secret") == 200

    def test_excludes_expired_sessions(self, client: Client) -> None:
        """An open page sends its expired session, and would otherwise lock itself out."""
        cookie = {"Host": OWN, "Cookie": "coppice_5000=old"}
        for _ in range(20):
            client.get("/api/x", headers=cookie, environ_base={"REMOTE_ADDR": "10.0.0.1"})
        assert self.status(client, "secret") == 200


class TestContentPolicy:
    """The content policy of pages."""

    def test_allows_no_inline_script_without_the_nonce(self) -> None:
        """Other inline scripts, foreign scripts and framing are forbidden."""
        policy = content_policy("n0nce", OWN)
        assert "script-src 'self' 'nonce-n0nce'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
