"""Checks settings from outside as a whole: every wrong field is named, no value is guessed.

A number is an int or a float that is finite; a bool or a numeral in a string is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

from scoring.errors import Fault, shown
from scoring.settings.choices import CHOICES
from scoring.settings.frozen_table import Table
from scoring.settings.lexicon import KeywordGroup
from scoring.settings.ranges import LIMITS, Limit
from scoring.settings.task_types import TaskTypes, TypeOverrides
from scoring.signals import SIGNALS

# A longer list is a mistake or an attack; nobody edits one by hand.
_MOST_GROUPS, _MOST_WORDS, _LONGEST_WORD, _MOST_STEPS = 50, 1_000, 100, 20


def check_settings(data: object, base: Mapping[str, Any]) -> tuple[dict[str, Any], list[Fault]]:
    """Return the fields to replace in `base` (all fields by name), and the faults of `data`.

    If there are faults, do not use the fields.
    """
    if not isinstance(data, Mapping):
        return {}, [Fault("settings", f"expected an object, got {shown(data)}")]
    faults: list[Fault] = []
    values: dict[str, Any] = {}
    for name, value in data.items():
        if name not in base:
            faults.append(Fault(str(name), f"unknown setting; expected one of {', '.join(base)}"))
        elif name == "task_types":
            continue  # checked last: a type takes the weights that it does not give from the common ones
        elif name in CHOICES:
            values[name] = _choice(name, value, tuple(CHOICES[name]), faults)
        else:
            values[name] = _check_field(name, value, base[name], faults)
    if "task_types" in data:
        common = values.get("weights", base["weights"])
        values["task_types"] = _task_types(data["task_types"], base["task_types"], common, faults)
    if not faults and "target_percent" in base:
        _check_together(values, base, faults)
    return values, faults


def _check_field(name: str, value: object, before: Any, faults: list[Fault]) -> Any:
    if isinstance(before, Table):
        return _table(name, value, before, faults)
    if name == "keywords":
        return _keywords(name, value, faults)
    if name == "length_steps":
        return _steps(value, faults)
    if isinstance(before, tuple):
        return tool_names(name, value, faults)
    if isinstance(before, bool):
        return _boolean(name, value, faults)
    return number(name, value, LIMITS[name], faults)


def _check_together(values: dict[str, Any], base: Mapping[str, Any], faults: list[Fault]) -> None:
    target = values.get("target_percent", base["target_percent"])
    aim = values.get("aim_percent", base["aim_percent"])
    if aim <= target:
        return
    if "aim_percent" in values:
        faults.append(Fault("aim_percent", f"expected at most the target of {target:g} %, got {aim:g}"))
    else:
        values["aim_percent"] = target  # lowering only the target lowers the aim with it


def number(name: str, value: object, limit: Limit, faults: list[Fault]) -> float | int | None:
    """Return the number if it is one and within its limit; a fault otherwise."""
    if value is None and limit.optional:
        return None
    kind = "a whole number" if limit.whole else "a number"
    wanted = f"expected {kind} from {limit.minimum:,g} to {limit.maximum:,.0f}"
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not limit.minimum <= value <= limit.maximum
        or (limit.whole and value != int(value))
    ):
        faults.append(Fault(name, f"{wanted}, got {shown(value)}"))
        return None
    return int(value) if limit.whole else float(value)


def tool_names(name: str, value: object, faults: list[Fault]) -> tuple[str, ...]:
    """Return the names of tools if it is a list of them; a fault for each entry that is none otherwise."""
    if not isinstance(value, list | tuple) or len(value) > _MOST_WORDS:
        faults.append(
            Fault(name, f"expected a list of at most {_MOST_WORDS} names of tools, got {_size(value)}")
        )
        return ()
    for i, one in enumerate(value):
        _short_text(f"{name}.{i}", one, faults)
    return tuple(value)


def _short_text(name: str, value: object, faults: list[Fault]) -> None:
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST_WORD:
        faults.append(Fault(name, f"expected a text of 1 to {_LONGEST_WORD} characters, got {shown(value)}"))


def _table(name: str, value: object, base: Table, faults: list[Fault]) -> Table:
    if not isinstance(value, Mapping):
        faults.append(Fault(name, f"expected an object of numbers, got {shown(value)}"))
        return base
    kind = name.rpartition(".")[2]
    known = SIGNALS if kind == "weights" else base
    out = dict(base)
    for key, one in value.items():
        if key not in known:
            faults.append(Fault(f"{name}.{key}", f"unknown; expected one of {', '.join(known)}"))
        elif (checked := number(f"{name}.{key}", one, LIMITS[kind], faults)) is not None:
            out[key] = checked
    return Table(out)


def _keywords(name: str, value: object, faults: list[Fault]) -> tuple[KeywordGroup, ...]:
    if not isinstance(value, list | tuple) or len(value) > _MOST_GROUPS:
        faults.append(Fault(name, f"expected a list of at most {_MOST_GROUPS} groups, got {_size(value)}"))
        return ()
    return tuple(g for i, one in enumerate(value) if (g := _group(f"{name}.{i}", one, faults)) is not None)


def _task_types(value: object, base: TaskTypes, common: Table, faults: list[Fault]) -> TaskTypes:
    if not isinstance(value, Mapping):
        faults.append(Fault("task_types", f"expected an object of task types, got {shown(value)}"))
        return base
    out: dict[str, TypeOverrides] = {}
    for name, own in value.items():
        if name not in tuple(base):
            faults.append(Fault(f"task_types.{name}", f"unknown; expected one of {', '.join(base)}"))
        else:
            out[name] = _own(f"task_types.{name}", own, base.of(name), common, faults)
    return replace(base, **out)


def _own(name: str, value: object, base: TypeOverrides, common: Table, faults: list[Fault]) -> TypeOverrides:
    if not isinstance(value, Mapping):
        faults.append(Fault(name, f"expected an object with weights and keywords, got {shown(value)}"))
        return base
    out: dict[str, Any] = {}
    for key, one in value.items():
        path = f"{name}.{key}"
        if key not in ("weights", "keywords"):
            faults.append(Fault(path, "unknown; expected one of weights, keywords"))
        elif one is None:  # it follows the common settings
            out[key] = None
        elif key == "weights":
            out[key] = _table(path, one, common if base.weights is None else base.weights, faults)
        else:
            out[key] = _keywords(path, one, faults)
    return replace(base, **out)


def _group(name: str, value: object, faults: list[Fault]) -> KeywordGroup | None:
    if not isinstance(value, Mapping) or set(value) != {"name", "share", "words"}:
        faults.append(Fault(name, f"expected an object with name, share and words, got {shown(value)}"))
        return None
    before = len(faults)
    title, words = value["name"], value["words"]
    _short_text(f"{name}.name", title, faults)
    share = number(f"{name}.share", value["share"], LIMITS["keywords.share"], faults)
    if not isinstance(words, list | tuple) or len(words) > _MOST_WORDS:
        faults.append(
            Fault(f"{name}.words", f"expected a list of at most {_MOST_WORDS} words, got {_size(words)}")
        )
        return None
    for i, word in enumerate(words):
        _short_text(f"{name}.words.{i}", word, faults)
    if len(faults) > before or share is None:
        return None
    return KeywordGroup(title, share, tuple(words))


def _steps(value: object, faults: list[Fault]) -> tuple[tuple[int, float], ...]:
    if not isinstance(value, list | tuple) or len(value) > _MOST_STEPS:
        faults.append(
            Fault("length_steps", f"expected a list of at most {_MOST_STEPS} steps, got {_size(value)}")
        )
        return ()
    out: list[tuple[int, float]] = []
    for i, step in enumerate(value):
        if not isinstance(step, list | tuple) or len(step) != 2:
            faults.append(Fault(f"length_steps.{i}", f"expected [characters, rating], got {_size(step)}"))
            continue
        characters = number(f"length_steps.{i}.0", step[0], LIMITS["length_steps.characters"], faults)
        rating = number(f"length_steps.{i}.1", step[1], LIMITS["length_steps.rating"], faults)
        if characters is not None and rating is not None:
            out.append((int(characters), float(rating)))
    if any(a[0] >= b[0] for a, b in pairwise(out)):
        faults.append(Fault("length_steps", "expected steps of rising length"))
    return tuple(out)


def _boolean(name: str, value: object, faults: list[Fault]) -> bool:
    if not isinstance(value, bool):
        faults.append(Fault(name, f"expected true or false, got {shown(value)}"))
        return False
    return value


def _choice(name: str, value: object, choices: tuple[str, ...], faults: list[Fault]) -> str:
    if not isinstance(value, str) or value not in choices:
        faults.append(Fault(name, f"expected one of {', '.join(choices)}, got {shown(value)}"))
        return choices[0]
    return value


def _size(value: object) -> str:
    return f"{len(value)} entries" if isinstance(value, list | tuple) else shown(value)
