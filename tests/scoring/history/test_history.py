"""The columns of a context."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.formats import decode, flat_texts
from scoring.history.history import History
from scoring.messages import Message, units_of
from scoring.settings import BLUEPRINT, FORESIGHT, Settings
from scoring.tokens import ESTIMATOR, TokenCounter
from scoring.tokens.counting import MESSAGE_OVERHEAD
from tests.scoring.builders import BALANCED, any_messages, calls, history_of, results, system, user


class TestHistory:
    """Columns with one entry per message."""

    def test_notes_who_speaks_where(self) -> None:
        """The positions of system messages and of the user's own words are stored."""
        history = history_of([system(), user(), calls("1"), results("1"), user()])
        assert history.systems == [0]
        assert history.own_words == [1, 4]
        assert history.unit(3) == [2, 3]
        assert len(history) == 5

    def test_counts_as_the_settings_say(self) -> None:  # B6
        """*Blueprint* counts four characters per token, without an overhead for messages."""
        assert History.of([user("x" * 41)], settings=BLUEPRINT).tokens == [11]
        assert History.of([user("a b c d")], settings=BLUEPRINT).tokens == [2]
        assert History.of([user("a b c d")], settings=BALANCED).tokens == [4 + MESSAGE_OVERHEAD]

    @given(any_messages)
    def test_grown_message_by_message_is_as_made_at_once(self, messages: list[Message]) -> None:
        """Units and their tokens are updated by every append."""
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


COLUMNS = (
    "features",
    "roles",
    "tokens",
    "chars",
    "keywords",
    "unit_tokens",
    "systems",
    "own_words",
    "task_counts",
)


def columns(history: History) -> list[object]:
    """Everything that a plan reads of a history."""
    units, mentions = history.units, history.mentions
    found = [getattr(history, name) for name in COLUMNS]
    return [
        *(*found, units.head, units.members),
        *(mentions.spelled, mentions.last, mentions.count, mentions.flags, mentions.held),
    ]


class TestJoining:
    """Joining units that nothing links."""

    @given(any_messages, st.lists(st.tuples(st.integers(0, 24), st.integers(0, 24)), max_size=5))
    def test_adds_up_their_tokens(
        self, messages: list[Message], pairs: list[tuple[int, int]]
    ) -> None:  # X23, P4
        """In a history of its own."""
        history = history_of(messages)
        before = history.units.head[:], history.unit_tokens[:]
        pairs = [pair for pair in pairs if max(pair) < len(messages)]
        joined = history.joined(pairs)
        assert all(joined.units.head[a] == joined.units.head[b] for a, b in pairs)
        assert (history.units.head, history.unit_tokens) == before
        for head in range(len(messages)):
            is_head = joined.units.head[head] == head
            tokens = sum([history.tokens[p] for p in joined.unit(head)]) if is_head else 0
            assert joined.unit_tokens[head] == tokens


class TestExtending:
    """Messages that are appended together."""

    @pytest.mark.parametrize("settings", [BLUEPRINT, FORESIGHT], ids=["bare", "with contents"])
    @given(messages=any_messages)
    def test_gives_the_columns_of_one_append_after_the_other(
        self, settings: Settings, messages: list[Message]
    ) -> None:
        """The columns do not depend on how many messages are appended at once."""
        together, alone = history_of(messages, settings), History()
        for one in together.features:
            alone.append(one)
        assert columns(together) == columns(alone)

    @given(
        said=st.lists(
            st.fixed_dictionaries(
                {
                    "role": st.sampled_from(["system", "developer", "user", "assistant", "function"]),
                    "content": st.sampled_from(["", "an error", "create: 失败", "x" * 99])
                    | st.text(max_size=40),
                }
            ),
            min_size=1,
        )
    )
    @pytest.mark.parametrize("counter", [None, ESTIMATOR], ids=["four characters", "given"])
    def test_of_texts_gives_the_columns_of_messages(
        self, counter: TokenCounter | None, said: list[dict[str, str]]
    ) -> None:
        """A list of flat texts gives the same scores as its messages."""
        flat = flat_texts(said)
        if flat is None:
            assert any(one["role"] == "function" for one in said)
            return
        messages = decode(said).messages
        assert columns(History.of_texts(flat, counter, BLUEPRINT)) == columns(
            History.of(messages, counter, BLUEPRINT)
        )


class TestSnapshot:
    """A history at one moment."""

    @given(any_messages, any_messages)
    def test_stays_as_it_is_while_the_history_grows(
        self, before: list[Message], after: list[Message]
    ) -> None:  # X1
        """Its columns do not change, even if an append extends an older unit."""
        history, alone = history_of(before, FORESIGHT), history_of(before, FORESIGHT)
        history.pinned.update(range(0, len(before), 3))
        early = history.snapshot()
        history.extend(history_of(after, FORESIGHT).features)
        late = history.first(len(before))
        history.pinned.clear()
        for snapshot in (early, late):
            assert len(snapshot) == len(before)
            assert snapshot.pinned == set(range(0, len(before), 3))
            assert (snapshot.units.head, snapshot.units.members) == (alone.units.head, alone.units.members)
            for column in (
                "features",
                "roles",
                "tokens",
                "chars",
                "keywords",
                "unit_tokens",
                "systems",
                "task_counts",
            ):
                assert getattr(snapshot, column) == getattr(alone, column), column
            for column in ("last", "count", "flags", "held"):
                assert getattr(snapshot.mentions, column) == getattr(alone.mentions, column), column

    def test_does_not_grow(self) -> None:
        """An append changes the history, not its snapshots."""
        snapshot = history_of([user()]).snapshot()
        with pytest.raises(ValueError, match="snapshot"):
            snapshot.append(history_of([user()]).features[0])

    def test_of_a_snapshot_is_itself(self) -> None:
        """A snapshot of a snapshot is the same object."""
        snapshot = history_of([user()]).snapshot()
        assert snapshot.snapshot() is snapshot
