"""The slots of a list that is being assembled: messages of the log and summaries, each as it will be sent.

The features of a slot were stored when its message arrived. For a message that was changed since (a cleared output, a
newest message that was cut, one that a repair rewrote) they are computed here once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scoring.history import Features, History, analyse, reads_content, reads_traces
from scoring.messages import Message
from scoring.settings import Settings, lexicon_of


@dataclass(slots=True)
class Slot:
    """One slot: a message or a summary, and its cost.

    `read_features` reads the stored features, if there are any; `features` are those of `message`, None until a plan
    needs them.
    """

    id: str
    message: Message
    tokens: int
    read_features: Callable[[], Features] | None = None
    pinned: bool = False
    summary: bool = False
    features: Features | None = None


def history_of(slots: Sequence[Slot], settings: Settings) -> History:
    """Return the history of slots that are not summaries, for a plan with these settings."""
    lexicon = lexicon_of(settings.keywords)
    content, traces = reads_content(settings), reads_traces(settings)
    features: list[Features] = []
    for slot in slots:
        if slot.features is None and slot.read_features is not None:
            slot.features = slot.read_features()
        if slot.features is None:
            slot.features = analyse(slot.message, slot.tokens, lexicon, content=content, traces=traces)
        features.append(slot.features)
    history = History.of_features(features)
    history.dated = any(slot.message.at for slot in slots)
    history.pinned.update(n for n, slot in enumerate(slots) if slot.pinned)
    history.rate([slot.message for slot in slots], settings)
    return history


def before_the_last_summary(slots: Sequence[Slot]) -> int:
    """Return the number of messages before the last summary."""
    last = next((n for n in range(len(slots) - 1, -1, -1) if slots[n].summary), 0)
    return sum(not slot.summary for slot in slots[:last])
