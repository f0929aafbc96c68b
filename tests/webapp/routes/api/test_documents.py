"""The OpenAPI document: valid, complete and accurate."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import jsonschema_rs

from tests.shared import ROOT
from tests.webapp.promises import Client, document
from webapp.routes.api import routes
from webapp.routes.api.documents import PARAMETER, WHY, build_document, failing, without_null


def references(value: Any) -> set[str]:
    """Return every reference in a document."""
    if isinstance(value, dict):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*(references(inner) for inner in value.values()))
    return set().union(*(references(inner) for inner in value)) if isinstance(value, list) else set()


class TestTheDocument:
    """The document, built from the table of routes."""

    def test_is_served(self, client: Client) -> None:
        """The document has its own address."""
        assert client.get("/api/openapi.json").json["openapi"] == "3.1.0"

    def test_names_the_version_of_the_package(self) -> None:
        """The version is that of the project file."""
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        assert document()["info"]["version"] == project["version"]

    def test_has_every_route(self) -> None:
        """Every path and method is in the document."""
        written = {(m, p) for p, methods in document()["paths"].items() for m in methods}
        assert len(written) == len(routes())

    def test_has_no_dangling_reference(self) -> None:
        """Every reference is in the document."""
        parts = document()["components"]
        held = {f"#/components/{kind}/{name}" for kind in parts for name in parts[kind]}
        assert references(document()) <= held

    def test_says_which_role_each_operation_needs(self) -> None:
        """A token is declared for all, optional as a server without tokens asks for none; its refusals are listed."""
        (scheme,) = document()["components"]["securitySchemes"]
        assert document()["security"] == [{scheme: []}, {}]
        for route in routes():
            path = "/api" + PARAMETER.sub(r"{\g<name>}", route.path)
            operation = document()["paths"][path][route.method.lower()]
            assert operation["description"].endswith(f"Role: {route.role}.")
            assert {"401", "403", "429"} <= set(operation["responses"])

    def test_has_valid_schemas(self) -> None:
        """OpenAPI 3.1 uses JSON Schema 2020-12."""
        for schema in document()["components"]["schemas"].values():
            jsonschema_rs.meta.validate(schema)

    def test_names_the_errors_of_bodies(self) -> None:
        """Every route with a body lists the errors for malformed, too large and wrongly typed bodies."""
        for methods in document()["paths"].values():
            for operation in methods.values():
                if "requestBody" in operation:
                    assert {"400", "413", "415", "422"} <= set(operation["responses"])

    def test_explains_every_status_of_a_refusal(self) -> None:
        """Those of routes, and those by which a request never reaches one: of tokens, hosts, origins and types."""
        refusing = "".join(
            (ROOT / "webapp" / "access" / name).read_text() for name in ("gate.py", "guard.py")
        )
        before = {int(status) for status in re.findall(r'"(\d{3}) [A-Z]', refusing)}
        assert {401, 403, 415, 429, 503} <= before
        assert before.union(*map(failing, routes())) <= set(WHY)

    def test_is_the_same_each_time(self) -> None:
        """It changes only with the code."""
        assert build_document(routes()) == document()

    def test_has_no_null_in_queries(self) -> None:
        """An optional parameter has the type of its value, because a query cannot contain null."""
        field = {
            "anyOf": [{"type": "string", "maxLength": 5}, {"type": "null"}],
            "default": None,
            "title": "Q",
        }
        assert without_null(field) == {"type": "string", "maxLength": 5}

    def test_describes_json_files_as_json(self) -> None:
        """An export in a wire format is JSON, not text."""
        answer = document()["paths"]["/api/sessions/{session_id}/export"]["get"]["responses"]["200"]
        schema = answer["content"]["*/*"]["schema"]
        jsonschema_rs.validate(schema, {"input": []})
        jsonschema_rs.validate(schema, "a line\n")
