"""The columns of a context."""

from __future__ import annotations

from hypothesis import given

from scoring.history.history import History
from scoring.messages import Message
from scoring.settings import BLUEPRINT
from scoring.tokens.counting import MESSAGE_OVERHEAD
from scoring.units import units_of
from tests.scoring.builders import BALANCED, any_messages, calls, history_of, results, system, user


class TestHistory:
    """One list a fact, one entry a message."""

    def test_notes_who_speaks_where(self) -> None:
        """Positions of system messages and of the user's own words stand by themselves."""
        history = history_of([system(), user(), calls("1"), results("1"), user()])
        assert history.systems == [0]
        assert history.own_words == [1, 4]
        assert history.unit(3) == [2, 3]
        assert len(history) == 5

    def test_counts_as_the_settings_say(self) -> None:  # B6
        """Blueprint counts four characters a token and nothing around them."""
        assert History.of([user("x" * 41)], settings=BLUEPRINT).tokens == [11]
        assert History.of([user("a b c d")], settings=BLUEPRINT).tokens == [2]
        assert History.of([user("a b c d")], settings=BALANCED).tokens == [4 + MESSAGE_OVERHEAD]

    def test_takes_pins_and_marks_with_a_message(self) -> None:  # X5
        """Check that who appends says whether the message is pinned or marked to go first."""
        history = History()
        features = history_of([user()]).features[0]
        history.append(features, pinned=True)
        history.append(features, drop_first=True)
        assert (history.pinned, history.drop_first) == ({0}, {1})

    @given(any_messages)
    def test_grown_message_by_message_is_as_made_at_once(self, messages: list[Message]) -> None:
        """Units and their tokens are kept up to date by every append."""
        history = history_of(messages)
        units = units_of(messages)
        assert [tuple(history.units.of(h)) for h in history.units.heads()] == units
        expected = [0] * len(messages)
        for unit in units:
            expected[unit[0]] = sum(history.tokens[p] for p in unit)
        assert history.unit_tokens == expected
        again = History.of_features(history.features)
        assert (again.tokens, again.units.head, again.systems) == (
            history.tokens,
            history.units.head,
            history.systems,
        )
