"""Requests and answers of both APIs, without a connection."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.scoring.formats.lists import near_wire
from webapp.providers.endpoint import Endpoint
from webapp.providers.wire import Answer, Question, body_of, refused


class TestRequests:
    """Requests as they are sent."""

    def test_limit_the_answer_by_the_field_of_the_api(self) -> None:
        """OpenAI has a newer field than compatible servers."""
        asked = Question("s", "t", 99)
        assert body_of(Endpoint("https://api.openai.com/v1", "m"), asked)["max_completion_tokens"] == 99
        assert body_of(Endpoint("http://localhost/v1", "m"), asked)["max_tokens"] == 99


class TestAnswers:
    """Answers as they are read."""

    @given(near_wire)
    def test_of_any_shape_never_raise(self, value: object) -> None:  # C9
        """Any JSON value is read or refused."""
        answer = Answer()
        if isinstance(value, dict):
            answer.event(value)
        assert isinstance(answer.reply().text, str)

    @given(st.lists(st.text(max_size=40), max_size=5))
    def test_of_any_lines_never_raise(self, lines: list[str]) -> None:  # C9
        """This includes an empty stream."""
        answer = Answer()
        for line in lines:
            answer.line("data:" + line)
            answer.line(line)
        assert answer.reply().failure is not None or answer.finished


class TestRefusals:
    """The meaning of each status."""

    def test_have_the_text_of_the_provider(self) -> None:
        """A refusal without a text has its status only."""
        assert (
            refused(400, '{"error": {"message": "too long"}}', None).message
            == "the endpoint answers 400: too long"
        )
        assert refused(500, "<html>", None).message == "the endpoint answers 500"
        assert refused(400, '{"error": "plain"}', None).message.endswith("plain")

    def test_have_the_wait_of_the_provider(self) -> None:
        """Only a number of seconds is used."""
        assert refused(429, "", "7").wait_seconds == 7
        assert refused(429, "", "tomorrow").wait_seconds is None
