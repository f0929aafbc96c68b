"""Counts what a plan shortens from the messages themselves, as it is counted once the plan is applied."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scoring.messages import Message
from scoring.planning import PrunePlan, with_exact_tokens
from scoring.tokens import estimate_message_tokens
from webapp.services.session.histories import SessionHistory
from webapp.services.session.replacements import with_replacement
from webapp.services.session.session import Session
from webapp.services.session.stored_messages import whole


def exact(session: Session, view: SessionHistory, plan: PrunePlan) -> PrunePlan:
    """Return a plan of the view with the numbers that applying it has."""
    message = sent_messages(session, view, plan.shortened)
    return with_exact_tokens(plan, view.history, message, counted_by(session))


def sent_messages(
    session: Session, view: SessionHistory, positions: Sequence[int]
) -> Callable[[int], Message]:
    """Return a function that returns the message at one of these positions, as the context has it."""
    found = session.environment.store.log.rows_of(session.key, [view.nos[i] for i in positions])

    def message(position: int) -> Message:
        no = view.nos[position]
        return with_replacement(whole(view.history.roles[position], found[no]), view.replacements.get(no))

    return message


def counted_by(session: Session) -> Callable[[Message], int]:
    """Return a function that returns the estimated tokens of a message in this session."""
    counter = session.counter
    return lambda message: estimate_message_tokens(message, counter)
