"""Pruning, summarising and measuring a bare message list, outside any store.

A history is a list in any wire format; the result has the same format and holds the same objects. Pass `format`
(openai, responses, anthropic, gemini, langchain) if the list alone is ambiguous: contents that are all strings look
the same for OpenAI and Anthropic. Without `format` such a list is read as OpenAI's. Anthropic's and Gemini's lists have
to begin with the user, and so does a list in another format for a model of these providers.

By default these functions use the preset *Blueprint*: its windows, four characters per token, 80 %. Nothing is changed
in place. A list that is too large raises no error; the result reports it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from scoring.budget import targets
from scoring.counted import counted
from scoring.formats import decode, encode, flat_texts, is_bound_to_history, without_bound_thoughts
from scoring.history import History, counter_of, reads_content, settings_for
from scoring.lists.pruning import prune
from scoring.messages import Message, Role, message, units_of
from scoring.models import find_model
from scoring.planning import OverBudget
from scoring.planning.score import score
from scoring.settings import BLUEPRINT, Settings
from scoring.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class PruneResult:
    """A pruned list. `stats` has original and final (tokens), itemsRemoved and itemsKept (messages).

    Thoughts behind the first change are left out, because newer Claude models refuse them after a changed history.
    If nothing had to be removed, `pruned` is the list that was passed in. `over_budget` has the numbers if the messages
    that are always kept exceed the budget; `problems` names other reasons why the list cannot be sent as it is.
    `summary` is the text that replaces removed messages in `pruned`, "" if there is none; itemsKept does not count it.
    """

    pruned: list[Any]
    removed: list[Any]
    stats: dict[str, int]
    over_budget: OverBudget | None = None
    problems: tuple[str, ...] = ()
    summary: str = ""


@dataclass(frozen=True, slots=True)
class SummaryResult:
    """A list whose older messages are replaced by one line of text.

    `summarized` holds the messages that stay: system messages and the newest ones, without thoughts that newer Claude
    models refuse after a changed history. `summary` is the line; it is not
    part of the list. `stats` has summarizedItems and keptItems.
    """

    summarized: list[Any]
    summary: str
    stats: dict[str, int]


@dataclass(frozen=True, slots=True)
class ContextStats:
    """The size of a context relative to its input limit. `utilizationPercent` is neither rounded nor capped."""

    items: int
    tokens: int
    limit: int
    utilizationPercent: float  # noqa: N815 - the name that B11 gives
    needsPruning: bool  # noqa: N815


def score_context_importance(
    history: Sequence[Any],
    model: str = "default",
    settings: Settings = BLUEPRINT,
    counter: TokenCounter | None = None,
    *,
    format: str | None = None,
) -> list[float]:
    """Return the score of each message, 0...100. `model` has no effect; it is here because the other functions take it.

    Raises:
        UnknownFormat: the format of the list is unknown.
        MalformedMessage: a message in the list cannot be read.
    """
    columns = _read(history, settings, counter, format).columns
    return score(columns, settings_for(settings, columns.task_counts)).scores


def prune_context(
    history: list[Any],
    max_tokens: int | None = None,
    model: str = "default",
    settings: Settings = BLUEPRINT,
    counter: TokenCounter | None = None,
    *,
    format: str | None = None,
) -> PruneResult:
    """Cut a list to `max_tokens` (0 means 0), or by default to the settings' aim for the model.

    Raises:
        UnknownFormat, MalformedMessage: the list cannot be read.
        InvalidSettings: `max_tokens` is not a whole number of at least 0.
    """
    if max_tokens is None:
        max_tokens = targets(find_model(model, settings=settings), settings).aim
    read = _read(history, settings, counter, format)
    return _prune(history, read, settings, max_tokens, model)


def auto_manage_context(
    history: list[Any],
    model: str = "default",
    settings: Settings = BLUEPRINT,
    counter: TokenCounter | None = None,
    *,
    format: str | None = None,
) -> PruneResult:
    """Prune the list if it is above the target; otherwise return it unchanged (`pruned is history`).

    Raises:
        UnknownFormat, MalformedMessage: the list cannot be read.
    """
    limits = targets(find_model(model, settings=settings), settings)
    read = _read(history, settings, counter, format)
    tokens = sum(read.columns.tokens)
    if tokens <= limits.target:
        return PruneResult(history, [], _stats(tokens, tokens, 0, len(history)))
    return _prune(history, read, settings, limits.aim, model)


def get_context_stats(
    history: Sequence[Any],
    model: str = "default",
    settings: Settings = BLUEPRINT,
    counter: TokenCounter | None = None,
    *,
    format: str | None = None,
) -> ContextStats:
    """Return how full the model's window is with this list, and whether it is above the target.

    Raises:
        UnknownFormat, MalformedMessage: the list cannot be read.
    """
    limits = targets(find_model(model, settings=settings), settings)
    tokens = sum(_read(history, settings, counter, format).columns.tokens)
    percent = 100 * tokens / limits.limit
    return ContextStats(len(history), tokens, limits.limit, percent, tokens > limits.target)


def summarize_context(
    history: Sequence[Any],
    max_items: int = 10,
    *,
    format: str | None = None,
) -> SummaryResult:
    """Keep system messages and the newest `max_items` of the others; describe the rest in one line.

    A tool call is never separated from its results: the unit at the edge is kept whole, so more than `max_items`
    can stay.

    Raises:
        UnknownFormat, MalformedMessage: the list cannot be read.
    """
    messages = decode(list(history), format).messages if history else ()
    others = [i for i, m in enumerate(messages) if m.role != "system"]
    kept = set(others[len(others) - min(max(0, max_items), len(others)) :])
    for unit in units_of(messages):
        if kept.intersection(unit):
            kept.update(unit)
    gone = [i for i in others if i not in kept]
    stays = [
        _sent(messages[i], item) if gone and i > gone[0] else item
        for i, item in enumerate(history)
        if i in kept or messages[i].role == "system"
    ]
    stats = {"summarizedItems": len(gone), "keptItems": len(kept)}
    return SummaryResult(stays, _in_words([messages[i] for i in gone]), stats)


def _sent(message: Message, item: Any) -> Any:
    """Return the object of a message after a changed history: without the thoughts that newer Claude models refuse."""
    if message.wire is None or not is_bound_to_history(message):
        return item
    return encode([without_bound_thoughts(message)], message.wire.format)[0]


def _in_words(messages: Sequence[Message]) -> str:
    if not messages:
        return ""
    calls = sum(len(m.calls) for m in messages)
    counts = [
        counted(sum(m.role == "user" for m in messages), "user message"),
        counted(sum(m.role == "assistant" for m in messages), "model response"),
        counted(calls, "tool call"),
    ]
    return f"Previous {counted(len(messages), 'turn')}: {', '.join(counts)}"


class _Read(NamedTuple):
    """A list as columns and as messages, and the name of its format."""

    columns: History
    messages: Sequence[Message]
    format: str
    counter: TokenCounter | None = None


class _Texts(Sequence[Message]):
    """Messages of one text each, created on access."""

    def __init__(self, said: list[tuple[Role, str]]) -> None:
        self._said = said

    def __len__(self) -> int:
        return len(self._said)

    def __getitem__(self, position: int) -> Message:  # type: ignore[override]
        role, text = self._said[position]
        return message(role, text)


def _read(
    history: Sequence[Any], settings: Settings, counter: TokenCounter | None, name: str | None
) -> _Read:
    if not history:  # an empty list is in any format
        return _Read(History(), (), "")
    items = list(history)
    if not reads_content(settings) and (said := flat_texts(items, name)) is not None:
        columns = History.of_texts(said, counter, settings)
        return _Read(columns, _Texts(said), "openai", counter_of(settings, counter))
    decoded = decode(items, name)
    columns = History.of(decoded.messages, counter, settings)
    return _Read(columns, decoded.messages, decoded.format, counter_of(settings, counter))


def _prune(history: list[Any], read: _Read, settings: Settings, max_tokens: int, model: str) -> PruneResult:
    done = prune(
        read.columns,
        read.messages,
        settings,
        max_tokens,
        wire_format=read.format,
        model=model,
        counter=read.counter,
    )
    plan, kept = done.plan, done.kept
    removed = [history[i] for i in plan.removed]
    pruned = done.wire(read.messages, read.format, history) if removed or done.fitted.replaced else history
    stats = _stats(plan.tokens_before, done.tokens, len(removed), len(kept))
    summary = done.summary.summary.as_message().text if done.summary is not None else ""
    return PruneResult(pruned, removed, stats, done.over_budget, plan.problems, summary)


def _stats(original: int, final: int, removed: int, kept: int) -> dict[str, int]:
    return {"original": original, "final": final, "itemsRemoved": removed, "itemsKept": kept}
