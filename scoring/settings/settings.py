"""Settings: every threshold and weight that a person may change, as one frozen value.

A preset is a complete `Settings`; a session's own settings are a dict of overrides on top of one. Settings from
outside go through `Settings.from_dict`, which checks them as a whole and names every wrong field at once.

Units: weights are points of a score (0...100), shares and ratings are 0...1, percents are 0...100, tokens and
messages are whole numbers. `0` switches a tail or a share off; a cap of `None` means that there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Literal, Self

from scoring.errors import InvalidSettings
from scoring.settings.frozen_table import Table
from scoring.settings.lexicon import KeywordGroup
from scoring.settings.task_types import ANY, AUTO, DEFAULT_TASK_TYPES, TaskTypes
from scoring.settings.validation import check_settings
from scoring.signals import SIGNALS, weights_of

ROLE_RATINGS = Table(system=1.0, user=2 / 3, assistant=1 / 3, tool=1 / 3)
# Shares are parts of the 25 points that keywords are worth by default.
KEYWORDS: tuple[KeywordGroup, ...] = (
    KeywordGroup.of(
        "errors",
        15 / 25,
        "error errors failed failure failures fails exception exceptions traceback panic fatal crash crashed",
    ),
    KeywordGroup.of(
        "outcomes",
        10 / 25,
        "success successful successfully succeeded complete completed done finished passed resolved fixed",
    ),
    KeywordGroup.of(
        "tool use", 10 / 25, "tool tools command executed executing invoked invoking called calling"
    ),
    KeywordGroup.of(
        "changes",
        20 / 25,
        "create: update: delete: modify: add: remove: rename: created updated deleted modified renamed",
    ),
)
LENGTH_STEPS: tuple[tuple[int, float], ...] = ((1_000, 0.5), (5_000, 1.0))


@dataclass(frozen=True, slots=True)
class Settings:
    """One complete set of settings; the fields' defaults are the preset *Foresight*.

    `target_percent` is where we warn and act, `aim_percent` what a prune cuts to, both of the input limit;
    `cap_tokens` is the user's own ceiling on the target. User words are kept up to the lesser of
    `user_words_tokens` and `user_words_percent` of the budget, in sessions in which users write at most
    `user_words_messages_percent` of the messages. Messages whose loss would mislead (the task, rules, the plan, an
    unresolved error, the last statement) are kept first, up to `guarded_percent` of the budget that is left after
    the messages that are always kept; rules may take all of it even if the task does too. `mark_changed` marks the
    lines of an output that a dropped edit removed.
    `minimum_gain_percent` of the input limit is what an automatic prune has to gain; with `wait_for_cold_cache` it
    waits for a moment at which it breaks no cache that is of use (X26). `task_type` is a task type by name, "auto" to
    recognise the type of each session, or "any" for these weights and keywords in all sessions;
    `task_types` holds the own settings of each type. The `stage_*` say what is tried before anything is dropped
    (`scoring.planning.stages`). `windows` selects the model table, `counting` how tokens are counted.

    For the assembled context (S3, S2, M1, C8): a summary is due `max_messages_before_summary` messages or
    `max_tokens_before_summary` tokens after the last one, or `summary_window_percent` of the window, whichever comes
    first. One summary takes at most `summary_percent` of what is available. `memory_percent` and `learnings_percent`
    share what the reserves leave; the `tool_outputs_*` belong to the strategy of that name. `status_line` shows the
    one-line status for each turn.
    """

    auto_summarize: bool = False
    max_messages_before_summary: int = 30
    max_tokens_before_summary: int = 128_000
    summary_window_percent: float = 80.0
    min_recent_messages: int = 6
    response_reserve: int = 4_096
    summary_percent: float = 30.0
    summary_words: int = 600
    memory_percent: float = 15.0
    learnings_percent: float = 5.0
    learnings_shown: int = 5
    tool_outputs_keep_turns: int = 2
    tool_outputs_keep_tokens: int = 40_000
    tool_outputs_minimum_gain: int = 20_000
    tool_outputs_exempt: tuple[str, ...] = ()
    status_line: bool = False
    weights: Table = field(default_factory=lambda: Table(weights_of("Foresight")))
    roles: Table = ROLE_RATINGS
    keywords: tuple[KeywordGroup, ...] = KEYWORDS
    length_steps: tuple[tuple[int, float], ...] = LENGTH_STEPS
    task_type: str = AUTO
    task_types: TaskTypes = DEFAULT_TASK_TYPES
    strategy: str = "foresight"
    target_percent: float = 80.0
    aim_percent: float = 60.0
    cap_tokens: int | None = None
    fresh_tail: int = 0
    user_words_tokens: int = 20_000
    user_words_percent: float = 30.0
    user_words_messages_percent: float = 20.0
    guarded_percent: float = 15.0
    mark_changed: bool = True
    automatic: bool = False
    minimum_gain_percent: float = 5.0
    wait_for_cold_cache: bool = True
    stage_duplicates: bool = True
    stage_superseded: bool = True
    stage_outputs: Literal["off", "shorten", "clear"] = "off"
    compaction_buffer_tokens: int = 20_000
    compaction_buffer_percent: float = 10.0
    windows: Literal["current", "blueprint"] = "current"
    counting: Literal["tokenizer", "four_characters"] = "tokenizer"

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], base: Self | None = None) -> Self:
        """Return the settings that `data` describes on top of `base` (the defaults if None).

        `weights` and `roles` may contain only some of their keys, `task_types` only some types with some of their
        fields; every other field is replaced as a whole.

        Raises:
            InvalidSettings: a field of `data` is unknown, of a wrong type or out of range; one fault for each field.
        """
        base = base or cls()
        values, faults = check_settings(data, {f.name: getattr(base, f.name) for f in fields(base)})
        if faults:
            raise InvalidSettings(faults)
        return replace(base, **values)

    def to_dict(self) -> dict[str, Any]:
        """Return all settings as JSON-ready data; `from_dict` makes an equal value of it."""
        out: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        out["weights"] = {name: self.weights.get(name, 0.0) for name in SIGNALS}
        out["roles"] = dict(self.roles)
        out["task_types"] = self.task_types.to_dict()
        out["keywords"] = [group.to_dict() for group in self.keywords]
        out["length_steps"] = [list(step) for step in self.length_steps]
        out["tool_outputs_exempt"] = list(self.tool_outputs_exempt)
        return out


FORESIGHT = Settings()
BLUEPRINT = Settings(
    weights=Table(weights_of("Blueprint")),
    task_type=ANY,
    strategy="score",
    aim_percent=80.0,
    fresh_tail=0,
    user_words_tokens=0,
    user_words_percent=0.0,
    user_words_messages_percent=100.0,
    guarded_percent=0.0,
    mark_changed=False,
    minimum_gain_percent=0.0,
    wait_for_cold_cache=False,
    stage_duplicates=False,
    stage_superseded=False,
    windows="blueprint",
    counting="four_characters",
)
# S10: what each preset sets on top of the defaults.
CONTEXT_PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "Short conversations": {"max_messages_before_summary": 50, "max_tokens_before_summary": 200_000},
        "Long coding sessions": {"max_messages_before_summary": 20, "min_recent_messages": 8},
        "Large tool outputs": {"response_reserve": 8_192, "max_tokens_before_summary": 80_000},
        "Small context models": {
            "max_messages_before_summary": 10,
            "max_tokens_before_summary": 20_000,
            "min_recent_messages": 4,
        },
        "Large context models": {"max_messages_before_summary": 50, "max_tokens_before_summary": 150_000},
    }
)
PRESETS: Mapping[str, Settings] = MappingProxyType(
    {
        "Foresight": FORESIGHT,
        "Blueprint": BLUEPRINT,
        **{name: replace(FORESIGHT, **changes) for name, changes in CONTEXT_PRESETS.items()},
    }
)
DEFAULT_PRESET = "Foresight"


def preset_of(settings: Settings) -> str:
    """Return the name of the preset that equals these settings, or "custom"."""
    return next((name for name, preset in PRESETS.items() if preset == settings), "custom")
