"""Features of lists that come again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scoring.history import Features, History, analyse
from scoring.history.feature_cache import FeatureCache, hash_of
from scoring.messages import Message
from scoring.planning import plan_prune
from scoring.settings import FORESIGHT, lexicon_of
from scoring.tokens import estimate_message_tokens
from tests.scoring.builders import any_messages, calls, results, system, user

LEXICON = lexicon_of(FORESIGHT.keywords)
QUESTION = user("Which of the files did the parser of src/app.py read?")


def in_full(message: Message) -> Features:
    """Everything that there is to find of a message."""
    return analyse(message, estimate_message_tokens(message), LEXICON, content=True)


class TestLists:
    """Lists that are analysed only as far as their plan needs."""

    @given(messages=any_messages, asks=st.booleans(), budget=st.integers(0, 400))
    def test_are_pruned_as_if_analysed_in_full(
        self, messages: list[Message], asks: bool, budget: int
    ) -> None:
        """A list analysed first without words, then longer and with words, gets the same scores and fates."""
        for said in (messages, [*messages, user("go on " * 70)], [*messages, QUESTION] if asks else messages):
            full = History.of_features(map(in_full, said))
            full.rate(said, FORESIGHT)
            found, wanted = (
                plan_prune(History.of(said), FORESIGHT, budget),
                plan_prune(full, FORESIGHT, budget),
            )
            assert (found.scores, found.kept, found.shortened) == (
                wanted.scores,
                wanted.kept,
                wanted.shortened,
            )
            assert [found.reason(p) for p in range(len(said))] == [wanted.reason(p) for p in range(len(said))]

    def test_are_counted_by_the_counter_that_is_given(self) -> None:
        """The caller's own counter is called each time, because its results may change."""

        class Counter:
            each = 1

            def count(self, text: str) -> int:
                return self.each

        counter, said = Counter(), [user("hello"), user("there")]
        before = History.of(said, counter).tokens
        counter.each = 10
        assert History.of(said, counter).tokens == [tokens + 9 for tokens in before]


class TestFeatureCache:
    """The keys and the bounds of the cache."""

    @given(one=any_messages, other=any_messages)
    def test_knows_messages_by_everything_they_say(self, one: list[Message], other: list[Message]) -> None:
        """Equal messages have one hash, and different messages different ones."""
        for a in one:
            for b in other:
                assert (hash_of(a) == hash_of(b)) is (a == b)

    def test_is_bounded_by_messages_and_by_characters(self) -> None:
        """The messages used last are kept."""
        asked: list[Message] = []

        def find(message: Message) -> Features:
            asked.append(message)
            return in_full(message)

        known = FeatureCache(messages=3, characters=100)
        texts = [user("a" * 10), user("b" * 10), user("c" * 10)]
        for message in (*texts, texts[0], user("d" * 10), texts[0]):
            known.get(message, "so", True, find)
        assert asked == [*texts, user("d" * 10)]
        known.get(user("e" * 95), "so", True, find)
        known.get(texts[0], "so", True, find)
        assert asked[-1] == texts[0]

    def test_tells_ways_to_analyse_apart(self) -> None:
        """Other keywords or another counter give other features."""
        known = FeatureCache()
        first = known.get(system(), "so", True, in_full)
        assert known.get(system(), "otherwise", True, lambda m: in_full(m)._replace(tokens=999)) != first
        assert known.get(system(), "so", True, in_full) is first

    def test_finds_words_of_what_came_without_them(self) -> None:
        """The words are added, and the other features stay."""
        known = FeatureCache()
        for message in (user("read src/app.py"), calls("a"), results("a", text="src/app.py: 12 lines of it")):
            bare = analyse(message, estimate_message_tokens(message), LEXICON, content=True, words=False)
            known.get(message, "so", False, lambda _, bare=bare: bare)  # type: ignore[misc]
            assert known.get(message, "so", True, in_full) == in_full(message)
