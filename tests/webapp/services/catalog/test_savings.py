"""The tokens and cost that prunes saved in later calls."""

from __future__ import annotations

import pytest

from tests.webapp.building import context_numbers, managed, mid, wire
from webapp.app import App
from webapp.bodies import PruneBody, SessionChange
from webapp.store.copies import CopyRow
from webapp.store.savings import SavedRow


@pytest.fixture
def pruned(app: App) -> str:
    """A managed session that was pruned once."""
    talk = [wire(("user", "assistant")[n % 2], f"{n} " + "word " * 400) for n in range(40)]
    session = managed(app, *talk, model="claude-sonnet-4-5")
    app.prunes.apply(session, PruneBody(max_tokens=4_000))
    return session


def restore_all(app: App, session: str) -> None:
    """Put back every message that is out of the context."""
    key = app.store.sessions.get(session).key
    out = [m for m in app.store.log.messages(key, range(1, 100)).values() if m.out_operation is not None]
    for message in out:
        app.by_hand.restore(session, message.mid)


class TestSavings:
    """Sums over all sessions."""

    def test_are_zero_before_the_next_call(self, app: App, pruned: str) -> None:
        """Tokens out of the context are counted separately until a call is made without them."""
        found = app.savings.all()
        assert (found.tokens, found.calls, found.sessions, found.amount) == (0, 0, 0, None)
        assert found.out > 1_000

    def test_count_each_later_call(self, app: App, pruned: str) -> None:
        """Savings are the pruned tokens times the calls, at the cached list price."""
        managed(app, wire("user", "hello"))
        for _ in range(3):
            app.ingest.append_messages(pruned, [wire("user", "go on"), wire("assistant", "done")])
        found = app.savings.all()
        assert (found.calls, found.sessions, found.of_sessions) == (3, 1, 2)
        assert found.tokens == 3 * found.out
        assert found.amount == pytest.approx(found.tokens * 0.3e-6, abs=1e-5)

    def test_end_with_an_undo(self, app: App, pruned: str) -> None:
        """Restored tokens are no longer counted."""
        app.ingest.append_messages(pruned, [wire("assistant", "done")])
        app.operations.undo(pruned, None)
        assert app.savings.all().tokens == 0

    def test_end_where_the_messages_come_back(self, app: App, pruned: str) -> None:
        """Calls made before that keep their savings; those made afterwards save nothing."""
        app.ingest.append_messages(pruned, [wire("user", "go on"), wire("assistant", "done")])
        before = app.savings.all()
        restore_all(app, pruned)
        app.ingest.append_messages(pruned, [wire("user", "go on"), wire("assistant", "done")])
        after = app.savings.all()
        assert (after.tokens, after.calls) == (before.tokens, 1)
        assert (before.out, after.out) == (before.tokens, 0)

    def test_end_where_a_summary_is_taken_apart(self, app: App) -> None:
        """The messages are back in the place of their summary, as before it."""
        talk = [wire(("user", "assistant")[n % 2], f"{n} " + "word " * 400) for n in range(40)]
        session = managed(app, *talk)
        app.summarising.summarise(session)
        assert app.savings.all().out > 1_000
        app.summarising.expand(session, 1)
        app.ingest.append_messages(session, [wire("assistant", "done")])
        found = app.savings.all()
        assert (found.tokens, found.calls, found.out) == (0, 0, 0)

    def test_count_a_message_dropped_by_hand(self, app: App, pruned: str) -> None:
        """It counts until it is restored."""
        out = app.savings.all().out
        staying = mid(app, pruned, context_numbers(app, pruned)[-2])
        app.by_hand.drop(pruned, staying)
        assert app.savings.all().out > out
        app.by_hand.restore(pruned, staying)
        assert app.savings.all().out == out

    def test_of_an_unknown_model_have_no_price(self, app: App, pruned: str) -> None:
        """The amount is then marked as a lower bound."""
        app.sessions.patch(pruned, SessionChange(model="nobody-knows-this"))
        app.ingest.append_messages(pruned, [wire("assistant", "done")])
        found = app.savings.all()
        assert (found.amount, found.at_least) == (None, True)

    def test_look_at_each_operation_a_fixed_number_of_times(
        self, app: App, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The page of savings does not grow slower with the square of the operations."""
        looked: list[int] = []

        class Watched(SavedRow):
            @property
            def session(self) -> int:
                looked.append(self[0])
                return self[0]

        for count in (30, 300):
            rows = [Watched(n, "gpt-5", 10, n + 1, False) for n in range(count)]
            monkeypatch.setattr(app.store.savings, "rows", lambda rows=rows: rows)
            looked.clear()
            assert app.savings.all().sessions == count
            assert len(looked) <= 3 * count

    def test_of_a_copy_count_its_own_calls_only(self, app: App) -> None:
        """A pruned copy without calls has saved nothing."""
        copy = managed(app, wire("user", "hello"), id="copy")
        with app.store.write():
            app.store.copies.put(CopyRow(copy, "origin", "Copy", 1, 50_000, 20_000))
        assert (app.savings.all().tokens, app.savings.all().out) == (0, 0)
