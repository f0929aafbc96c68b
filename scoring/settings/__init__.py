"""Settings: every threshold and weight a person may change, their validation, presets and task types."""

from scoring.settings.choices import CHOICES, STRATEGIES, STRATEGY_NAMES, TASK_TYPE_CHOICES, Choice
from scoring.settings.frozen_table import Table
from scoring.settings.lexicon import Finder, Lexicon, lexicon_of
from scoring.settings.ranges import LIMITS, Limit
from scoring.settings.settings import (
    BLUEPRINT,
    DEFAULT_PRESET,
    FORESIGHT,
    PRESETS,
    Settings,
    preset_of,
)
from scoring.settings.task_types import ANY, AUTO
from scoring.settings.validation import number

__all__ = [
    "ANY",
    "AUTO",
    "BLUEPRINT",
    "CHOICES",
    "DEFAULT_PRESET",
    "FORESIGHT",
    "LIMITS",
    "PRESETS",
    "STRATEGIES",
    "STRATEGY_NAMES",
    "TASK_TYPE_CHOICES",
    "Choice",
    "Finder",
    "Lexicon",
    "Limit",
    "Settings",
    "Table",
    "lexicon_of",
    "number",
    "preset_of",
]
