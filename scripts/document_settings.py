"""Writes docs/settings.md: every setting with its meaning, default, range and value in *Blueprint*.

Defaults and ranges come from the code; the meanings are here, one for each field, and a test fails when one is
missing or stale.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from scoring.settings import LIMITS, PRESETS, STRATEGY_NAMES, Settings
from scoring.signals import SIGNALS

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "settings.md"
MARK = "<!-- Written by scripts/document_settings.py; `make docs` rewrites it. -->\n"

SECTIONS: Mapping[str, Mapping[str, str]] = {
    "Scoring": {
        "weights": "Points that each signal can give; their sum is the score. At 0 a signal has no effect.",
        "roles": "How much each role counts, 0 to 1.",
        "keywords": "Groups of words and the share of the signal each is worth; whole words, in any case.",
        "length_steps": "Ratings from 0 to 1, each with the number of characters from which it applies.",
        "task_type": "The weights and keywords in use: `any` for those above, `auto` for those of the type that is "
        "detected for each session, or always those of `coding`, `support`, `research` or `chat`.",
        "task_types": "A type's own weights, keywords or both; null follows the ones above.",
        "strategy": f"The choice of units: {', '.join(f'`{name}`' for name in STRATEGY_NAMES)}; "
        "see [the context](context.md#how-messages-are-chosen).",
    },
    "When, and how far": {
        "target_percent": "Above this share of the input limit a session is marked, and automatic pruning acts.",
        "aim_percent": "The share that a prune cuts to, at most the target.",
        "cap_tokens": "An upper limit of the target, for windows so large that 80 % is never reached.",
        "automatic": "Prune automatically when an append crosses the target. A session can override this.",
        "minimum_gain_percent": "The least that an automatic prune must free, as a share of the input limit; with a "
        "cap, as a share of the cap / the target's percent.",
        "wait_for_cold_cache": "Automatic pruning and advice wait until the provider's cache has expired, or the next "
        "call writes it again anyway; but only while the window has room for another turn.",
    },
    "What is kept": {
        "fresh_tail": "The number of newest messages that are never dropped.",
        "user_words_tokens": "The users' words are kept unchanged, newest first, up to this number of tokens …",
        "user_words_percent": "… and up to this share of the budget.",
        "user_words_messages_percent": "Only in sessions in which users write at most this share of the messages.",
        "guarded_percent": "The task, users' rules, the open plan, the newest unresolved error and the last "
        "statement are kept first, up to this share of the budget that is left after what is always kept. The rules "
        "can take the whole share, and so can the task; half a share always remains for the others. 0 guards nothing.",
        "mark_changed": "In kept outputs, mark the lines that were removed by an edit which is itself dropped.",
    },
    "Before anything is dropped": {
        "stage_duplicates": "Clear a tool output that is repeated unchanged later; the newest stays.",
        "stage_superseded": "Clear a read of a file if the whole file is read again or rewritten later.",
        "stage_outputs": "Old tool outputs: `off`, `shorten` to head, tail and error lines, or `clear` to one line, "
        "the oldest first and no more than necessary.",
    },
    "Windows and counting": {
        "response_reserve": "Tokens kept free for the answer.",
        "compaction_buffer_tokens": "Further tokens kept free, for what a call adds …",
        "compaction_buffer_percent": "… but at most this share of the window.",
        "windows": "The table of windows: `current`, or the one that *Blueprint* was written for.",
        "counting": "`tokenizer`, or four characters a token as *Blueprint* counts.",
    },
    "Summaries and the assembled context": {
        "auto_summarize": "Summarise automatically when one of the triggers is reached.",
        "max_messages_before_summary": "Messages since the last summary that trigger the next.",
        "max_tokens_before_summary": "Tokens since the last summary that trigger the next.",
        "summary_window_percent": "The same as a share of the window, if that is less.",
        "min_recent_messages": "The number of newest messages that a summary never covers.",
        "summary_percent": "The largest share of the available tokens that a summary can take.",
        "summary_words": "The largest number of words in a summary.",
        "memory_percent": "The share of the usable tokens that memories can take.",
        "learnings_percent": "The same for learnings.",
        "learnings_shown": "The largest number of learnings in a context.",
        "tool_outputs_keep_turns": "Strategy `tool_outputs_first` and `stage_outputs`: "
        "the outputs of this number of newest turns stay.",
        "tool_outputs_keep_tokens": "The newest outputs stay, too, up to this number of tokens.",
        "tool_outputs_minimum_gain": "The strategy acts only if it gains at least this number of tokens.",
        "tool_outputs_exempt": "Tools whose outputs are never cleared, by the strategy or a `stage_`.",
        "status_line": "Show the one-line status for each appended turn.",
    },
}


def page() -> str:
    """Return the whole page."""
    default, blueprint = Settings().to_dict(), PRESETS["Blueprint"].to_dict()
    lines = [MARK, "# Settings\n", *_introduction()]
    for title, meanings in SECTIONS.items():
        lines += [
            f"\n## {title}\n",
            "| setting | meaning | default | range | *Blueprint* |",
            "|---|---|---|---|---|",
        ]
        for name, meaning in meanings.items():
            other = "" if blueprint[name] == default[name] else _shown(blueprint[name])
            lines.append(f"| `{name}` | {meaning} | {_shown(default[name])} | {_range(name)} | {other} |")
    return "\n".join(lines) + "\n"


def undescribed() -> set[str]:
    """Return settings without a meaning here, and meanings without a setting."""
    described = {name for meanings in SECTIONS.values() for name in meanings}
    return described ^ {field.name for field in fields(Settings)}


def _introduction() -> Iterator[str]:
    yield "Every threshold and weight can be changed on the settings page, over `PUT /api/settings`,"
    yield "and for one session over `PATCH /api/sessions/<id>`."
    yield "A change is checked as a whole: either all of it holds, or each wrong field is named.\n"
    yield f"Presets are complete sets: {', '.join(f'*{name}*' for name in PRESETS)}.\n"
    yield "| signal | of a message | of a name or line, in *Foresight* |"
    yield "|---|---|---|"
    for signal in SIGNALS.values():
        said = signal.to_dict()
        yield f"| {said['label']} | {said['meaning']} | {said['in_foresight']} |"
    yield ""
    yield "Strategy `foresight` reads the weights, those of the task type first; it rates names and lines instead of"
    yield "messages. `roles`, `keywords` and `length_steps` are read by strategy `score` only; where a strategy"
    yield "does not score, the list shows the score that they make."


def _range(name: str) -> str:
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
