"""The copies of calls that are answered in the background."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from webapp.proxy import background
from webapp.proxy.background import BackgroundCalls
from webapp.proxy.call_copy import CallCopy

PATH = "/v1/responses"


def answer(name: str, status: str, **fields: Any) -> str:
    """Return the JSON of a response."""
    return orjson.dumps({"id": name, "status": status, "output": [], **fields}).decode()


def call(text: str, *, in_background: bool = True, path: str = PATH) -> CallCopy:
    """Return the copy of a call that is answered with `text`."""
    return CallCopy(
        provider="openai", path=path, session="", parent=None, status=200, answer=text, whole=True, at=1,
        request=orjson.dumps({"input": "Search", "background": in_background}).decode(),
        applied="", reason="", subscription=False,
    )  # fmt: skip


def holding(*names: str) -> BackgroundCalls:
    """Return the calls of these names, none of them answered."""
    calls = BackgroundCalls()
    for name in names:
        calls.keep(call(answer(name, "queued")))
    return calls


class TestBackgroundCalls:
    """Keeping the copies of calls until their answers."""

    def test_are_handed_over_once_with_their_answer(self) -> None:  # X13
        """A copy holds the request of the call and the answer that came later; a second look brings none."""
        calls, done = holding("resp_1"), answer("resp_1", "completed")
        copy = calls.answered("openai", f"{PATH}/resp_1", 200, done, whole=True)
        assert copy is not None
        assert (copy.answer, copy.path, "Search" in copy.request) == (done, PATH, True)
        assert not calls.asks_for("openai", "GET", f"{PATH}/resp_1")
        assert calls.answered("openai", f"{PATH}/resp_1", 200, done, whole=True) is None

    @pytest.mark.parametrize(
        ("status", "text", "whole"),
        [
            (200, answer("resp_1", "in_progress"), True),
            (200, answer("resp_1", "completed"), False),
            (404, answer("resp_1", "completed"), True),
        ],
    )
    def test_wait_for_a_whole_answer(self, status: int, text: str, whole: bool) -> None:  # X13
        """An answer that is not complete, that broke off or that is an error leaves the call waiting."""
        calls = holding("resp_1")
        assert calls.answered("openai", f"{PATH}/resp_1", status, text, whole=whole) is None
        assert calls.asks_for("openai", "GET", f"{PATH}/resp_1")

    def test_take_the_last_event_of_a_stream_for_its_end(self) -> None:  # X13
        """A client that leaves at the last event has the answer, and so has its session."""
        calls = holding("resp_1")
        events = ("created", answer("resp_1", "in_progress")), ("completed", answer("resp_1", "completed"))
        lines = [f'data: {{"type": "response.{name}", "response": {said}}}\n\n' for name, said in events]
        assert calls.answered("openai", f"{PATH}/resp_1", 200, lines[0], whole=False) is None
        copy = calls.answered("openai", f"{PATH}/resp_1", 200, "".join(lines), whole=False)
        assert copy is not None
        assert copy.answer == "".join(lines)

    @pytest.mark.parametrize(
        "one",
        [
            call(answer("resp_1", "completed")),
            call(answer("resp_1", "queued"), in_background=False),
            call(answer("resp_1", "queued"), path="/v1/chat/completions"),
            call('{"error": {"message": "no"}}'),
        ],
        ids=["answered", "not in the background", "another protocol", "refused"],
    )
    def test_keep_no_other_calls(self, one: CallCopy) -> None:  # X13
        """Only a call of Responses in the background waits for an answer."""
        calls = BackgroundCalls()
        calls.keep(one)
        assert not calls.asks_for("openai", "GET", f"{PATH}/resp_1")

    @pytest.mark.parametrize(
        "asked",
        [
            ("openai", "DELETE", f"{PATH}/resp_1"),
            ("openai", "GET", f"{PATH}/resp_1/input_items"),
            ("anthropic", "GET", f"{PATH}/resp_1"),
        ],
    )
    def test_take_no_other_request_for_the_answer(self, asked: tuple[str, str, str]) -> None:  # X13
        """Requests that delete a response or list its input bring no answer."""
        assert not holding("resp_1").asks_for(*asked)

    def test_forget_the_oldest(self, monkeypatch: pytest.MonkeyPatch) -> None:  # X13
        """The requests that wait take a bounded place in memory."""
        monkeypatch.setattr(background, "KEPT_BYTES", 2 * len(call("").request))
        calls = holding("resp_1", "resp_2", "resp_3")
        kept = [calls.asks_for("openai", "GET", f"{PATH}/resp_{n}") for n in (1, 2, 3)]
        assert kept == [False, True, True]
