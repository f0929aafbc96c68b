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
