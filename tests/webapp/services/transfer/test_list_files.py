"""Files with message lists."""

from __future__ import annotations

import json

import pytest

from tests.webapp.building import wire
from webapp.agents.reading.content import Content
from webapp.errors import Malformed
from webapp.services.transfer.list_files import PROBLEMS_KEPT, ListFile, is_lines, read_file

ROW, BAD = json.dumps(wire("user", "hi")).encode(), b'{"role": "user", "content": 5}'


def read(data: bytes) -> ListFile:
    """Return the message list in these bytes."""
    return read_file("x.json", Content(data), None)


class TestShapes:
    """The shapes of a file: a list, a body, or one message per line."""

    @pytest.mark.parametrize(
        ("data", "lines"),
        [
            (ROW, True), (ROW + b"\n", True), (ROW + b"\n" + ROW, True), (b"{broken\n" + ROW + b"\n" + ROW, True),
            (b"[" + ROW + b"]", False), (b"[\n" + ROW + b",\n" + ROW + b"\n]", False),
            (b'{"messages": [\n' + ROW + b",\n" + ROW + b"\n]}", False), (b'{"messages": [' + ROW + b"]}\n", False),
            (json.dumps(wire("user", "x" * 300_000)).encode() + b"\n" + ROW, True),
            (json.dumps({"messages": [wire("user", "x" * 300_000)]}).encode(), False),
        ],
    )  # fmt: skip
    def test_are_distinguished(self, data: bytes, lines: bool) -> None:
        """Each shape is recognised and read."""
        assert is_lines(Content(data)) is lines
        assert read(data).decoded.messages

    def test_of_a_body_name_the_model(self) -> None:
        """A model that is not a string is ignored."""
        assert read(b'{"model": "gpt-5", "messages": [%b]}' % ROW).model == "gpt-5"
        assert read(b'{"model": 5, "messages": [%b]}' % ROW).model is None

    def test_of_a_body_may_be_one_string(self) -> None:
        """The Responses API accepts a single string."""
        assert read(b'{"input": "hello"}').decoded.messages[0].text == "hello"


class TestProblems:
    """Messages of a file that cannot be used."""

    def test_are_listed_in_order_with_their_places(self) -> None:
        """Malformed messages and messages with wrong contents are listed together."""
        file = read(b"[" + b", ".join([BAD, ROW, b"{,}", ROW, BAD]) + b"]")
        assert [p.partition(":")[0] for p in file.problems] == ["message 0", "message 2", "message 4"]
        assert (len(file.decoded.messages), file.skipped) == (2, 3)

    def test_are_all_counted(self) -> None:
        """A bounded number is kept, and all are counted."""
        file = read(b"\n".join([ROW, *[BAD] * 200]))
        assert (file.skipped, len(file.problems)) == (200, PROBLEMS_KEPT)

    @pytest.mark.parametrize("data", [b"[]", b'{"messages": []}', b'{"a": 1}', b"{broken", b'[{"a": 1}]'])
    def test_without_any_message_are_an_error(self, data: bytes) -> None:
        """The error has the name of the file."""
        with pytest.raises(Malformed, match="x.json: "):
            read(data)

    def test_of_the_first_message_are_the_error_without_a_valid_one(self) -> None:
        """The error has the place of a message."""
        with pytest.raises(Malformed, match="message 1: "):
            read(b"[{,}, " + BAD + b"]")
