"""The copy of a call that the proxy hands to the server."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCopy:
    """One call with its answer. `at` is in ms since 1970; `applied` names the edit script, "" if there was none.

    `session` is the id of the session, "" where the server finds it by the messages, and `parent` that of the session
    above a sub-agent's. `request` and `answer` are the bodies. `reason` says why the request was sent unchanged
    although it should have been pruned. `whole` is False if the connection ended before the answer's end was sent.
    """

    provider: str
    path: str
    session: str
    parent: str | None
    status: int
    request: str
    answer: str
    whole: bool
    at: int
    applied: str
    reason: str
    subscription: bool
