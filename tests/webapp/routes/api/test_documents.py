"""The OpenAPI document is valid, complete, and true of the server."""

from __future__ import annotations

import tomllib
from typing import Any

import jsonschema

from tests.shared import ROOT
from tests.webapp.promises import Client
from webapp.routes.api import routes
from webapp.routes.api.documents import build_document, without_null

DOCUMENT = build_document(routes())


def references(value: Any) -> set[str]:
    """Every reference in a document."""
    if isinstance(value, dict):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*(references(inner) for inner in value.values()))
    return set().union(*(references(inner) for inner in value)) if isinstance(value, list) else set()


class TestTheDocument:
    """Built from the route table."""

    def test_is_served(self, client: Client) -> None:
        """It has an address of its own."""
        assert client.get("/api/openapi.json").json["openapi"] == "3.1.0"

    def test_names_the_version_of_the_package(self) -> None:
        """The version is that of the project file."""
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        assert DOCUMENT["info"]["version"] == project["version"]

    def test_has_every_route(self) -> None:
        """Path and method."""
        written = {(m, p) for p, methods in DOCUMENT["paths"].items() for m in methods}
        assert len(written) == len(routes())

    def test_refers_only_to_what_it_holds(self) -> None:
        """No reference leads nowhere."""
        held = {f"#/components/schemas/{name}" for name in DOCUMENT["components"]["schemas"]}
        assert references(DOCUMENT) <= held

    def test_holds_valid_schemas(self) -> None:
        """OpenAPI 3.1 uses JSON Schema 2020-12."""
        for schema in DOCUMENT["components"]["schemas"].values():
            jsonschema.Draft202012Validator.check_schema(schema)

    def test_names_the_failures_of_reading(self) -> None:
        """Every route with a body lists the errors for malformed, too large and wrongly typed bodies."""
        for methods in DOCUMENT["paths"].values():
            for operation in methods.values():
                if "requestBody" in operation:
                    assert {"400", "413", "415", "422"} <= set(operation["responses"])

    def test_is_the_same_each_time(self) -> None:
        """It changes only with the code."""
        assert build_document(routes()) == DOCUMENT

    def test_leaves_out_null_where_a_query_cannot_say_it(self) -> None:
        """An optional parameter has the type that it has when it is given."""
        field = {
            "anyOf": [{"type": "string", "maxLength": 5}, {"type": "null"}],
            "default": None,
            "title": "Q",
        }
        assert without_null(field) == {"type": "string", "maxLength": 5}

    def test_lets_a_file_be_json(self) -> None:
        """An export in a wire format is JSON, which is no text to a reader of the document."""
        answer = DOCUMENT["paths"]["/api/sessions/{session_id}/export"]["get"]["responses"]["200"]
        schema = answer["content"]["*/*"]["schema"]
        jsonschema.validate({"input": []}, schema)
        jsonschema.validate("a line\n", schema)
