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
