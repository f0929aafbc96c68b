"""The input of an assembly, as values: the items of a context in order, and the rules for building it.

An item is a message of the log or a summary. Tokens and features that were computed when a message arrived can be
passed in; otherwise they are computed here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scoring.budget import TokenBudget
from scoring.formats import decode, system_text
from scoring.history import Features, counter_of
from scoring.messages import Message, Text, ToolResult
from scoring.models import ModelLimits
from scoring.settings import DEFAULT_PRESET, FORESIGHT, PRESETS, Settings
from scoring.summary import Summary
from scoring.tokens import ESTIMATOR, TokenCounter


@dataclass(frozen=True, slots=True)
class Item:
    """One message of the context. If its tool outputs were cleared, `compacted_at` is that time (ISO 8601).

    `features` reads those of the message as it is in the context; they are needed only if something has to be dropped.
    `tokens` is its cost. If either is None, both are computed when needed.
    """

    id: str
    message: Message
    features: Callable[[], Features] | None = None
    pinned: bool = False
    compacted_at: str = ""
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A session's context at one moment.

    `memories` and `learnings` are texts in the order of their relevance to the next message; `new_message` follows the
    items. `system_prompt` is that of a request body. `format` is the wire format of the input, "" for none.
    """

    items: Sequence[Item | Summary] = ()
    memories: Sequence[str] = ()
    learnings: Sequence[str] = ()
    tools: Sequence[Mapping[str, Any]] = ()
    tool_tokens: int | None = None
    new_message: Message | None = None
    system_prompt: str = ""
    format: str = ""

    @classmethod
    def of(
        cls,
        session: Snapshot | Sequence[Any] | Mapping[str, Any],
        format: str | None = None,
    ) -> Snapshot:
        """Return the snapshot of a list of messages, items, summaries or wire objects, or of a request body.

        A snapshot is returned unchanged. `format` is the format of the wire objects, if known.

        Raises:
            UnknownFormat, MalformedMessage: the wire objects cannot be read.
        """
        if isinstance(session, Snapshot):
            return session
        if not isinstance(session, Mapping):
            if all(isinstance(one, Item | Summary | Message) for one in session):
                return cls(
                    tuple(Item(str(n), m) if isinstance(m, Message) else m for n, m in enumerate(session))
                )
            session = list(session)
        decoded = decode(session, format)
        items = tuple(Item(str(n), m) for n, m in enumerate(decoded.messages))
        tools = decoded.envelope.get("tools")
        listed = [one for one in tools if isinstance(one, Mapping)] if isinstance(tools, list | tuple) else ()
        prompt = system_text(decoded.envelope)
        return cls(items, tools=tuple(listed), system_prompt=prompt, format=decoded.format)


# A budget without settings means (M1): the newest first, and nothing else is protected.
BY_BUDGET = replace(FORESIGHT, strategy="newest_first", user_words_tokens=0, user_words_percent=0.0)


@dataclass(frozen=True, slots=True)
class AssemblyConfig:
    """The rules of one assembly; by default those of the default preset.

    `budget` sets the total, reserves, shares and tail. Without it the total is the usable part of the model's window,
    or `usable` if given. `format` is the wire format the list is for, "" for any.
    """

    settings: Settings = PRESETS[DEFAULT_PRESET]
    budget: TokenBudget | None = None
    usable: int | None = None
    strategy: str | None = None
    format: str = ""
    counter: TokenCounter | None = None
    overrides: Sequence[ModelLimits] = ()

    @classmethod
    def of(cls, config: AssemblyConfig | Settings | TokenBudget | None) -> AssemblyConfig:
        """Return the rules for settings or a budget alone; the default rules for None."""
        if isinstance(config, AssemblyConfig):
            return config
        if isinstance(config, TokenBudget):
            return cls(BY_BUDGET, budget=config)
        if isinstance(config, Settings):
            return cls(config)
        return cls()

    @property
    def counts(self) -> TokenCounter:
        """Return the token counter: the one given, or the one that the settings name."""
        return counter_of(self.settings, self.counter) or ESTIMATOR

    @property
    def tail(self) -> int:
        """Return the number of newest messages that are protected."""
        if self.budget is not None:
            return self.budget.fresh_tail_count
        return max(self.settings.fresh_tail, self.settings.min_recent_messages)


def user_says_something(message: Message) -> bool:
    """Return whether a user message has content that every format can write: words, media, a file."""
    if message.role != "user":
        return False
    return any(
        p.text.strip() if isinstance(p, Text) else not isinstance(p, ToolResult) for p in message.parts
    )
