"""JSON on the wire: fast for almost everything, right for the rest."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from flask import Flask, jsonify

from webapp.routes.answers import dump_json, install, json_response


def deep(levels: int) -> Any:
    """Lists in lists."""
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


class TestDumping:
    """Dumped text can be read again."""

    @pytest.mark.parametrize("value", [{"a": "ä"}, 2**70, "\ud800", deep(400), {"n": None}])
    def test_writes_whatever_a_message_may_hold(self, value: Any) -> None:
        """Large integers, lone surrogates and deep nesting go the slow way."""
        assert json.loads(dump_json(value)) == value

    def test_writes_times_with_z(self) -> None:
        """As ISO 8601 in UTC."""
        assert dump_json(datetime(2026, 1, 2, tzinfo=UTC)) == b'"2026-01-02T00:00:00Z"'


class TestAnswers:
    """A response of data."""

    def test_are_never_kept(self) -> None:
        """The next look may differ."""
        answer = json_response({"a": 1}, 201)
        assert (answer.status_code, answer.mimetype, answer.headers["Cache-Control"]) == (
            201,
            "application/json",
            "no-store",
        )

    def test_are_what_flask_writes_too(self) -> None:
        """One way of writing JSON."""
        flask_app = Flask(__name__)
        install(flask_app)
        with flask_app.app_context():
            assert jsonify({"a": 1}).data == b'{"a":1}'
            assert flask_app.json.loads("[1]") == [1]
