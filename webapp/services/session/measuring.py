"""What is found out about a message once, when it comes in: its tokens, features, card and words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import orjson

from scoring.history import Features, analyse
from scoring.messages import Message
from scoring.models import ModelLimits
from scoring.settings import Lexicon
from scoring.tokens import Calibration, TokenCounter, estimate_message_tokens
from webapp.agents.records import REMINDER
from webapp.services.session.cards import card_of, is_error

TITLE_CHARS = 80


class CountsTokens(Protocol):
    """Gives the counter of an encoding; `webapp.tokenizers` has the real one."""

    def counter(self, encoding: str = ...) -> TokenCounter:
        """The counter of an encoding."""
        ...


@dataclass(frozen=True, slots=True)
class Measured:
    """The static facts of one message as they are stored."""

    features: Features
    features_text: str
    card: str
    is_error: bool


class Measure:
    """Measures messages of one session: one counter, one lexicon.

    `begun` is what other sessions have taught, where this one has no call yet; `limits` those of its model.
    """

    def __init__(
        self,
        counter: TokenCounter,
        lexicon: Lexicon,
        begun: Calibration | None = None,
        limits: ModelLimits | None = None,
    ) -> None:
        self.counter, self.begun, self.limits = counter, begun, limits
        self.factor = limits.token_factor if limits is not None else 1.0
        self._lexicon = lexicon

    def __call__(self, message: Message, tool_names: dict[str, str]) -> Measured:
        """The facts of a message; `tool_names` maps call ids to tools."""
        tokens = estimate_message_tokens(message, self.counter)
        features = analyse(message, tokens, self._lexicon, content=True)
        if message.name == REMINDER and features.own_words:
            features = features._replace(own_words=False)
        text = orjson.dumps(features.to_dict()).decode()
        return Measured(features, text, card_of(message, tool_names), is_error(message))


def starts_turn(message: Message, kind: str) -> bool:
    """Whether a person speaks here, which begins a turn."""
    own = message.role == "user" and message.name != REMINDER and kind == "message"
    return own and (not message.results or bool(message.text and len(message.parts) > len(message.results)))


def title_of(message: Message) -> str | None:
    """A title from what a person said first: one line."""
    line = " ".join(message.text[: TITLE_CHARS * 8].split())
    return (line if len(line) <= TITLE_CHARS else line[: TITLE_CHARS - 1] + "…") or None


def region_of(role: str, kind: str) -> str:
    """The region of the window that a message belongs to."""
    return "summary" if kind == "compaction_summary" else role
