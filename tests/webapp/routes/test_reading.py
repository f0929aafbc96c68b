"""Reading bodies and queries: invalid ones are refused before anything is done."""

from __future__ import annotations

import json
from typing import Any

import pytest
from flask import Flask, request
from hypothesis import given
from hypothesis import strategies as st

from scoring.formats.reading import DEPTH_LIMIT
from webapp.bodies import PlanBody, SessionsQuery
from webapp.routes.problems import RequestFault
from webapp.routes.reading import parse_json, read_body, read_query, refuse_encoded

FLASK = Flask(__name__)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXTS, inner, max_size=5),
    max_leaves=20,
)  # fmt: skip


def fault_of(data: bytes) -> RequestFault:
    """Return the error of a body."""
    with pytest.raises(RequestFault) as caught:
        parse_json(data)
    return caught.value


class TestJson:
    """JSON bodies in UTF-8 of limited depth."""

    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"{",
            b"[1,]",
            b"\xff\xfe{\x00}\x00",
            '{"a":"ä"}'.encode("latin-1"),
            '{"a":1}'.encode("utf-16"),
            b'{"a": NaN}',
            b"\x00",
            b"[" * 100_000,
            b"[" * 100_000 + b"]" * 100_000,
            b'{"a":' * 100_000,
            b"[" * (DEPTH_LIMIT + 1) + b"]" * (DEPTH_LIMIT + 1),
        ],
        ids=lambda data: repr(data[:12]),
    )
    def test_that_cannot_be_read_is_malformed(self, data: bytes) -> None:
        """Malformed, wrongly encoded and too deeply nested bodies get 400."""
        assert (fault_of(data).status, fault_of(data).type) == (400, "malformed")

    def test_may_be_as_deep_as_the_limit(self) -> None:
        """No real schema or argument is deeper."""
        assert parse_json(b"[" * DEPTH_LIMIT + b"]" * DEPTH_LIMIT)

    def test_with_half_a_character_is_read(self) -> None:
        """Half a surrogate pair, as JavaScript writes it, becomes U+FFFD, and the rest is kept."""
        assert parse_json(b'["a\\ud83d", "\\ude00b", "\\ud83d\\ude00", "\\\\ud83d"]') == [
            "a\ufffd", "\ufffdb", "\U0001f600", "\\ud83d",
        ]  # fmt: skip

    def test_may_begin_with_a_byte_order_mark(self) -> None:
        """Editors on Windows write one."""
        assert parse_json(b"\xef\xbb\xbf{}") == {}

    @given(JSON_VALUES)
    def test_is_read_like_by_the_standard_library(self, value: Any) -> None:
        """Any output of the standard library is read as the same value."""
        assert parse_json(json.dumps(value).encode()) == value


class TestBodies:
    """Bodies of requests."""

    def test_are_optional_without_required_fields(self) -> None:
        """No body and no type is an empty object."""
        with FLASK.test_request_context("/", method="POST"):
            assert read_body(request, PlanBody, 1000).sent_fields() == {}

    @pytest.mark.parametrize(
        "mimetype", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]
    )
    def test_of_a_foreign_form_are_refused(self, mimetype: str) -> None:
        """A foreign page cannot send JSON without permission."""
        with FLASK.test_request_context("/", method="POST", data="{}", content_type=mimetype):
            with pytest.raises(RequestFault) as caught:
                read_body(request, PlanBody, 1000)
            assert caught.value.status == 415

    def test_that_are_compressed_are_refused(self) -> None:
        """A small body can expand to any size."""
        headers = {"Content-Encoding": "gzip"}
        with FLASK.test_request_context("/", method="POST", headers=headers), pytest.raises(RequestFault):
            refuse_encoded(request)


class TestQueries:
    """The query string."""

    def test_uses_the_last_of_two_values(self) -> None:
        """A repeated name is no list."""
        with FLASK.test_request_context("/?q=a&q=b"):
            assert read_query(request, SessionsQuery).q == "b"
