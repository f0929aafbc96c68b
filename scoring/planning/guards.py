"""Guards: the messages whose loss would mislead a reader of the rest.

These are the task, the rules that users set, what users take back, the open plan, the newest unresolved errors, and
the model's last statement. They are found from cues only, for every strategy, and protected within a share of the
budget (`scoring.planning.protection`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from scoring.history import (
    ABOUT_ONESELF,
    CORRECTION,
    MACHINE_MADE,
    QUESTION,
    RULE,
    SHORT,
    STATEMENT,
    STRICT,
    History,
    recognise,
)
from scoring.history.cues.calls import LIST, LOOK, PLAN, STEP
from scoring.planning.file_changes import taken_back
from scoring.planning.replaced_statements import lifted_rules, replaced_statements
from scoring.signals.relevance import FEW_OUTPUTS

ERRORS = 2  # the number that is guarded
RECENT = 100  # messages; an older error is no longer being worked on
CONVERSATION = 0.3  # a session in which users write more than this share of the messages is a conversation
ACKNOWLEDGED = 80  # characters of an output that only says that a list was taken
MOST_STEPS = 12  # calls that change single steps of a plan

# The position of a result, what its call does, its kind, and whether it failed.
Outcome = tuple[int, int, str, bool]


class Guards(NamedTuple):
    """Positions of guarded messages by reason; a pair is an old position and that of what replaces or answers it."""

    spoken: Sequence[int]
    """The messages that users wrote themselves."""
    task: Sequence[int] = ()
    rules: Sequence[int] = ()
    """Those that forbid something first, each kind newest first."""
    corrections: Sequence[int] = ()
    """Messages in which users take back what they said, newest first."""
    lacking: Sequence[int] = ()
    """Messages in which users say what they do not know or have, newest first."""
    plan: int | None = None
    """The newest list of steps."""
    old_plans: Sequence[tuple[int, int]] = ()
    """Lists of steps, and lists that an output only acknowledges, with the newest one of the same tool."""
    steps: Sequence[int] = ()
    """The newest changes of single steps after `plan`, newest first."""
    errors: Sequence[int] = ()
    resolved: Mapping[int, int] = MappingProxyType({})
    """Failures with the newest outcome of the same act, which did not fail."""
    taken_back: Collection[tuple[int, int]] = ()
    """Edits with later ones that removed some of their lines."""
    answered: Collection[tuple[int, int]] = ()
    """Questions of the model with the user's answer."""
    replaced: Collection[tuple[int, int]] = ()
    """Statements of the model, and rules of users, with later ones that revise or lift them."""
    statement: int | None = None
    """The model's last statement in words."""


def find(history: History) -> Guards:
    """Find what to guard in a history."""
    speech = [one.cues.speech for one in history.features]
    spoken = [p for p in history.own_words if MACHINE_MADE not in speech[p]]
    plans, steps = _plans(history)
    newest = plans[-1][0] if plans else None
    outcomes = [(at, call.act, call.kind, failed) for _, call, at, failed in history.outcomes()]
    conversation = _is_conversation(history, spoken)
    lifted = list(lifted_rules(history, spoken))
    lifting = {newer for _, newer in lifted}
    return Guards(
        spoken=spoken,
        task=[] if conversation else _task(history, spoken),
        rules=_rules(speech, spoken, STRICT if conversation else RULE),
        corrections=[p for p in reversed(spoken) if CORRECTION in speech[p] or p in lifting],
        lacking=[] if conversation else [p for p in reversed(spoken) if ABOUT_ONESELF in speech[p]],
        plan=newest,
        old_plans=_replaced(plans) + _replaced(_lists(history, outcomes)),
        steps=[p for p in reversed(steps) if newest is None or p > newest][:MOST_STEPS],
        errors=_errors(history, outcomes),
        resolved=_resolved(outcomes),
        taken_back=taken_back(history),
        answered=[(p - 1, p) for p in spoken if p and QUESTION in speech[p - 1]],
        replaced=[*replaced_statements(history), *lifted],
        statement=_statement(history, speech),
    )


def question_of(history: History, position: int) -> int | None:
    """Return the position of the question that a user's short answer refers to, None if there is none."""
    if (
        position
        and SHORT in history.features[position].cues.speech
        and history.roles[position - 1] == "assistant"
    ):
        return position - 1
    return None


def commands_of(history: History) -> dict[int, int]:
    """Return the position of the command that each output in a user message answers, by the position of the output.

    There are some only if the agent acts through text: nothing in the history is a call, and a program answers the
    model in the user's place.
    """
    answered = {
        position: position - 1
        for position in history.own_words
        if position
        and MACHINE_MADE in history.features[position].cues.speech
        and history.roles[position - 1] == "assistant"
    }
    if answered and any(one.calls or one.results for one in history.features):
        return {}
    return answered


def _task(history: History, spoken: list[int]) -> list[int]:
    """Return the user messages before the first reply, last first.

    If programs wrote all of those, return the last of them and the first message that users wrote themselves.
    """
    reply = next((p for p, role in enumerate(history.roles) if role == "assistant"), len(history))
    opening = [p for p in spoken if p < reply]
    if not opening:
        opening = [p for p in history.own_words if p < reply][-1:] + spoken[:1]
    return opening[::-1]


def _is_conversation(history: History, spoken: list[int]) -> bool:
    """Return whether this is a conversation without tools, but not a customer's request before the first call.

    A conversation has no task, and users say much in it that only sounds like a rule.
    """
    outputs = sum(role == "tool" for role in history.roles)
    if len(spoken) <= CONVERSATION * len(history) or outputs >= FEW_OUTPUTS * len(history):
        return False
    return recognise(history.task_counts).name != "support"


def _rules(speech: list[str], spoken: list[int], kind: str) -> list[int]:
    found = [p for p in reversed(spoken) if kind in speech[p]]
    found.sort(key=lambda p: STRICT not in speech[p])
    return found


def _plans(history: History) -> tuple[list[tuple[int, int]], list[int]]:
    """Return (position, act) of each call that writes a plan, and the positions of those that change steps of one."""
    plans: list[tuple[int, int]] = []
    steps: list[int] = []
    for position, features in enumerate(history.features):
        for call in features.cues.calls:
            if call.kind == PLAN:
                plans.append((position, call.act))
            elif call.kind == STEP:
                steps.append(position)
    return plans, steps


def _replaced(plans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return each plan with the newest one of the same tool: a list that another tool writes replaces none."""
    newest = {act: position for position, act in plans}
    return [(position, newest[act]) for position, act in plans if position != newest[act]]


def _lists(history: History, outcomes: Sequence[Outcome]) -> list[tuple[int, int]]:
    """Return (position, act) of each output that only acknowledges a list."""
    return [
        (position, act)
        for position, act, kind, failed in outcomes
        if kind == LIST and not failed and history.chars[position] <= ACKNOWLEDGED
    ]


def _errors(history: History, outcomes: Sequence[Outcome]) -> list[int]:
    """Return the newest outputs that report an unresolved failure.

    A failure is resolved if the same act was done again later without failing. The last unit is left out, because it
    always stays.
    """
    resolved: set[int] = set()
    found: list[int] = []
    last = history.units.head[-1] if len(history) else 0
    for position, act, kind, failed in reversed(outcomes):
        if position < len(history) - RECENT:
            break
        if not failed:
            resolved.add(act)
        elif act not in resolved and kind != LOOK and history.units.head[position] != last:
            resolved.add(act)  # an older failure of the same act is the same error
            found.append(position)
            if len(found) == ERRORS:
                break
    return found


def _resolved(outcomes: Sequence[Outcome]) -> dict[int, int]:
    """Return the failures of acts whose newest outcome is no failure, each with the position of that outcome."""
    newest: dict[int, tuple[int, bool]] = {}
    found: dict[int, int] = {}
    for position, act, kind, failed in reversed(outcomes):
        last, is_failure = newest.setdefault(act, (position, failed))
        if failed and not is_failure and kind != LOOK:
            found[position] = last
    return found


def _statement(history: History, speech: list[str]) -> int | None:
    """Return the position of the model's last statement in words before the last unit."""
    last = history.units.head[-1] if len(history) else 0
    heads = history.units.head
    return next(
        (p for p in range(len(history) - 1, -1, -1) if STATEMENT in speech[p] and heads[p] != last), None
    )
