"""Writes docs/settings.md: every setting with its meaning, default, range and value in *Blueprint*.

All of it comes from the fields of `Settings`, in their order; only the titles of the sections are here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scoring.settings import CHOICES, LIMITS, PRESETS, Settings
from scoring.signals import SIGNALS
from webapp.routes.api import routes
from webapp.routes.api.documents import build_document

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "settings.md"
MARK = "<!-- Written by scripts/document_settings.py; `make docs` rewrites it. -->\n"

# The sections of the page by their first field.
SECTIONS: Mapping[str, str] = {
    "weights": "Scoring",
    "target_percent": "When, and how far",
    "fresh_tail": "What is kept",
    "stage_duplicates": "Before anything is dropped",
    "response_reserve": "Windows and counting",
    "auto_summarize": "Summaries and the assembled context",
}


def page() -> str:
    """Return the whole page."""
    default, blueprint = Settings().to_dict(), PRESETS["Blueprint"].to_dict()
    said = meanings()
    lines = [MARK, "# Settings\n", *_introduction()]
    for name in default:
        if name in SECTIONS:
            lines += [
                f"\n## {SECTIONS[name]}\n",
                "| setting | meaning | default | values | *Blueprint* |",
                "|---|---|---|---|---|",
            ]
        other = "" if blueprint[name] == default[name] else _shown(blueprint[name])
        lines.append(f"| `{name}` | {said[name]} | {_shown(default[name])} | {_values(name)} | {other} |")
    return "\n".join(lines) + "\n"


def meanings() -> dict[str, str]:
    """Return the meaning of each setting: the text below the field."""
    fields = build_document(routes())["components"]["schemas"]["Settings"]["properties"]
    return {name: " ".join(field["description"].split()) for name, field in fields.items()}


def _introduction() -> Iterator[str]:
    yield "Every threshold and weight can be changed on the settings page, over `PUT /api/settings`,"
    yield "and for one session over `PATCH /api/sessions/<id>`."
    yield "A change is checked as a whole: either all of it is saved, or none, and each wrong field is named.\n"
    yield f"Presets are complete sets: {', '.join(f'*{name}*' for name in PRESETS)}."
    yield "Below, *Blueprint* is empty where it has the default.\n"
    yield "| signal | of a message | of a name or line, in *Foresight* |"
    yield "|---|---|---|"
    for signal in SIGNALS.values():
        said = signal.to_dict()
        yield f"| {said['label']} | {said['meaning']} | {said['in_foresight']} |"
    yield ""
    yield "[The context](context.md#how-messages-are-chosen) explains the strategies."
    yield "Strategy `foresight` reads the weights, those of the task type first; it rates names and lines instead of"
    yield "messages. `roles`, `keywords` and `length_steps` are read by strategy `score` only; if a strategy"
    yield "does not score, the list of messages shows the score that they would give."


def _values(name: str) -> str:
    if name in CHOICES:
        return ", ".join(f"`{value}`" for value in CHOICES[name])
    limit = LIMITS.get(name)
    return f"{limit.minimum:,g} to {limit.maximum:,.0f}" if limit else ""


def _shown(value: Any) -> str:
    if isinstance(value, dict) and all(isinstance(own, dict) for own in value.values()):
        return "; ".join(f"{name}: {_owned(own)}" for name, own in value.items())
    if isinstance(value, dict):
        return ", ".join(f"{key} {number:.3g}" for key, number in value.items())
    if isinstance(value, bool):
        return "on" if value else "off"
    if value is None or value == []:
        return "none"
    if isinstance(value, list):
        named = (
            f"{one['name']} {one['share']:.3g}" if isinstance(one, dict) else f"{one[1]:g} from {one[0]:,}"
            for one in value
        )
        return ", ".join(named)
    return f"{value:,g}" if isinstance(value, int | float) else f"`{value}`"


def _owned(own: Mapping[str, Any]) -> str:
    """Return a task type's own weights and keywords."""
    said = [f"{key} {_shown(value)}" for key, value in own.items() if value is not None]
    return ", ".join(said) or "nothing"


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
