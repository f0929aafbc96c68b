"""Replacing outputs of a message: its cost, the new message, and the history that strategies choose from.

Costs are estimated from the stored facts about outputs, rather too high than too low. No message gets longer.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from math import ceil

from scoring.history import History
from scoring.messages import Message, ToolResult
from scoring.planning.stages.contract import Cut
from scoring.planning.strategies.contract import Shortening
from scoring.summary import TIME_TOKENS, cleared_result, shortened_text

# The cost of a cleared output: its frame with the line that replaces it, and its id by length.
CLEARED_TOKENS, ID_CHARS_PER_TOKEN = 30, 2
# A head and a tail can be denser than the whole, and the line between them is added.
SHORT_SHARE, SHORT_TOKENS = 1.1, 16


def cost(history: History, position: int, cuts: Sequence[Cut]) -> int:
    """Return the tokens of a message with these of its outputs replaced."""
    features = history.features[position]
    outputs = features.traced.outputs
    left, fixed = features.chars, 0
    for cut in cuts:
        output = outputs[cut.result]
        if cut.shorten:
            left -= output.chars - ceil(output.short * SHORT_SHARE)
            fixed += SHORT_TOKENS
        else:
            left -= output.chars
            dated = TIME_TOKENS if history.dated else 0
            fixed += CLEARED_TOKENS + dated + len(features.results[cut.result]) // ID_CHARS_PER_TOKEN
    return fixed + ceil(history.tokens[position] * max(0, left) / max(1, features.chars))


def replaced_message(
    message: Message, history: History, cuts: Mapping[int, Cut], notes: Mapping[int, str]
) -> Message:
    """Return the message with outputs replaced; `cuts`, and `notes` for the model, are by number of the result."""
    names: dict[str, str] = {}
    parts, index = list(message.parts), -1
    for place, part in enumerate(parts):
        if not isinstance(part, ToolResult):
            continue
        index += 1
        if index not in cuts:
            continue
        if cuts[index].shorten:
            parts[place] = part.with_text(shortened_text(part.text))
        else:
            names = names or history.tools(cuts[index].position)
            tool = part.name or names.get(part.call_id, "")
            parts[place] = cleared_result(part, tool, why=notes[index], came=message.at)
    return replace(message, parts=tuple(parts))


def after_stages(history: History, shortened: Mapping[int, Shortening], emptied: Sequence[int]) -> History:
    """Return the history after the stages: with the new costs, and without the mentions of the `emptied` messages.

    A replacement is not cut any further, so it has no content.
    """
    out = copy(history)
    out.tokens, out.unit_tokens, out.features = history.tokens[:], history.unit_tokens[:], history.features[:]
    for position, short in shortened.items():
        out.unit_tokens[history.units.head[position]] -= out.tokens[position] - short.tokens
        out.tokens[position] = short.tokens
        out.features[position] = history.features[position]._replace(tokens=short.tokens, content=None)
    out.mentions = copy(history.mentions)
    out.mentions.held = history.mentions.held[:]
    for position in emptied:
        out.mentions.held[position] = array("I")
    return out
