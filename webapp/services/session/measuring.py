"""Measuring: the tokens, features and card of a message, computed once when it arrives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from scoring.history import Features, analyse, names_file
from scoring.messages import REMINDER, Message
from scoring.settings import Lexicon
from scoring.tokens import TokenCounter, estimate_message_tokens
from webapp.agents.records import COMPACTION_SUMMARY
from webapp.services.session.cards import card_of
from webapp.services.session.stored_messages import features_text


class CounterProvider(Protocol):
    """Provider of token counters; `webapp.tokenizers` has the real one."""

    def counter(self, encoding: str = ...) -> TokenCounter:
        """Return the counter of an encoding."""
        ...

    def load(self) -> None:
        """Load the usual counter in the background."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The static facts of one message as they are stored."""

    features: Features
    features_text: str
    card: str
    is_error: bool


class MeasureMessage(Protocol):
    """Measures a message: `measure`, in this process or a separate one."""

    def __call__(
        self, message: Message, counter: TokenCounter, lexicon: Lexicon, tool_names: Mapping[str, str]
    ) -> Measured:
        """Return the facts of a message; `tool_names` maps call ids to tools."""


def measure(
    message: Message,
    counter: TokenCounter,
    lexicon: Lexicon,
    tool_names: Mapping[str, str],
    *,
    in_full: bool = False,
) -> Measured:
    """Return the facts of a message; `tool_names` maps call ids to tools.

    Contents are computed when a plan first needs them (`webapp.services.session.histories`), or here if `in_full`. What
    the session's task type depends on is computed at once: the content of system messages, and `names_file`.
    """
    tokens = estimate_message_tokens(message, counter)
    content = in_full or message.role == "system"
    features = analyse(message, tokens, lexicon, content=content)
    if not (content or message.calls or message.results) and names_file(message.text):
        features = features._replace(names_file=True)
    if message.name == REMINDER and features.own_words:
        features = features._replace(own_words=False)
    is_error = any(result.is_error for result in message.results)
    return Measured(features, features_text(features), card_of(message, tool_names), is_error)


def starts_turn(message: Message, kind: str) -> bool:
    """Return whether this message is written by a person, which starts a turn."""
    own = message.role == "user" and message.name != REMINDER and kind == "message"
    return own and (not message.results or bool(message.text and len(message.parts) > len(message.results)))


def region_of(role: str, kind: str) -> str:
    """Return the region of the window that a message belongs to."""
    return "summary" if kind == COMPACTION_SUMMARY else role
