"""The messages that a plan takes, grouped by reason."""

from __future__ import annotations

from scoring.planning import CAUSES
from tests.webapp.building import conversation, followed
from webapp.app import App
from webapp.services.planning.plan_groups import LABELS, groups_of
from webapp.services.session.session import Session


class TestGroups:
    """The groups of a plan."""

    def test_hold_every_message_that_goes_once(self, app: App) -> None:  # X1
        """The reason that frees most comes first."""
        followed(app, *conversation(10))
        row = app.store.sessions.get("s")
        made = app.prunes._planning.make(
            Session.of(app.environment, row), max_tokens=300, strategy="newest_first"
        )
        groups = groups_of(made)
        assert sum(g.messages for g in groups) == len(made.plan.removed)
        assert {g.fate for g in groups} == {"goes"}
        tokens = [g.tokens for g in groups]
        assert tokens == sorted(tokens, reverse=True)

    def test_have_words_for_every_stage(self) -> None:  # X7
        """None is shown under its code."""
        assert LABELS.keys() >= CAUSES
