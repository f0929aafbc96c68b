"""What every call of a session carries unseen, before the session's own first call has told: learned from others.

An agent sends a system prompt and tool definitions that are not in its transcript. Sessions of the same agent carry
about the same, the more alike the closer they are: a sub-agent is like other sub-agents of its type, a session like
those in the same folder, with the same model. Figures are kept as tokens of their own model and carried over by the
models' factors. Without an earlier session a table of what is known of the agents is the guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

# The newest of the sessions that are most alike: an agent's prompt changes with its versions.
SESSIONS = 5
# One session's second call may have been hooks or a plan; two that agree are the agent's way.
LEAST_SECONDS = 2


@dataclass(frozen=True, slots=True)
class Traits:
    """What a session is like. `source` names the agent, `child` says that another session started it, `factor` is the
    `token_factor` of its model.
    """

    source: str
    child: bool = False
    agent_type: str | None = None
    cwd: str | None = None
    model: str | None = None
    factor: float = 1.0


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


# Tokens of o200k (of any model: times its factor). For a session and for one that another started.
ASSUMED: Mapping[str, tuple[int, int]] = {
    "claude-code": (18_000, 10_500),  # median first calls of 6 and 9 real sessions, versions 1.0 to 2.1
    "codex": (10_000, 10_000),  # a real session with gpt-5.1-codex: 10,128 with 130 tokens of messages
    "gemini-cli": (10_000, 10_000),  # google-gemini/gemini-cli, issues 2191, 4027 and 27321: 9,000 to 19,000
    "opencode": (10_500, 10_500),  # anomalyco/opencode, issues 1393, 8984 and 43630: 10,022 to 11,408
}
# Claude Code reads up to five files again, which older versions do not write down; newer ones do.
ASSUMED_RESTORED: Mapping[str, int] = {"claude-code": 2_000}


def expected(like: Traits, earlier: Iterable[tuple[Traits, Overheads]]) -> Overheads:
    """What a session like this will carry, from earlier ones (newest first), else from the table, else nothing.

    Sessions of a single call are often checks without tools, and teach only where there are no others.
    """
    same = [(t, o) for t, o in earlier if t.source == like.source and t.child == like.child]
    same = [(t, o) for t, o in same if o.calls > 1] or same
    unseen, restored = ASSUMED.get(like.source, (0, 0))[like.child], ASSUMED_RESTORED.get(like.source, 0)
    if not same:
        return Overheads(round(unseen * like.factor), 0, round(restored * like.factor))
    best = max(_alike(like, traits) for traits, _ in same)
    nearest = [(t, o) for t, o in same if _alike(like, t) == best][:SESSIONS]
    seconds = [_carried(o.second, t, like) for t, o in nearest if o.second is not None]
    again = [_carried(o.restored, t, like) for t, o in same if o.restored is not None][:SESSIONS]
    return Overheads(
        round(median(_carried(o.unseen, t, like) for t, o in nearest)),
        round(median(seconds)) if len(seconds) >= LEAST_SECONDS else 0,
        round(median(again) if again else restored * like.factor),
        len(nearest),
    )


def _alike(like: Traits, other: Traits) -> tuple[bool, bool, bool]:
    return like.agent_type == other.agent_type, like.cwd == other.cwd, like.model == other.model


def _carried(tokens: int, of: Traits, to: Traits) -> float:
    return tokens * to.factor / of.factor
