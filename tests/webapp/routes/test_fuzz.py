"""Every route with valid and invalid requests: no 5xx, and answers as documented."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from flask import Flask
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS

from tests.shared import ROOT
from tests.webapp.promises import document
from webapp import create_app
from webapp.app import App
from webapp.bodies import ModelRow, PruneBody
from webapp.config import Config
from webapp.wiring import build

# Few examples keep the suite short; they suffice to find a wrong type or a missing check.
EXAMPLES = 8
HELD = (
    "not_a_server_error",
    "content_type_conformance",
    "status_code_conformance",
    "response_schema_conformance",
)
# Without a network no client decodes a compressed answer. Content types of forms are tested elsewhere.
HEADERS = {"Accept-Encoding": "identity", "X-Coppice": "1"}
MEMORIES = 20


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    """An application with memories and a session `a` with messages, a summary and a prune."""
    folder: Path = tmp_path_factory.mktemp("fuzz")
    config = Config(db=folder / "c.db", follow=False, tokenizer=False, env={"HOME": str(folder)})
    app = build(config)
    sample = next((ROOT / "tests" / "transcripts" / "claude-code").rglob(f"{RESUMED}.jsonl")).read_text()
    app.importing.import_file(f"{RESUMED}.jsonl", sample.replace("/home/ada/garden", str(folder)).encode())
    app.new_sessions.create(id="a", model="gpt-5")
    app.ingest.append_messages("a", TALK)
    app.summarising.summarise("a")
    app.prunes.apply("a", PruneBody(max_tokens=4000))
    for n in range(MEMORIES):
        app.memory.add("memory", f"memory {n}")
        app.memory.add("learning", f"learning {n}")
    flask_app = create_app(config, app=app)
    yield flask_app
    flask_app.extensions["coppice.live"].close()
    app.close()


@pytest.fixture(scope="module")
def api(fuzzed: Flask) -> Any:
    """The OpenAPI document, loaded from the application."""
    loaded = schemathesis.openapi.from_wsgi("/api/openapi.json", fuzzed)
    loaded.hook("map_case")(partial(mostly_there, fuzzed.extensions["coppice"]))
    return loaded


SESSION = "/api/sessions/{session_id}"
RESUMED = "22222222-2222-4222-8222-222222222222"  # a sample of Claude Code
RECEIVER = "http://127.0.0.1:9/"
TALK = [{"role": "user" if n % 2 == 0 else "assistant", "content": f"{n} word " * 200} for n in range(30)]
CALL = {
    "provider": "openai", "path": "/v1/chat/completions", "session": "b", "parent": None, "status": 200, "whole": True,
    "request": '{"messages": [{"role": "user", "content": "a"}]}', "answer": "", "at": 1, "applied": "", "reason": "",
    "subscription": False,
}  # fmt: skip
SENDER = {"host": "laptop", "user": "ada"}
FILE = {"key": "/a.jsonl", "source": "claude-code", "session_id": "pushed"}
# Bodies and queries that an operation needs to succeed.
BODIES: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("post", "/api/import"): {"name": "a.json", "content": [{"role": "user", "content": "a"}]},
    ("post", "/api/memories"): {"text": "a"},
    ("post", "/api/learnings"): {"text": "a"},
    ("patch", "/api/memories/{memory_id}"): {"text": "another"},
    ("patch", "/api/learnings/{memory_id}"): {"text": "another"},
    ("post", "/api/proposals/dismiss"): {"text": "a"},
    ("post", "/api/proposals/again"): {"text": "a"},
    ("post", f"{SESSION}/messages"): {"messages": [{"role": "user", "content": "a"}]},
    ("post", f"{SESSION}/prune"): {"max_tokens": 4000},
    ("put", "/api/settings"): {"target_percent": 80},
    ("put", "/api/models/{name}"): {"window": 100_000},
    ("post", "/api/webhooks"): {"url": RECEIVER},
    ("post", "/api/proxy/calls"): CALL,
    ("post", "/api/follow/positions"): {**SENDER, "files": {"/a.jsonl": ""}},
    ("post", "/api/follow/lines"): {
        **SENDER,
        "file": FILE,
        "before": "",
        "after": {"mark": 1},
        "records": [],
    },
    ("post", "/api/retention/apply"): {"sessions": 0},
}


def sound_query(path: str, method: str, session: str) -> dict[str, str]:
    """Return the query that an operation needs to succeed."""
    if (method, path) == ("delete", SESSION):
        return {"confirm": session}
    if path == f"{SESSION}/heaviest/members":
        return {"kind": "repeated", "name": ""}
    return {"q": "word"} if path in ("/api/search", f"{SESSION}/archive") else {}


def existing(app: App, path: str) -> dict[str, Any]:
    """Return values for the parameters of a path, which name newly created objects."""
    found: dict[str, Any] = {}
    if "{session_id}" in path:
        found["session_id"] = session = talked_in(app, path)
        found["message_id"] = first = app.messages.page(session).messages[-1].id
        found["n"] = 1
        if path.endswith("/unpin") or "/operations/" in path:
            app.by_hand.pin(session, first)
        if path.endswith("/restore"):
            app.by_hand.drop(session, first)
        if "/summaries/" in path:
            app.summarising.summarise(session)
    if "{memory_id}" in path:
        found["memory_id"] = str(
            app.memory.add("memory" if "memories" in path else "learning", "made now").id
        )
    if "{webhook_id}" in path:
        found["webhook_id"] = app.webhooks.add(RECEIVER).webhook.id
        found["delivery_id"] = app.webhooks.test(found["webhook_id"]).deliveries[0].id
    if "{name}" in path:
        found["name"] = app.models.put("a", ModelRow(window=100_000)).name
    return {name: value for name, value in found.items() if f"{{{name}}}" in path}


def talked_in(app: App, path: str) -> str:
    """Return the id of a new session with messages; for resuming, that of an agent's session."""
    if path.endswith("/resume"):
        return RESUMED
    session = app.new_sessions.create(model="gpt-5").id
    app.ingest.append_messages(session, TALK)
    return session


def mostly_there(app: App, _: Any, case: Any) -> Any:
    """Replace most names by existing ones, because answers of 404 test little."""
    fields, right = case.path_parameters, case.meta.generation.mode is GenerationMode.POSITIVE
    if not fields or len(str(fields)) % 4 == 0:
        return case
    if (case.method, case.path) == ("DELETE", "/api/sessions/{session_id}") and right:
        name = app.new_sessions.create(model="gpt-5").id
        fields["session_id"], case.query = name, {"confirm": name}
    elif "session_id" in fields:
        fields["session_id"] = "a"
    if "message_id" in fields:
        page = app.messages.page("a").messages
        fields["message_id"] = page[len(str(fields["message_id"])) % len(page)].id
    if "memory_id" in fields:
        fields["memory_id"] = str(1 + len(fields["memory_id"]) % MEMORIES)
    if "n" in fields and right:
        fields["n"] = 1 + fields["n"] % 2
    return case


def answered(case: Any) -> int:
    """Send a request and check its answer against the document; return the status."""
    checks = [CHECKS.get_one(name) for name in HELD]
    return int(case.call_and_validate(checks=checks, headers=HEADERS).status_code)


def can_be_wrong(operation: dict[str, Any]) -> bool:
    """Return whether a request can be invalid: any text is valid for a text in a path."""
    fields = operation["parameters"]
    return "requestBody" in operation or any(
        field["in"] == "query" or field["schema"].get("type") != "string" for field in fields
    )


OPERATIONS = [
    (path, method, operation)
    for path, methods in document()["paths"].items()
    for method, operation in methods.items()
]
RIGHT = [(path, method, GenerationMode.POSITIVE) for path, method, _ in OPERATIONS]
WRONG = [(path, method, GenerationMode.NEGATIVE) for path, method, one in OPERATIONS if can_be_wrong(one)]


class TestEveryRoute:
    """Every route, whose statuses, types and schemas are as documented."""

    @pytest.mark.parametrize(("path", "method", "mode"), [*RIGHT, *WRONG], ids=str)
    def test_behaves_as_documented(self, api: Any, path: str, method: str, mode: GenerationMode) -> None:
        """This applies to valid and invalid requests."""
        strategy = api[path][method].as_strategy(generation_mode=mode)

        @given(case=strategy)
        @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
        def holds(case: Any) -> None:
            answered(case)

        holds()

    @pytest.mark.parametrize(("path", "method"), [(path, method) for path, method, _ in OPERATIONS], ids=str)
    def test_succeeds_with_a_valid_request(self, api: Any, fuzzed: Flask, path: str, method: str) -> None:
        """The successful answer matches its schema."""
        names = existing(fuzzed.extensions["coppice"], path)
        case = api[path][method].Case(
            path_parameters=names,
            query=sound_query(path, method, names.get("session_id", "")),
            **(
                {"body": BODIES[method, path], "media_type": "application/json"}
                if (method, path) in BODIES
                else {}
            ),
        )
        assert 200 <= answered(case) < 300
