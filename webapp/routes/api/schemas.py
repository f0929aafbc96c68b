"""JSON schemas of requests and answers, made by pydantic from their classes."""

from __future__ import annotations

from collections.abc import Iterable
from types import GenericAlias
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

REF = "#/components/schemas/{model}"


class Schemas(GenerateJsonSchema):
    """Pydantic's schemas without titles of fields. Every field of an answer is required, a table is an object."""

    def field_title_should_be_set(self, _: Any) -> bool:
        """Leave out titles that only repeat the field's name."""
        return False

    def field_is_required(self, field: Any, total: bool) -> bool:
        """Require every field of an answer: defaults are filled in before it is sent."""
        return self.mode == "serialization" or super().field_is_required(field, total)

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        """Leave defaults out of answers."""
        if self.mode == "serialization":
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)

    def is_instance_schema(self, schema: Any) -> JsonSchemaValue:
        """Describe a table of settings, a dict of numbers by name."""
        if issubclass(schema["cls"], dict):
            return {"type": "object", "additionalProperties": {"type": "number"}}
        return super().is_instance_schema(schema)


def make_schemas(sent: Iterable[type], answered: Iterable[type]) -> dict[str, JsonSchemaValue]:
    """Return the schemas of these types and of all types within them, by name."""
    # One adapter for all types of a direction, because each adapter builds the types within its own again.
    inputs: list[Any] = [
        ("sent", "validation", _adapter(sent)),
        ("answered", "serialization", _adapter(answered)),
    ]
    _, document = TypeAdapter.json_schemas(inputs, schema_generator=Schemas, ref_template=REF)
    found: dict[str, JsonSchemaValue] = document.get("$defs", {})
    return found


def _adapter(types: Iterable[type]) -> TypeAdapter[Any]:
    every: Any = GenericAlias(tuple, tuple(dict.fromkeys(types)))
    return TypeAdapter(every)


def reference(one: type) -> JsonSchemaValue:
    """Return the reference to the schema of a type."""
    return {"$ref": REF.format(model=one.__name__)}
