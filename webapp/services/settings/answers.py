"""Answers about settings: the current settings, the model table, suggested weights."""

from __future__ import annotations

from scoring.settings import Settings
from webapp.answers import answer


@answer
class Range:
    """The range of a number in the settings."""

    min: float
    max: float
    step: float
    """The step of a slider."""


@answer
class SignalText:
    """A signal of the score in words."""

    name: str
    """Its key in `weights`."""
    label: str
    meaning: str
    in_foresight: str
    """Its meaning where the strategy *Foresight* is chosen."""


@answer
class ChoiceText:
    """A value that a field of the settings accepts, in words."""

    name: str
    label: str
    meaning: str


@answer
class SettingsDoc:
    """The current settings, the presets, the range of each field, and the labels of signals and choices."""

    settings: Settings
    defaults: Settings
    presets: dict[str, Settings]
    preset: str
    """The name of the preset that equals the settings, or "custom"."""
    limits: dict[str, Range]
    """By the name of the number; a dot leads to a field within one."""
    signals: list[SignalText]
    choices: dict[str, list[ChoiceText]]
    """The values that a field accepts, by its name."""


@answer
class Suggestion:
    """Weights that would have kept more of what earlier sessions needed later."""

    weights: dict[str, float] | None
    """Null if no other weights are better; `reason` says why."""
    present: dict[str, float]
    """The current weights."""
    before: float | None
    """Percent of the needed messages kept in the held-out sessions with the present weights; null if not measured."""
    after: float | None
    """The same with the best weights found."""
    held_out: int
    """Sessions that judged the result and took no part in the search."""
    sessions: int
    cases: int
    """Points in the sessions at which a prune was tried."""
    reason: str


@answer
class Model:
    """The limits and prices of one model. Tokens are whole numbers, prices US dollars per million tokens."""

    name: str
    window: int
    """Input and output together."""
    input_limit: int | None
    """Null where input and output share the window."""
    output_limit: int | None
    encoding: str
    """The tokenizer that counts for the model."""
    token_factor: float
    """Tokens of the model per token of `encoding`, on agent traffic."""
    input_price: float | None
    cached_price: float | None
    cache_write_price: float | None
    output_price: float | None
    dearer_above: int | None
    """Input tokens above which the provider charges more than these prices."""
    source: str
    """The source of the limits."""
    date: str
    """The day they were looked up."""
    known: bool
    """False for a model that is not in the table and gets the default limits."""
    own: bool
    """True for a row that the user made."""
    wider: int | None
    """A larger window that the provider offers for the model; null where none is known."""
    overridden: bool
    """True where the user's row replaces that of the table."""


@answer
class Models:
    """The model table, the user's own rows first."""

    models: list[Model]
