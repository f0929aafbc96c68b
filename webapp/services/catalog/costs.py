"""The cost of a session: of one call with its context, and of all calls so far, at list prices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from scoring.models import CURRENCY, CallTokens, Spent, context_cost, spent
from webapp.agents.records import COMPACTION_SUMMARY
from webapp.services.catalog.answers import Cost, SubAgentCost
from webapp.services.session.session import Session
from webapp.services.session.sub_agents import with_sub_agents
from webapp.store.usage import CallRow


class CallsMade(NamedTuple):
    """The number of a session's calls with and without reported usage, and what the former cost; None if unknown."""

    calls: int
    unreported: int
    paid: Spent | None


def session_cost(session: Session) -> Cost | None:
    """Return the price of a call with the present context, new and cached, and of all calls; None if none is known.

    What was paid stays known if the session goes on with a model without a known price.
    """
    model = session.environment.model(session.row.model)
    cost = context_cost(session.main.tokens, model)
    made, below = _calls_made(session), _sub_agents(session)
    paid = made.calls > 0 and made.paid is not None
    if cost is None and not paid and (below is None or below.spent is None):
        return None
    return Cost(
        per_call=None if cost is None else cost.fresh,
        per_call_cached=None if cost is None else cost.cached,
        at_least=cost is not None and cost.at_least,
        free=model.free,
        calls=made.calls,
        unreported=made.unreported,
        spent=made.paid.amount if made.paid else None,
        spent_at_least=made.paid is None or made.paid.at_least,
        sub_agents=below,
        currency=CURRENCY,
    )


def _sub_agents(session: Session) -> SubAgentCost | None:
    environment, store = session.environment, session.environment.store
    _, *below = with_sub_agents(store, session.id)
    each = [_calls_made(Session.of(environment, store.sessions.get(one))) for one in below]
    calls, known = sum(one.calls for one in each), [one.paid for one in each if one.paid is not None]
    unreported = sum(one.unreported for one in each)
    if not calls and not unreported:
        return None
    return SubAgentCost(
        sessions=sum(one.calls + one.unreported > 0 for one in each),
        calls=calls,
        unreported=unreported,
        spent=round(sum(paid.amount for paid in known), 6) if known and calls else None,
        spent_at_least=len(known) < len(each) or any(paid.at_least for paid in known),
    )


def _calls_made(session: Session) -> CallsMade:
    """Return the calls of a session, and what they cost."""
    environment, row, state = session.environment, session.row, session.state
    reported = environment.store.usage.calls(row.key)
    calls = [
        (
            CallTokens(
                input=c.input_tokens, output=c.output_tokens, cached=c.cached_tokens,
                written=c.cache_write_tokens, hour=c.cache_write_hour_tokens, answer=c.answer_tokens,
                tier=c.service_tier,
            ),
            environment.model(c.model or row.model),
        )
        for c in reported
    ]  # fmt: skip
    paid = spent(calls)
    answers = state.answers - state.awaiting - _copied_answers(session)
    beyond = sum(not c.is_inference for c in reported) - answers
    unreported = max(0, -beyond)
    # A report that says too little is billed as it is.
    too_little = state.set_aside and not state.summed
    free = environment.model(row.model).free
    lacking = unreported or too_little or _hidden_calls(session, reported) > beyond
    if paid is not None and not free and lacking:
        paid = replace(paid, at_least=True)
    return CallsMade(len(calls), unreported, paid)


def _copied_answers(session: Session) -> int:
    """Return how many answers of a pruned copy are those of its origin, which made the calls."""
    store = session.environment.store
    copied = store.copies.find(session.id)
    return 0 if copied is None else store.log.count_before(session.key, "assistant", copied.at)


def _hidden_calls(session: Session, reported: Sequence[CallRow]) -> int:
    """Return how many calls for a compaction were not reported with its summary.

    Most agents keep such a call from their transcript. Some report its usage nevertheless, beyond their answers. The
    compactions of a parent, before its last message, were paid there.
    """
    store, key, inherited = session.environment.store, session.key, session.state.inherited
    compactions = store.operations.count(key, "compaction") if session.row.operations else 0
    if compactions and inherited:
        made = (one for one in store.operations.all(key) if one.kind == "compaction")
        compactions = sum((one.facts.number or 0) >= inherited for one in made)
    if not compactions:
        return 0
    compactions -= sum(call.is_for_compaction for call in reported)
    answers = store.log.numbers(key, newest_first=False, role="assistant", kind=COMPACTION_SUMMARY)
    calls = [call for call in reported if not call.is_inference]
    return compactions - sum(
        any(answer.first_seq < call.seq <= answer.last_seq + 1 for call in calls)
        for answer in store.log.messages(key, answers).values()
    )
