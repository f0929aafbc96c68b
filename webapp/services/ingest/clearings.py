"""Clearings: outputs that an agent took out of its context, as it records or as its real input shows (X24).

The outputs that the record names, or else those that it probably took by its known habit, leave both contexts, so
that no context claims content that may be gone. The total of an unrecorded clearing stays as reported. Like a
compaction this is an operation by the agent and cannot be undone.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

from scoring.tokens import calibration, estimate_message_tokens
from webapp.agents import AGENTS
from webapp.agents.agent import ClearingHabit
from webapp.agents.records import Cleared
from webapp.services.ingest.agent_operations import agent_operation_id
from webapp.services.ingest.append_batch import AppendBatch
from webapp.services.ingest.call_reports import LostInput
from webapp.services.session.cards import read_card
from webapp.services.session.operation import ContextChange, replace_in
from webapp.services.session.replacements import Replacement, sent_tokens
from webapp.services.session.session import Session
from webapp.services.session.stored_messages import read_features, whole
from webapp.services.session.times import to_ms
from webapp.store.context import MESSAGE
from webapp.store.log import MessageRow
from webapp.store.operations import Detail, Facts

# Outputs are taken, the oldest first, until they make up this share of what was lost.
ENOUGH = 0.9
UNKNOWN_HABIT = ClearingHabit(tools=frozenset(), kept=1, text="")
LOOKED_AT = 2_000  # messages before the call


class ClearedOutput(NamedTuple):
    """A message whose outputs were cleared, its tokens without them, and its replacement text."""

    message: MessageRow
    tokens: int
    text: str

    @property
    def freed(self) -> int:
        """Return the estimated tokens that the clearing freed."""
        return self.message.tokens - self.tokens


def apply_clearing(session: Session, call: str, lost: LostInput | None) -> None:
    """Note a clearing, and take the outputs that it probably took, inside the caller's transaction.

    What an earlier report of the same call showed is taken back; with None nothing else happens.
    """
    if session.state.cleared_call == call:
        _take_back(session)
    if lost is not None:
        _clear(session, call, lost)


def _clear(session: Session, call: str, lost: LostInput) -> None:
    change = ContextChange(session, now=lost.at)
    habit = AGENTS[session.row.source].clears or UNKNOWN_HABIT
    taken: list[ClearedOutput] = []
    found = 0.0
    # Real input that fell by more than the habit explains took newer outputs as well, all but the newest.
    kept = 1 if lost.fell else habit.kept
    for message in _candidates(session, lost.no + 1, habit.tools, kept):
        if found >= ENOUGH * lost.tokens:
            break
        one = _cleared(session, message, habit.text)
        if one.freed > 0:
            taken.append(one)
            found += lost.factor * one.freed
    reason = _reason(lost, [one.message for one in taken], found)
    _note(change, taken, reason)
    _without(session, sum(one.freed for one in taken))
    session.state.cleared_call, session.state.cleared_by = call, session.row.next_operation
    facts = Facts(agent_before=lost.real + lost.tokens, agent_after=lost.real)
    operation = change.record("clearing", "agent", reason, len(taken), facts, number=lost.no)
    session.state.changes.pop(str(operation.n), None)  # the reported call was sent without them already
    session.save()


def _take_back(session: Session) -> None:
    """Put the outputs of the last clearing back and remove its record: the call's report was not yet the true one."""
    store, key, n = session.environment.store, session.key, session.state.cleared_by
    rows = store.log.messages(key, [item.no for item in store.operations.items(key, n)])
    freed = 0
    for context in session.contexts:
        cleared = replace_in(session, context, rows.values(), dict.fromkeys(rows), _is_by_agent)
        freed = freed or sum(row.tokens - sent_tokens(row, text) for row, text in cleared)
    _without(session, -freed)
    store.operations.remove(key, n)
    session.row.operations -= 1
    if n == session.row.next_operation - 1:
        session.row.next_operation = n
    session.state.cleared_call, session.state.cleared_by = "", 0
    session.state.undos += 1
    session.save()


def apply_recorded(session: Session, record: Cleared) -> None:
    """Take the outputs out that the agent says it cleared, inside the caller's transaction.

    The next call's input falls by them, so that it teaches nothing about growth.
    """
    at = to_ms(record.at)
    batch, change, before = AppendBatch(session), ContextChange(session, now=at), session.main.tokens
    habit = AGENTS[session.row.source].clears or UNKNOWN_HABIT
    texts = record.texts or (habit.text,) * len(record.calls)
    wanted = dict(zip(record.calls, texts, strict=False))
    outputs = _outputs(session, session.row.next_no)
    answered = read_features([message.features for message in outputs])
    named = [
        message
        for message, features in zip(outputs, answered, strict=True)
        if not wanted.keys().isdisjoint(features.results)
    ]
    done = "cleared{}" if set(texts) <= {habit.text} else "replaced{} by shorter texts"
    each = f"the agent {done.format(' its output')}, as it recorded after message {session.row.next_no - 1:,}"
    taken = [_cleared(session, message, wanted, each) for message in named]
    said = f" about {record.tokens:,} tokens" if record.tokens else ""
    reason = f"the agent {done.format(said)}: {_old_outputs(named)}"
    _note(change, taken, reason)
    session.state.calibration = calibration.after_rewind(session.state.calibration)
    batch.notice(agent_operation_id(record), reason, at)
    batch.write()
    facts = Facts(agent_before=before, agent_after=session.main.tokens)
    change.record("clearing", "agent", reason, len(taken), facts)


def _candidates(session: Session, before: int, tools: Container[str], kept: int) -> Sequence[MessageRow]:
    """Return the messages with outputs of these tools, oldest first, without the newest `kept`."""
    found = [row for row in _outputs(session, before) if read_card(row.card).get("tool") in tools]
    return found[:-kept]


def _outputs(session: Session, before: int) -> list[MessageRow]:
    """Return the messages with whole outputs in the context, oldest first."""
    store, key = session.environment.store, session.key
    items = store.contexts.items(key, session.main.view)
    there = [i.ref for i in items if i.kind == MESSAGE and i.replacement is None and i.ref < before][
        -LOOKED_AT:
    ]
    rows = store.log.messages(key, there)
    return [rows[no] for no in there if no in rows and rows[no].role == "tool"]


def _cleared(
    session: Session, message: MessageRow, texts: Mapping[str, str] | str, recorded: str = ""
) -> ClearedOutput:
    """Return a message with its outputs cleared: all replaced by one text, or those of the calls in `texts`.

    `recorded` says in words what the agent recorded, if it did.
    """
    cleared = whole(message.role, session.environment.store.log.entries_of(session.key, message))
    calls = [result.call_id for result in cleared.results]
    results = (
        dict.fromkeys(calls, texts) if isinstance(texts, str) else {c: texts[c] for c in calls if c in texts}
    )
    for call_id, text in results.items():
        cleared = cleared.with_result_text(call_id, text)
    tokens = estimate_message_tokens(cleared, session.counter)
    return ClearedOutput(message, tokens, Replacement(tokens, results, by_agent=True, recorded=recorded).text)


def _is_by_agent(text: str | None) -> bool:
    return text is not None and Replacement.of_text(text).by_agent


def _note(change: ContextChange, taken: Sequence[ClearedOutput], reason: str) -> None:
    texts = {one.message.no: one.text for one in taken}
    detail = Detail(fate="shortened", reason=reason, cause="clearing")
    change.note_cleared([one.message for one in taken], texts, detail)


def _without(session: Session, estimate: int) -> None:
    """Subtract cleared outputs from every estimate that later ones are compared with; below 0, add them."""
    state = session.state
    state.calibration = calibration.after_clearing(state.calibration, estimate)
    state.add_to_estimates(-estimate)


def _reason(lost: LostInput, taken: Sequence[MessageRow], found: float) -> str:
    """Return a text on what was lost, which outputs these probably were, and how certain that is."""
    sure = "the agent cleared" if lost.fell else "the agent probably cleared"
    said = f"{sure} about {lost.tokens:,} tokens, not recorded"
    if not taken:
        return f"{said}; what it took is not known"
    likely = "probably" if found >= ENOUGH * lost.tokens else "perhaps among others"
    return f"{said}; {likely} {_old_outputs(taken)}"


def _old_outputs(rows: Sequence[MessageRow]) -> str:
    """Return the number of outputs and their tools in words."""
    tools = sorted({str(read_card(row.card).get("tool")) for row in rows})
    return f"{len(rows)} old output{'s' * (len(rows) != 1)} ({', '.join(tools)})"
