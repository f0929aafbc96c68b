"""Asks one endpoint, from any thread; every call ends in a `Reply`.

A call runs on an event loop of its own, so that it can be cancelled at any moment, even during a slow answer. Temporary
failures are retried after the time that the provider asks for, otherwise with doubling pauses.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from dataclasses import replace

import httpx

from webapp.providers.endpoint import Endpoint
from webapp.providers.reply import Failure, Reply, Usage
from webapp.providers.wire import MOST_CHARS, Answer, Question, body_of, refused

ATTEMPTS = 3
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 0.5, 30.0
CONNECT_SECONDS = 10.0
LOOK_SECONDS = 0.05  # how often a call checks whether it was cancelled


class ModelClient:
    """A client of one endpoint."""

    def __init__(
        self, endpoint: Endpoint, attempts: int = ATTEMPTS, first_wait_seconds: float = FIRST_WAIT_SECONDS
    ) -> None:
        self.endpoint = endpoint
        self._attempts, self._first_wait = attempts, first_wait_seconds
        self._closed = threading.Event()

    def ask(self, question: Question, cancelled: threading.Event | None = None) -> Reply:
        """Return the model's answer, or the failure. Blocks; returns soon after `cancelled` is set. Never raises."""
        if self._closed.is_set():
            return Reply(failure=Failure("closed", "the client is closed"))
        loop = asyncio.new_event_loop()
        try:
            return loop.run_until_complete(self._cancellable(question, cancelled or threading.Event()))
        except asyncio.CancelledError:
            return Reply(failure=Failure("cancelled", "cancelled before the answer came"))
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller gets a value
            return Reply(failure=Failure("malformed", f"the call failed: {type(error).__name__}"))
        finally:  # unlike asyncio.run, this does not wait for the thread of a slow name resolution
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    def close(self) -> None:
        """Cancel running calls; later calls fail."""
        self._closed.set()

    async def _cancellable(self, question: Question, cancelled: threading.Event) -> Reply:
        """Return the reply. Raises CancelledError soon after `cancelled` is set or the client is closed."""
        asking = asyncio.create_task(self._asked(question))
        while not asking.done():
            if cancelled.is_set() or self._closed.is_set():
                asking.cancel()
            await asyncio.wait([asking], timeout=LOOK_SECONDS)
        return asking.result()

    async def _asked(self, question: Question) -> Reply:
        spent, pause, attempt = Usage(), self._first_wait, 0
        timeout = httpx.Timeout(self.endpoint.timeout_seconds, connect=CONNECT_SECONDS)
        async with httpx.AsyncClient(timeout=timeout, trust_env=not self.endpoint.is_local) as http:
            while True:
                attempt += 1
                reply = await self._attempt(http, question)
                spent = spent.plus(reply.usage)
                if reply.failure is None or not reply.failure.is_temporary or attempt >= self._attempts:
                    return replace(reply, usage=spent)
                asked = reply.failure.wait_seconds
                await asyncio.sleep(min(LONGEST_WAIT_SECONDS, pause if asked is None else asked))
                pause *= 2

    async def _attempt(self, http: httpx.AsyncClient, question: Question) -> Reply:
        answer = Answer(self.endpoint.key)
        limit = self.endpoint.timeout_seconds
        try:
            async with asyncio.timeout(limit):
                failure = await self._stream(http, question, answer)
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

    async def _stream(self, http: httpx.AsyncClient, question: Question, answer: Answer) -> Failure | None:
        endpoint = self.endpoint
        request = http.stream(
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
