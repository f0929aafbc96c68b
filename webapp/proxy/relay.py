"""The proxy as a WSGI application: forwards a call, event by event, and then hands over a copy.

The client sees the same as without the proxy: the provider's status, headers, bytes and errors, and a connection that
ends where the provider's does.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import unquote

import orjson

from webapp.access.requests import LOOPBACK_HOSTS, Environ, StartResponse, host_name
from webapp.proxy.background import BackgroundCalls
from webapp.proxy.call_copy import CallCopy
from webapp.proxy.callers import SUBSCRIPTION, caller_of, is_subscription
from webapp.proxy.client_body import BUFFERED_BYTES, ClientBody, ClientGone
from webapp.proxy.copy_sender import CopySender
from webapp.proxy.disconnects import DisconnectWatcher
from webapp.proxy.editing import Body, Refused
from webapp.proxy.scripts import Outcome, Scripts
from webapp.proxy.unpacking import unpacked
from webapp.proxy.upstream import Answer, Call, Headers, Provider, ProviderGone
from webapp.services.proxied.keys import Protocol, protocol_of
from webapp.services.session.times import now_ms

log = logging.getLogger(__name__)

# /proxy[/s/<session name>]/<provider>, followed by the provider's own path.
ROUTE = re.compile(
    r"/proxy(?:/s/(?P<name>[^/]+))?/(?P<provider>openai|anthropic)(?P<path>/[^?]*|)(?P<query>\?.*)?"
)
# The beginning of a target that names its server, as clients send it that take this for a proxy of the network.
_ORIGIN = re.compile(r"^https?://[^/?#]*", re.IGNORECASE)
# A longer answer is forwarded without a copy.
COPIED_BYTES = 32 * 1024 * 1024
CODING = "content-encoding"
# The statuses of a request whose content is refused; some providers with OpenAI's API have the second one.
REFUSALS = (400, 422)
# The words with which providers refuse a request as too long.
_TOO_LONG = re.compile(
    r"(?:prompt|input) is too long|context[ _](?:length|window|size|limit)|maximum number of tokens allowed",
    re.IGNORECASE,
)


@dataclass
class RelayedCall:
    """A running call: the client's request, the request to send instead, and a copy of the answer.

    `awaited` says that the request asks for the answer to an earlier call.
    """

    provider: str
    name: str
    method: str
    path: str
    target: str
    headers: Headers
    body: ClientBody
    protocol: Protocol | None
    awaited: bool
    at: int = field(default_factory=now_ms)
    outcome: Outcome = field(default_factory=Outcome)
    status: int = 0
    answer_coding: str = ""
    answer: list[bytes] = field(default_factory=list)
    size: int = 0

    def request(self) -> bytes:
        """Return the body, unpacked. Raises ValueError if that is impossible, and ClientGone."""
        return unpacked(self.body.whole(), coding_of(self.headers), BUFFERED_BYTES)

    def keep(self, data: bytes) -> None:
        """Keep a part of the answer for the copy."""
        self.size += len(data)
        if (self.protocol is not None or self.awaited) and self.size <= COPIED_BYTES:
            self.answer.append(data)


class Relay:
    """The WSGI application. It serves the named `providers`, on this machine's own host names only."""

    def __init__(
        self,
        providers: Mapping[str, Provider],
        copies: CopySender,
        scripts: Scripts,
    ) -> None:
        self._providers, self._copies, self._scripts = providers, copies, scripts
        self._watch, self._background = DisconnectWatcher(), BackgroundCalls()
        self._down: set[str] = set()  # the providers that gave the last call no answer

    def close(self) -> None:
        """Stop handing over copies, and close all connections."""
        self._watch.close()
        self._copies.close()
        for provider in self._providers.values():
            provider.close()

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        refusal = self._refusal(environ)
        if refusal is not None:
            return _say(start_response, *refusal)
        found = ROUTE.fullmatch(raw_target(environ))
        if found is None:
            return _say(
                start_response, "404 Not Found", "expected /proxy/openai/v1/… or /proxy/anthropic/v1/…"
            )
        if environ.get("HTTP_UPGRADE", "").lower() == "websocket":
            return _say(start_response, "426 Upgrade Required", "no websockets here; use HTTP")
        if environ.get("HTTP_TRANSFER_ENCODING", "chunked").strip().lower() != "chunked":
            return _say(start_response, "501 Not Implemented", "the only transfer encoding here is chunked")
        is_post, path = environ["REQUEST_METHOD"] == "POST", found["path"] or "/"
        protocol = protocol_of(found["provider"], path) if is_post else None
        try:
            body = ClientBody(environ, copied=protocol is not None)
        except ClientGone as gone:
            return _say(start_response, "400 Bad Request", str(gone))
        one = RelayedCall(
            provider=found["provider"],
            name=unquote(found["name"] or ""),
            method=environ["REQUEST_METHOD"],
            path=path,
            target=path + (found["query"] or ""),
            headers=sent_headers(environ),
            body=body,
            protocol=protocol,
            awaited=self._background.asks_for(found["provider"], environ["REQUEST_METHOD"], path),
        )
        return self._relay(environ, start_response, one)

    def _refusal(self, environ: Environ) -> tuple[str, str] | None:
        """Return status and reason for refusing a request: browser pages must not use the proxy. None to serve it."""
        host = host_name(environ.get("HTTP_HOST", ""))
        if host not in LOOPBACK_HOSTS:
            return "421 Misdirected Request", f"this proxy does not answer for {host or 'no host'}"
        if "HTTP_ORIGIN" in environ or environ.get("HTTP_SEC_FETCH_SITE", "none") != "none":
            return "403 Forbidden", "pages of a browser cannot use the proxy"
        return None

    def _relay(self, environ: Environ, start_response: StartResponse, one: RelayedCall) -> Iterable[bytes]:
        one.outcome = self._edited(one)
        call = Call()
        client = environ.get("gunicorn.socket") or environ.get("werkzeug.socket")
        self._watch.add(client, call)
        try:
            answer = self._send(one, call)
            one.status, one.answer_coding = answer.code, coding_of(answer.headers)
            self._begin(start_response, answer)
        except BaseException as error:
            self._watch.remove(client)
            if isinstance(error, ProviderGone) and not (call.ended or one.body.broke_off):
                self._note_failure(one.provider, error)
            raise
        self._note_answer(one.provider)
        return self._stream(one, client, answer)

    def _note_failure(self, provider: str, reason: ProviderGone) -> None:
        """Log the first of several calls to which a provider gave no answer."""
        if provider not in self._down:
            self._down.add(provider)
            log.warning(
                "%s. Calls to it fail until it answers; check the network and its address (`--%s`)",
                reason,
                provider,
            )

    def _note_answer(self, provider: str) -> None:
        if provider in self._down:
            self._down.discard(provider)
            log.warning("%s answers again", self._providers[provider].address)

    def _begin(self, start_response: StartResponse, answer: Answer) -> None:
        """Send the head of an answer. Raises ProviderGone if it cannot be sent, as one that is not HTTP."""
        try:
            start_response(answer.status, answer.headers)
        except Exception as error:
            answer.close()
            raise ProviderGone(f"the head of the answer cannot be sent: {error}") from error

    def _send(self, one: RelayedCall, call: Call) -> Answer:
        """Return the provider's answer. A pruned request that it rejects is sent again with its whole history.

        If it rejects that too, the fault is the client's, and the prune is tried again with the next request. One that
        it rejects as too long is sent again only with a prune that waited: its whole history would be longer.

        Raises:
            ProviderGone: there is no answer; the client's connection ends then too.
        """
        outcome = one.outcome
        answer = self._sent(one, call, outcome.data)
        if outcome.body is None or answer.code not in REFUSALS:
            return answer
        try:
            said = answer.read()[:500].decode("utf-8", "replace")
        except ProviderGone as gone:
            if outcome.data is None:
                raise
            said = str(gone)
            answer.close()
        if _TOO_LONG.search(said):
            return self._shortened(one, call, answer, said)
        if outcome.data is None:
            return answer
        answer = self._sent(one, call, self._scripts.whole(outcome))
        if answer.code in REFUSALS:
            reason = f"the provider refused this request, pruned and whole: {said}"
        else:
            self._scripts.refused(outcome)
            reason = f"the provider refused the pruned request: {said}"
        one.outcome = Outcome(reason=reason, session=outcome.session)
        return answer

    def _shortened(self, one: RelayedCall, call: Call, refusal: Answer, said: str) -> Answer:
        """Return the answer to a request that was too long, sent with the prune that waits, otherwise its refusal.

        Raises:
            ProviderGone: there is no answer.
        """
        shorter = self._scripts.at_once(one.outcome)
        if shorter is not None:
            answer = self._sent(one, call, shorter.data)
            if answer.code not in REFUSALS:
                self._scripts.took(shorter)
                one.outcome = shorter
                return answer
            answer.close()
        elif one.outcome.data is not None:
            reason = f"the provider refused the pruned request as too long: {said}"
            one.outcome = replace(one.outcome, reason=reason)
        return refusal

    def _sent(self, one: RelayedCall, call: Call, data: bytes | None) -> Answer:
        """Send a call with another body, or None for its own. Raises ProviderGone."""
        provider = self._providers[one.provider]
        if data is None:
            return provider.send(call, one.method, one.target, one.headers, one.body, one.body.length)
        headers = [(name, value) for name, value in one.headers if name != CODING]
        return provider.send(call, one.method, one.target, headers, (data,), len(data))

    def _stream(self, one: RelayedCall, client: Any, answer: Answer) -> Iterator[bytes]:
        """Yield the answer as it arrives, with an empty piece first, so that its head is sent at once."""
        whole = False
        try:
            yield b""
            for data in answer.chunks():
                one.keep(data)
                yield data
            whole = True
        finally:
            self._watch.remove(client)
            answer.close()
            self._hand_over(one, whole=whole)

    # -- editing

    def _edited(self, one: RelayedCall) -> Outcome:
        """Return the edited request. If anything goes wrong here, it is sent unchanged."""
        if one.protocol is None:
            return Outcome()
        try:
            return self._apply_script(one, one.protocol)
        except Refused as refused:
            return Outcome(reason=str(refused))
        except ClientGone:
            raise
        except Exception as error:
            log.exception("a request could not be edited")
            return Outcome(reason=f"it could not be edited ({type(error).__name__})")

    def _apply_script(self, one: RelayedCall, protocol: Protocol) -> Outcome:
        """Return the request edited by the script of its session, or why it is sent unchanged. Raises Refused."""
        headers = dict(one.headers)
        named = caller_of(headers, one.name, {}).name
        if not (self._scripts.knows(named) if named else self._scripts.any):
            return Outcome()
        if is_subscription(one.provider, headers):
            return Outcome(reason=SUBSCRIPTION)
        if not one.body.is_buffered:
            raise Refused(f"its body is longer than {BUFFERED_BYTES // 1024**2} MiB")
        try:
            data = one.request()
        except ValueError as error:
            raise Refused(f"its body: {error}") from None
        before = self._scripts.before(named, data)
        body = Body.read(data, protocol, before)
        said = {name: place.value for name, place in body.fields.items() if name == "metadata"}
        name = named or caller_of(headers, one.name, said).name
        outcome = self._scripts.apply(name, body)
        self._scripts.sent(named, body, before)
        return outcome

    # -- the copy

    def _hand_over(self, one: RelayedCall, *, whole: bool) -> None:
        """Hand over a copy of a call of a conversation, if its request is complete and it is not too large."""
        if one.size > COPIED_BYTES or not (one.awaited or one.body.is_whole):
            return
        try:
            copy = self._copy(one, whole=whole)
            if copy is not None:
                self._copies.put(copy)
        except ValueError as error:
            log.warning("a call is not observed: %s", error)
        except Exception:
            log.exception("a call could not be handed over")

    def _copy(self, one: RelayedCall, *, whole: bool) -> CallCopy | None:
        """Return the copy of a call with its answer, or of the earlier call that is answered now; None for any other.

        Raises:
            ValueError: a body cannot be read.
        """
        if one.protocol is None and not one.awaited:
            return None
        packed = b"".join(one.answer)
        answer = unpacked(packed, one.answer_coding, COPIED_BYTES, cut=True).decode("utf-8", "replace")
        if one.awaited:
            return self._background.answered(one.provider, one.path, one.status, answer, whole=whole)
        headers = dict(one.headers)
        caller = caller_of(headers, one.name, {})
        copy = CallCopy(
            provider=one.provider,
            path=one.path,
            session=one.outcome.session or caller.name,
            parent=caller.parent,
            status=one.status,
            request=one.request().decode("utf-8"),
            answer=answer,
            whole=whole,
            at=one.at,
            applied=one.outcome.version,
            reason=one.outcome.reason,
            subscription=is_subscription(one.provider, headers),
        )
        self._background.keep(copy)
        return copy


def raw_target(environ: Environ) -> str:
    """Return path and query exactly as the client sent them."""
    raw = environ.get("RAW_URI") or environ.get("REQUEST_URI")
    if isinstance(raw, str):
        return _ORIGIN.sub("", raw)
    query = environ.get("QUERY_STRING", "")
    return f"{environ.get('PATH_INFO', '')}{'?' if query else ''}{query}"


def sent_headers(environ: Environ) -> list[tuple[str, str]]:
    """Return the headers of a request, in lower case; a repeated one as often as the WSGI server passes it on."""
    came = environ.get("gunicorn.headers")
    if came is not None:
        return [(name.lower(), value) for name, value in came]
    found = [
        (name[5:].replace("_", "-").lower(), value)
        for name, value in environ.items()
        if name.startswith("HTTP_")
    ]
    if environ.get("CONTENT_TYPE"):
        found.append(("content-type", environ["CONTENT_TYPE"]))
    return found


def coding_of(headers: Headers) -> str:
    """Return the compression of a body; "" for none."""
    return next((value for name, value in headers if name.lower() == CODING), "")


def _say(start_response: StartResponse, status: str, message: str) -> list[bytes]:
    """Send the proxy's own answer, in a shape that fits both providers' errors."""
    error = {"type": "error", "error": {"type": "proxy_error", "message": f"coppice proxy: {message}"}}
    body = orjson.dumps(error)
    start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]
