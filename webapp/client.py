"""The client of the HTTP API, for agents written in Python. It needs httpx and no other module of the package.

    coppice = Coppice("http://127.0.0.1:5000", session="my-agent", model="gpt-5.1")
    coppice.append(messages)                      # the messages since the last call, in your own format
    reply = openai.chat.completions.create(messages=coppice.context(), …)
    reply = anthropic.messages.create(**coppice.context().request, …)   # with the system prompt beside the list

The first `append` creates a session that does not exist. A program that keeps the whole conversation passes it to
`sync`, which sends only new messages. A failure raises `ApiError` with the server's message. A request is retried a few
times if the server was busy or starting, or if the connection broke and a repetition does no harm: an append has an
idempotency key.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx

Json = dict[str, Any]

# A prune over a very long session takes a second; a slow disk may take a few more.
TIMEOUT_SECONDS = 30.0
# A prune may wait for a configured model to summarise: two answers of up to two minutes each.
WRITING_SECONDS = 300.0
# Pauses before each retry, in seconds, unless the server gives one.
RETRY_SECONDS = (0.2, 0.6, 1.8)
LONGEST_WAIT = 10.0
BUSY = (429, 503)  # the server has not processed the request
# The fields for the system prompt: Anthropic, OpenAI's responses, Gemini in both spellings.
SYSTEM_FIELDS = ("system", "instructions", "systemInstruction", "system_instruction")


class ApiError(Exception):
    """A failed request. `status` is HTTP's (0: no answer), `type` a stable name, `details` the wrong fields."""

    def __init__(self, status: int, type_: str, message: str, details: list[Json] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.type = type_
        self.details = details or []


class Context(list[Any]):
    """The messages for the next call, as a list that the SDKs accept.

    `request` has the request's fields: the messages and, in formats that keep it outside the list, the system prompt
    with added memories and learnings. `answer` is the server's whole answer.
    """

    def __init__(self, answer: Json) -> None:
        super().__init__(answer["messages"])
        self.answer = answer
        prompt = {key: value for key, value in answer["envelope"].items() if key in SYSTEM_FIELDS}
        self.request: Json = {answer["key"]: list(self), **prompt}
        self.system: Any = next(iter(prompt.values()), None)


class Coppice:
    """One session on one server. Safe to share between threads; use it as a context manager or `close` it.

    `format` is the wire format of the messages. Without it the server uses the format of the first message that fits
    only one, otherwise that of the model.
    """

    def __init__(
        self,
        base_url: str = "http://127.0.0.1:5000",
        session: str = "default",
        token: str | None = None,
        *,
        model: str = "default",
        format: str | None = None,
        http: httpx.Client | None = None,
    ) -> None:
        self.session = session
        self.model = model
        self.format = format
        self._digests: list[str] = []  # of the sent messages, in order
        self._headers = {b"Authorization": f"Bearer {token}".encode()} if token else {}
        self._base = base_url.rstrip("/") + "/api"
        self._http = http or httpx.Client(timeout=TIMEOUT_SECONDS)

    def append(
        self,
        messages: Sequence[Any],
        usage: object = None,
        idempotency_key: str | None = None,
    ) -> Json:
        """Append messages in any wire format; an SDK's message objects are accepted too.

        Returns:
            The ids, the context's size, and the automatic prune if there was one.

        Raises:
            ApiError: 400 if the list has no known format, or one of its messages cannot be read.
        """
        sent = [as_json(message) for message in messages]
        answer = self._append(sent, usage, idempotency_key)
        self._digests += map(_digest, sent)
        return answer

    def sync(self, messages: Sequence[Any], usage: object = None) -> Json:
        """Append the new messages of a list that holds the whole conversation, as `append` does.

        An edited list continues as a branch, from the last message that it shares with the session.
        """
        sent = [as_json(message) for message in messages]
        digests, known = list(map(_digest, sent)), len(self._digests)
        grown = 0 < known <= len(digests) and digests[:known] == self._digests
        answer = self._append(sent[known:], usage) if grown else self._append(sent, usage, whole=True)
        self._digests = digests
        return answer

    def _append(
        self, messages: list[Any], usage: object, key: str | None = None, *, whole: bool = False
    ) -> Json:
        body: Json = {"messages": messages, "idempotency_key": key or secrets.token_hex(16)}
        if usage is not None:
            body["usage"] = as_json(usage)
        if whole:
            body["whole"] = True
        try:
            return self._post("messages", body, once=False)
        except ApiError as error:
            if error.status != 404:
                raise
        self.create()
        return self._post("messages", body, once=False)

    def create(self, **fields: Any) -> Json:
        """Create the session: `title`, `system`, `tools`, `settings`. An existing session is not changed."""
        body = {"id": self.session, "model": self.model, **given(format=self.format), **fields}
        try:
            return self._call("POST", "/sessions", body)
        except ApiError as error:
            if error.status != 409:
                raise
        return self.session_row()

    def session_row(self) -> Json:
        """Return the session as the overview shows it: model, limits, gauges, state."""
        return self._call("GET", f"/sessions/{self._quoted}")

    def change(self, **fields: Any) -> Json:
        """Change the session: `title`, `model`, `automatic`, `window`, `settings`, `proxy_prunes`."""
        return self._call("PATCH", f"/sessions/{self._quoted}", fields)

    def delete(self) -> Json:
        """Delete the session and its log permanently."""
        return self._call("DELETE", f"/sessions/{self._quoted}", query={"confirm": self.session})

    def sessions(self, **query: str) -> list[Json]:
        """Return all sessions of the server. `query`: state, source, q, sort."""
        return list(self._call("GET", "/sessions", query=query)["sessions"])

    def context(self, format: str | None = None) -> Context:
        """Return the pruned messages for the next call, in `format`, the client's format, or their original one."""
        name = format or self.format
        return Context(self._get("context", {"format": name} if name else None))

    def stats(self) -> Json:
        """Return the size of the context, by region."""
        return self._get("stats")

    def verdict(self) -> Json:
        """Return the recommended action for the session in one sentence, with its price."""
        return self._get("verdict")

    def heaviest(self) -> Json:
        """Return the largest parts of the context: files, tools, and repeated outputs."""
        return self._get("heaviest")

    def members(self, kind: str, name: str = "") -> list[Json]:
        """Return the messages of a group in `heaviest` that a plan may take: file, tool, role, or repeated."""
        return list(self._get("heaviest/members", {"kind": kind, "name": name})["members"])

    def timeline(self, points: int | None = None) -> Json:
        """Return the size of the context over time, with the operations that changed it.

        `points` is the most points to return.
        """
        return self._get("timeline", given(points=points))

    def status(self) -> Json:
        """Return the triggers of the next summary and the distance to them."""
        return self._get("status")

    def plan(self, max_tokens: int | None = None, **fields: Any) -> Json:
        """Return what a prune would do, and why; stores nothing.

        `fields`: strategy, settings, spare, drop, shorten, compare, brief.
        """
        return self._post("plan", given(max_tokens=max_tokens, **fields))

    def prune(
        self, plan_id: str | None = None, *, max_tokens: int | None = None, strategy: str | None = None
    ) -> Json:
        """Apply a plan that was shown, or a new one; wait for its summary, if it has one.

        Raises:
            ApiError: 409 if the session has changed since the plan was made.
        """
        body = given(plan_id=plan_id, max_tokens=max_tokens, strategy=strategy)
        return self._post("prune", body, seconds=WRITING_SECONDS)

    def undo(self, n: int | None = None) -> Json:
        """Undo operation `n` and those after it; without `n`, the newest that can be undone.

        Raises:
            ApiError: 409 if there is nothing to undo.
        """
        if n is None:
            undoable = [one["n"] for one in self.operations() if one["undoable"]]
            if not undoable:
                raise ApiError(409, "conflict", "there is nothing to undo in this session")
            n = max(undoable)
        return self._post(f"operations/{n}/undo", {})

    def pin(self, message_id: str) -> Json:
        """Pin a message with its unit: no prune drops it."""
        return self._post_message(message_id, "pin")

    def unpin(self, message_id: str) -> Json:
        """Remove a pin."""
        return self._post_message(message_id, "unpin")

    def drop(self, message_id: str) -> Json:
        """Take a message with its unit out of the context; the log keeps it."""
        return self._post_message(message_id, "drop")

    def drop_first(self, message_id: str) -> Json:
        """Mark a message with its unit as the first to go at the next prune."""
        return self._post_message(message_id, "drop-first")

    def restore(self, message_id: str) -> Json:
        """Put a message with its unit back into the context."""
        return self._post_message(message_id, "restore")

    def messages(self, **query: str | int) -> Json:
        """Return a page of messages with tokens, score, fate and reason.

        `query`: after, limit, role, fate, q, sort (newest, oldest, score, tokens).
        """
        return self._get("messages", query)

    def message(self, message_id: str) -> Json:
        """Return one message with its parts and its entries in the log."""
        return self._get(f"messages/{quote(message_id, safe='')}")

    def operations(self, kind: str | None = None) -> list[Json]:
        """Return the operations on the context, newest first: all, or those of one kind."""
        return list(self._get("operations", given(kind=kind))["operations"])

    def operation(self, n: int) -> Json:
        """Return one operation with each message that it changed and the reason."""
        return self._get(f"operations/{n}")

    def archive(self, q: str = "") -> Json:
        """Return the messages that are not in the context: all, or those that contain the words."""
        return self._get("archive", {"q": q} if q else None)

    def overflow(self) -> Json:
        """Shorten the context until it fits the model, after the provider refused it as too long."""
        return self._post("overflow", {})

    def summarize(self) -> Json:
        """Replace all but the recent messages by a summary, and wait until it is written."""
        return self._post("summarize", {"wait": True}, seconds=WRITING_SECONDS)

    def summaries(self) -> list[Json]:
        """Return all summaries of the session, newest first."""
        return list(self._get("summaries")["summaries"])

    def summary(self, n: int) -> Json:
        """Return one summary with the messages it covers."""
        return self._get(f"summaries/{n}")

    def cancel_summary(self) -> Json:
        """Cancel the summary in progress."""
        return self._post("summarize/cancel", {})

    def expand(self, n: int) -> Json:
        """Replace summary `n` by the messages it covers."""
        return self._post(f"summaries/{n}/expand", {})

    def search(self, q: str, **query: str | int) -> Json:
        """Return messages of all sessions that contain the words, pruned ones too."""
        return self._call("GET", "/search", query={"q": q, **query})

    def memories(self, q: str = "") -> list[Json]:
        """Return the memories of all sessions: all, or those that contain any of the words."""
        return list(self._call("GET", "/memories", query={"q": q} if q else None)["memories"])

    def remember(self, text: str) -> Json:
        """Store a memory; contexts on the same subject get it in their system prompt."""
        return self._call("POST", "/memories", {"text": text})

    def forget(self, memory_id: int) -> None:
        """Delete a memory."""
        self._call("DELETE", f"/memories/{memory_id}")

    def learnings(self, q: str = "") -> list[Json]:
        """Return the learnings of all sessions: all, or those that contain any of the words."""
        return list(self._call("GET", "/learnings", query={"q": q} if q else None)["learnings"])

    def learn(self, text: str) -> Json:
        """Store a learning; contexts on the same subject get it in their system prompt."""
        return self._call("POST", "/learnings", {"text": text})

    def proposals(self) -> list[Json]:
        """Return proposed learnings from the session's last turns."""
        return list(self._get("proposals")["proposals"])

    def export(self, format: str | None = None) -> bytes:
        """Return the session as a file in `format`, by default Coppice's own, which is complete."""
        path = f"/sessions/{self._quoted}/export"
        return self._answer("GET", path, query={"format": format} if format else None).content

    def resume(self, **fields: Any) -> Json:
        """Write a pruned copy where the agent finds it; return the command that resumes from it.

        `fields`: prune, max_tokens.
        """
        return self._post("resume", fields)

    def call(
        self, method: str, path: str, body: Json | None = None, query: Mapping[str, str | int] | None = None
    ) -> Json:
        """Return the answer of any other route, by its `path` below /api: settings, models, webhooks."""
        return self._call(method, path, body, query)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def _quoted(self) -> str:
        return quote(self.session, safe="")

    def _get(self, path: str, query: Mapping[str, str | int] | None = None) -> Json:
        return self._call("GET", f"/sessions/{self._quoted}/{path}", query=query)

    def _post_message(self, message_id: str, action: str) -> Json:
        return self._post(f"messages/{quote(message_id, safe='')}/{action}", {})

    def _post(self, path: str, body: Json, *, seconds: float | None = None, once: bool = True) -> Json:
        return self._call("POST", f"/sessions/{self._quoted}/{path}", body, seconds=seconds, once=once)

    def _call(
        self,
        method: str,
        path: str,
        body: Json | None = None,
        query: Mapping[str, str | int] | None = None,
        *,
        seconds: float | None = None,
        once: bool | None = None,
    ) -> Json:
        """Return the server's answer as JSON; `once` as for `_answer`."""
        answer = self._answer(method, path, body, query, seconds=seconds, once=once)
        if not answer.headers.get("Content-Type", "").startswith("application/json"):
            raise failure(answer)
        data: Json = answer.json()
        return data

    def _answer(
        self,
        method: str,
        path: str,
        body: Json | None = None,
        query: Mapping[str, str | int] | None = None,
        *,
        seconds: float | None = None,
        once: bool | None = None,
    ) -> httpx.Response:
        """Return the server's answer; with `once`, a request that may have arrived is not repeated."""
        once = method != "GET" if once is None else once
        headers, content = dict(self._headers), None
        if body is not None:  # in ASCII, so that half of a surrogate pair can be sent
            headers[b"Content-Type"], content = b"application/json", json.dumps(body).encode()
        elif method != "GET":
            headers[b"X-Coppice"] = b"1"  # shows that a request without a body is not from an HTML form
        request = self._http.build_request(
            method,
            self._base + path,
            content=content,
            params=query,
            headers=headers,
            timeout=httpx.USE_CLIENT_DEFAULT if seconds is None else seconds,
        )
        for wait in (*RETRY_SECONDS, None):
            try:
                answer = self._http.send(request)
            except httpx.HTTPError as error:
                if wait is None or (once and not isinstance(error, httpx.ConnectError)):
                    message = f"no answer from {self._base}: {error}; is `coppice serve` running there?"
                    raise ApiError(0, "no_answer", message) from error
            else:
                if wait is None or answer.status_code not in BUSY:
                    break
                wait = _asked_to_wait(answer, wait)  # noqa: PLW2901 - the server's value takes precedence
            time.sleep(wait)
        if answer.is_success:
            return answer
        raise failure(answer)


def _asked_to_wait(answer: httpx.Response, otherwise: float) -> float:
    """Return the seconds that the server asks for, up to `LONGEST_WAIT`."""
    asked = answer.headers.get("Retry-After", "")
    return min(float(asked), LONGEST_WAIT) if asked.isdigit() else otherwise


def _digest(message: Any) -> str:
    return hashlib.blake2b(json.dumps(message, sort_keys=True).encode(), digest_size=16).hexdigest()


def failure(answer: httpx.Response) -> ApiError:
    """Return the error of a failed answer, even if a proxy in between sent it."""
    try:
        error = answer.json()["error"]
        return ApiError(answer.status_code, error["type"], error["message"], error["details"])
    except (ValueError, KeyError, TypeError):
        message = (
            f"the server answered {answer.status_code}, and no JSON of ours; is Coppice at {answer.url.host}?"
        )
        return ApiError(answer.status_code, "unexpected", message)


def as_json(value: Any) -> Any:
    """Return a message as JSON-ready data; an SDK's object is converted by its own `model_dump`.

    Anthropic's answers have fields that its API refuses in a message, so only role and content remain.
    """
    if hasattr(value, "model_dump"):
        data: Any = value.model_dump(mode="json", exclude_none=True)
        if isinstance(data, dict) and data.get("type") == "message" and "stop_reason" in data:
            return {"role": data["role"], "content": data["content"]}
        return data
    if isinstance(value, Mapping):
        return {key: as_json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(inner) for inner in value]
    return value


def given(**fields: Any) -> Json:
    """Return the fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}
