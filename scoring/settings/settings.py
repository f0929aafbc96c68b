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

    The text below a field is its meaning; the API's documents and `docs/settings.md` are written from it.
    """

    weights: Table = field(default_factory=lambda: Table(weights_of("Foresight")))
    """Points that each signal can give; their sum is the score. At 0 a signal has no effect."""
    roles: Table = ROLE_RATINGS
    """The rating of each role, 0 to 1."""
    keywords: tuple[KeywordGroup, ...] = KEYWORDS
    """Groups of words and the share of the signal each is worth; whole words, in any case."""
    length_steps: tuple[tuple[int, float], ...] = LENGTH_STEPS
    """Ratings from 0 to 1, each with the number of characters from which it applies."""
    task_type: str = AUTO
    """The weights and keywords in use: `any` for those above, `auto` for those of the type that is detected for
    each session, or always those of `coding`, `support`, `research` or `chat`.
    """
    task_types: TaskTypes = DEFAULT_TASK_TYPES
    """A type's own weights, keywords or both; null follows the ones above."""
    strategy: str = "foresight"
    """The choice of units."""
    target_percent: float = 80.0
    """Above this share of the input limit a session is marked, and automatic pruning acts."""
    aim_percent: float = 60.0
    """The share that a prune cuts to, at most the target."""
    cap_tokens: int | None = None
    """An upper limit of the target, for windows so large that 80 % is never reached."""
    automatic: bool = False
    """Prune automatically when an append crosses the target. A session can override this."""
    minimum_gain_percent: float = 5.0
    """The least that an automatic prune must free, as a share of the input limit; with a cap, as a share of
    the cap divided by the target's percent.
    """
    wait_for_cold_cache: bool = True
    """Automatic pruning and advice wait until the provider's cache has expired, or the next call writes it again
    anyway; but only while the window has room for another turn.
    """
    fresh_tail: int = 0
    """The number of newest messages that are never dropped."""
    user_words_tokens: int = 20_000
    """The users' words are kept unchanged, newest first, up to this number of tokens, and up to the share below."""
    user_words_percent: float = 30.0
    """The most that users' words take, as a share of the budget."""
    user_words_messages_percent: float = 20.0
    """Users' words are kept only in sessions in which users write at most this share of the messages."""
    guarded_percent: float = 15.0
    """The task, users' rules and corrections, the open plan, the newest unresolved error and the last statement are
    kept first, up to this share of the budget that is left after what is always kept. The rules can take the whole
    share, and so can the task; half a share always remains for the others. 0 guards nothing.
    """
    mark_changed: bool = True
    """In kept outputs, mark the lines that were removed by an edit which is itself dropped."""
    stage_duplicates: bool = True
    """Clear a tool output that is repeated unchanged later; the newest stays."""
    stage_superseded: bool = True
    """Clear a read of a file if the whole file is read again or rewritten later."""
    stage_outputs: Literal["off", "shorten", "clear"] = "off"
    """Old tool outputs: `off`, `shorten` to head, tail and error lines, or `clear` to one line, the oldest first
    and no more than necessary.
    """
    response_reserve: int = 4_096
    """Tokens kept free for the answer; what is usable leaves at least 4,096 free, whatever is set here."""
    compaction_buffer_tokens: int = 20_000
    """Further tokens kept free, for what a call adds."""
    compaction_buffer_percent: float = 10.0
    """The most that is kept free for what a call adds, as a share of the window."""
    windows: Literal["current", "blueprint"] = "current"
    """The table of windows: `current`, or the one that *Blueprint* was written for."""
    counting: Literal["tokenizer", "four_characters"] = "tokenizer"
    """For lists that are pruned without a server: `tokenizer`, or four characters per token as *Blueprint* counts. A
    server always counts by the tokenizer.
    """
    auto_summarize: bool = False
    """Summarise automatically when one of the triggers is reached."""
    max_messages_before_summary: int = 30
    """Messages since the last summary that trigger the next."""
    max_tokens_before_summary: int = 128_000
    """Tokens since the last summary that trigger the next."""
    summary_window_percent: float = 80.0
    """Tokens since the last summary as a share of the window, if that is less than the number above."""
    min_recent_messages: int = 6
    """The number of newest messages that a summary never covers and that an assembled context always has."""
    summary_percent: float = 30.0
    """The largest share of the available tokens that a summary can take; a larger one is not sent."""
    summary_words: int = 600
    """The largest number of words in a summary."""
    memory_percent: float = 15.0
    """The share of the usable tokens that memories can take."""
    learnings_percent: float = 5.0
    """The share of the usable tokens that learnings can take."""
    learnings_shown: int = 5
    """The largest number of learnings in a context."""
    tool_outputs_keep_turns: int = 2
    """Strategy `tool_outputs_first` and `stage_outputs`: the outputs of this number of newest turns stay."""
    tool_outputs_keep_tokens: int = 40_000
    """The newest outputs stay, too, up to this number of tokens."""
    tool_outputs_minimum_gain: int = 20_000
    """The strategy acts only if it gains at least this number of tokens."""
    tool_outputs_exempt: tuple[str, ...] = ()
    """Tools whose outputs are never cleared, by the strategy or a `stage_`."""
    status_line: bool = False
    """Show the one-line status for each appended turn."""

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
