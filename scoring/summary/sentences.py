"""What was decided, refused, announced and left open, sentence by sentence, in the very words of whoever said it.

A bare confirmation ("done", "file written successfully") says nothing and is never used.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from scoring.messages import Message, Text

SCANNED = 20_000  # characters of one text that are looked at: its beginning and its end
LONGEST = 60  # words of one sentence that is quoted
_BREAK = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_DECISION = re.compile(
    r"\b(?:decid\w+|chose|chosen|choose|instead of|rather than|prefer\w*|must(?: not|n't)?|never|always|don't|do not|"
    r"should(?: not|n't)|won't|will not|refus\w+|reject\w*|declin\w+|not allowed|agreed?|settled? on|"
    r"let's|go with|we(?:'ll| will) use|stick with|because|the reason|not an option|keep (?:it|the)|only use|"
    r"approv\w+|use \w+ (?:for|as))\b",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"^\s*no[,.!]|\b(?:don't|do not|never|must not|mustn't|reject\w*|refus\w+|not allowed|stop|won't|will not)\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because|since|so that|due to|the reason|as it|otherwise|in order to)\b", re.IGNORECASE
)
_REASON_OPENS = re.compile(
    r"^\s*(?:because|since|the reason|reason:|this is because|that is because|otherwise|it (?:would|breaks|is|was)|"
    r"this (?:way|would|breaks|avoids|keeps)|that (?:way|would))\b",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r"\b(?:next steps?|next,|i(?:'ll| will) (?:now|then)?|now i(?:'ll| will)|let me|going to|then i|"
    r"follow(?:ing|ed) by)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"^\s*(?:[-*]\s*)?\[ \]\s*\S|\bTODO\b|\b(?:still (?:need|have|has|to)|remains? to|remaining|not yet|left to do|"
    r"pending|needs? to be|unfinished|follow[- ]up|next steps?:)",
    re.IGNORECASE,
)
_DONE = re.compile(r"^\s*(?:[-*]\s*)?\[[xX✓]\]")
_CONFIRMATION = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|done|success(?:ful(?:ly)?)?|yes|sure|great|thanks?|thank you|perfect|good|fine|got it|noted|"
    r"sounds good|completed?|finished|acknowledged|understood|all set|right|cool|nice)\W*)+$"
    r"|^\W*(?:the )?(?:file|changes?|command|edit|update|todos?)\b[^\n]{0,120}\b(?:success(?:ful)?ly|created|updated|"
    r"written|saved|applied|completed|been modified)[^\n]{0,80}$"
    r"|^\W*(?:exit code:? 0|no output|\(no output\)|null|true|none|\{\}|\[\])\W*$",
    re.IGNORECASE,
)


def is_confirmation(text: str) -> bool:
    """Whether a text only confirms: nothing in it that a summary could use."""
    return not text.strip() or (len(text) < 300 and _CONFIRMATION.match(text.strip()) is not None)


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text without its code blocks, blanks squeezed; only its two ends if it is long."""
    if len(text) > SCANNED:
        text = text[: SCANNED * 3 // 4] + "\n" + text[-SCANNED // 4 :]
    found = (" ".join(piece.split()) for piece in _BREAK.split(_FENCE.sub("\n", text)))
    return [piece for piece in found if piece]


def said_by(message: Message) -> list[str]:
    """The sentences a user or the agent says in a message, tool outputs left aside."""
    if message.role not in ("user", "assistant"):
        return []
    text = "\n".join(p.text for p in message.parts if isinstance(p, Text))
    return [] if is_confirmation(text) else sentences(text)


def decisions(messages: Sequence[Message]) -> Iterator[tuple[float, str]]:
    """Each decision or refusal with its reason and how much it weighs: the user's words, refusals, reasons more."""
    for message in messages:
        spoken = said_by(message)
        if message.role == "user" and spoken and not any(map(_DECISION.search, spoken)):
            yield 0.5, f"User: {quoted(' '.join(spoken))}"  # what was asked for is a decision too
        said_already = -1
        for n, sentence in enumerate(spoken):
            if n == said_already or not _decides(sentence):
                continue
            after = spoken[n + 1] if n + 1 < len(spoken) else ""
            reason = bool(_REASON.search(sentence))
            if not reason and _REASON_OPENS.match(after):
                sentence, reason = f"{sentence} {after}", True  # noqa: PLW2901 - a sentence with its reason
                said_already = n + 1
            weight = 2.0 * (message.role == "user") + bool(_REFUSAL.search(sentence)) + reason
            who = "User" if message.role == "user" else "Agent"
            yield weight, f"{who}: {quoted(sentence)}"


def _decides(sentence: str) -> bool:
    return bool(_DECISION.search(sentence)) and len(sentence.split()) >= 3 and not sentence.endswith("?")


def next_steps(message: Message) -> list[str]:
    """The sentences in which the agent announces what it does next."""
    if message.role != "assistant":
        return []
    return [quoted(s.lstrip("-* ")) for s in said_by(message) if _NEXT.search(s)]


def open_tasks(messages: Sequence[Message]) -> Iterator[str]:
    """What was left open: unchecked boxes, TODOs, the latest state of a todo list a tool keeps."""
    latest: list[str] = []
    spoken: dict[str, None] = {}
    for message in messages:
        for call in message.calls:
            listed = _todo_list(call.arguments)
            if listed is not None:
                latest = listed
        for sentence in said_by(message):
            if _DONE.match(sentence):
                spoken.pop(_bare(sentence), None)
            elif _OPEN.search(sentence):
                spoken[_bare(sentence)] = None
    yield from latest
    yield from reversed(spoken)


def quoted(sentence: str) -> str:
    """A sentence as it is quoted: verbatim, long ones up to a number of words."""
    words = sentence.split()
    return sentence if len(words) <= LONGEST else " ".join(words[:LONGEST]) + " …"


def _bare(task: str) -> str:
    return quoted(re.sub(r"^\s*(?:[-*]\s*)?\[.\]\s*|^\s*[-*]\s+", "", task))


def _todo_list(arguments: str) -> list[str] | None:
    """The open entries of a todo list in a call's arguments; None where there is no such list."""
    if '"status"' not in arguments:
        return None
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return None
    listed: Any = (
        next((v for v in value.values() if isinstance(v, list)), None) if isinstance(value, dict) else value
    )
    if not isinstance(listed, list):
        return None
    entries = [e for e in listed if isinstance(e, dict) and "status" in e]
    if not entries:
        return None
    waiting = [e for e in entries if str(e["status"]).lower() not in ("completed", "done", "cancelled")]
    words = (e.get("content") or e.get("step") or e.get("title") or e.get("text") for e in waiting)
    return [quoted(str(w)) for w in words if w]
