"""Our pruners for the retention benchmark: `prune(messages, budget_tokens, count_tokens)` with the presets as shipped.

A pruner returns the indices to keep in order, or (index, message) where a tool output stays shortened. `prune` is the
default preset, `blueprint` the other; they have no options of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import orjson

from scoring.formats import decode, encode
from scoring.history import Features, History, analyse, reads_content
from scoring.lists import prune as prune_messages
from scoring.messages import Message
from scoring.settings import BLUEPRINT, FORESIGHT, Settings, lexicon_of

Chat = dict[str, Any]
Counter = Callable[[Chat], int]
Kept = list[int | tuple[int, Chat]]


def prune(messages: list[Chat], budget_tokens: int, count_tokens: Counter) -> Kept:
    """Return the messages that *Foresight* keeps."""
    return pruned(messages, budget_tokens, count_tokens, FORESIGHT)


def blueprint(messages: list[Chat], budget_tokens: int, count_tokens: Counter) -> Kept:
    """Return the messages that *Blueprint* keeps."""
    return pruned(messages, budget_tokens, count_tokens, BLUEPRINT)


def pruned(messages: list[Chat], budget: int, count: Counter, settings: Settings) -> Kept:
    """Return the messages that a plan with these settings keeps."""
    typed = [_typed(orjson.dumps(m)) for m in messages]
    history = History.of_features(
        _features(m, count(w), settings) for m, w in zip(typed, messages, strict=True)
    )
    history.rate(typed, settings)
    fitted = prune_messages(history, typed, settings, budget, count=lambda m: count(_wire(m))).fitted
    return [(i, _wire(fitted.replaced[i])) if i in fitted.replaced else i for i in fitted.kept]


@lru_cache(maxsize=1 << 16)
def _typed(wire: bytes) -> Message:
    return decode([orjson.loads(wire)], "openai").messages[0]


@lru_cache(maxsize=1 << 16)
def _features(message: Message, tokens: int, settings: Settings) -> Features:
    """Return static features, computed once for all cases of a session, as a store would keep them."""
    return analyse(message, tokens, lexicon_of(settings.keywords), content=reads_content(settings))


def _wire(message: Message) -> Chat:
    wire: Chat = encode([message], "openai")[0]
    return wire
