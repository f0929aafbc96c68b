"""Rules that several formats share."""

from __future__ import annotations

from scoring.formats import openai
from scoring.formats.checks import adjacent_pairs, begins_with_user, free_pairs, has_user_message, readable
from scoring.messages import Message, ToolCall, ToolResult, message


def call(*ids: str) -> Message:
    """An assistant message that calls."""
    return Message("assistant", tuple(ToolCall(i, "f", "{}") for i in ids))


def result(*ids: str) -> Message:
    """A message that answers."""
    return Message("tool", tuple(ToolResult(i, "r") for i in ids))


USER, SO = message("user", "hi"), message("assistant", "so")


class TestAdjacentPairs:
    """Results directly after their calls."""

    def test_reads_neighbours_of_one_speaker_as_one_where_merged(self) -> None:
        """Two messages with calls, followed by their results, are one turn only for a provider that merges them."""
        messages = [USER, call("a"), call("b"), result("a"), result("b")]
        assert adjacent_pairs(messages, merged=True) == []
        assert 'call "a" has no result' in adjacent_pairs(messages, merged=False)[0]

    def test_counts_equal_ids_in_one_turn(self) -> None:
        """An id that occurs twice in one turn is a fault."""
        assert "used twice in one turn" in adjacent_pairs([call("a", "a"), result("a", "a")], merged=False)[0]

    def test_lets_open_calls_stand_at_the_very_end(self) -> None:
        """Open calls are accepted only at the end of a list, and only if it is not about to be sent."""
        assert adjacent_pairs([USER, call("a")], merged=False, ready=False) == []
        assert adjacent_pairs([USER, call("a"), USER], merged=False, ready=False) != []

    def test_asks_no_answer_of_calls_that_need_none(self) -> None:
        """Calls that the provider runs itself are not checked."""
        assert adjacent_pairs([USER, call("s1"), USER], merged=False, provider_calls=("s",)) == []

    def test_accepts_a_call_answered_within_its_message(self) -> None:
        """A server tool's call and result stand in one message."""
        both = Message("assistant", (*call("a").parts, *result("a").parts))
        assert adjacent_pairs([USER, both, USER], merged=True) == []


class TestFreePairs:
    """Results anywhere after their calls."""

    def test_accepts_overlap(self) -> None:
        """Results may come in another order than their calls."""
        assert free_pairs([call("a"), call("b"), USER, result("b"), SO, result("a")]) == []

    def test_wants_each_call_answered_once(self) -> None:
        """An unanswered call, a second result and an orphan are different problems."""
        assert "has no result" in free_pairs([call("a")])[0]
        assert "a second result" in free_pairs([call("a"), result("a"), result("a")])[0]
        assert "without a call before" in free_pairs([result("a")])[0]

    def test_lets_calls_behind_the_last_question_be_open(self) -> None:
        """They are accepted in a list that is not about to be sent."""
        assert free_pairs([USER, call("a")], ready=False) == []
        assert free_pairs([call("a"), USER], ready=False) != []


def test_a_user_message_is_required() -> None:
    """A list without a user message is a problem."""
    assert has_user_message([USER, SO]) == []
    assert has_user_message([SO]) == ["no user message; expected at least one"]


def test_the_list_begins_with_the_user() -> None:
    """Only roles that may precede it come before; a tool result does not count."""
    system = message("system", "s")
    assert begins_with_user([USER, SO]) == []
    assert begins_with_user([system, USER], frozenset({"system"})) == []
    assert begins_with_user([]) == []
    assert "begins with role system" in begins_with_user([system, USER])[0]
    assert "begins with role user" in begins_with_user([Message("user", result("a").parts)])[0]


def test_an_unreadable_message_is_a_problem() -> None:
    """The messages after it are still checked."""
    messages, problems = readable(
        [{"role": "user", "content": "a"}, 5, {"role": "user", "content": "b"}], openai.read
    )
    assert [m.text for m in messages] == ["a", "", "b"]
    assert problems == ["message 1: expected a message to be an object, got a number"]
