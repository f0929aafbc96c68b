"""Adjusts a plan to the order of roles in wire formats.

For some formats and models a list begins with the user; in some formats the model never speaks twice in a row. A plan
is adjusted after a strategy chose. If a user message is missing, a dropped one is put back if it fits; otherwise an
opening line is added, or the message in the wrong place is dropped. This is one pass over the list.
"""

from __future__ import annotations

from scoring.formats import FORMATS, OPENING_TOKENS, must_begin_with_user
from scoring.planning.decision import Decision
from scoring.planning.strategies import Why

_OPENS = Why("opening", "kept: the list has to begin with a user message")
_BEFORE_USER = Why("opening", "dropped: the list has to begin with a user message")
_BETWEEN = Why("turns", "kept: without it the model would speak twice in a row")
_PROTECTED_FIRST = "a protected message stands before the first user message that stays"
_NO_USER = "no user message stays, so the list cannot begin with one"
_TOGETHER = Why(
    "turns", "dropped: it would follow another message of the model, and nothing between them fits"
)


def apply_role_order(decision: Decision, wire_format: str, model: str = "") -> None:
    """Adjust a decision to the rules of a wire format and a model; an unknown one has no rules."""
    while True:
        if must_begin_with_user(wire_format, model):
            open_with_user(decision)
        if takes_turns(wire_format):
            take_turns(decision)
        if not decision.drop_outdated():
            return


def takes_turns(wire_format: str) -> bool:
    """Return whether the model never speaks twice in a row in this format; False for an unknown one."""
    rules = FORMATS.get(wire_format)
    return rules is not None and rules.joining is not None


def open_with_user(decision: Decision) -> None:
    """Make the list begin with a user message after the system messages.

    The latest dropped user message before the first kept one is put back, if it fits. Otherwise a line is added that
    says that something is missing. If even that does not fit, the first unit is dropped, unless it is protected, and
    the next one is examined.
    """
    history, stays, causes = decision.history, decision.stays, decision.protection.causes
    summary = decision.summary_place
    nobody = False
    cheapest = None  # cost of the cheapest dropped user message so far: with less room no search is needed
    for position, role in enumerate(history.roles):
        if not stays[position]:
            if role == "user":
                cost = history.unit_tokens[history.units.head[position]]
                cheapest = cost if cheapest is None else min(cost, cheapest)
            continue
        if role == "system":
            continue
        asks = role == "user" and not history.features[position].results
        if asks or (summary is not None and summary <= position):
            return
        fits = cheapest is not None and cheapest <= decision.left()
        if fits and decision.put_back_user(range(position - 1, -1, -1), _OPENS) is not None:
            return
        if decision.open_with_line(OPENING_TOKENS):
            return
        head = history.units.head[position]
        if head in causes:
            asked = any(stays[p] for p in history.own_words)
            decision.problems.append(_PROTECTED_FIRST if asked else _NO_USER)
            return
        decision.take_out({head}, _BEFORE_USER)
        nobody = True
    if nobody:
        decision.problems.append(_NO_USER)


def take_turns(decision: Decision) -> None:
    """Let two messages of the model follow each other only if they did in the history.

    A user message between them is put back if one fits. Otherwise the unit of the older one is dropped, or of the newer
    one if the older is protected.
    """
    stays, roles, summary = decision.stays, decision.history.roles, decision.summary_place
    before: list[int] = []
    for position, role in enumerate(roles):
        if role == "system":
            continue
        while stays[position] and before and _together(decision, before[-1], position):
            if summary is not None and before[-1] < summary <= position:
                break
            between = decision.put_back_user(range(position - 1, before[-1], -1), _BETWEEN)
            if between is not None:
                before.append(between)
                continue
            gone = _to_go(decision, before[-1], position)
            if gone is None:
                decision.problems.append(
                    "protected messages of the model stand together, and nothing between fits"
                )
                break
            decision.take_out({gone}, _TOGETHER)
            while before and not stays[before[-1]]:
                before.pop()
        if stays[position]:
            before.append(position)


def _together(decision: Decision, before: int, position: int) -> bool:
    """Return whether two kept messages are the model's, of different units, with something dropped between them."""
    head, roles = decision.history.units.head, decision.history.roles
    both = roles[before] == roles[position] == "assistant" and head[before] != head[position]
    return both and position - before > 1


def _to_go(decision: Decision, *positions: int) -> int | None:
    """Return the head of the first unit that is not protected; None if all are."""
    heads = (decision.history.units.head[p] for p in positions)
    return next((h for h in heads if h not in decision.protection.causes), None)
