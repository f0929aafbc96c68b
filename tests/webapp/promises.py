"""A test client that holds every answer against the OpenAPI document, so that no test sees an undocumented one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from flask.testing import FlaskClient
from jsonschema_rs import Draft202012Validator
from werkzeug.exceptions import HTTPException
from werkzeug.test import TestResponse

from webapp.answers import Failure
from webapp.routes.api import routes
from webapp.routes.api.documents import PARAMETER, build_document


@cache
def document() -> dict[str, Any]:
    """Return the OpenAPI document."""
    return build_document(routes())


@cache
def validator(name: str) -> Draft202012Validator:
    """Return the validator of a schema of the document."""
    components = document()["components"]
    return Draft202012Validator({"$ref": f"#/components/schemas/{name}", "components": components})


def promised(path: str, method: str, status: int) -> str | None:
    """Return the name of the schema that the document promises, None for an answer without one.

    Raises:
        AssertionError: the document does not name the status of a success.
    """
    operation = document()["paths"].get(path, {}).get(method.lower())
    if status >= 400:
        return Failure.__name__
    if operation is None:
        return None
    assert str(status) in operation["responses"], f"{method} {path} does not document {status}"
    schema = operation["responses"][str(status)]["content"].get("application/json", {}).get("schema")
    return None if schema is None else str(schema["$ref"]).rpartition("/")[2]


class Answered(TestResponse):
    """An answer whose JSON may be asked for a field; one without JSON then fails the test."""

    json: Any


class Client(FlaskClient):
    """Flask's client; an answer of the API that is not as documented fails the test that asked."""

    get: Callable[..., Answered]
    post: Callable[..., Answered]
    put: Callable[..., Answered]
    patch: Callable[..., Answered]
    delete: Callable[..., Answered]

    def open(self, *args: Any, **rest: Any) -> Any:
        """Send a request and check its answer."""
        self.environ_base["HTTP_X_COPPICE"] = "1"  # as our pages do
        answer = super().open(*args, **rest)
        request = answer.request
        if request.path.startswith("/api/") and answer.mimetype == "application/json":
            try:
                rule, _ = self.application.url_map.bind_to_environ(request.environ).match(return_rule=True)
                path = PARAMETER.sub(r"{\g<name>}", rule.rule)
            except HTTPException:
                path = ""
            name = promised(path, request.method, answer.status_code)
            if name is not None:
                faults = [f"{e.instance_path}: {e.message}" for e in validator(name).iter_errors(answer.json)]
                assert not faults, f"{request.method} {request.path} is no {name}: " + "; ".join(faults[:5])
        return answer
