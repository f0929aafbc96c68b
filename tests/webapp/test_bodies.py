"""Request bodies: strict, and refused with one entry for each wrong field."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from webapp.bodies import (
    ID_WORDS,
    MOST,
    Append,
    Body,
    MessagesQuery,
    NewMemory,
    NewSession,
    PlanBody,
    SearchQuery,
    refusal,
)


class TestBodies:
    """Nothing is guessed and nothing ignored."""

    @pytest.mark.parametrize(
        ("model", "data", "field"),
        [
            (PlanBody, {"max_tokens": "1000"}, "max_tokens"),
            (PlanBody, {"max_tokens": True}, "max_tokens"),
            (PlanBody, {"max_tokens": 1.5}, "max_tokens"),
            (PlanBody, {"max_tokens": -1}, "max_tokens"),
            (PlanBody, {"max_tokens": 2**70}, "max_tokens"),
            (PlanBody, {"spare": "m1"}, "spare"),
            (PlanBody, {"budget": 1}, "budget"),
            (Append, {}, "messages"),
            (Append, {"messages": {"role": "user"}}, "messages"),
            (Append, {"messages": "hi"}, "messages"),
            (NewSession, {"id": "../etc/passwd"}, "id"),
            (NewSession, {"id": ""}, "id"),
        ],
    )
    def test_name_the_wrong_field(self, model: type[Body], data: dict[str, Any], field: str) -> None:
        """The error has the dotted path of the field."""
        with pytest.raises(ValidationError) as caught:
            model.model_validate(data)
        assert field in [one["field"] for one in refusal(caught.value)["error"]["details"]]

    @pytest.mark.parametrize("value", [5, [1]])
    def test_name_a_field_of_several_types_once(self, value: Any) -> None:
        """The error has its own name once, with all types that it may have."""
        with pytest.raises(ValidationError) as caught:
            NewSession.model_validate({"system": value})
        (detail,) = refusal(caught.value)["error"]["details"][:1]
        assert detail["field"] == "system"
        assert "a string" in detail["message"]
        assert "[" not in "".join(one["field"] for one in refusal(caught.value)["error"]["details"])

    def test_tell_what_was_given_from_what_was_not(self) -> None:
        """A null that was sent is not the same as nothing."""
        assert PlanBody.model_validate({"strategy": None}).sent_fields() == {"strategy": None}
        assert PlanBody.model_validate({}).sent_fields() == {}

    def test_leave_messages_as_they_are(self) -> None:
        """Their formats are many."""
        messages = [{"role": "user", "parts": [{"text": "hi"}], "anything": {"goes": [1, None]}}]
        assert Append.model_validate({"messages": messages}).messages == messages


class TestQueries:
    """Values arrive as text."""

    def test_are_read_from_text(self) -> None:
        """Numbers too."""
        assert MessagesQuery.model_validate({"limit": "20"}).limit == 20

    @pytest.mark.parametrize("query", [{"limit": "0"}, {"limit": "x"}, {"sort": "best"}, {"limti": "5"}])
    def test_are_refused_when_wrong(self, query: dict[str, str]) -> None:
        """A misspelt name is not silently ignored."""
        with pytest.raises(ValidationError):
            MessagesQuery.model_validate(query)


class TestARefusal:
    """The shape of an error."""

    def test_says_the_first_faults_and_lists_all(self) -> None:
        """Small first letters, no trace of the library that found them."""
        with pytest.raises(ValidationError) as caught:
            PlanBody.model_validate({"max_tokens": -1, "spare": 1})
        error = refusal(caught.value)["error"]
        assert error["type"] == "invalid"
        assert error["message"] == "max_tokens: expected at least 0, got -1; spare: expected a list, got 1"
        assert len(error["details"]) == 2
        assert "pydantic" not in str(error)

    @pytest.mark.parametrize(
        ("model", "data", "message"),
        [
            (Append, {}, "messages: missing"),
            (Append, [], "body: expected an object, got a list"),
            (Append, {"messages": [], "usage": 3}, "usage: expected an object, got 3"),
            (PlanBody, {"budget": 1}, "budget: unknown; expected no such field"),
            (PlanBody, {"max_tokens": True}, "max_tokens: expected a whole number, got true"),
            (PlanBody, {"max_tokens": 2**60}, f"max_tokens: expected at most {MOST}, got {2**60}"),
            (PlanBody, {"strategy": ""}, "strategy: expected at least 1 character, got nothing"),
            (PlanBody, {"spare": ["m", 2]}, "spare.1: expected a string, got 2"),
            (PlanBody, {"compare": "yes"}, 'compare: expected true or false, got "yes"'),
            (NewMemory, {"text": "x" * 4001}, f'text: expected at most 4000 characters, got "{"x" * 36}...'),
            (NewSession, {"id": "a b"}, f'id: expected {ID_WORDS}, got "a b"'),
            (
                MessagesQuery,
                {"sort": "best"},
                'sort: expected "newest", "oldest", "score" or "tokens", got "best"',
            ),
            (MessagesQuery, {"limit": "x"}, 'limit: expected a whole number, got "x"'),
            (
                SearchQuery,
                {"since": "yesterday"},
                'since: expected a moment like 2026-11-26T09:30:00Z or a day like 2026-11-26, got "yesterday"',
            ),
        ],
    )
    def test_says_what_was_expected_and_what_came(self, model: Any, data: Any, message: str) -> None:
        """In our words: no name of a class, no pattern."""
        with pytest.raises(ValidationError) as caught:
            model.model_validate(data)
        assert refusal(caught.value)["error"]["message"] == message
