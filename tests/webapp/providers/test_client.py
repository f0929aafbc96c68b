"""Asking a model over HTTP: answers, errors, slow answers and truncated streams."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from tests.waiting import PATIENCE, until
from tests.webapp.providers.endpoints import Act, Endpoints, answering, chat, messages, sending, streaming
from webapp.providers.client import ModelClient
from webapp.providers.endpoint import Api, Endpoint
from webapp.providers.reply import Reply, Usage
from webapp.providers.wire import Question

ASKED = Question("be brief", "what was said", 500)
KEY = "sk-secret-key"


@contextmanager
def asking(
    *acts: Act, api: Api = "openai", timeout: float = PATIENCE, attempts: int = 3
) -> Iterator[tuple[ModelClient, Endpoints]]:
    """Run a server and yield it with a client."""
    with answering(*acts) as server:
        endpoint = Endpoint(server.url, "m", api, KEY, timeout)
        client = ModelClient(endpoint, attempts, first_wait_seconds=0.01)
        try:
            yield client, server
        finally:
            client.close()


def reply_to(*acts: Act, api: Api = "openai", timeout: float = PATIENCE, attempts: int = 3) -> Reply:
    """Return the reply to one question."""
    with asking(*acts, api=api, timeout=timeout, attempts=attempts) as (client, _):
        return client.ask(ASKED)


class TestAnswers:
    """Answers of an endpoint without faults."""

    @pytest.mark.parametrize(
        ("api", "act"),
        [
            ("openai", streaming(chat("Hello", " there"))),
            ("anthropic", streaming(messages("Hello", " there"))),
        ],
    )
    def test_are_read_from_a_stream_with_their_usage(self, api: Api, act: Act) -> None:  # S4
        """This applies to both kinds of endpoint."""
        reply = reply_to(act, api=api)
        assert (reply.failure, reply.text, reply.model) == (None, "Hello there", "m-1")
        assert reply.usage == Usage(1_000, 20, 400)

    @pytest.mark.parametrize(
        ("api", "body"),
        [
            (
                "openai",
                {"model": "m-1", "choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]},
            ),
            (
                "anthropic",
                {"type": "message", "model": "m-1", "content": [{"type": "text", "text": "Hi"}], "usage": {}},
            ),
        ],
    )
    def test_without_a_stream_are_read(self, api: Api, body: object) -> None:  # S4
        """A server may answer in one piece."""
        assert reply_to(sending(json.dumps(body)), api=api).text == "Hi"

    def test_are_requested_in_the_format_of_the_api(self) -> None:  # S4
        """Address, key and body are those of the API."""
        with asking(streaming(chat("x"))) as (client, server):
            client.ask(ASKED)
            path, headers, body = server.seen[0]
        assert path == "/v1/chat/completions"
        assert headers["authorization"] == f"Bearer {KEY}"
        assert [m["role"] for m in body["messages"]] == ["system", "user"]
        with asking(streaming(messages("x")), api="anthropic") as (client, server):
            client.ask(ASKED)
            path, headers, body = server.seen[0]
        assert path == "/v1/messages"
        assert headers["x-api-key"] == KEY
        assert (body["system"], body["max_tokens"]) == ("be brief", 500)

    def test_reach_several_threads_of_one_client(self) -> None:
        """Each thread gets its own answer."""
        with asking(streaming(chat("Hello"))) as (client, server):
            replies: list[Reply] = []
            threads = [threading.Thread(target=lambda: replies.append(client.ask(ASKED))) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(PATIENCE)
            assert len(server.seen) == 8
        assert [r.text for r in replies] == ["Hello"] * 8


class TestFailures:
    """Failures, which are values."""

    @pytest.mark.parametrize(
        ("act", "kind", "asked"),
        [
            (sending('{"error": {"message": "slow down"}}', 429), "overloaded", 3),
            (sending("<html>oops</html>", 503, "text/html"), "overloaded", 3),
            (sending('{"error": {"message": "bad model"}}', 404), "refused", 1),
            (sending('{"error": {"message": "bad key"}}', 401), "refused", 1),
            (sending("", 302, location="http://127.0.0.1:9/"), "refused", 1),
            (streaming(chat("half", end=False)), "cut_off", 3),
            (streaming([]), "cut_off", 3),
            (streaming(["{broken"]), "malformed", 1),
            (streaming([{"choices": 7}]), "malformed", 1),
            (streaming([{"choices": [7]}]), "malformed", 1),
            (streaming([{"hello": "world"}]), "malformed", 1),
            (streaming(chat(" ")), "empty", 1),
            (streaming(chat(*(["word " * 1_000] * 50))), "malformed", 1),
            (sending("not json"), "malformed", 1),
            (sending("[1, 2]"), "malformed", 1),
            (sending("<html>login</html>", 200, "text/html"), "malformed", 1),
            (sending(b"\xff\xfe\x00rubbish"), "malformed", 1),
        ],
    )
    def test_are_retried_if_temporary(self, act: Act, kind: str, asked: int) -> None:  # C9
        """Rate limits and broken connections are retried; a wrong key and invalid answers are not."""
        with asking(act) as (client, server):
            reply = client.ask(ASKED)
            assert reply.failure is not None
            assert (reply.failure.kind, len(server.seen)) == (kind, asked)
        assert reply.text == ""

    @pytest.mark.parametrize(
        ("events", "kind"),
        [
            ([{"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}], "overloaded"),
            ([{"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}], "refused"),
            (messages("half", end=False), "cut_off"),
        ],
    )
    def test_inside_a_stream_are_detected(self, events: list[object], kind: str) -> None:  # C9
        """A stream may fail after a valid beginning."""
        reply = reply_to(streaming(events), api="anthropic", attempts=1)
        assert reply.failure is not None
        assert reply.failure.kind == kind

    def test_are_followed_by_an_answer(self) -> None:  # C9
        """The second answer is used, and the usage of both attempts is added."""
        reply = reply_to(streaming(chat("half", end=False)), streaming(chat("whole")))
        assert reply.text == "whole"

    def test_wait_as_long_as_the_provider_asks(self) -> None:
        """Retry-After replaces the default wait."""
        reply = reply_to(sending("{}", 429, retry_after="0"), streaming(chat("now")))
        assert reply.text == "now"

    def test_include_an_unreachable_server(self, monkeypatch: pytest.MonkeyPatch) -> None:  # C9
        """The failure is reported after all attempts."""
        with answering(sending("")) as server:
            url = server.url
        client = ModelClient(Endpoint(url, "m"), first_wait_seconds=0.01)
        attempt, tried = client._attempt, list[Question]()

        async def counted(http: httpx.AsyncClient, question: Question) -> Reply:
            tried.append(question)
            return await attempt(http, question)

        monkeypatch.setattr(client, "_attempt", counted)
        reply = client.ask(ASKED)
        client.close()
        assert reply.failure is not None
        assert (reply.failure.kind, len(tried)) == ("unreachable", 3)

    def test_include_an_answer_over_the_time_limit(self) -> None:  # C9
        """This includes an answer that arrives byte by byte."""
        hold = threading.Event()
        reply = reply_to(streaming(chat("slow", "ly"), hold), timeout=0.3)
        hold.set()
        assert reply.failure is not None
        assert reply.failure.kind == "timeout"

    @pytest.mark.parametrize(
        ("api", "reason"),
        [
            ("openai", "length"),
            ("openai", "content_filter"),
            ("anthropic", "max_tokens"),
            ("anthropic", "refusal"),
        ],
    )
    @pytest.mark.parametrize("streams", [True, False])
    def test_include_an_answer_that_the_model_did_not_end(
        self, api: Api, reason: str, *, streams: bool
    ) -> None:  # C9
        """Half of a summary is no summary; the same request would end like this again."""
        ended: dict[str, Any]
        end: list[Any]
        if api == "openai":
            ended = {"choices": [{"message": {"content": "half"}, "finish_reason": reason}]}
            begun, end = chat("half", end=False), [{"choices": [{"delta": {}, "finish_reason": reason}]}]
        else:
            ended = {"type": "message", "content": [{"type": "text", "text": "half"}], "stop_reason": reason}
            begun = messages("half", end=False)
            end = [{"type": "message_delta", "delta": {"stop_reason": reason}}, {"type": "message_stop"}]
        with asking(streaming([*begun, *end]) if streams else sending(json.dumps(ended)), api=api) as (
            client,
            server,
        ):
            reply = client.ask(ASKED)
            assert len(server.seen) == 1
        assert reply.failure is not None
        assert (reply.failure.kind, reply.text) == ("stopped", "")
        assert "the answer is incomplete" in reply.failure.message

    @pytest.mark.parametrize("streams", [True, False])
    def test_never_show_the_key(self, *, streams: bool) -> None:
        """The key is hidden even if the endpoint repeats it."""
        said = {"error": {"message": f"wrong key {KEY}"}}
        reply = reply_to(streaming([said]) if streams else sending(json.dumps(said), 401))
        assert KEY not in repr(reply)
        assert "wrong key [key]" in str(reply.failure)


class TestCancelling:
    """Cancelling a call."""

    def test_ends_in_the_middle_of_an_answer(self) -> None:  # C9
        """The call ends soon, and the client still works."""
        hold, cancelled = threading.Event(), threading.Event()
        with asking(streaming(chat("slow", "ly"), hold), streaming(chat("next"))) as (client, server):
            found: list[Reply] = []
            thread = threading.Thread(target=lambda: found.append(client.ask(ASKED, cancelled)))
            thread.start()
            until(lambda: server.seen)
            cancelled.set()
            thread.join(PATIENCE)
            assert not thread.is_alive()
            assert found[0].failure is not None
            assert found[0].failure.kind == "cancelled"
            hold.set()
            assert client.ask(ASKED).text == "next"

    def test_before_the_call_sends_no_request(self) -> None:
        """The signal may be set already."""
        cancelled = threading.Event()
        cancelled.set()
        with asking(streaming(chat("x"))) as (client, _):
            reply = client.ask(ASKED, cancelled)
        assert reply.failure is not None
        assert reply.failure.kind == "cancelled"

    def test_by_closing_the_client_ends_all_calls(self) -> None:
        """Closing cancels running requests, and refuses new ones."""
        hold = threading.Event()
        with asking(streaming(chat("slow", "ly"), hold)) as (client, server):
            found: list[Reply] = []
            thread = threading.Thread(target=lambda: found.append(client.ask(ASKED)))
            thread.start()
            until(lambda: server.seen)
            client.close()
            thread.join(PATIENCE)
            assert found[0].failure is not None
            later = client.ask(ASKED)
            hold.set()
        assert later.failure is not None
        assert later.failure.kind == "closed"
