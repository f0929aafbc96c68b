"""The contract of a signal: its words, its weights, how it rates, and what it may read to do so.

Settings take names and weights from the table of signals, and histories and plans take settings. Signals therefore lie
below all three: a protocol for each says what a signal reads of it.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

# The bits of `Mentions.flags`: who named it, and what it is.
AGENT, USER, TOOL, TASK, IS_LINE, HAS_DIGIT = 1, 2, 4, 8, 16, 32
ALIKE = 64  # it occurs only in lines of an output that differ in nothing but codes and numbers
FLAG_VALUES = 128  # values that the bits make together


class Words(Protocol):
    """The words of one message."""

    @property
    def words(self) -> int:
        """Return the number of words."""

    @property
    def asks(self) -> bool:
        """Return True if the message asks something."""

    @property
    def stems(self) -> tuple[array[int], bytes]:
        """Return the codes of their stems, and how often each occurs."""


class Described(Protocol):
    """The facts of one message."""

    @property
    def content(self) -> Words | None:
        """Return its words; None where nobody has read them."""


class Messages(Protocol):
    """The messages of a history, as columns."""

    @property
    def roles(self) -> list[str]:
        """Return who speaks."""

    @property
    def chars(self) -> list[int]:
        """Return the length of each message in characters."""

    @property
    def keywords(self) -> list[float]:
        """Return the rating of each message by the keyword lists (0...1)."""

    @property
    def systems(self) -> list[int]:
        """Return the positions of system messages, rising."""

    @property
    def features(self) -> Sequence[Described]:
        """Return the facts of each."""

    def __len__(self) -> int: ...


class Mentions(Protocol):
    """The names and text lines of a history, as columns."""

    @property
    def last(self) -> Sequence[int]:
        """Return the last message that has each."""

    @property
    def count(self) -> Sequence[int]:
        """Return the number of messages that have each."""

    @property
    def flags(self) -> Sequence[int]:
        """Return who named each and what it is, as the bits above."""


class Options(Protocol):
    """The settings that signals read."""

    @property
    def weights(self) -> Mapping[str, float]:
        """Return the points of each signal."""

    @property
    def roles(self) -> Mapping[str, float]:
        """Return the rating of each role (0...1)."""

    @property
    def length_steps(self) -> tuple[tuple[int, float], ...]:
        """Return pairs of characters and the rating from there on, rising."""


class Ratings(NamedTuple):
    """Ratings (0...1) of mentions by one number that each has: mention n rates `table[column[n]]`."""

    column: Sequence[int]
    table: Sequence[float]


@dataclass(frozen=True, slots=True)
class Signal:
    """One signal of the score.

    `label` and `meaning` are for people; `in_foresight` is its meaning where the strategy *Foresight* reads it another
    way. `weights` are its points in each preset, 0 where one is not named. `rate` rates every message of a history at
    once (0...1), because a column is cheaper than a call a message; a signal that `reads_content` needs their words.

    *Foresight* weighs mentions (names and text lines) instead of messages. `rate_mentions` rates those of so many
    messages; without it a mention rates as the last message that has it. A signal that does not weigh mentions
    (`weighs_mentions`) has a use of its own there.
    """

    name: str
    label: str
    meaning: str
    rate: Callable[[Messages, Options], list[float]]
    weights: Mapping[str, float]
    in_foresight: str = ""
    reads_content: bool = False
    rate_mentions: Callable[[Mentions, int], Ratings] | None = None
    weighs_mentions: bool = True

    def ratings(self, history: Messages, mentions: Mentions, settings: Options) -> Ratings:
        """Return how this signal rates the mentions of a history."""
        if self.rate_mentions is not None:
            return self.rate_mentions(mentions, len(history))
        return Ratings(mentions.last, self.rate(history, settings))

    def to_dict(self) -> dict[str, str]:
        """Return the words of this signal as JSON-ready data."""
        return {
            "name": self.name,
            "label": self.label,
            "meaning": self.meaning,
            "in_foresight": self.in_foresight or self.meaning,
        }
