"""Tests of what the Gemini API refuses, a rule at a time."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.formats import validate
from scoring.formats.gemini_rules import either


def user(*parts: Any) -> dict[str, Any]:
    """A content of the user's."""
    return {"role": "user", "parts": list(parts) or [{"text": "hi"}]}


def model(*parts: Any) -> dict[str, Any]:
    """A content of the model's."""
    return {"role": "model", "parts": list(parts) or [{"text": "so"}]}


def call(name: str, signature: str = "") -> dict[str, Any]:
    """A part that calls."""
    return {
        "functionCall": {"name": name, "args": {}},
        **({"thoughtSignature": signature} if signature else {}),
    }


def response(name: str) -> dict[str, Any]:
    """A part that answers."""
    return {"functionResponse": {"name": name, "response": {}}}


@pytest.mark.parametrize(
    "items",
    [
        [user()],
        [user(), model(), user()],
        [user(), model(call("f"), call("f")), user(response("f"), response("f"))],
        [
            user(),
            model(call("f", "s"), call("g")),
            user(response("f"), response("g")),
            model(call("f", "s")),
            user(response("f")),
        ],
        [user(), model(call("f")), {"role": "function", "parts": [response("f")]}, model(), user()],
        [{"parts": [{"text": "hi"}]}],
    ],
)
def test_what_the_api_accepts(items: list[Any]) -> None:
    """Turns, parallel calls, signed first calls, the older role for responses, a content without role."""
    assert validate(items, "gemini") == []


@pytest.mark.parametrize(
    ("items", "said"),
    [
        ([model(), user()], "message 0: the list begins with role assistant"),
        ([user(), model()], "message 1: the list ends with the model"),
        ([user(), user()], "message 1: the user speaks twice in a row"),
        (
            [user(), model(), model(call("f")), user(response("f"))],
            "message 2: the model speaks twice in a row",
        ),
        ([user(), model(call("f"), call("f")), user(response("f"))], "has no result directly after it"),
        (
            [user(), model(call("f"), call("g")), user(response("f")), user(response("g"))],
            "are in two contents",
        ),
        ([user(), model(call("f")), user()], "has no result directly after it"),
        ([user(), user(response("f"))], "without its call directly before"),
        ([user(), model(), user({"text": ""})], "a part's text is empty"),
        ([user(), model(), user({})], "a part is empty"),
        ([{"role": "user", "parts": []}], "parts is empty"),
        ([{"role": "system", "parts": [{"text": "s"}]}, user()], "belongs into systemInstruction"),
        ([user(call("f")), user(response("f"))], "a functionCall is in a content of role user"),
        (
            [user(), model(call("f")), user(response("f")), model(call("g", "s")), user(response("g"))],
            "message 1: a functionCall of the current turn has lost its thoughtSignature",
        ),
    ],
)
def test_what_the_api_refuses(items: list[Any], said: str) -> None:  # X6
    """The problem has the place and what was expected."""
    assert said in "\n".join(validate(items, "gemini"))


def test_a_context_that_is_not_sent_may_end_with_the_model() -> None:
    """A list that waits for the user's next message is valid."""
    assert validate([user(), user(), model()], "gemini", ready=False) == []


def test_fields_have_two_spellings() -> None:
    """Camel case is tried first."""
    assert either({"fileData": 1, "file_data": 2}, "fileData", "file_data") == 1
    assert either({"file_data": 2}, "fileData", "file_data") == 2
