"""The history that a plan reads from a list that is being assembled."""

from __future__ import annotations

from dataclasses import replace

from scoring.assembly.slots import Slot, before_the_last_summary, history_of
from scoring.history import History, analyse
from scoring.messages import Message
from scoring.settings import BLUEPRINT, FORESIGHT, lexicon_of
from scoring.settings.task_types import TypeOverrides
from scoring.tokens import estimate_message_tokens
from tests.scoring.builders import calls, model, results, user

SAID = [
    user("fix src/app.py"),
    calls("1"),
    results("1", text="value=12 in src/app.py"),
    model("done"),
    user("on"),
]


def slots_of(messages: list[Message]) -> list[Slot]:
    """Return messages without stored features."""
    return [Slot(str(n), m, estimate_message_tokens(m)) for n, m in enumerate(messages)]


class TestHistory:
    """The history of the slots."""

    def test_is_that_of_the_bare_messages(self) -> None:
        """Contents and traces are the same, and present only if the settings read them."""
        for settings in (FORESIGHT, BLUEPRINT, replace(FORESIGHT, strategy="score")):
            history = history_of(slots_of(SAID), settings)
            wanted = History.of(SAID, settings=replace(settings, counting="tokenizer"))
            assert history.features == wanted.features
        assert history_of(slots_of(SAID), FORESIGHT).features[2].content is not None
        assert history_of(slots_of(SAID), BLUEPRINT).features[2].content is None

    def test_rates_keywords_by_the_task_type(self) -> None:  # B18
        """The task type is recognised as in a plan over the bare messages."""
        support = replace(FORESIGHT.task_types, support=TypeOverrides(keywords=BLUEPRINT.keywords[:1]))
        settings = replace(FORESIGHT, strategy="score", task_type="support", task_types=support)
        said = [user("completed"), user("failed")]
        assert history_of(slots_of(said), settings).keywords == History.of(said, settings=settings).keywords
        assert history_of(slots_of(said), settings).keywords[0] == 0 < BLUEPRINT.keywords[0].share

    def test_uses_stored_features(self) -> None:
        """A message with stored features is not analysed."""
        features = analyse(user("something else"), 5, lexicon_of(BLUEPRINT.keywords))
        assert history_of([Slot("a", user(), 5, lambda: features)], BLUEPRINT).features == [features]

    def test_is_analysed_once(self) -> None:
        """A list that is planned again is not analysed again."""
        slots = slots_of(SAID)
        first = history_of(slots, FORESIGHT).features
        assert all(
            one is other for one, other in zip(first, history_of(slots, FORESIGHT).features, strict=True)
        )


class TestBeforeTheLastSummary:
    """The number of messages before the last summary."""

    def test_counts_no_summaries(self) -> None:
        """Of two summaries the last one counts; without one the number is 0."""
        message, summary = (Slot("", user(), 1, summary=is_one) for is_one in (False, True))
        assert before_the_last_summary([message, summary, message, summary, message]) == 2
        assert before_the_last_summary([message, message]) == 0
