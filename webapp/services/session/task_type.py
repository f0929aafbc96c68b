"""A session's task type as JSON: which one is in force, who said so, and what the session looks like."""

from __future__ import annotations

from typing import Any

from scoring.history import recognise, task_type_of
from scoring.settings import ANY, AUTO
from webapp.services.session.environment import Environment
from webapp.store.sessions import SessionRow

FIELD = "task_type"


def task_type_json(environment: Environment, row: SessionRow) -> dict[str, Any]:
    """`name` is the type in force ("any" for none), `setting` what the settings say, `own` whether the session's do."""
    settings, facts = environment.settings_of(row), environment.facts(row)
    likeness = recognise(facts)
    own = FIELD in row.settings
    return {
        "name": task_type_of(settings, facts),
        "setting": settings.task_type,
        "own": own,
        "reason": likeness.reason if settings.task_type == AUTO else _chosen(settings.task_type, own),
        "looks_like": {"name": likeness.name, "reason": likeness.reason},
    }


def _chosen(setting: str, own: bool) -> str:
    if setting == ANY:
        return "this session goes by the common settings" if own else "the settings treat all sessions alike"
    return f"{setting} was chosen for {'this session' if own else 'all sessions'}"
