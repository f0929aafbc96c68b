"""Settings that take one of a few named values: the values, with their labels for people."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from scoring.settings.task_types import ANY, AUTO, TASK_TYPES


class Choice(NamedTuple):
    """One value of a setting. `label` names it, `meaning` completes "With this value Coppice …" in a few words.

    `uses_weights` is True for a strategy that uses the weights of signals, and `weighs_mentions` if they weigh names
    and lines instead of messages. `reads_content` is True for a strategy that reads the contents of messages. The plans
    of a strategy with `without_summary` have a summary; it names the one that is used if no summary can be written.
    """

    name: str
    label: str
    meaning: str
    uses_weights: bool = False
    weighs_mentions: bool = False
    reads_content: bool = False
    without_summary: str = ""

    @property
    def makes_summaries(self) -> bool:
        """Return whether the plans of a strategy have a summary."""
        return bool(self.without_summary)

    @property
    def weighs_messages(self) -> bool:
        """Return whether a strategy uses the ratings of whole messages, by the tables and keywords of the settings."""
        return self.uses_weights and not self.weighs_mentions


def _table(*choices: Choice) -> Mapping[str, Choice]:
    return MappingProxyType({choice.name: choice for choice in choices})


# Each has a module of the same name in `scoring.planning.strategies`.
STRATEGIES = _table(
    Choice(
        "foresight",
        "Foresight",
        "keeps what the agent is likely to name again",
        uses_weights=True,
        weighs_mentions=True,
        reads_content=True,
    ),
    Choice("score", "Lowest score first", "drops the messages with the lowest scores", uses_weights=True),
    Choice("newest_first", "Newest first", "keeps the newest messages"),
    Choice(
        "half_of_turns", "Half of the turns", "drops the oldest half of the turns, and half of the rest again"
    ),
    Choice(
        "tool_outputs_first", "Tool outputs first", "clears old tool outputs, then drops the oldest messages"
    ),
    Choice("summarise", "Summarise", "replaces the oldest messages by one summary", without_summary="score"),
)

CHOICES: Mapping[str, Mapping[str, Choice]] = MappingProxyType(
    {
        "strategy": STRATEGIES,
        "task_type": _table(
            Choice(ANY, "No type", "uses the common weights and keywords in all sessions"),
            Choice(AUTO, "What it looks like", "recognises the type of each session"),
            *(Choice(name, name.capitalize(), meaning) for name, meaning in TASK_TYPES.items()),
        ),
        "stage_outputs": _table(
            Choice("off", "Left alone", "leaves old tool outputs alone"),
            Choice("shorten", "Shortened", "cuts them to their head, tail and error lines"),
            Choice("clear", "Cleared", "replaces them by one line"),
        ),
        "windows": _table(
            Choice("current", "Current", "uses the context windows of today"),
            Choice("blueprint", "As of Blueprint", "uses the windows that Blueprint was written for"),
        ),
        "counting": _table(
            Choice("tokenizer", "The model's tokenizer", "counts tokens"),
            Choice("four_characters", "Four characters per token", "counts four characters as a token"),
        ),
    }
)

STRATEGY_NAMES: tuple[str, ...] = tuple(STRATEGIES)
TASK_TYPE_CHOICES: tuple[str, ...] = tuple(CHOICES["task_type"])
