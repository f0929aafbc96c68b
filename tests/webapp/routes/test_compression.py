"""Answers are compressed if they are long and the client accepts it."""

from __future__ import annotations

import gzip

import pytest
from flask import Flask
from flask.testing import FlaskClient

from webapp.app import App

PACKED = {"Accept-Encoding": "gzip, deflate, br"}


@pytest.fixture
def client(flask_app: Flask) -> FlaskClient:
    """A client that does not decompress answers."""
    return FlaskClient(flask_app)


class TestAnswers:
    """Answers of the API and pages."""

    @pytest.mark.parametrize("path", ["/", "/api/settings", "/metrics"])
    def test_that_are_long_are_compressed(self, client: FlaskClient, path: str) -> None:
        """Their headers say so, and Vary keeps caches correct."""
        answer = client.get(path, headers=PACKED)
        assert answer.headers["Content-Encoding"] == "gzip"
        assert answer.headers["Vary"] == "Accept-Encoding"
        assert int(answer.headers["Content-Length"]) == len(answer.data) < len(gzip.decompress(answer.data))

    def test_are_the_same_once_decompressed(self, client: FlaskClient) -> None:
        """Decompressed, they equal the uncompressed answers."""
        full, packed = client.get("/api/models"), client.get("/api/models", headers=PACKED)
        assert "Content-Encoding" not in full.headers
        assert gzip.decompress(packed.data) == full.data

    def test_that_are_short_are_not_compressed(self, client: FlaskClient) -> None:
        """A short answer fits one packet."""
        assert "Content-Encoding" not in client.get("/api/sessions", headers=PACKED).headers

    def test_that_are_streams_are_not_compressed(self, client: FlaskClient, app: App) -> None:
        """An export is sent in parts of any length."""
        session = app.new_sessions.create(model="gpt-5", title="x" * 1_000)
        answer = client.get(f"/api/sessions/{session.id}/export", headers=PACKED)
        assert "Content-Encoding" not in answer.headers

    def test_to_head_have_the_length_of_get(self, client: FlaskClient) -> None:
        """HTTP requires the same headers."""
        got, head = (ask("/api/models", headers=PACKED) for ask in (client.get, client.head))
        assert head.headers["Content-Length"] == got.headers["Content-Length"]
        assert head.data == b""

    def test_with_an_error_are_compressed(self, client: FlaskClient) -> None:
        """An error page is a page."""
        answer = client.get("/nothing", headers=PACKED | {"Accept": "text/html"})
        assert (answer.status_code, answer.headers["Content-Encoding"]) == (404, "gzip")
