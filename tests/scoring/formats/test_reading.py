"""Asking foreign data for values, and walking it at any depth."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from scoring.errors import MalformedMessage
from scoring.formats.reading import Place, call_input, json_text, json_type, string, words_in
from tests.scoring.formats.lists import json_values

DEPTH = 100_000


def nested(depth: int = DEPTH) -> Any:
    """Lists and objects inside each other."""
    value: Any = "bottom"
    for n in range(depth):
        value = [value] if n % 2 else {"k": value}
    return value


class TestPlace:
    """Values of the requested type, or an error that names what was found."""

    def test_gives_what_is_there(self) -> None:
        """Objects, lists, strings and roles pass; null counts as an empty one."""
        place = Place(3)
        assert place.object({"a": 1}, "x") == {"a": 1}
        assert (place.items(None, "x"), place.items([1], "x")) == ([], [1])
        assert (place.text(None, "x"), place.text("a", "x")) == ("", "a")
        assert place.role("model") == "assistant"
        assert place.json("as is", "x") == "as is"

    @pytest.mark.parametrize("ask", ["object", "items", "text"])
    def test_names_its_index_and_what_came(self, ask: str) -> None:
        """The error has the position, what was expected, and what was found."""
        with pytest.raises(
            MalformedMessage, match=r"message 3: expected the thing to be .*, got a number"
        ) as error:
            getattr(Place(3), ask)(5, "the thing")
        assert error.value.index == 3

    @pytest.mark.parametrize("role", [None, 5, "boss", [], {}])
    def test_knows_the_roles(self, role: Any) -> None:
        """Anything that is not the name of a role is refused, unhashable values too."""
        with pytest.raises(MalformedMessage, match="expected role to be one of ai, assistant"):
            Place(0).role(role)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "null"),
        (True, "true or false"),
        (1.5, "a number"),
        ("x", 'the string "x"'),
        ([], "a list"),
        ({}, "an object"),
        (b"", "a bytes"),
    ],
)
def test_kinds_are_named_as_json_does(value: Any, kind: str) -> None:
    """Error messages use JSON's names of types, not Python's."""
    assert json_type(value) == kind


class TestJsonText:
    """JSON text of any value."""

    @given(json_values)
    def test_reads_back_as_the_value(self, value: Any) -> None:
        """Ordinary values are ordinary JSON."""
        assert json.loads(json_text(value)) == value

    def test_has_no_depth_limit(self) -> None:
        """A hundred thousand levels are written with as many brackets."""
        text = json_text(nested())
        assert text.count("[") + text.count("{") == DEPTH
        assert text[:15] == '[{"k": [{"k": ['

    def test_takes_odd_keys_and_values(self) -> None:
        """Values that JSON does not have are written as their text."""
        assert json_text({(1, 2): {1}}) == '{"(1, 2)": "{1}"}'

    def test_refuses_a_circle_at_any_depth(self) -> None:
        """A value that contains itself is an error."""
        circle: list[Any] = []
        circle.append(circle)
        deep: Any = circle
        for _ in range(5_000):
            deep = [deep]
        for value in (circle, deep):
            with pytest.raises(ValueError, match=r"[Cc]ircular|contains itself"):
                json_text(value)


class TestCallInput:
    """The arguments of a call as an object."""

    @pytest.mark.parametrize("text", ["x", "[1]", "3", "null", "[" * DEPTH])
    def test_holds_anything_else_as_its_input(self, text: str) -> None:
        """Invalid JSON, another type, or nesting that is too deep is the field `input`."""
        assert call_input(text) == {"input": text}

    def test_is_the_object(self) -> None:
        """JSON text of an object, and no arguments at all."""
        assert (call_input('{"a": [1]}'), call_input(" ")) == ({"a": [1]}, {})


class TestWordsIn:
    """The strings inside a value."""

    def test_are_values_and_never_keys(self) -> None:  # B4
        """Keys, ids and encrypted content are left out; the order is that of the value."""
        value = {"type": "error_block", "error": "one", "id": "x", "inner": [{"traceback": "two"}, "three"]}
        value |= {"encrypted_content": "zzz"}
        assert words_in(value) == "one\ntwo\nthree"

    def test_are_found_at_any_depth(self) -> None:
        """The depth is not limited, and a cycle is visited once."""
        assert words_in(nested()) == "bottom"
        circle: list[Any] = ["a"]
        circle.append(circle)
        assert words_in(circle) == "a"


def test_string_is_empty_for_what_is_none() -> None:
    """Any other value gives an empty string."""
    assert (string("a"), string(5), string(None)) == ("a", "", "")
