"""What may be sent: strict, and refused with one entry a wrong field."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from webapp.bodies import Append, Body, MessagesQuery, NewSession, PlanWish, refusal


class TestBodies:
    """Nothing is guessed and nothing ignored."""

    @pytest.mark.parametrize(
        ("model", "data", "field"),
        [
            (PlanWish, {"max_tokens": "1000"}, "max_tokens"),
            (PlanWish, {"max_tokens": True}, "max_tokens"),
            (PlanWish, {"max_tokens": 1.5}, "max_tokens"),
            (PlanWish, {"max_tokens": -1}, "max_tokens"),
            (PlanWish, {"max_tokens": 2**70}, "max_tokens"),
            (PlanWish, {"spare": "m1"}, "spare"),
            (PlanWish, {"budget": 1}, "budget"),
            (Append, {}, "messages"),
            (Append, {"messages": {"role": "user"}}, "messages"),
            (Append, {"messages": "hi"}, "messages"),
            (NewSession, {"id": "../etc/passwd"}, "id"),
            (NewSession, {"id": ""}, "id"),
        ],
    )
    def test_name_the_wrong_field(self, model: type[Body], data: dict[str, Any], field: str) -> None:
        """By its dotted path."""
        with pytest.raises(ValidationError) as caught:
            model.model_validate(data)
        assert field in [one["field"] for one in refusal(caught.value)["error"]["details"]]

    def test_tell_what_was_given_from_what_was_not(self) -> None:
        """A null that was sent is not the same as nothing."""
        assert PlanWish.model_validate({"strategy": None}).given() == {"strategy": None}
        assert PlanWish.model_validate({}).given() == {}

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
            PlanWish.model_validate({"max_tokens": -1, "spare": 1})
        error = refusal(caught.value)["error"]
        assert error["type"] == "invalid"
        assert error["message"].startswith("max_tokens: input should be")
        assert len(error["details"]) == 2
        assert "pydantic" not in str(error)
