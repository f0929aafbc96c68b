"""Cues: facts of one message that show whether its loss, or keeping it alone, would mislead a reader.

They depend on no other message: whether a program wrote a user message, whether it sets a rule or is a short answer,
whether the model states something, or the provider compacted all that came before into it; the plan, the command, the
file and the lines of a call; and which outputs report a failure. `scoring.planning.guards` uses them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from scoring.history.content.key_lines import is_failure
from scoring.history.cues.calls import CallCue, Edit, cue_of_call
from scoring.history.cues.file_names import with_files
from scoring.history.cues.speech import (
    ABOUT_ONESELF,
    CORRECTION,
    CORRECTION_CHARS,
    MACHINE_MADE,
    QUESTION,
    RULE,
    SHORT,
    STATEMENT,
    STRICT,
    cues_of_speech,
    ends_with_question,
)
from scoring.history.cues.topics import ORDERED, PERMITTING, REVISING, cues_of_topic
from scoring.messages import Message, Text, is_machine_made


class Cues(NamedTuple):
    """The cues of one message.

    `speech` has a letter for each cue of its words (`scoring.history.cues.speech`) and for a compaction, `calls` one
    cue for each call, `failed` one flag for each result. `topic` tells what a statement or a rule of words alone is
    about, with one character for each word (`scoring.history.cues.topics`).
    """

    speech: str = ""
    calls: tuple[CallCue, ...] = ()
    failed: tuple[bool, ...] = ()
    topic: str = ""

    def to_list(self) -> list[Any]:
        """Return the cues as JSON-ready data."""
        data = [self.speech, [call.to_list() for call in self.calls], [int(one) for one in self.failed]]
        return [*data, self.topic] if self.topic else data

    @classmethod
    def from_list(cls, data: Sequence[Any]) -> Cues:
        """Return the cues that `to_list` wrote."""
        speech, calls, failed, *topic = data
        if not calls and not failed and not topic:
            return cls(speech)
        return cls(speech, tuple(map(CallCue.from_list, calls)), tuple(map(bool, failed)), *topic)


NO_CUES = Cues()
COMPACTION = "k"  # a letter of `Cues.speech`: the provider compacted all that came before into this message
_BY_PROGRAM, _COMPACTED = Cues(MACHINE_MADE), Cues(COMPACTION)
_COMPACTING = frozenset({"anthropic", "responses"})  # the formats of providers that compact


def cues_of(message: Message, arguments: Sequence[Any]) -> Cues:
    """Return the cues of a message; `arguments` are those of its calls as parsed JSON, None if they are not JSON."""
    said = "\n".join([part.text for part in message.parts if isinstance(part, Text)])
    speech = cues_of_speech(message.role, said) + (COMPACTION if is_compacted(message) else "")
    calls = tuple(
        with_files(cue_of_call(call.name, call.arguments, parsed), call.name, call.arguments, parsed)
        for call, parsed in zip(message.calls, arguments, strict=True)
    )
    failed = tuple(result.is_error or is_failure(result.text) for result in message.results)
    if calls or message.results:
        return Cues(speech, calls, failed)
    more, topic = _replacing(message.role, said, speech)
    return Cues(speech + more, topic=topic) if speech or more or topic else NO_CUES


def _replacing(role: str, said: str, speech: str) -> tuple[str, str]:
    """Return the letters of a statement that replaces others or can be replaced, and its topic."""
    if role == "assistant" and said:
        return cues_of_topic(said, REVISING if QUESTION in speech else ORDERED + REVISING)
    if role != "user" or not said or MACHINE_MADE in speech or len(said) > CORRECTION_CHARS:
        return "", ""
    if STRICT in speech:
        return "", cues_of_topic(said)[1]
    letters, topic = ("", "") if ends_with_question(said) else cues_of_topic(said, PERMITTING + REVISING)
    return letters, topic if letters else ""


def cues_without_content(message: Message, text: str) -> Cues:
    """Return the cues that are computed for every message: that a program wrote it, or that it holds a compaction."""
    if message.role == "assistant":
        return _COMPACTED if is_compacted(message) else NO_CUES
    return cues_of_text(message.role, text) if not message.results else NO_CUES


def cues_of_text(role: str, text: str) -> Cues:
    """Return the same for a message that is a single text."""
    return _BY_PROGRAM if role == "user" and is_machine_made(text) else NO_CUES


def is_compacted(message: Message) -> bool:
    """Return whether the provider compacted all that came before into this message.

    Anthropic puts a block with a summary into an answer, OpenAI an encrypted item between its answers. Without it the
    model knows nothing of what it stands for.
    """
    wire = message.wire
    if wire is None or wire.format not in _COMPACTING or not isinstance(wire.value, dict):
        return False
    content = wire.value.get("content")
    return _is_compaction(wire.value) or (isinstance(content, list) and any(map(_is_compaction, content)))


def _is_compaction(block: Any) -> bool:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str) or not kind.startswith(("compaction", "context_compaction")):
        return False
    return bool(block.get("encrypted_content") or block.get("content"))


__all__ = [
    "ABOUT_ONESELF",
    "COMPACTION",
    "CORRECTION",
    "MACHINE_MADE",
    "NO_CUES",
    "ORDERED",
    "PERMITTING",
    "QUESTION",
    "REVISING",
    "RULE",
    "SHORT",
    "STATEMENT",
    "STRICT",
    "Cues",
    "Edit",
    "cues_of",
    "cues_of_text",
    "cues_without_content",
    "is_compacted",
]
