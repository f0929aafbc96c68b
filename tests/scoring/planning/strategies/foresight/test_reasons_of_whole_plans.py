"""Whole plans: their reasons say of names only what holds for the texts of the plan as it is applied."""

from __future__ import annotations

import re
from collections.abc import Mapping
from random import Random

import pytest

from benchmarks.harms_kinds import edited
from benchmarks.retention import Chat
from benchmarks.retention_agents import AGENTS
from scoring.formats import decode
from scoring.history import History
from scoring.messages import Message
from scoring.planning import plan_prune, with_exact_tokens
from scoring.settings import FORESIGHT
from scoring.tokens import estimate_message_tokens

SESSIONS: Mapping[str, list[Chat]] = {
    "a file that is edited": edited(Random("reasons")).messages,
    **{kind: make(Random("reasons")).messages for kind, make in AGENTS.items()},
}
ONLY = re.compile(r"kept: the only message (left )?that names (.*)")


def said(message: Message) -> str:
    """Return the text of a message with the arguments of its calls."""
    return "\n".join([message.text, *(call.arguments for call in message.calls)])


def names_in(text: str) -> list[str]:
    """Return the names that a reason lists, without those it clips."""
    return re.findall(r"`([^`…]+)`", text)


def has(text: str, name: str) -> bool:
    """Return whether a name stands in a text, on its own."""
    return re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w/-])", text) is not None


class Applied:
    """A plan at a share of the tokens, with the texts before it and after it by position."""

    def __init__(self, chats: list[Chat], share: float) -> None:
        messages = decode(chats, "openai").messages
        history = History.of(messages, settings=FORESIGHT)
        planned = plan_prune(history, FORESIGHT, int(sum(history.tokens) * share))
        plan = with_exact_tokens(planned, history, messages.__getitem__, estimate_message_tokens)
        made = {p: plan.shortenings[p].apply(messages[p]) for p in plan.shortened}
        self.reasons = {p: plan.reason(p) for p in (*plan.kept, *plan.shortened)}
        self.before = dict(enumerate(map(said, messages)))
        self.after = {p: said(made.get(p, messages[p])) for p in self.reasons}
        self.unit = history.units.head


@pytest.mark.parametrize("share", [0.5, 0.25])
@pytest.mark.parametrize("kind", SESSIONS)
def test_the_only_message_that_names_something_is_the_only_one(kind: str, share: float) -> None:  # X3
    """No other message has any of the names; or none that stays, if it is the only one left."""
    applied = Applied(SESSIONS[kind], share)
    wrong = [
        (position, name, other)
        for position, reason in applied.reasons.items()
        if (only := ONLY.match(reason))
        for name in names_in(only[2])
        for other, text in (applied.after if only[1] else applied.before).items()
        if applied.unit[other] != applied.unit[position] and has(text, name)
    ]
    assert wrong == []
