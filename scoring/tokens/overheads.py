"""Tokens that every call of a session carries unseen, learned from other sessions until its own first call.

An agent sends a system prompt and tool definitions that are not in its transcript. Sessions of the same agent carry
about the same, the more alike the closer they are: a sub-agent is like other sub-agents that were begun with the same
words, or of its type, a session like those in the same folder, then of the same version, with the same model. Figures
are kept as tokens of their own model and carried over by the models' factors. Without an earlier session nothing is
assumed: what is shown is what was seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

# The newest of the sessions that are most alike: an agent's prompt changes with its versions.
SESSIONS = 5
# One session's second call may have been hooks or a plan; two that agree are the agent's way.
LEAST_SECONDS = 2


@dataclass(frozen=True, slots=True)
class Traits:
    """The traits of a session. `source` names the agent and `version` its version, `child` says that another session
    started it, `factor` is the `token_factor` of its model, `opening` how its first message begins.
    """

    source: str
    child: bool = False
    agent_type: str | None = None
    cwd: str | None = None
    model: str | None = None
    factor: float = 1.0
    opening: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Overheads:
    """Tokens. `unseen` comes with every call, `second` from the second call on, `restored` is put into the context
    after a compaction; all besides the messages that are written down. None: there was no such call. `calls` is how
    many calls the session had, or, of what is expected, how many sessions it was learned from.
    """

    unseen: int
    second: int | None = None
    restored: int | None = None
    calls: int = 0


def expected(like: Traits, earlier: Iterable[tuple[Traits, Overheads]]) -> Overheads:
    """Return what a session like this will carry, from earlier ones (newest first); nothing without one.

    Sessions of a single call are often checks without tools. They teach sub-agents that were begun with the same words
    or are of the same type, and others only where there are none of more calls.
    """
    same = [(t, o) for t, o in earlier if t.source == like.source and t.child == like.child]
    if not same:
        return Overheads(0, 0, 0)
    best = max(_alike(like, traits, overheads) for traits, overheads in same)
    nearest = [(t, o) for t, o in same if _alike(like, t, o) == best][:SESSIONS]
    seconds = _seconds(nearest, like)
    if (
        len(seconds) < LEAST_SECONDS
    ):  # what comes with a second call belongs to the agent more than to the folder
        seconds = _seconds(same[:SESSIONS], like)
    again = [_carried(o.restored, t, like) for t, o in same if o.restored is not None][:SESSIONS]
    return Overheads(
        round(median(_carried(o.unseen, t, like) for t, o in nearest)),
        round(median(seconds)) if len(seconds) >= LEAST_SECONDS else 0,
        round(median(again)) if again else 0,
        len(nearest),
    )


def _seconds(sessions: Iterable[tuple[Traits, Overheads]], like: Traits) -> list[float]:
    return [_carried(o.second, t, like) for t, o in sessions if o.second is not None]


def _alike(like: Traits, other: Traits, of: Overheads) -> tuple[bool, ...]:
    """Return in what another session is alike, what weighs most first."""
    begun_alike = like.child and bool(like.opening) and like.opening == other.opening
    return (
        begun_alike,
        like.agent_type == other.agent_type,
        begun_alike or of.calls > 1,
        like.cwd == other.cwd,
        like.version == other.version,
        like.model == other.model,
    )


def _carried(tokens: int, of: Traits, to: Traits) -> float:
    return tokens * to.factor / of.factor
