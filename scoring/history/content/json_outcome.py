"""The outcome that an output in JSON states by its fields.

Fields are read by name and type, at the top and in an object that wraps the answer. Lists and the records in them are
data, which can be about failures, and are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from scoring.messages import parsed_json

READ_CHARS = 200_000  # an object that states a failure is seldom longer
READ_AHEAD = 100
MOST_LINES = 3  # of one object

_SUCCEEDED = ("ok", "success", "succeeded", "successful", "is_success")
_ERRORS = (
    "error",
    "errors",
    "err",
    "failure",
    "failures",
    "failed",
    "exception",
    "is_error",
    "error_code",
    "errcode",
)
_STATES = ("status", "state", "result", "outcome", "conclusion")
_EXIT_CODES = ("exit_code", "exit_status", "return_code", "returncode")
_HTTP_CODES = ("status", "status_code", "http_status", "http_code", "http_status_code")
_REASONS = ("message", "msg", "reason", "detail", "details", "description", "hint")
# The objects that wrap an answer.
_WRAPPERS = ("response", "result", "data", "body", "output", "payload", "reply", "meta", "metadata", "status")
_FAILED = frozenset((
    "error", "errored", "failed", "fail", "failure", "fatal", "rejected", "denied", "refused", "aborted", "crashed",
    "timeout", "timed_out", "unauthorized", "forbidden", "not_found", "unsuccessful",
))  # fmt: skip
_NO_ERROR = frozenset(
    {"", "0", "none", "null", "no", "nil", "false", "ok", "-", "n/a", "no error", "success"}
)
_NOTHING = _NO_ERROR | {"[]", "{}", "true"}
_LINE = re.compile(r'^[\s{\[]*"(\w{2,20})"\s*:\s*(.*?),?$')


def _spellings(names: Iterable[str]) -> dict[str, str]:
    """Return the common spellings of these names of fields, each with its name."""
    found: dict[str, str] = {}
    for name in names:
        first, *others = name.split("_")
        camel = first + "".join(map(str.title, others))
        for spelled in (name, name.upper(), name.title(), camel, camel[:1].upper() + camel[1:]):
            found[spelled] = name
    return found


_NAMES = _spellings(
    (*_SUCCEEDED, *_ERRORS, *_STATES, *_EXIT_CODES, *_HTTP_CODES, *_REASONS, *_WRAPPERS, "code")
)
# Every spelling of a field that states an outcome has one of these.
_HINTS = ('ok"', "OK", "Ok", "ucce", "UCCE", "rr", "RR", "ail", "AIL", "xcept", "XCEPT", "tat", "TAT", "esult", "ESULT",
          "utcome", "UTCOME", "onclusion", "ONCLUSION", "ode", "ODE")  # fmt: skip


def outcome_of_json(text: str) -> bool | None:
    """Return whether an output states a failure in JSON; None if it is no object in JSON, or states no outcome."""
    fields = _fields(text)
    if fields is None:
        return None
    stated = _failed(_named(fields))
    if stated is not None:
        return stated
    wrappers = [value for name, value in fields.items() if len(fields) == 1 or _NAMES.get(name) in _WRAPPERS]
    wrapped = [_failed(_named(value)) for value in wrappers if isinstance(value, dict)]
    return next((outcome for outcome in wrapped if outcome is not None), None)


def lines_of_json(lines: Iterable[str]) -> list[int]:
    """Return the numbers of the first lines that hold a field with an outcome, or with the reason of a failure."""
    stating = (number for number, line in enumerate(lines) if _states(line))
    return list(islice(stating, MOST_LINES))


def _states(line: str) -> bool:
    field = _LINE.match(line)
    name = _NAMES.get(field[1]) if field else None
    if field is None or name is None:
        return False
    value = field[2].strip('"').lower()
    return value.startswith("false") if name in _SUCCEEDED else value not in _NOTHING


def _fields(text: str) -> dict[str, Any] | None:
    """Return the fields of an object in JSON that may state an outcome."""
    if (
        text[:READ_AHEAD].lstrip()[:1] != "{"
        or len(text) > READ_CHARS
        or not any(map(text.__contains__, _HINTS))
    ):
        return None
    found = parsed_json(text)
    return found if isinstance(found, dict) else None


def _named(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that are read, by the names used here."""
    return {_NAMES[name]: value for name, value in fields.items() if name in _NAMES}


def _failed(fields: Mapping[str, Any]) -> bool | None:
    """Return whether these fields state a failure; None if they state no outcome."""
    told = [fields[name] for name in _SUCCEEDED if isinstance(fields.get(name), bool)]
    if told:
        return not all(told)
    failed = (
        any(_is_error(fields.get(name)) for name in _ERRORS)
        or any(_is_failed(fields.get(name)) for name in _STATES)
        or any(isinstance(fields.get(name), int) and bool(fields[name]) for name in _EXIT_CODES)
        or any(_is_http_error(fields.get(name)) for name in _HTTP_CODES)
        or (_is_http_error(fields.get("code")) and not fields.keys().isdisjoint(_REASONS))
    )
    return failed or None


def _is_error(value: Any) -> bool:
    """Return whether the value of a field named after errors holds any; a fraction is a measurement."""
    if isinstance(value, dict):
        return any(value.values())
    if isinstance(value, str):
        return value.strip().lower() not in _NO_ERROR
    return bool(value) and not isinstance(value, float)


def _is_failed(value: Any) -> bool:
    return isinstance(value, str) and value.strip().lower().replace(" ", "_") in _FAILED


def _is_http_error(value: Any) -> bool:
    return isinstance(value, int) and 400 <= value <= 599
