"""The codec: storable bytes of any content."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.messages import Message, Text, ToolCall, Wire
from webapp.services.session.codec import json_bytes, json_value, storable, wire_bytes

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(), max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


class TestJsonBytes:
    """JSON values as bytes."""

    @given(JSON)
    def test_gives_back_an_equal_value(self, value: object) -> None:
        """This includes huge integers and half surrogates."""
        assert json_value(json_bytes(value)) == value


class TestStorable:
    """Messages that can be stored."""

    def test_leaves_a_valid_message_unchanged(self) -> None:
        """The result is the same object."""
        message = Message("user", (Text("fine"),))
        assert storable(message)[0] is message

    @pytest.mark.parametrize("part", [Text("a\ud800"), ToolCall("\udfff", "n", "{}")])
    def test_replaces_half_surrogates(self, part: Text | ToolCall) -> None:
        """A text that cannot be stored is replaced, not refused."""
        clean, text = storable(Message("assistant", (part,)))
        text.encode()
        assert clean.parts != (part,)

    def test_returns_the_wire_object(self) -> None:
        """The wire object is bytes with its format; a message may have none."""
        assert wire_bytes(Message("user", (), wire=Wire("openai", {"role": "user"}))) == (
            b'{"role":"user"}',
            "openai",
        )
        assert wire_bytes(Message("user", ())) == (None, None)
