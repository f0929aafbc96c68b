"""The messages that a plan changes, grouped by reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import scoring
from scoring.planning import REASONS
from tests.webapp.building import conversation, followed
from webapp.app import App
from webapp.services.planning.cause_labels import LABELS, label_of
from webapp.services.planning.plan_groups import groups_of
from webapp.services.planning.planning import PlanInputs
from webapp.services.session.session import Session


class TestGroups:
    """The groups of a plan."""

    def test_contain_every_dropped_message_once(self, app: App) -> None:  # X1
        """The group that frees most tokens comes first."""
        followed(app, *conversation(10))
        row = app.store.sessions.get("s")
        inputs = PlanInputs(max_tokens=300, strategy="newest_first")
        made = app.prunes._planning.make(Session.of(app.environment, row), inputs)
        groups = groups_of(made)
        assert sum(g.messages for g in groups) == len(made.plan.removed)
        assert {g.fate for g in groups} == {"goes"}
        tokens = [g.tokens for g in groups]
        assert tokens == sorted(tokens, reverse=True)

    def test_have_a_label_for_every_cause(self) -> None:  # X7
        """No cause is shown by its code."""
        worded = re.compile(r'Why\(\s*"(\w+)",\s*f?"(?:dropped|shortened|cleared|summarised)')
        sources = Path(scoring.__file__).parent.rglob("*.py")
        named = {cause for source in sources for cause in worded.findall(source.read_text(encoding="utf-8"))}
        assert {"older_half", "too_large", "shortened_by_hand", "duplicate", "superseded"} < named
        assert {"old_shortened", "old_cleared"} < named
        assert LABELS.keys() >= named

    @pytest.mark.parametrize("cause", REASONS)
    def test_name_a_protected_message_that_is_shortened(self, cause: str) -> None:  # X7
        """The group names both the protection and the shortened output."""
        assert label_of(cause, "shortened") == f"{REASONS[cause].removeprefix('protected: ')}, shortened"
