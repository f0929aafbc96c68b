"""The triggers of a summary, and the status view, both as data.

Triggers count from the last summary, so they start again after each one.
"""

from __future__ import annotations

from dataclasses import dataclass

from scoring.budget.budget import utilization
from scoring.counted import counted
from scoring.settings import Settings

# A summary must cover some messages besides the recent ones that stay.
LEAST_TO_COVER = 4


@dataclass(frozen=True, slots=True)
class ContextSizes:
    """The sizes of a context that the triggers need, in tokens except for `since_messages`.

    `since_*` count from the last summary, or from the beginning if there was none; `messages` is the whole context
    without tool definitions, `window` and `limit` are the model's. `unseen`, a part of `tools`, is not in the
    transcript.
    """

    since_messages: int
    since_tokens: int
    messages: int
    tools: int
    window: int
    limit: int
    system: int = 0
    unseen: int = 0


@dataclass(frozen=True, slots=True)
class Bar:
    """One trigger as a bar: `percent` has one decimal and is not capped.

    If summaries are made on request only (`armed` is false), nothing happens at the limit: the amount is shown alone.
    """

    name: str
    value: int
    limit: int
    armed: bool = True

    @property
    def percent(self) -> float | None:
        """Return the amount in percent of the limit; None if nothing happens there."""
        return utilization(self.value, self.limit) if self.armed else None

    def __str__(self) -> str:
        if self.percent is None:
            return f"{self.name} {self.value:,}"
        return f"{self.name} {self.value:,} / {self.limit:,} ({self.percent:.1f} %)"


@dataclass(frozen=True, slots=True)
class Due:
    """The reason for a summary: `cause` is messages, tokens, window, or "" if none is due."""

    cause: str
    reason: str

    def __bool__(self) -> bool:
        return bool(self.cause)


def token_threshold(settings: Settings, window: int) -> int:
    """Return the tokens since the last summary at which one is due: the number set, or the share of the window."""
    share = int(window * settings.summary_window_percent / 100)
    return min(settings.max_tokens_before_summary, share) if share > 0 else settings.max_tokens_before_summary


def summary_due(sizes: ContextSizes, settings: Settings) -> Due:
    """Return whether a summary is due now, with the reason. None is due right after one that covered everything."""
    least = settings.min_recent_messages + LEAST_TO_COVER
    if sizes.since_messages < least:
        return Due(
            "",
            f"{counted(sizes.since_messages, 'message')} since the last summary, at least {least:,} are needed",
        )
    total = sizes.messages + sizes.tools + settings.response_reserve
    if total > sizes.window:  # the next model call would exceed it (P5)
        return Due(
            "window", f"messages, tools and output reserve take {total:,} of a window of {sizes.window:,}"
        )
    if sizes.since_messages >= settings.max_messages_before_summary:
        return Due("messages", f"{counted(sizes.since_messages, 'message')} since the last summary")
    if sizes.since_tokens > token_threshold(settings, sizes.window):
        return Due("tokens", f"{sizes.since_tokens:,} tokens since the last summary")
    return Due("", "neither trigger is reached")


def bars(sizes: ContextSizes, settings: Settings) -> tuple[Bar, Bar]:
    """Return the bars of both triggers: messages and tokens since the last summary."""
    armed = settings.auto_summarize
    return (
        Bar("Messages", sizes.since_messages, settings.max_messages_before_summary, armed),
        Bar("Tokens", sizes.since_tokens, token_threshold(settings, sizes.window), armed),
    )


def available(sizes: ContextSizes, settings: Settings) -> int:
    """Return the tokens available to messages: limit less response reserve, system prompt and tool definitions (S6)."""
    return max(0, sizes.limit - settings.response_reserve - sizes.system - sizes.tools)


def status_line(sizes: ContextSizes) -> str:
    """Return the one-line status: `tokens: 45,000 msgs + 12,450 tools | context: 57,450 / 200,000 (28.7 %)`.

    Tokens that are not in the transcript are named as such; tools are named if there are any, or if there is nothing
    else.
    """
    total, tools = sizes.messages + sizes.tools, sizes.tools - sizes.unseen
    percent = utilization(total, sizes.limit)
    parts = [f"{sizes.messages:,} msgs"]
    parts += [f"{tools:,} tools"] if tools or not sizes.unseen else []
    parts += [f"{sizes.unseen:,} not in the transcript"] if sizes.unseen else []
    return f"tokens: {' + '.join(parts)} | context: {total:,} / {sizes.limit:,} ({percent:.1f} %)"
