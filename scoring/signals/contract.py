"""The contract of a signal: its label and meaning, its weights, its rating functions, and the data they can read.

Settings read names and weights from the table of signals, and histories and plans read settings. Signals therefore
import none of these; the protocols here declare what a signal reads of each.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

# The bits of `Mentions.flags`: the roles that named a mention, and its kind.
AGENT, USER, TOOL, TASK, IS_LINE, HAS_DIGIT = 1, 2, 4, 8, 16, 32
ALIKE = 64  # it occurs only in lines of an output that differ in nothing but codes and numbers
FLAG_VALUES = 128  # the number of combinations of these bits


class Words(Protocol):
    """The words of one message."""

    @property
    def words(self) -> int:
        """Return the number of words."""

    @property
    def asks(self) -> bool:
        """Return True if it asks a question or to be told something, in words rather than in code."""

    @property
    def stems(self) -> tuple[array[int], bytes]:
        """Return the codes of the stems, and how often each occurs."""


class Described(Protocol):
    """The facts of one message."""

    @property
    def content(self) -> Words | None:
        """Return its content with its words; None if that was not analysed."""


class Messages(Protocol):
    """The messages of a history, as columns."""

    @property
    def roles(self) -> list[str]:
        """Return the role of each message."""

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
        """Return the facts of each message."""

    def __len__(self) -> int: ...


class Mentions(Protocol):
    """The names and text lines of a history, as columns."""

    @property
    def last(self) -> Sequence[int]:
        """Return the position of the last message that contains each mention."""

    @property
    def count(self) -> Sequence[int]:
        """Return the number of messages that contain each mention."""

    @property
    def flags(self) -> Sequence[int]:
        """Return the roles that named each mention and its kind, as the bits above."""


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
        """Return pairs of a length in characters and the rating from that length on, in rising order."""


class Ratings(NamedTuple):
    """Ratings (0...1) of mentions by one number of each: mention n has the rating `table[column[n]]`."""

    column: Sequence[int]
    table: Sequence[float]


@dataclass(frozen=True, slots=True)
class Signal:
    """One signal of the score.

    `label` and `meaning` are shown to users; `in_foresight` is the meaning in the strategy *Foresight*, if it differs.
    `weights` are its points in each preset, 0 for a preset not listed. `rate` rates all messages of a history at once
    (0...1), because a column is cheaper than a call for each message. A signal that `reads_content` needs their
    contents, which are there if any such signal has weight; without them it rates 0. `needs_question`: it rates 0
    unless the last message is a short one of a user. If no other signal with weight reads contents, the words of
    messages that are not stored are read only for such a question.

    *Foresight* weighs mentions (names and text lines) instead of messages. `rate_mentions` rates the mentions of a
    history with the given number of messages; without it a mention has the rating of the last message that contains it.
    A signal with `weighs_mentions=False` is used by *Foresight* in its own way.
    """

    name: str
    label: str
    meaning: str
    rate: Callable[[Messages, Options], list[float]]
    weights: Mapping[str, float]
    in_foresight: str = ""
    reads_content: bool = False
    needs_question: bool = False
    rate_mentions: Callable[[Mentions, int], Ratings] | None = None
    weighs_mentions: bool = True

    def ratings(self, history: Messages, mentions: Mentions, settings: Options) -> Ratings:
        """Return the ratings of the mentions of a history by this signal."""
        if self.rate_mentions is not None:
            return self.rate_mentions(mentions, len(history))
        return Ratings(mentions.last, self.rate(history, settings))

    def to_dict(self) -> dict[str, str]:
        """Return the name, label and meanings of this signal as JSON-ready data."""
        return {
            "name": self.name,
            "label": self.label,
            "meaning": self.meaning,
            "in_foresight": self.in_foresight or self.meaning,
        }
