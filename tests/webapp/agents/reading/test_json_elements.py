"""A JSON document, read as far as it is valid."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from webapp.agents.reading.json_elements import deeper_than, read_document, value_end

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(st.characters(codec="utf-8"), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)
ITEMS = st.lists(
    st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=3), JSON, max_size=3), max_size=6
)


class TestDocuments:
    """Reading a document element by element."""

    @given(ITEMS, st.booleans())
    def test_of_valid_text_equals_a_parser(self, items: list[Any], body: bool) -> None:
        """The document is a list, or an object with a list."""
        value = {"model": "m", "messages": items, "n": [1]} if body else items
        document = read_document(b" \n" + json.dumps(value, ensure_ascii=False).encode())
        assert document is not None
        assert (document.value, document.places, document.faults) == (value, list(range(len(items))), [])

    @given(ITEMS, st.booleans(), st.integers(0, 6))
    def test_skips_a_bad_element(self, items: list[Any], body: bool, at: int) -> None:
        """The bad element is reported with its number."""
        at = min(at, len(items))
        pieces = [json.dumps(item) for item in items]
        text = ", ".join([*pieces[:at], '{"a" nothing}', *pieces[at:]])
        document = read_document(
            (f'{{"x": 1, "messages": [{text}], "n": 2}}' if body else f"[{text}]").encode()
        )
        assert document is not None
        assert document.value == ({"x": 1, "messages": items, "n": 2} if body else items)
        assert [number for number, _ in document.faults] == [at]
        assert document.places == [*range(at), *range(at + 1, len(items) + 1)]

    @given(ITEMS, st.integers(0, 200))
    def test_keeps_the_complete_elements_of_a_truncated_file(self, items: list[Any], cut: int) -> None:
        """The file may end at any byte."""
        text = json.dumps(items).encode()
        document = read_document(text[: 1 + min(cut, len(text) - 2)])
        assert document is not None
        assert document.value == items[: len(document.value)]
        assert "breaks off before its list ends" in document.faults[-1][1]

    @pytest.mark.parametrize("data", [b"", b"5", b'"x"', b"hello"])
    def test_without_a_list_or_object_is_none(self, data: bytes) -> None:
        """A number or a word is no document."""
        assert read_document(data) is None

    def test_reports_text_after_the_list(self) -> None:
        """Such text is ignored."""
        document = read_document(b'[{"a": 1}]\n]garbage')
        assert document is not None
        assert document.value == [{"a": 1}]
        assert "line 2" not in document.faults[0][1]
        assert "after the end" in document.faults[0][1]

    def test_reports_an_unreadable_field(self) -> None:
        """The list is still read."""
        document = read_document(b'{"model": nothing, "messages": [{"a": 1}]}')
        assert document is not None
        assert document.value == {"messages": [{"a": 1}]}
        assert document.faults == [(None, "field model: not JSON")]

    @given(st.binary(max_size=60))
    @example(b"\xef")  # the mark for it begins with it
    def test_accepts_any_bytes(self, data: bytes) -> None:
        """No bytes raise an error."""
        read_document(b"[" + data)
        read_document(b'{"messages":[' + data)


class TestDepth:
    """Measuring how deep a value is nested."""

    def test_is_measured_without_recursion(self) -> None:
        """A hundred thousand levels raise no RecursionError."""
        value: Any = []
        for _ in range(100_000):
            value = [value]
        assert deeper_than(value, 200)

    @pytest.mark.parametrize(("levels", "deeper"), [(199, False), (201, True)])
    def test_counts_lists_and_objects(self, levels: int, deeper: bool) -> None:
        """Each list and object is a level."""
        value: Any = {"a": 1}
        for n in range(levels):
            value = [value] if n % 2 else {"a": value}
        assert deeper_than(value, 200) is deeper


def test_a_value_ends_at_a_comma_or_bracket_outside_strings() -> None:
    """A truncated value has no end."""
    assert value_end(b'{"a,]": [1, 2]}, 5', 0) == 15
    assert value_end(b"5]", 0) == 1
    assert value_end(b'"ab', 0) is None
    assert value_end(b'["\\""', 0) is None
