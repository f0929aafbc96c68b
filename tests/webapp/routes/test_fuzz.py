"""Every route, with whatever its document allows and whatever it does not: no 5xx, and answers as documented."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from flask import Flask
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS

from webapp import create_app
from webapp.app import App
from webapp.config import Config
from webapp.routes.api import routes
from webapp.routes.api.documents import build_document
from webapp.services.planning.requests import PruneRequest
from webapp.wiring import build

# Small, for the whole suite's sake; a fault here is a wrong type or a missing check, which few examples find.
EXAMPLES = 8
HELD = (
    "not_a_server_error",
    "content_type_conformance",
    "status_code_conformance",
    "response_schema_conformance",
)
# Without a network between, nothing decodes a compressed answer; what a form cannot send is tested elsewhere.
HEADERS = {"Accept-Encoding": "identity", "X-Coppice": "1"}
MEMORIES = 20


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    """An application with memories and a session, `a`, that was talked in, summarised and pruned."""
    folder: Path = tmp_path_factory.mktemp("fuzz")
    config = Config(db=folder / "c.db", follow=False, tokenizer=False, env={"HOME": str(folder)})
    app = build(config)
    app.sessions.create(id="a", model="gpt-5")
    talk = [{"role": "user" if n % 2 == 0 else "assistant", "content": f"{n} word " * 200} for n in range(30)]
    app.ingest.append_messages("a", talk)
    app.summarising.summarise("a")
    app.prunes.apply("a", PruneRequest(max_tokens=4000))
    for n in range(MEMORIES):
        app.memory.add("memory", f"memory {n}")
        app.memory.add("learning", f"learning {n}")
    flask_app = create_app(config, app=app)
    yield flask_app
    flask_app.extensions["coppice.live"].close()
    app.close()


@pytest.fixture(scope="module")
def api(fuzzed: Flask) -> Any:
    """The document, over the application itself."""
    loaded = schemathesis.openapi.from_wsgi("/api/openapi.json", fuzzed)
    loaded.hook("map_case")(partial(mostly_there, fuzzed.extensions["coppice"]))
    return loaded


def mostly_there(app: App, _: Any, case: Any) -> Any:
    """Mostly name what exists: a 404 for each invented name would prove little."""
    fields, right = case.path_parameters, case.meta.generation.mode is GenerationMode.POSITIVE
    if not fields or len(str(fields)) % 4 == 0:
        return case
    if (case.method, case.path) == ("DELETE", "/api/sessions/{session_id}") and right:
        name = app.sessions.create(model="gpt-5").id
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


def can_be_wrong(operation: dict[str, Any]) -> bool:
    """Return whether a request may break the document: any text is right where a path has a text."""
    fields = operation["parameters"]
    return "requestBody" in operation or any(
        field["in"] == "query" or field["schema"].get("type") != "string" for field in fields
    )


OPERATIONS = [
    (path, method, operation)
    for path, methods in build_document(routes())["paths"].items()
    for method, operation in methods.items()
]
RIGHT = [(path, method, GenerationMode.POSITIVE) for path, method, _ in OPERATIONS]
WRONG = [(path, method, GenerationMode.NEGATIVE) for path, method, one in OPERATIONS if can_be_wrong(one)]


class TestEveryRoute:
    """Statuses, types and shapes as documented, and never a failure of ours."""

    @pytest.mark.parametrize(("path", "method", "mode"), [*RIGHT, *WRONG], ids=str)
    def test_keeps_its_word(self, api: Any, path: str, method: str, mode: GenerationMode) -> None:
        """With what the document allows, and with what it does not."""
        strategy = api[path][method].as_strategy(generation_mode=mode)

        @given(case=strategy)
        @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
        def holds(case: Any) -> None:
            case.call_and_validate(checks=[CHECKS.get_one(name) for name in HELD], headers=HEADERS)

        holds()
