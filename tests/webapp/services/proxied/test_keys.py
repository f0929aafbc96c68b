"""Keys of messages in proxy and server."""

from __future__ import annotations

import json

import pytest

from webapp.proxy.editing import Body
from webapp.services.proxied.keys import PROTOCOLS, keys_of
from webapp.services.session.codec import read_json


@pytest.mark.parametrize("odd", ["half \ud83d of a sign", 2**70, -0.0, "\ufffd"])
def test_keys_are_equal_in_proxy_and_server(odd: object) -> None:  # X13
    """Two JSON readers are used, which treat large numbers and surrogates differently."""
    text = json.dumps({"messages": [{"role": "user", "content": [{"type": "text", "text": odd}]}]}).encode()
    assert Body.read(text, PROTOCOLS[0]).keys == keys_of(read_json(text)["messages"])


@pytest.mark.parametrize(
    ("thoughtful", "plain"),
    [
        ({"content": "Yes.", "reasoning_content": "It compiles."}, {"content": "Yes."}),
        ({"content": "Yes.", "reasoning": "It compiles.", "reasoning_details": [{}]}, {"content": "Yes."}),
        ({"content": [{"type": "thinking", "thinking": "It compiles."}, {"type": "text", "text": "Yes."}]},
         {"content": "Yes."}),
    ],
)  # fmt: skip
def test_are_the_same_without_thoughts(
    thoughtful: dict[str, object], plain: dict[str, object]
) -> None:  # X13
    """Clients drop the thoughts of earlier turns: what follows them stays known."""
    before, after = {"role": "user", "content": "Does it?"}, {"role": "user", "content": "Then ship it."}
    assert keys_of([before, {"role": "assistant", **thoughtful}, after]) == keys_of(
        [before, {"role": "assistant", **plain}, after]
    )


def test_are_the_same_for_items_that_were_read_from_the_provider() -> None:  # X13
    """Sessions of OpenAI's Agents SDK are stored there, so its next call has ids, types and blocks of text."""
    call: dict[str, object] = {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}
    output: dict[str, object] = {"type": "function_call_output", "call_id": "c", "output": "x"}
    text = {"type": "output_text", "text": "Yes."}
    sent: list[dict[str, object]] = [
        {"role": "user", "content": "Look."},
        call,
        output,
        {"type": "message", "role": "assistant", "content": [text]},
        {"role": "user", "content": "Go on."},
    ]
    read: list[dict[str, object]] = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look."}]},
        call,
        output,
        {"type": "message", "role": "assistant", "content": [{**text, "annotations": [], "logprobs": []}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go on."}]},
    ]
    assert keys_of(sent) == keys_of(
        [{**one, "id": f"i{n}", "status": "completed"} for n, one in enumerate(read)]
    )


@pytest.mark.parametrize("kind", [{"type": "item_reference"}, {"type": None}, {}])
def test_of_references_are_those_of_the_stored_items(kind: dict[str, object]) -> None:  # X13
    """An SDK sends the id of a stored item in place of it."""
    message = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
    answer = [{"type": "reasoning", "id": "rs_1", "summary": []}, message]
    answer += [{"type": "web_search_call", "id": "ws_1"}, {"type": "new_call", "id": "new_1"}]
    asked = {"role": "user", "content": "Look."}
    whole, referred = (
        keys_of([asked, *answer]),
        keys_of([asked, *({**kind, "id": one["id"]} for one in answer)]),
    )
    assert referred == [*whole[:-1], f"{whole[0]}>item_reference"]
