"""Rows of JSON, and times, titles, counts and media in them."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.agents.reading.rows import (
    Fault,
    count_of,
    dumps,
    is_json_document,
    media_from_base64,
    media_from_url,
    parse,
    parse_value,
    short_title,
    when,
)


class TestParsing:
    """Parsing a line."""

    @given(st.binary(max_size=60))
    def test_never_raises(self, line: bytes) -> None:
        """Any bytes give a dict or a reason in one line."""
        row = parse(line)
        assert isinstance(row, dict) or (row and "\n" not in row)

    def test_replaces_half_surrogates(self) -> None:
        """Only the cut character is replaced; whole pairs and escaped backslashes stay."""
        line = rb'{"a":"\ud83d x","b":"\ud83d\ude00","c":"\\ud83d"}'
        assert parse(line) == {"a": "\ufffd x", "b": "\U0001f600", "c": "\\ud83d"}

    def test_skips_leading_zeros(self) -> None:
        """A crash may leave zero bytes before a row."""
        assert parse(b'\x00\x00{"a":1}') == {"a": 1}


@pytest.mark.parametrize(
    ("value", "at"),
    [
        ("2026-01-02T03:04:05.678Z", datetime(2026, 1, 2, 3, 4, 5, 678000, UTC)),
        ("2026-01-02T03:04:05+02:00", datetime(2026, 1, 2, 1, 4, 5, tzinfo=UTC)),
        ("2026-01-02T03:04:05", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        (1767323045000, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        (1767323045, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("yesterday", None),
        (1e300, None),
        (True, None),
        (None, None),
    ],
)
def test_times_are_read_or_none(value: Any, at: datetime | None) -> None:
    """ISO text, seconds and milliseconds are times, and other values are none."""
    assert when(value) == at


def test_titles_are_one_short_line() -> None:
    """Blanks are collapsed, long titles cut at 200 characters, and empty ones are none."""
    assert short_title("  a\n\tb ") == "a b"
    assert short_title(" \n") is None
    assert short_title("\x1b\u200b \u2060\u3164") is None
    assert short_title("\u200b🫨") == "\u200b🫨"
    assert len(short_title("word " * 1000) or "") == 200


@pytest.mark.parametrize("value", [True, -1, 1.5, "3", None, 1 << 60])
def test_invalid_counts_are_zero(value: Any) -> None:
    """Only whole numbers above zero and below a maximum count."""
    assert count_of(value) == 0


def test_a_whole_number_with_a_decimal_point_is_a_count() -> None:
    """Some gateways write all numbers so."""
    assert count_of(20000.0) == 20000


class TestMedia:
    """Facts about binary content, without the bytes."""

    def test_is_identified_by_its_bytes(self) -> None:
        """The same bytes in base64 or in a data URL are the same media; broken base64 is still media."""
        data = base64.b64encode(b"hello").decode()
        media = media_from_base64(data, "application/pdf")
        assert (media.kind, media.size_bytes) == ("document", 5)
        assert media_from_url(f"data:application/pdf;base64,{data}", "document").digest == media.digest
        assert media_from_base64("x", "image/png").digest != ""


def test_values_are_read_with_their_repairs() -> None:
    """An unreadable value gives the reason."""
    assert parse_value(b"[1]") == ([1], None)
    assert parse_value(b'"a\\ud800"') == ("a\ufffd", "half a surrogate pair; read as \ufffd")
    assert parse_value(b"\0\0[1]") == ([1], "NUL bytes around it; left out")
    assert parse_value(b" ") == (Fault("nothing, no JSON"), None)
    assert parse_value(b'{"a": -Infinity}')[0] == Fault(
        "-Infinity is not a number in JSON; write null or a string"
    )


def test_any_depth_is_written() -> None:
    """This includes values too deep for the fast writer."""
    value: object = 1
    for _ in range(5_000):
        value = [value]
    assert dumps(value) == "[" * 5_000 + "1" + "]" * 5_000


def test_documents_are_distinguished_from_rows() -> None:
    """One value over several lines, or a list, is a document."""
    assert is_json_document(b'{\n "a": 1}')
    assert is_json_document(b"[1]")
    assert not is_json_document(b'{"a":1}\n{"b":2}\n')
