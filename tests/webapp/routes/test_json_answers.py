"""JSON in answers: fast for most values, and correct for all."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from flask import Flask, jsonify

from webapp.routes.json_answers import dump_json, install, json_response


def deep(levels: int) -> Any:
    """Return nested lists."""
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


class TestDumping:
    """Writing values as JSON."""

    @pytest.mark.parametrize("value", [{"a": "ä"}, 2**70, "\ud800", deep(400), {"n": None}])
    def test_writes_any_value_of_a_message(self, value: Any) -> None:
        """Large integers, half surrogates and deep nesting need the slower writer."""
        assert json.loads(dump_json(value)) == value

    def test_writes_times_with_z(self) -> None:
        """Times are ISO 8601 in UTC."""
        assert dump_json(datetime(2026, 1, 2, tzinfo=UTC)) == b'"2026-01-02T00:00:00Z"'


class TestAnswers:
    """Responses with data."""

    def test_are_never_cached(self) -> None:
        """The next answer may differ."""
        answer = json_response({"a": 1}, 201)
        assert (answer.status_code, answer.mimetype, answer.headers["Cache-Control"]) == (
            201,
            "application/json",
            "no-store",
        )

    def test_are_written_alike_by_flask(self) -> None:
        """Flask uses the same JSON writer."""
        flask_app = Flask(__name__)
        install(flask_app)
        with flask_app.app_context():
            assert jsonify({"a": 1}).data == b'{"a":1}'
            assert flask_app.json.loads("[1]") == [1]
