"""Answers: values with a schema that says all of them."""

from __future__ import annotations

import pytest

from scoring.settings import Settings
from webapp.answers import answer
from webapp.routes.api.schemas import make_schemas
from webapp.routes.json_answers import dump_json


@answer
class Leaf:
    """A leaf."""

    width: int | None


@answer
class Tree:
    """A tree."""

    leaves: list[Leaf]
    """From the top."""
    settings: Settings


SCHEMAS = make_schemas([], [Tree])


class TestAnswer:
    """A class under the decorator."""

    def test_is_made_from_names_alone(self) -> None:
        """Every one of its fields is given, by name."""
        with pytest.raises(TypeError, match="positional"):
            Leaf(3)  # type: ignore[call-arg]
        with pytest.raises(TypeError, match="width"):
            Leaf()  # type: ignore[call-arg]

    def test_is_written_as_json(self) -> None:
        """An answer within an answer, too, and one with a number that only the slow way can write."""
        assert dump_json([Leaf(width=3)]) == b'[{"width":3}]'
        assert dump_json(Leaf(width=2**70)) == b'{"width":%d}' % 2**70


class TestItsSchema:
    """Made by pydantic from the class itself."""

    def test_is_closed(self) -> None:
        """No other fields, and none missing."""
        assert SCHEMAS["Leaf"]["additionalProperties"] is False
        assert SCHEMAS["Leaf"]["required"] == ["width"]

    def test_describes_class_and_fields(self) -> None:
        """With the docstring, and with the string below a field."""
        assert SCHEMAS["Tree"]["description"] == "A tree."
        assert SCHEMAS["Tree"]["properties"]["leaves"]["description"] == "From the top."

    def test_requires_fields_with_defaults(self) -> None:
        """They are filled in before an answer is sent."""
        assert set(SCHEMAS["Settings"]["required"]) == set(SCHEMAS["Settings"]["properties"])
        weights = dict(SCHEMAS["Settings"]["properties"]["weights"])
        assert weights.pop("description")
        assert weights == {"type": "object", "additionalProperties": {"type": "number"}}
