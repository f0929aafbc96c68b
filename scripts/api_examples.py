"""Examples for docs/api.md: real answers of every route, over a store that is the same each time."""

from __future__ import annotations

import itertools
import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

from flask.testing import FlaskClient

from webapp import create_app
from webapp.config import Config
from webapp.routes.api.routing import Route
from webapp.wiring import build

START_MS = 1_767_225_600_000  # 2026-01-01
LONGEST_TEXT = 90
PARAMETER = re.compile(r"<(?:[^<>]*:)?(\w+)>")

QUESTION = "Login fails for some users. Fix the race in src/auth.py; never touch the session table."
ANSWER = "Decided: a lock around refresh(), because two requests race for one token."
CALL = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"cmd": "pytest"}'}}
TALK = [
    {"role": "user", "content": QUESTION},
    {"role": "assistant", "content": "I run the tests first.", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "tests/test_auth.py: error: token expired\n" * 150},
    {"role": "assistant", "content": ANSWER},
]
# The requests sent, in this order, before everything is read; `{id}` is the id of a message.
SENT: tuple[tuple[str, str, Any], ...] = (
    ("POST", "/sessions", {"id": "fix-login", "title": "Fix the login", "model": "gpt-5"}),
    ("POST", "/sessions/fix-login/messages", {"messages": TALK * 6}),
    ("POST", "/sessions/fix-login/messages", {"messages": TALK}),
    ("POST", "/memories", {"text": "The login is in src/auth.py."}),
    ("POST", "/learnings", {"text": "Login tests need the cache."}),
    ("PUT", "/models/my-model", {"window": 64_000}),
    ("POST", "/sessions/fix-login/messages/{id}/pin", {}),
    ("POST", "/sessions/fix-login/plan", {"max_tokens": 1_500}),
    ("POST", "/sessions/fix-login/prune", {"max_tokens": 1_500}),
    ("POST", "/sessions/fix-login/summarize", {}),
    ("POST", "/sessions/fix-login/summarize/cancel", {}),
    ("POST", "/webhooks", {"url": "http://127.0.0.1:9000/coppice"}),
    ("POST", "/webhooks/1/test", {}),
    ("POST", "/webhooks/1/deliveries/1/again", {}),
    ("POST", "/import", {"name": "talk.json", "content": TALK}),
    ("POST", "/settings/suggest", {}),
)
# The query for the members of a group.
GROUP = {"kind": "tool", "name": "bash"}
LATER: tuple[tuple[str, str, Any], ...] = (
    ("POST", "/sessions/fix-login/operations/2/undo", {}),
    ("POST", "/sessions/fix-login/overflow", {}),
)


def examples(routes: list[Route], document: Mapping[str, Any]) -> dict[str, str]:
    """Return an example of each answer, as JSON, by the name of its schema."""
    found: dict[str, Any] = {}
    for route, answer in answers(routes):
        operation = document["paths"]["/api" + PARAMETER.sub(r"{\1}", route.path)][route.method.lower()]
        content = operation["responses"][str(route.status)]["content"]
        collect(content["application/json"]["schema"], answer, document["components"]["schemas"], found)
    shown = {name: shortened(value, document["components"]["schemas"][name]) for name, value in found.items()}
    return {name: written(value) for name, value in shown.items()}


def answers(routes: list[Route]) -> Iterator[tuple[Route, Any]]:
    """Yield the answer of each route, from a store that a few requests have filled."""
    counted = itertools.count(1)
    with tempfile.TemporaryDirectory() as folder:
        config = Config(db=Path(folder) / "examples.db", follow=False, tokenizer=False, env={"HOME": folder})
        app = build(config)
        app.environment.clock = itertools.count(START_MS, 1_000).__next__
        for beside in (app.verdict_refresher, app.hints):  # they would read the clock at any moment
            beside.close()
        flask_app = create_app(config, app=app)
        client, by_rule = flask_app.test_client(), {(r.method, f"/api{r.path}"): r for r in routes}
        try:
            with (
                patch("secrets.token_hex", lambda _=0: f"{next(counted):016x}"),
                patch("secrets.token_bytes", bytes),
            ):
                yield from walk(client, by_rule)
        finally:
            flask_app.extensions["coppice.live"].close()
            app.close()


def walk(client: FlaskClient, by_rule: Mapping[tuple[str, str], Route]) -> Iterator[tuple[Route, Any]]:
    """Yield the answers to what is sent, and then of every GET."""
    ids: list[str] = []
    for method, path, body in SENT:
        answer = client.open("/api" + path.format(id=ids[0] if ids else ""), method=method, json=body)
        yield route_of(client, by_rule, answer.request), checked(answer)
        ids = ids or checked(answer).get("ids", [])
    for (method, rule), route in by_rule.items():
        if method == "GET" and route.answers is not None:
            filled = {
                "session_id": "fix-login",
                "message_id": ids[0],
                "memory_id": "2" if "/learnings" in rule else "1",
                "webhook_id": "1",
                "n": "1" if "/summaries" in rule else "2",
            }
            fields = route.query.model_fields if route.query else {}
            asks = GROUP if "name" in fields else {"q": "login"} if "q" in fields else {}
            path = PARAMETER.sub(r"{\1}", rule).format(**filled)
            yield route, checked(client.get(path, query_string=asks))
    for method, path, body in LATER:
        answer = client.open(f"/api{path}", method=method, json=body)
        yield route_of(client, by_rule, answer.request), checked(answer)


def route_of(client: FlaskClient, by_rule: Mapping[tuple[str, str], Route], request: Any) -> Route:
    """Return the route that answered a request."""
    rule, _ = client.application.url_map.bind_to_environ(request.environ).match(return_rule=True)
    return by_rule[request.method, rule.rule]


def checked(answer: Any) -> Any:
    """Return the JSON of an answer.

    Raises:
        AssertionError: it is a failure.
    """
    assert answer.status_code < 300, f"{answer.request.path}: {answer.text}"  # noqa: S101
    return answer.json


def collect(schema: Mapping[str, Any], value: Any, schemas: Mapping[str, Any], found: dict[str, Any]) -> None:
    """Record a value of each named schema in `value`, the one with the most fields."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if weight(value) > weight(found.get(name)):
            found[name] = value
        schema = schemas[name]
    for one in fitting(schema, value, schemas):
        collect(one, value, schemas, found)
    if isinstance(value, dict):
        rest = schema.get("additionalProperties")
        for key, inner in value.items():
            if (own := schema.get("properties", {}).get(key, rest)) and isinstance(own, dict):
                collect(own, inner, schemas, found)
    elif isinstance(value, list):
        for inner in value:
            collect(schema.get("items") or {}, inner, schemas, found)


def fitting(schema: Mapping[str, Any], value: Any, schemas: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the choice of a schema that has the fields of `value`."""
    for one in schema.get("anyOf", ()):
        own = schemas[one["$ref"].rpartition("/")[2]] if "$ref" in one else one
        if own.get("type") == "array" and isinstance(value, list):
            yield one
        elif isinstance(value, dict) and set(own.get("required", ())) <= set(value) <= set(
            own.get("properties", ())
        ):
            yield one
            return


def weight(value: Any) -> int:
    """Return the number of fields of an example that are neither null nor empty."""
    return sum(one not in (None, [], {}) for one in value.values()) if isinstance(value, dict) else 0


def shortened(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return an example whose long texts, long lists and answers of other sections are cut to `…`."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST_TEXT else value[: LONGEST_TEXT - 1] + "…"
    if isinstance(value, list):
        some = [shortened(one, schema.get("items") or {}) for one in value[:2]]
        return [*some, "…"] if len(value) > len(some) else some
    if isinstance(value, dict):
        if "properties" not in schema and refers(schema):
            return "…"
        inner = schema.get("properties", {})
        shown = {key: shortened(one, inner.get(key, {})) for key, one in list(value.items())[:60]}
        return shown if inner or len(shown) <= 3 else {**dict(list(shown.items())[:3]), "…": "…"}
    return value


def refers(schema: Mapping[str, Any]) -> bool:
    """Return whether a schema is described in another section."""
    return "$ref" in schema or any("$ref" in one for one in schema.get("anyOf", ()))


def written(value: Any) -> str:
    """Return an example as JSON, one field a line."""
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    lines = [f'  "{key}": {json.dumps(one, ensure_ascii=False)}' for key, one in value.items()]
    return "{\n" + ",\n".join(lines) + "\n}"
