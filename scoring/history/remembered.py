"""Features that were computed before in this process, by a hash of the message's content.

Features depend on the message and on how it is analysed, so a list that comes again with a few messages more is
analysed for those alone. What is remembered is bounded in messages and in characters, and no text is held.
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
CHARACTERS_KEPT = 40_000_000  # of the messages; what is found of them takes about as many bytes


class Remembered:
    """The features used last, by the content they were computed from.

    Threads may share it: each step is one on a dictionary, and a message that two look for at once is found twice.
    """

    def __init__(self, messages: int = MESSAGES_KEPT, characters: int = CHARACTERS_KEPT) -> None:
        self._most, self._most_characters = messages, characters
        self._found: OrderedDict[tuple[bytes, object], tuple[Features, bool]] = OrderedDict()
        self._characters = 0

    def of(self, message: Message, how: object, words: bool, find: Callable[[Message], Features]) -> Features:
        """Return the features of a message, found by `find` unless they are known.

        `how` says how it analyses; with its `words`, which are found for a known one that came without them.
        """
        key = hash_of(message), how
        known = self._found.pop(key, None)
        if known is not None and (known[1] or not words):
            self._found[key] = known  # the newest now
            return known[0]
        features = find(message) if known is None else with_words(known[0], message)
        self._found[key] = features, words
        self._characters += features.chars if known is None else 0
        while len(self._found) > self._most or self._characters > self._most_characters:
            if not self._found:  # two threads found the same, and both counted it
                self._characters = 0
                break
            self._characters -= self._found.popitem(last=False)[1][0].chars
        return features


def hash_of(message: Message) -> bytes:
    """Return the hash of everything that a message says."""
    said: Any = (message.role, message.name, *map(_plain, message.parts))
    return blake2b(marshal.dumps(said, 0), digest_size=16).digest()


def _plain(part: Part) -> tuple[object, ...]:
    """Return what a part says as values that equal parts spell alike."""
    kind = type(part)
    if kind is Text:
        return "text", part.text  # type: ignore[union-attr]
    if kind is ToolCall:
        return "call", part.id, part.name, part.arguments  # type: ignore[union-attr]
    if kind is ToolResult and not part.media:  # type: ignore[union-attr]
        return "result", part.call_id, part.text, part.name, part.is_error  # type: ignore[union-attr]
    return "other", repr(part)


REMEMBERED = Remembered()
