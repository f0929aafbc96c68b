"""Operations: replacements, with totals in step."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from tests.webapp.building import conversation, entry, followed, managed, mid, result, wire
from webapp.agents.records import Compaction, Rewind
from webapp.app import App
from webapp.bodies import PruneBody
from webapp.services.session.operation import ContextChange
from webapp.services.session.replacements import Replacement
from webapp.services.session.session import Session
from webapp.store.context import PRUNED
from webapp.store.operations import Facts


def shorten(app: App, no: int, tokens: int) -> int:
    """Replace a message's result by a short text, as a prune would; return the operation's number."""
    session = Session.load(app.environment, "s")
    message = app.store.log.message(session.key, no)
    assert message is not None
    with app.store.write():
        change = ContextChange(session, now=1)
        change.replace([message], {no: Replacement(tokens, {"call-0": "[cut]"}).text}, {})
        n = change.record("prune", "user", "manual", 1, Facts()).n
    app.histories.drop(session.key)
    return n


class TestReplacement:
    """A text that replaces a tool's output."""

    def test_is_counted_and_sent_in_place_of_the_output(self, app: App) -> None:  # C3
        """The log keeps the original, and undo restores it."""
        followed(app, *conversation(1))
        before = app.sessions.get("s").pruned.tokens
        shorten(app, 3, 7)
        message = app.store.log.message(1, 3)
        assert app.sessions.get("s").pruned.tokens == before - message.tokens + 7
        assert "[cut]" in str(app.context.get("s", "openai").messages)
        assert list(app.verify()) == []
        app.operations.undo("s")
        assert app.sessions.get("s").pruned.tokens == before
        assert "line 0 of output" in str(app.context.get("s", "openai").messages)
        assert list(app.verify()) == []

    def test_is_kept_for_a_dropped_message(self, app: App) -> None:  # X2
        """Undoing the drop restores the replacement."""
        followed(app, *conversation(2))
        shorten(app, 3, 7)
        tokens = app.sessions.get("s").pruned.tokens
        app.by_hand.drop("s", app.store.log.message(1, 3).mid)
        app.operations.undo("s")
        assert app.sessions.get("s").pruned.tokens == tokens
        assert app.store.contexts.at(1, PRUNED, [2])[2].replacement is not None
        assert list(app.verify()) == []

    def test_is_removed_when_its_message_changes(self, app: App) -> None:
        """A message that the agent edited is restored in full; its old replacement no longer applies."""
        followed(app, *conversation(1))
        shorten(app, 3, 7)
        newer = [entry(n, result("call-0", "newer output " * n), supersedes="id-2") for n in (8, 9)]
        app.ingest.append_records("s", newer)
        assert app.store.contexts.at(1, PRUNED, [2])[2].replacement is None
        assert "newer output" in str(app.context.get("s", "openai").messages)
        assert list(app.verify()) == []
        app.operations.undo("s")
        assert list(app.verify()) == []

    def test_is_not_restored_for_a_changed_message(self, app: App) -> None:  # X2
        """Undo restores the edited message in full; its old replacement text no longer applies."""
        followed(app, *conversation(2))
        shorten(app, 3, 7)
        app.by_hand.drop("s", app.store.log.message(1, 3).mid)
        app.ingest.append_records("s", [entry(40, result("call-0", "newer output"), supersedes="id-2")])
        app.operations.undo("s")
        assert app.store.contexts.at(1, PRUNED, [2])[2].replacement is None
        assert "newer output" in str(app.context.get("s", "openai").messages)
        assert list(app.verify()) == []

    def test_survives_a_rewind_and_a_compaction(self, app: App) -> None:
        """A shortened message that stays in the context stays shortened."""
        followed(app, *conversation(2))
        shorten(app, 3, 7)
        messages = app.store.log.messages(1, range(1, 8))
        short = 7 + sum(m.tokens for no, m in messages.items() if no != 3)
        live = tuple(f"id-{n}" for n in range(7))
        for turn in (Rewind("id-6", "r", live=live), Compaction(None, "auto", None, "c", kept=live)):
            app.ingest.append_records("s", [turn])
            totals = app.store.contexts.totals(1)[PRUNED]
            assert sum(tokens for tokens, _ in totals.values()) == short
            assert list(app.verify()) == []


def turn(app: App, session: str, n: int, **usage: int) -> None:
    """Append a turn of about 1,250 tokens, with the usage of its call if it is given."""
    app.ingest.append_messages(session, [wire("user", f"{n} " + "use src/parser.py " * 200)])
    answer = [wire("assistant", f"{n} " + "it is src/parser.py " * 50)]
    app.ingest.append_messages(session, answer, usage=usage or None)


CHANGES: dict[str, Callable[[App, str], object]] = {
    "prune": lambda app, s: app.prunes.apply(s, PruneBody(max_tokens=6_000)),
    "drop": lambda app, s: app.by_hand.drop(s, mid(app, s, 3)),
    "overflow": lambda app, s: app.overflow.relieve(s),
    "summary": lambda app, s: app.summarising.summarise(s),
    "expand": lambda app, s: app.summarising.expand(s, 1),
    "restore": lambda app, s: app.by_hand.restore(s, mid(app, s, 3)),
    "undo": lambda app, s: app.operations.undo(s),
}


class TestGrowth:
    """The tokens that a turn adds, and the turns that are left."""

    @pytest.mark.parametrize("reported", [False, True])
    @pytest.mark.parametrize(
        "steps", [("prune", "undo"), ("drop", "restore"), ("overflow", "undo"), ("summary", "expand")]
    )
    def test_is_that_of_the_turns_whatever_an_operation_does(
        self, app: App, steps: Sequence[str], reported: bool
    ) -> None:  # X18, X26
        """No operation adds to the growth or takes from it, neither at once nor in the turns after it."""
        session = managed(app, settings={"cap_tokens": 30_000})
        for n in range(12):
            report = {"input_tokens": 3_000 + 1_300 * n, "output_tokens": 260} if reported else {}
            turn(app, session, n, **report)
        pace = app.sessions.get(session).growth_per_turn
        assert pace > 1_000
        for step in steps:
            before = app.sessions.get(session)
            CHANGES[step](app, session)
            after = app.sessions.get(session)
            assert after.pruned.tokens != before.pruned.tokens
            assert after.growth_per_turn == pace
            assert after.turns_left == (after.target_tokens - after.pruned.tokens) // pace
        CHANGES[steps[0]](app, session)
        for n in range(12, 15):
            turn(app, session, n)
            assert app.sessions.get(session).growth_per_turn == pytest.approx(pace, rel=0.1)

    def test_is_unchanged_where_the_agent_sends_the_whole(self, app: App) -> None:  # X18
        """A prune changes only the pruned view of a followed session; the gauge shows the agent's context."""
        followed(app, *conversation(8))
        before = app.sessions.get("s")
        app.prunes.apply("s", PruneBody(max_tokens=400))
        after = app.sessions.get("s")
        assert (after.growth_per_turn, after.turns_left) == (before.growth_per_turn, before.turns_left)
