"""The codec: storable bytes of any content that may arrive."""

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
    """Any JSON value."""

    @given(JSON)
    def test_gives_back_an_equal_value(self, value: object) -> None:
        """Huge integers and half surrogates included."""
        assert json_value(json_bytes(value)) == value


class TestStorable:
    """Messages."""

    def test_leaves_a_sound_message_as_it_is(self) -> None:
        """The same object."""
        message = Message("user", (Text("fine"),))
        assert storable(message)[0] is message

    @pytest.mark.parametrize("part", [Text("a\ud800"), ToolCall("\udfff", "n", "{}")])
    def test_replaces_half_surrogates(self, part: Text | ToolCall) -> None:
        """A text that cannot be stored is replaced, not refused."""
        clean, text = storable(Message("assistant", (part,)))
        text.encode()
        assert clean.parts != (part,)

    def test_gives_the_wire_object(self) -> None:
        """The object is given as bytes with the name of its format; a message without one has none."""
        assert wire_bytes(Message("user", (), wire=Wire("openai", {"role": "user"}))) == (
            b'{"role":"user"}',
            "openai",
        )
        assert wire_bytes(Message("user", ())) == (None, None)
