"""The triggers of a summary, and the status view: both as data.

Everything counts since the last summary, so that after one the triggers start again. The same formula is the check
before a model call and the trigger of a summary: messages + tool definitions + output reserve > window.
"""

from __future__ import annotations

from dataclasses import dataclass

from scoring.budget.budget import is_over_budget
from scoring.settings import Settings

# Beyond the recent messages that stay, a summary has to have something to cover.
LEAST_TO_COVER = 4


@dataclass(frozen=True, slots=True)
class Fill:
    """A context as the triggers see it. Tokens, except `since_messages`.

    `since_*` count what came after the last summary (everything where there was none); `messages` is all that the
    context holds besides tool definitions, `window` and `limit` are the model's. `unseen`, part of `tools`, is what a
    transcript does not contain.
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
class LastSummary:
    """The last summary: so many messages became so many tokens, at a time (ISO 8601, UTC)."""

    messages: int
    tokens: int
    at: str = ""

    def __str__(self) -> str:
        return f"{self.messages:,} messages -> {self.tokens:,} tokens"


@dataclass(frozen=True, slots=True)
class Bar:
    """One trigger as a bar: `percent` has one decimal and is not capped.

    Where summaries are made on request only (`armed` is false), nothing happens at the limit. Beyond it the bar is
    `done`: it says how much came since the last summary, and no percentage where there is no limit.
    """

    name: str
    value: int
    limit: int
    armed: bool = True

    @property
    def percent(self) -> float:
        """Return how far the trigger has come."""
        return round(100 * self.value / self.limit, 1) if self.limit > 0 else 0.0

    @property
    def done(self) -> bool:
        """Return whether it is beyond a limit at which nothing happens."""
        return not self.armed and self.value > self.limit

    def __str__(self) -> str:
        if self.done:
            return f"{self.name} {self.value:,}"
        return f"{self.name} {self.value:,} / {self.limit:,} ({self.percent:.1f} %)"


@dataclass(frozen=True, slots=True)
class Due:
    """The trigger of a due summary: `cause` is messages, tokens, window, or "" where none is due."""

    cause: str
    reason: str

    def __bool__(self) -> bool:
        return bool(self.cause)


def token_threshold(settings: Settings, window: int) -> int:
    """Return the tokens since the last summary from which one is due: the number set, or the share of the window."""
    share = int(window * settings.summary_window_percent / 100)
    return min(settings.max_tokens_before_summary, share) if share > 0 else settings.max_tokens_before_summary


def over_window(fill: Fill, settings: Settings) -> bool:
    """Return the proactive check before a model call (P5)."""
    return is_over_budget(fill.messages, fill.tools, settings.response_reserve, fill.window)


def summary_due(fill: Fill, settings: Settings) -> Due:
    """Return whether a summary should be made now, and why. Never right after one that covered everything."""
    least = settings.min_recent_messages + LEAST_TO_COVER
    if fill.since_messages < least:
        return Due(
            "", f"{fill.since_messages:,} messages since the last summary, at least {least:,} are needed"
        )
    if over_window(fill, settings):
        total = fill.messages + fill.tools + settings.response_reserve
        return Due(
            "window", f"messages, tools and output reserve take {total:,} of a window of {fill.window:,}"
        )
    if fill.since_messages >= settings.max_messages_before_summary:
        return Due("messages", f"{fill.since_messages:,} messages since the last summary")
    if fill.since_tokens > token_threshold(settings, fill.window):
        return Due("tokens", f"{fill.since_tokens:,} tokens since the last summary")
    return Due("", "neither trigger is reached")


def bars(fill: Fill, settings: Settings) -> tuple[Bar, Bar]:
    """Return both triggers: messages and tokens since the last summary."""
    armed = settings.auto_summarize
    return (
        Bar("Messages", fill.since_messages, settings.max_messages_before_summary, armed),
        Bar("Tokens", fill.since_tokens, token_threshold(settings, fill.window), armed),
    )


def available(fill: Fill, settings: Settings) -> int:
    """Return what messages may take: limit less response reserve, system prompt and tool definitions (S6)."""
    return max(0, fill.limit - settings.response_reserve - fill.system - fill.tools)


def status_line(fill: Fill) -> str:
    """Return the one-line status: `tokens: 45,000 msgs + 12,450 tools | context: 57,450 / 200,000 (28.7 %)`.

    What is not in the transcript is called so; tools are named where there are any, or nothing else.
    """
    total, tools = fill.messages + fill.tools, fill.tools - fill.unseen
    percent = 100 * total / fill.limit if fill.limit > 0 else 0.0
    parts = [f"{fill.messages:,} msgs"]
    parts += [f"{tools:,} tools"] if tools or not fill.unseen else []
    parts += [f"{fill.unseen:,} not in the transcript"] if fill.unseen else []
    return f"tokens: {' + '.join(parts)} | context: {total:,} / {fill.limit:,} ({percent:.1f} %)"
