"""Assembly: the exact list a model is sent, within its budget, and the emergency path when it cannot fit."""

from scoring.assembly.assembly import BuiltContext, build
from scoring.assembly.emergency import Emergency, NoUserMessageFits, SystemTooLarge, relieve
from scoring.assembly.enrichment import learnings_for, words_for_search
from scoring.assembly.snapshot import AssemblyConfig, Item, Snapshot

__all__ = [
    "AssemblyConfig",
    "BuiltContext",
    "Emergency",
    "Item",
    "NoUserMessageFits",
    "Snapshot",
    "SystemTooLarge",
    "build",
    "learnings_for",
    "relieve",
    "words_for_search",
]
