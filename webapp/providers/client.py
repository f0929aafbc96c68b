"""Asks one endpoint, from any thread, with one shared HTTP client; every call ends in a `Reply`.

The client runs on an event loop in its own thread, so that a call can be cancelled at any moment, even during a slow
answer. Temporary failures are retried after the time that the provider asks for, otherwise with doubling pauses.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
import threading
from concurrent.futures import CancelledError, wait
from dataclasses import replace

import httpx

from webapp.providers.endpoint import Endpoint
from webapp.providers.reply import Failure, Reply, Usage
from webapp.providers.wire import MOST_CHARS, Answer, Question, body_of, refused

ATTEMPTS = 3
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 0.5, 30.0
CONNECT_SECONDS = 10.0
LOOK_SECONDS = 0.05  # how often a waiting caller checks its own signal


class ModelClient:
    """A client of one endpoint. Its thread starts with the first question."""

    def __init__(
        self, endpoint: Endpoint, attempts: int = ATTEMPTS, first_wait_seconds: float = FIRST_WAIT_SECONDS
    ) -> None:
        self.endpoint = endpoint
        self._attempts, self._first_wait = attempts, first_wait_seconds
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._http: httpx.AsyncClient | None = None
        self._closed = False

    def ask(self, question: Question, cancelled: threading.Event | None = None) -> Reply:
        """Return the model's answer, or the failure. Blocks; returns soon after `cancelled` is set. Never raises."""
        try:
            loop = self._running()
        except RuntimeError as error:
            return Reply(failure=Failure("closed", str(error)))
        future = asyncio.run_coroutine_threadsafe(self._asked(question), loop)
        while not future.done():
            if cancelled is not None and cancelled.is_set():
                future.cancel()
            wait([future], LOOK_SECONDS)
        try:
            return future.result()
        except CancelledError:
            return Reply(failure=Failure("cancelled", "cancelled before the answer came"))
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller gets a value
            return Reply(failure=Failure("malformed", f"the call failed: {type(error).__name__}"))

    def close(self) -> None:
        """Cancel running calls and end the thread; later calls fail."""
        with self._lock:
            self._closed = True
            loop, thread, http = self._loop, self._thread, self._http
            self._loop = self._thread = self._http = None
        if loop is None or thread is None:
            return
        with contextlib.suppress(Exception):
            asyncio.run_coroutine_threadsafe(_cancel_all(http), loop).result(5)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._closed:
                raise RuntimeError("the client is closed")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_run, args=(self._loop,), name="model-client", daemon=True
                )
                self._thread.start()
            return self._loop

    # -- on the loop's thread

    def _client(self) -> httpx.AsyncClient:
        if self._http is None:
            timeout = httpx.Timeout(self.endpoint.timeout_seconds, connect=CONNECT_SECONDS)
            self._http = httpx.AsyncClient(
                timeout=timeout, follow_redirects=False, trust_env=not self.endpoint.is_local
            )
        return self._http

    async def _asked(self, question: Question) -> Reply:
        spent, pause, attempt = Usage(), self._first_wait, 0
        while True:
            attempt += 1
            reply = await self._attempt(question)
            spent = spent.plus(reply.usage)
            if reply.failure is None or not reply.failure.is_temporary or attempt >= self._attempts:
                return replace(reply, attempts=attempt, usage=spent)
            asked = reply.failure.wait_seconds
            await asyncio.sleep(min(LONGEST_WAIT_SECONDS, pause if asked is None else asked))
            pause *= 2

    async def _attempt(self, question: Question) -> Reply:
        answer = Answer()
        limit = self.endpoint.timeout_seconds
        try:
            async with asyncio.timeout(limit):
                failure = await self._stream(question, answer)
        except (TimeoutError, httpx.TimeoutException):
            failure = Failure("timeout", f"no complete answer within {limit:g} seconds")
        except httpx.ConnectError as error:
            failure = Failure("unreachable", f"cannot reach {self.endpoint.url}: {_why(error)}")
        except (httpx.RemoteProtocolError, httpx.ReadError):
            failure = Failure("cut_off", "the connection broke off")
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, ValueError, OSError) as error:
            failure = Failure(
                "malformed", f"the endpoint does not speak HTTP as expected: {type(error).__name__}"
            )
        if failure is not None:
            return Reply(usage=answer.usage, model=answer.model, failure=failure)
        return answer.reply()

    async def _stream(self, question: Question, answer: Answer) -> Failure | None:
        endpoint = self.endpoint
        request = self._client().stream(
            "POST", endpoint.address, json=body_of(endpoint, question), headers=endpoint.headers
        )
        async with request as response:
            if response.status_code != 200:
                text = await _beginning(response)
                return refused(response.status_code, text, response.headers.get("retry-after"), endpoint.key)
            if "json" in response.headers.get("content-type", ""):
                return _whole(await _beginning(response, 4 * MOST_CHARS), answer)
            if "event-stream" not in response.headers.get("content-type", ""):
                return Failure("malformed", "the answer is neither a stream of events nor JSON")
            async for line in response.aiter_lines():
                answer.line(line)
                if answer.failure is not None:
                    return answer.failure
        return None


def _whole(text: str, answer: Answer) -> Failure | None:
    """Read an answer that came in one piece; return a failure if it cannot be read."""
    try:
        value = json.loads(text)
    except ValueError:
        return Failure("malformed", "the answer is not JSON")
    if not isinstance(value, dict):
        return Failure("malformed", "the answer has another shape than the API's")
    answer.event(value)
    return None


async def _beginning(response: httpx.Response, most: int = 20_000) -> str:
    """Return the body's text, cut to `most` bytes."""
    data = b""
    async for chunk in response.aiter_bytes():
        data += chunk
        if len(data) > most:
            break
    return data[:most].decode("utf-8", "replace")


def _why(error: Exception) -> str:
    cause = error.__cause__ or error
    return "certificate not trusted" if isinstance(cause, ssl.SSLError) else "no connection"


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


async def _cancel_all(http: httpx.AsyncClient | None) -> None:
    """Cancel all calls and close the connections."""
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    if http is not None:
        await http.aclose()
