"""The server that lines are pushed to, and its failures as messages that say what to do."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import orjson
import urllib3
from urllib3.exceptions import HTTPError, MaxRetryError, ProtocolError, SSLError

from webapp.errors import CoppiceError

POSITIONS, LINES = "/api/follow/positions", "/api/follow/lines"
SECONDS = 120.0
# The most positions in one request.
TOGETHER = 500
# The outcomes of sending a chunk.
STATES = frozenset({"taken", "known", "behind", "deleted"})
# Answers of a server, or of a proxy in front of it, that will be able to answer later.
LATER = frozenset({408, 425, 429, 502, 503, 504})


class Unreachable(CoppiceError):
    """The server does not answer now; the backlog is sent later."""


class Denied(CoppiceError):
    """The server accepts nothing from here until somebody changes something; the message says what."""


class Rejected(CoppiceError):
    """The server does not accept this part of a transcript; never, if it is `foreign`: of somebody else's session."""

    def __init__(self, message: str, *, foreign: bool) -> None:
        super().__init__(message)
        self.foreign = foreign


class TeamServer:
    """A Coppice on another machine. `address` has no slash at its end."""

    def __init__(self, address: str, token: str | None) -> None:
        self.address = address
        self._token = token
        self._http = urllib3.PoolManager(maxsize=1, timeout=urllib3.Timeout(connect=10.0, read=SECONDS))

    def push(self, body: bytes) -> dict[str, Any]:
        """Push a chunk and return the answer. Raises Unreachable, Denied or Rejected."""
        return self._post(LINES, body, _is_push_answer)

    def differing(self, who: Mapping[str, str], files: Mapping[str, str]) -> dict[str, dict[str, Any]]:
        """Return the server's positions where they differ from digests of ours. Raises Unreachable or Denied."""
        found: dict[str, dict[str, Any]] = {}
        keys = list(files)
        for start in range(0, max(1, len(keys)), TOGETHER):
            some = {key: files[key] for key in keys[start : start + TOGETHER]}
            asked = orjson.dumps({**who, "files": some})
            answer = self._post(POSITIONS, asked, partial(_is_positions_answer, some))
            found |= {one["key"]: one["position"] for one in answer["positions"]}
        return found

    def _post(self, route: str, body: bytes, is_ours: Callable[[Mapping[str, Any]], bool]) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        try:
            answer = self._http.request(
                "POST", self.address + route, body=body, headers=headers, retries=False, redirect=False
            )
        except (HTTPError, OSError) as error:
            raise self._unreached(error) from error
        found = _object(answer.data) if answer.status == 200 else None
        if found is not None and is_ours(found):
            return found
        raise self._failure(answer.status, answer.data, answer.headers.get("Location", ""))

    def _unreached(self, error: Exception) -> CoppiceError:
        reason = error.reason if isinstance(error, MaxRetryError) else error
        if isinstance(reason, SSLError | ssl.SSLError):
            return Denied(
                f"TLS with {self.address} failed: {reason}; its certificate must be valid for that name, and be signed "
                "by an authority that this machine trusts; SSL_CERT_FILE names a file with one of your own"
            )
        said = str(reason.args[-1] if isinstance(reason, ProtocolError) else reason)
        return Unreachable(f"{self.address} does not answer: {said.partition('): ')[2] or said}")

    def _failure(self, status: int, data: bytes, location: str) -> CoppiceError:
        """Return the error of an answer that is not Coppice's, or that is a refusal."""
        said = (_object(data) or {}).get("error")
        message = str(said.get("message")) if isinstance(said, dict) else ""
        if status == 401:
            return Denied(
                f"{self.address} does not accept the token; set COPPICE_TOKEN to one that "
                "`coppice token --role sender` made there"
            )
        if status == 403:
            return Denied(f"{self.address} refuses this machine: {message or 'without a reason'}")
        if status in (404, 405):
            older = "its Coppice is older than this one; update it"
            other = "no Coppice answers there; is the address right, with its path?"
            return Denied(f"{self.address} takes no lines: {older if message else other}")
        if status in LATER:
            return Unreachable(f"{self.address} answers {status}{': ' + message if message else ''}")
        if status == 413 and not message:
            return Denied(
                f"a proxy in front of {self.address} refuses large requests (413); raise its limit, in nginx "
                "client_max_body_size"
            )
        if message and status < 500:
            return Rejected(message, foreign=status == 409)
        if 300 <= status < 400:
            return Denied(f"{self.address} leads elsewhere ({status}), to {location}; give that address")
        return Unreachable(
            f"{self.address} answers {status}{': ' + message if message else ', and no JSON of ours'}"
        )


def _is_push_answer(answer: Mapping[str, Any]) -> bool:
    state = str(answer.get("state"))
    return state in STATES and (state != "behind" or isinstance(answer.get("position"), dict))


def _is_positions_answer(asked: Mapping[str, str], answer: Mapping[str, Any]) -> bool:
    found = answer.get("positions")
    return isinstance(found, list) and all(_is_position(asked, one) for one in found)


def _is_position(asked: Mapping[str, str], one: Any) -> bool:
    return isinstance(one, dict) and isinstance(one.get("position"), dict) and str(one.get("key")) in asked


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None
