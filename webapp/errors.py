"""The errors of the application, and the HTTP status of each.

Messages are lower-case and say what failed, where, and what to do. `STATUS` alone maps error classes to statuses, for
these errors and for those of `scoring`.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Collection, Iterable
from json import JSONDecodeError
from typing import Any

from scoring.errors import InvalidList, InvalidSettings, MalformedMessage, ScoringError, UnknownFormat

Detail = dict[str, str]


class CoppiceError(Exception):
    """Base of every error the application raises on purpose. `details` has one `{field, message}` per fault."""

    def __init__(self, message: str, details: Iterable[Detail] = ()) -> None:
        self.details = [*details]
        super().__init__(message)


class NotFound(CoppiceError):
    """The named thing does not exist. `kind` is one word ("session")."""

    def __init__(self, kind: str, subject: object) -> None:
        self.kind = kind
        super().__init__(f"no such {kind}: {str(subject)[:200]}")


class Conflict(CoppiceError):
    """The request does not fit the current state: the id exists, a barrier prevents it, nothing to undo."""


class StalePlan(Conflict):
    """The session has changed since the plan was made, or the plan is no longer stored. Make a new one."""


class Malformed(CoppiceError):
    """The input cannot be read at all: not JSON, not a message list, not a known file."""


class NoSession(Malformed):
    """The input is a known file but not a session, such as the summariser's call for a compaction."""


class Invalid(CoppiceError):
    """The input is readable but not valid. `details` has one `{field, message}`, if one field is wrong."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message, [{"field": field, "message": message}] if field else ())


def refuse_unknown(field: str, value: str, allowed: Collection[str]) -> None:
    """Raise Invalid, with the allowed values, if the value of a field is not one of them."""
    if value not in allowed:
        raise Invalid(f"bad value for {field}; expected one of {', '.join(allowed)}, got {value}", field)


class Forbidden(CoppiceError):
    """The token does not allow the request."""


class TooLarge(CoppiceError):
    """The input is too large."""


class StoreError(CoppiceError):
    """The database failed. Subclasses give the cause and what to do."""


class BusyStore(StoreError):
    """Another process holds the database's write lock for too long. Try again."""


class FullDisk(StoreError):
    """The disk or the database is full. Nothing was changed."""


class ReadOnlyStore(StoreError):
    """The database cannot be written to. Reading works."""


class LostStore(StoreError):
    """The database is out of reach: its file was moved, deleted or replaced, or its server does not answer."""


class DamagedStore(StoreError):
    """The file is damaged, or not a database of Coppice."""


class ForeignStore(StoreError):
    """The database is another program's, or of a newer version of Coppice. Nothing in it was changed."""


class RefusedRow(StoreError):
    """A row breaks a rule of the schema. Nothing was changed."""


class ClosedStore(StoreError):
    """The server is shutting down, and the request came too late. Nothing was stored."""


# The first match counts, so subclasses come before their base classes.
STATUS: tuple[tuple[type[Exception], int, str], ...] = (
    (NotFound, 404, "not_found"),
    (StalePlan, 409, "stale_plan"),
    (Conflict, 409, "conflict"),
    (Malformed, 400, "malformed"),
    (TooLarge, 413, "too_large"),
    (Forbidden, 403, "operator_needed"),
    (Invalid, 422, "invalid"),
    (BusyStore, 503, "store_busy"),
    (FullDisk, 503, "store_full"),
    (ReadOnlyStore, 503, "store_read_only"),
    (LostStore, 503, "store_lost"),
    (DamagedStore, 503, "store_damaged"),
    # Only the store's own texts are read without a check, so another text never gets here.
    (JSONDecodeError, 503, "store_damaged"),
    (ClosedStore, 503, "store_closed"),
    (StoreError, 500, "store_failed"),
    (InvalidSettings, 422, "invalid_settings"),
    (MalformedMessage, 400, "malformed_message"),
    (UnknownFormat, 400, "unknown_format"),
    (InvalidList, 422, "invalid_list"),
    (ScoringError, 422, "invalid"),
)

# Our short and stable names for HTTP's own failures.
HTTP_TYPES = {
    400: "malformed",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "timeout",
    411: "length_required",
    413: "too_large",
    414: "too_long",
    415: "unsupported_type",
    416: "bad_range",
    431: "too_large",
}


def is_failure(error: Exception) -> bool:
    """Return whether an error belongs in the log with its traceback: nobody foresaw it, or the store holds bad JSON."""
    return status_of(error) == 500 or isinstance(error, JSONDecodeError)


def status_of(error: Exception) -> int:
    """Return the HTTP status of an error; 500 for an unknown one."""
    return next((status for cls, status, _ in STATUS if isinstance(error, cls)), 500)


def to_json(error: Exception) -> dict[str, Any]:
    """Return the body of the answer to a failure. That of an unknown error reveals nothing about it."""
    kind = next((name for cls, _, name in STATUS if isinstance(error, cls)), None)
    if kind is None:
        return error_body("internal", "the server failed; see its log")
    return error_body(kind, _message(error), _details(error))


def error_body(kind: str, message: str, details: Iterable[Detail] = ()) -> dict[str, Any]:
    """Return the body of the answer to any failure; a detail is `{"field", "message"}`."""
    return {"error": {"type": kind, "message": message, "details": [*details]}}


def _message(error: Exception) -> str:
    if isinstance(error, JSONDecodeError):
        return f"a value in the store is damaged ({error}); `coppice verify` names it"
    return str(error)


def _details(error: Exception) -> list[Detail]:
    if isinstance(error, CoppiceError):
        return error.details
    if isinstance(error, InvalidSettings):
        return [{"field": f.field, "message": f.message} for f in error.faults]
    if isinstance(error, MalformedMessage):
        return [{"field": f"messages.{error.index}", "message": str(error)}]
    if isinstance(error, UnknownFormat):
        return [{"field": "messages", "message": str(error)}]
    if isinstance(error, InvalidList):
        return [{"field": "messages", "message": problem} for problem in error.problems]
    return []


def install_command(extra: str) -> str:
    """Return the shell command that installs an extra's packages where this program runs, whatever `pip` there is."""
    return f"`{shlex.quote(sys.executable)} -m pip install 'coppice[{extra}]'`"
