"""Tokens that every call of a session carries unseen, learned from other sessions until its own first call.

An agent sends a system prompt and tool definitions that are not in its transcript. Similar sessions of one agent carry
similar numbers. A sub-agent is most similar to sub-agents with the same opening words, then to those of its type; a
session to those in the same folder, then of the same version, then with the same model. Overheads are kept as tokens
of their own model and converted by the models' factors. Without an earlier session none are assumed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

# Only the newest of the most similar sessions: an agent's prompt changes with its versions.
SESSIONS = 5
# The second call of one session may carry hooks or a plan; if two sessions agree, it is the agent's habit.
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
    """The tokens of a session's calls that are in no message of its transcript; None where there was no such call.

    `unseen` comes with every call, `second` from the second call on, `restored` is added after a compaction. `calls`
    is the number of calls of the session or, for expected overheads, of the sessions they were learned from.
    """

    unseen: int
    second: int | None = None
    restored: int | None = None
    calls: int = 0


def expected(like: Traits, earlier: Iterable[tuple[Traits, Overheads]]) -> Overheads:
    """Return the overheads expected for a session like this, from earlier ones (newest first); none without one.

    Sessions of a single call are often checks without tools. They count for sub-agents with the same opening words or
    of the same type, and for others only if there are no sessions with more calls.
    """
    same = [(t, o) for t, o in earlier if t.source == like.source and t.child == like.child]
    if not same:
        return Overheads(0, 0, 0)
    best = max(_alike(like, traits, overheads) for traits, overheads in same)
    nearest = [(t, o) for t, o in same if _alike(like, t, o) == best][:SESSIONS]
    seconds = _seconds(nearest, like)
    if len(seconds) < LEAST_SECONDS:  # a second call's overhead depends on the agent more than on the folder
        seconds = _seconds(same[:SESSIONS], like)
    again = [_converted(o.restored, t, like) for t, o in same if o.restored is not None][:SESSIONS]
    return Overheads(
        round(median(_converted(o.unseen, t, like) for t, o in nearest)),
        round(median(seconds)) if len(seconds) >= LEAST_SECONDS else 0,
        round(median(again)) if again else 0,
        len(nearest),
    )


def _seconds(sessions: Iterable[tuple[Traits, Overheads]], like: Traits) -> list[float]:
    return [_converted(o.second, t, like) for t, o in sessions if o.second is not None]


def _alike(like: Traits, other: Traits, of: Overheads) -> tuple[bool, ...]:
    """Return in which respects another session is similar, the most important first."""
    begun_alike = like.child and bool(like.opening) and like.opening == other.opening
    return (
        begun_alike,
        like.agent_type == other.agent_type,
        begun_alike or of.calls > 1,
        like.cwd == other.cwd,
        like.version == other.version,
        like.model == other.model,
    )


def _converted(tokens: int, of: Traits, to: Traits) -> float:
    return tokens * to.factor / of.factor
