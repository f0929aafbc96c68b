"""A summary as a value: text in place of messages or of other summaries.

A summary is never a log message. In a list it is a user message with a heading that says what it covers, at the place
of the first message it covers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from scoring.counted import counted
from scoring.messages import Message, Text

OLDER_BELOW = (
    "messages right below may be older than the end of this summary; what they ask for may be done already"
)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The messages that stay around those that a summary covers.

    `asked_before`: a request of the user stays above it. `older_below`: messages that stay below it are older than the
    last one that it covers, because a summary stands at the place of the first. It stands after the provider's newest
    compaction, though: the provider ignores what comes before that.
    """

    asked_before: bool = False
    older_below: bool = False

    @classmethod
    def of(
        cls,
        covered: Sequence[int],
        kept: Iterable[int],
        asks: Callable[[int], bool],
        compaction: int | None = None,
    ) -> Surroundings:
        """Return those of the sorted positions `covered`; `kept` are positions of messages that stay, in order.

        `compaction` is the position of the provider's newest compaction among them.
        """
        if not covered:
            return cls()
        ignored = -1 if compaction is None else compaction
        above = [position for position in kept if ignored < position < covered[-1]]
        return cls(
            asked_before=any(position < covered[0] and asks(position) for position in above),
            older_below=any(position > covered[0] for position in above),
        )


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary of `messages` messages of the log.

    `depth` is 1 over messages, else one more than that of the deepest summary it covers; `first` and `last` are the
    days (or times, ISO 8601) of the first and last message covered, "" if not known. `note` is left by an emergency.
    """

    id: str
    text: str
    depth: int = 1
    messages: int = 0
    first: str = ""
    last: str = ""
    note: str = ""
    tokens: int | None = None

    @property
    def heading(self) -> str:
        """Return `[Summary: depth 2, 45 messages, covers 2024-01-15 to 2024-01-16]`."""
        covers = f", covers {self.first[:10]} to {(self.last or self.first)[:10]}" if self.first else ""
        return f"[Summary: depth {self.depth}, {counted(self.messages, 'message')}{covers}]"

    def as_message(self) -> Message:
        """Return the summary as the message that the model reads."""
        pieces = [self.heading, self.text, f"[{self.note}]" if self.note else ""]
        return Message("user", (Text("\n".join(p for p in pieces if p)),))
