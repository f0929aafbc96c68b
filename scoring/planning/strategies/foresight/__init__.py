"""*Foresight*: keep what the agent is likely to name again.

No unit is scored in isolation. Three signals give every name and text line of the history its weight. A unit is worth
the weight of the mentions that no kept unit has yet, plus its relevance to a short last question, per token. Units are
taken in the order of that worth until the room is used up; large tool outputs are cut to their most valuable rows.
docs/retention.md has measurements.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from scoring.history import History
from scoring.planning.guards import question_of
from scoring.planning.score import Scores
from scoring.planning.strategies.contract import Choice, Shortening, StrategyInput, Why, cut
from scoring.planning.strategies.foresight.greedy import GreedyChoice, take_best, take_first
from scoring.planning.strategies.foresight.offers import Offers
from scoring.planning.strategies.foresight.points import Points
from scoring.planning.strategies.foresight.reasons import Reasons
from scoring.planning.strategies.foresight.worth import Coverage
from scoring.settings import Settings
from scoring.signals import length, relevance

# The addition to a rate for one unit of raw relevance and one point of its weight.
RELEVANCE_WORTH = 0.0006 / 15
# A long message shares words with any question, so above SHORT_TOKENS its relevance is divided by a power of its size.
SHORT_TOKENS, LONG_POWER = 150, 0.7

_UNASKED = Why("question", "dropped: the question that it answers is dropped")


def choose(given: StrategyInput) -> Choice:
    """Keep the units that add most to what stays, per token."""
    history = given.history
    share = given.room / max(1, sum([history.unit_tokens[head] for head in given.candidates]))
    offers = _offers(history, given.settings, share)
    rates = _cover(offers, history, given.protected)
    taken = GreedyChoice(given.room)
    take_first(taken, offers, given.guarded, given.guarded_room)
    first = frozenset(taken.order)
    others = [head for head in given.candidates if head not in first]
    outdated = {head: set(newer).difference(given.protected) for head, newer in given.outdated.items()}
    unasked, questions = _short_answers(given, others, taken)
    offers.join(questions)
    free = [head for head in others if head not in unasked and head not in questions]
    take_best(taken, offers, free, outdated)
    for answer, question in questions.items():
        taken.rates[answer] = taken.rates[question]
    taken.order += [answer for answer, question in questions.items() if question in taken.order]
    rates = {**dict.fromkeys(history.units.heads(), 0.0), **rates, **taken.rates}
    points = Points(history, offers, given.settings.weights, rates)
    reasons = Reasons(given, offers, points, taken)
    shortened = {}
    for position, (tokens, numbers) in taken.shortened.items():
        rows = offers.rows(position, numbers)
        shortened[position] = Shortening(
            tokens, partial(cut, rows), rows, partial(reasons.shortened, position)
        )
    offers.coverage.end_choice()
    return Choice(
        taken.order, lambda head: _UNASKED if head in unasked else reasons(head), shortened, points.scores()
    )


def _short_answers(
    given: StrategyInput, others: Collection[int], taken: GreedyChoice
) -> tuple[set[int], dict[int, int]]:
    """Return the users' short answers that are no candidates by themselves, because nothing is said without a question.

    These are the answers that are dropped with their question, and the question of each that is taken together with it.
    """
    history, candidates, stays = given.history, frozenset(others), {*given.protected, *taken.order}
    unasked: set[int] = set()
    questions: dict[int, int] = {}
    for head in others:
        question = question_of(history, head)
        asked = head if question is None else history.units.head[question]
        if asked in stays or asked == head:
            continue
        if asked in candidates:
            questions[head] = asked
        else:
            unasked.add(head)
    return unasked, questions


def rate(history: History, settings: Settings, protected: Collection[int]) -> Scores:
    """Return the scores if nothing has to be dropped: each unit is rated relative to the protected ones only."""
    offers = _offers(history, settings, 1.0)
    rates = _cover(offers, history, protected)
    for head in history.units.heads():
        if head not in rates:
            rates[head] = offers.whole(head).rate
    return Points(history, offers, settings.weights, rates).scores()


def _offers(history: History, settings: Settings, share: float) -> Offers:
    """Return the offers of a plan in which this share of the tokens of its units can stay."""
    weight = settings.weights.get(relevance.SIGNAL.name, 0.0)
    found = relevance.relevance(history) if weight else None
    relevant = None
    if found:
        worth = [(SHORT_TOKENS / max(SHORT_TOKENS, tokens)) ** LONG_POWER for tokens in history.tokens]
        relevant = [RELEVANCE_WORTH * weight * one * short for one, short in zip(found, worth, strict=True)]
    power = length.power(settings.weights.get(length.SIGNAL.name, 0.0), share)
    return Offers(history, Coverage(history, settings), relevant, power)


def _cover(offers: Offers, history: History, heads: Collection[int]) -> dict[int, float]:
    """Take the units that are kept in any case; return the rates that they would have had."""
    rates = {}
    for head in sorted(heads, reverse=True):
        rates[head] = offers.whole(head).rate
        for position in history.unit(head):
            offers.coverage.cover(offers.coverage.held[position], position)
    return rates
