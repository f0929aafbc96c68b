"""A cache of features in this process, by a hash of the message's content.

Features depend only on the message and the kind of analysis. When a list comes again with a few more messages, only
those are analysed. The cache is bounded in messages and in characters, and holds no texts.
"""

from __future__ import annotations

import marshal
from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

from scoring.history.features import Features, with_words
from scoring.messages import Message, Part, Text, ToolCall, ToolResult

MESSAGES_KEPT = 20_000
CHARACTERS_KEPT = 40_000_000  # of the messages; their features take about as many bytes


class FeatureCache:
    """The features used last, by the content they were computed from.

    Threads can share it: each step is a single dictionary operation, and a message that two threads request at the same
    time is analysed twice.
    """

    def __init__(self, messages: int = MESSAGES_KEPT, characters: int = CHARACTERS_KEPT) -> None:
        self._most, self._most_characters = messages, characters
        self._found: OrderedDict[tuple[bytes, object], tuple[Features, bool]] = OrderedDict()
        self._characters = 0

    def get(
        self, message: Message, kind: object, words: bool, compute: Callable[[Message], Features]
    ) -> Features:
        """Return the features of a message from the cache, or from `compute`.

        `kind` identifies the kind of analysis. With `words`, cached features without words are completed.
        """
        key = hash_of(message), kind
        known = self._found.pop(key, None)
        if known is not None and (known[1] or not words):
            self._found[key] = known  # the newest now
            return known[0]
        features = compute(message) if known is None else with_words(known[0], message)
        self._found[key] = features, words
        self._characters += features.chars if known is None else 0
        while len(self._found) > self._most or self._characters > self._most_characters:
            if not self._found:  # two threads analysed the same message, and both counted it
                self._characters = 0
                break
            self._characters -= self._found.popitem(last=False)[1][0].chars
        return features


def hash_of(message: Message) -> bytes:
    """Return the hash of everything in a message."""
    said: Any = (message.role, message.name, *map(_hashable, message.parts))
    return blake2b(marshal.dumps(said, 0), digest_size=16).digest()


def _hashable(part: Part) -> tuple[object, ...]:
    """Return the content of a part as values that are the same for equal parts."""
    kind = type(part)
    if kind is Text:
        return "text", part.text  # type: ignore[union-attr]
    if kind is ToolCall:
        return "call", part.id, part.name, part.arguments  # type: ignore[union-attr]
    if kind is ToolResult and not part.media:  # type: ignore[union-attr]
        return "result", part.call_id, part.text, part.name, part.is_error  # type: ignore[union-attr]
    return "other", repr(part)


FEATURES = FeatureCache()
