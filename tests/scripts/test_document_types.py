"""The TypeScript shapes of the API are those of its OpenAPI document."""

from __future__ import annotations

from typing import Any

import pytest

from scripts import document_types
from scripts.document_types import type_of
from webapp.routes.api import routes


def declared(**schemas: Any) -> str:
    """Return the interfaces of these schemas."""
    return "\n".join(document_types.interfaces(schemas))


class TestTheFile:
    """static/shared/types.d.ts."""

    def test_is_current(self) -> None:
        """`make docs` was run after the last change of an answer or a body."""
        assert document_types.PAGE.read_text(encoding="utf-8") == document_types.page(), (
            "stale; run `make docs`"
        )


class TestCalled:
    """The routes in the file are those that static/shared/api.js calls."""

    def test_is_by_the_path_whatever_its_variables_are(self) -> None:
        """A route that no page calls is left out, and so are its shapes."""
        script = 'call("GET /models") call(`POST /sessions/{}/messages/{}/${act}`, [id, message])'
        found = [document_types.named(route) for route in document_types.called(routes(), script)]
        assert {"GET /models", "POST /sessions/{}/messages/{}/drop-first"} < set(found)
        assert not {"GET /sessions", "POST /sessions/{}/messages"} & set(found)


class TestTypeOf:
    """The TypeScript type of one schema."""

    @pytest.mark.parametrize(
        ("schema", "expected"),
        [
            ({"type": "integer"}, "number"),
            ({"$ref": "#/components/schemas/Gauge"}, "Gauge"),
            ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string | null"),
            ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, "number"),
            ({"enum": ["idle", "active"]}, '"idle" | "active"'),
            ({"type": "array", "items": {"enum": ["a", "b"]}}, '("a" | "b")[]'),
            ({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]}, "[number, string]"),
            ({"type": "object", "additionalProperties": {"type": "number"}}, "Record<string, number>"),
            ({"type": "object", "additionalProperties": True}, "Record<string, unknown>"),
            ({}, "unknown"),
        ],
    )
    def test_follows_the_schema(self, schema: dict[str, Any], expected: str) -> None:
        """References, unions, literals, arrays, tuples and tables."""
        assert type_of(schema) == expected

    def test_refuses_an_unknown_type(self) -> None:
        """A schema that the writer cannot express fails instead of becoming `any`."""
        with pytest.raises(KeyError):
            type_of({"type": "date"})


class TestInterfaces:
    """One interface for each object of the document."""

    def test_a_field_that_may_be_missing_is_optional(self) -> None:
        """Only the required fields are always there."""
        text = {"type": "string"}
        schema = {"type": "object", "properties": {"a": text, "b": text}, "required": ["a"]}
        assert "interface Note { a: string; b?: string; }" in declared(Note=schema)

    def test_one_with_all_fields_of_another_extends_it(self) -> None:
        """Its own fields alone are written again."""
        names = ["a", "b", "c", "d", "e"]
        every = {name: {"type": "string"} for name in names}
        short = {"type": "object", "properties": dict(list(every.items())[:4]), "required": names[:4]}
        full = {"type": "object", "properties": every, "required": names}
        assert "interface Full extends Short { e: string; }" in declared(Full=full, Short=short)


class TestRoutes:
    """The query, body and answer of each route, which `tsc` checks in static/shared/api.js."""

    def test_are_by_method_and_path(self) -> None:
        """A part that a route does not have is `never`."""
        pinning = '"POST /sessions/{}/messages/{}/pin": { query: never; body: EmptyBody; answer: Applied; };'
        assert f"    {pinning}" in document_types.route_types(routes())

    def test_take_a_form_where_a_view_reads_the_request_itself(self) -> None:
        """An import is a JSON body or a form with a file."""
        assert "body: FileUpload | FormData;" in "\n".join(document_types.route_types(routes()))
