"""The task list that an agent keeps by tool calls: written as a whole, or one task at a time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from scoring.messages import Message, ToolCall, parsed_json

_TITLES = ("content", "step", "title", "subject", "text", "task", "description")
_IDS = ("taskId", "task_id", "todo_id", "id")
_OVER = ("completed", "complete", "done", "cancelled", "canceled", "deleted")
_NUMBER = re.compile(r"#?\b(\d{1,6})\b")
_NAMED = re.compile(r"task|todo", re.IGNORECASE)
_CREATES = re.compile(r"create|add|new", re.IGNORECASE)


def open_titles(messages: Sequence[Message]) -> list[str]:
    """Return the tasks of the list in its last state that are not finished, in the order of the list."""
    results = {result.call_id: result for message in messages for result in message.results}
    tasks: dict[str, str] = {}
    for message in messages:
        for call in message.calls:
            result = results.get(call.id)
            if result is not None and result.is_error:
                continue
            given = _arguments(call)
            whole = _whole_list(given)
            if whole is not None:
                tasks = {f"{n}": title for n, title in enumerate(whole, 1)}
            elif isinstance(given, dict) and _NAMED.search(call.name):
                _take_step(tasks, call.name, given, result.text if result is not None else "")
    return list(tasks.values())


def _take_step(tasks: dict[str, str], name: str, given: Mapping[str, Any], answer: str) -> None:
    """Add the task that a call creates, under the number that its answer gives, or take out one that it ends."""
    about = next((str(given[key]) for key in _IDS if given.get(key) not in (None, "")), "")
    if about:
        if str(given.get("status", "")).lower() in _OVER:
            tasks.pop(about, None)
        elif about in tasks:
            tasks[about] = _title(given) or tasks[about]
    elif _CREATES.search(name) and (title := _title(given)):
        found = _NUMBER.search(answer.replace(title, ""))
        tasks[found[1] if found else f"{len(tasks) + 1}"] = title


def _title(entry: Mapping[str, Any]) -> str:
    return next((value for key in _TITLES if isinstance(value := entry.get(key), str) and value), "")


def _whole_list(given: Any) -> list[str] | None:
    """Return the unfinished entries of a whole list; None if the arguments have none."""
    listed = (
        next((v for v in given.values() if isinstance(v, list)), None) if isinstance(given, dict) else given
    )
    if not isinstance(listed, list):
        return None
    entries = [entry for entry in listed if isinstance(entry, dict) and "status" in entry]
    if not entries:
        return None
    waiting = (entry for entry in entries if str(entry["status"]).lower() not in _OVER)
    return [title for entry in waiting if (title := _title(entry))]


def _arguments(call: ToolCall) -> Any:
    is_of_tasks = '"status"' in call.arguments or _NAMED.search(call.name)
    return parsed_json(call.arguments) if is_of_tasks else None
