"""Keeps the outputs of agents that act through text beside their commands.

No id links such an output to its command, so each is a unit of its own, and an output whose command is dropped would
read as the answer to the command before it. A command can stay without its output, and often should: it names much and
costs little. So an output is joined with its command once a strategy wants to keep it, and the strategy chooses again,
now at the cost of both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import count

from scoring.history import History
from scoring.planning.decision import Decision
from scoring.planning.guards import commands_of

# After this number of choices all outputs are joined. On 236 prunes of sessions in plain text 18 need more; without a
# limit, recall is higher by 0.1 points. In long histories one choice has to do, because each takes half a second.
CHOICES, LONG_MESSAGES = 6, 4_000


def with_commands(
    history: History,
    decide: Callable[[History], Decision],
    drop: Collection[int] = (),
    *,
    whole: bool = False,
) -> Decision:
    """Return the decision in which every output that stays has its command beside it.

    An output that is always kept stays alone if the command does not fit beside what is protected. An output that the
    user drops (`drop`) does not take its command with it. With `whole` no command stays without its output either, for
    formats in which the model does not speak twice in a row.
    """
    apart = {output: command for output, command in commands_of(history).items() if output not in drop}
    most = CHOICES if len(history) <= LONG_MESSAGES else 1
    if whole:
        most = 0
    for choice in count(1):
        decision = decide(history)
        wanted = [output for output in apart if decision.stays[output]]
        pairs = _pop_fitting_pairs(decision, apart, list(apart) if wanted and choice > most else wanted)
        if not pairs:
            break
        history = history.joined(pairs)
    return decision


def _pop_fitting_pairs(
    decision: Decision, apart: dict[int, int], outputs: Collection[int]
) -> list[tuple[int, int]]:
    """Take these outputs out of `apart`, and return them with their commands.

    Pairs that would have to be protected together and do not fit are left out.
    """
    head, costs, protection = decision.history.units.head, decision.history.unit_tokens, decision.protection
    fixed = protection.causes.keys() - protection.guarded.keys()
    used = protection.tokens
    pairs = []
    for output in outputs:
        command = apart.pop(output)
        units = {head[output], head[command]}
        if not units.isdisjoint(fixed):
            extra = sum([costs[unit] for unit in units - fixed])
            if used + extra > decision.max_tokens:
                continue
            used += extra
        pairs.append((command, output))
    return pairs
