"""The client of the HTTP API, for agents written in Python. Needs httpx, and nothing of the server.

    coppice = Coppice("http://127.0.0.1:5000", session="my-agent", model="gpt-5.1")
    coppice.append(messages)                      # what was said since the last call, in your own wire format
    reply = openai.chat.completions.create(messages=coppice.context(), …)
    reply = anthropic.messages.create(**coppice.context().request, …)   # with the system prompt beside the list

A session that does not exist yet is made by the first `append`. A failure is an `ApiError` with the server's words;
nothing is tried again, for an append without an idempotency key must not be.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx

Json = dict[str, Any]

# A prune over a very long session takes a second; a slow disk may take a few more.
TIMEOUT_SECONDS = 30.0
# Where a model is configured, a prune that summarises waits for it: two answers of two minutes each at most.
WRITING_SECONDS = 300.0
# Where a request keeps its system prompt: Anthropic, OpenAI's responses, Gemini in both spellings.
SYSTEM_FIELDS = ("system", "instructions", "systemInstruction", "system_instruction")


class ApiError(Exception):
    """The server refused. `status` is HTTP's (0: no answer), `type` the stable name, `details` the wrong fields."""

    def __init__(self, status: int, type_: str, message: str, details: list[Json] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.type = type_
        self.details = details or []


class Context(list[Any]):
    """The messages for the next call, a list as the SDKs take it, with what belongs beside it in the request.

    `request` has the messages and, for a format that keeps it outside of the list, the system prompt, with the memories
    and learnings that were added to it, each under the name of the field. `answer` is the server's whole answer.
    """

    def __init__(self, answer: Json) -> None:
        super().__init__(answer["messages"])
        self.answer = answer
        prompt = {key: value for key, value in answer["envelope"].items() if key in SYSTEM_FIELDS}
        self.request: Json = {answer["key"]: list(self), **prompt}
        self.system: Any = next(iter(prompt.values()), None)


class Coppice:
    """One session on one server. Safe to share between threads; use it as a context manager or `close` it.

    `format` is the wire format of the messages. Without it the server takes that of the first message that can only be
    in one, or that of the model.
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
        self._headers = {b"Authorization": f"Bearer {token}".encode()} if token else {}
        self._base = base_url.rstrip("/") + "/api"
        self._http = http or httpx.Client(timeout=TIMEOUT_SECONDS)

    def append(
        self,
        messages: Sequence[Any],
        usage: object = None,
        idempotency_key: str | None = None,
    ) -> Json:
        """Append messages in any wire format; an SDK's message objects are taken as they are.

        Returns:
            The ids, how full the context is now, and the prune if one was automatic.

        Raises:
            ApiError: 400 when the list is in no known format, or a message of it cannot be read.
        """
        body: Json = {"messages": [plain(message) for message in messages]}
        if usage is not None:
            body["usage"] = plain(usage)
        if idempotency_key is not None:
            body["idempotency_key"] = idempotency_key
        try:
            return self._post("messages", body)
        except ApiError as error:
            if error.status != 404:
                raise
        self.create()
        return self._post("messages", body)

    def create(self, **fields: Any) -> Json:
        """Create the session: `title`, `system`, `tools`, `settings`. One that exists is left as it is."""
        body = {"id": self.session, "model": self.model, **given(format=self.format), **fields}
        try:
            return self._call("POST", "/sessions", body)
        except ApiError as error:
            if error.status != 409:
                raise
        return self._call("GET", f"/sessions/{self._quoted}")

    def context(self, format: str | None = None) -> Context:
        """Return the messages for the next call, pruned, in `format`, the client's own, or the one they came in."""
        name = format or self.format
        return Context(self._get("context", {"format": name} if name else None))

    def stats(self) -> Json:
        """Return how full the context is, by region."""
        return self._get("stats")

    def plan(self, max_tokens: int | None = None, **wishes: Any) -> Json:
        """Return what a prune would do, and why; stores nothing. `wishes`: strategy, settings, spare, drop."""
        return self._post("plan", given(max_tokens=max_tokens, **wishes))

    def prune(
        self, plan_id: str | None = None, *, max_tokens: int | None = None, strategy: str | None = None
    ) -> Json:
        """Apply a plan that was shown, or a new one. A plan that summarises waits until the summary is written.

        Raises:
            ApiError: 409 when the session has changed since the plan was made.
        """
        wish = given(plan_id=plan_id, max_tokens=max_tokens, strategy=strategy)
        return self._post("prune", wish, seconds=WRITING_SECONDS)

    def undo(self, n: int | None = None) -> Json:
        """Undo operation `n` and those after it; without `n`, the newest that can be undone.

        Raises:
            ApiError: 409 when there is nothing to undo.
        """
        if n is None:
            undoable = [one["n"] for one in self._get("operations")["operations"] if one["undoable"]]
            if not undoable:
                raise ApiError(409, "conflict", "there is nothing to undo in this session")
            n = max(undoable)
        return self._post(f"operations/{n}/undo", {})

    def pin(self, message_id: str) -> Json:
        """Pin a message with its unit: no prune drops it."""
        return self._post(f"messages/{quote(message_id, safe='')}/pin", {})

    def unpin(self, message_id: str) -> Json:
        """Remove a pin."""
        return self._post(f"messages/{quote(message_id, safe='')}/unpin", {})

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

    def _get(self, path: str, query: Mapping[str, str] | None = None) -> Json:
        return self._call("GET", f"/sessions/{self._quoted}/{path}", query=query)

    def _post(self, path: str, body: Json, seconds: float | None = None) -> Json:
        return self._call("POST", f"/sessions/{self._quoted}/{path}", body, seconds=seconds)

    def _call(
        self,
        method: str,
        path: str,
        body: Json | None = None,
        query: Mapping[str, str] | None = None,
        seconds: float | None = None,
    ) -> Json:
        timeout = httpx.USE_CLIENT_DEFAULT if seconds is None else seconds
        headers, content = dict(self._headers), None
        if body is not None:  # in ASCII, so that half a character can be sent
            headers[b"Content-Type"], content = b"application/json", json.dumps(body).encode()
        try:
            answer = self._http.request(
                method, self._base + path, content=content, params=query, headers=headers, timeout=timeout
            )
        except httpx.HTTPError as error:
            message = f"no answer from {self._base}: {error}; is `coppice serve` running there?"
            raise ApiError(0, "no_answer", message) from error
        if answer.is_success and answer.headers.get("Content-Type", "").startswith("application/json"):
            data: Json = answer.json()
            return data
        raise failure(answer)


def failure(answer: httpx.Response) -> ApiError:
    """Return the error of a failed answer, also of a proxy's in between."""
    try:
        error = answer.json()["error"]
        return ApiError(answer.status_code, error["type"], error["message"], error["details"])
    except (ValueError, KeyError, TypeError):
        message = (
            f"the server answered {answer.status_code}, and no JSON of ours; is Coppice at {answer.url.host}?"
        )
        return ApiError(answer.status_code, "unexpected", message)


def plain(value: Any) -> Any:
    """Return a message as JSON-ready data: an SDK's object by its own `model_dump`, anything else unchanged.

    Anthropic's answers have fields that its API refuses in a message, so only role and content are sent.
    """
    if hasattr(value, "model_dump"):
        data: Any = value.model_dump(mode="json", exclude_none=True)
        if isinstance(data, dict) and data.get("type") == "message" and "stop_reason" in data:
            return {"role": data["role"], "content": data["content"]}
        return data
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value


def given(**fields: Any) -> Json:
    """Return the fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}
