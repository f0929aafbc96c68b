"""The order in which an agent sends its context."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scoring.messages import REMINDER, Message, Text
from tests.webapp.building import entry, followed, mid, said, user
from webapp.agents.records import Compaction
from webapp.app import App

SUMMARY = Message("user", (Text("They listed beds."),), REMINDER)


class TestACompactionThatKeptMessages:
    """The list after a compaction that kept the newest messages."""

    @pytest.mark.parametrize(
        ("follows", "sent"),
        [
            (None, ["Be brief.", "They listed beds.", "And the paths?", "None.", "Plant some."]),
            ("id-4", ["Be brief.", "And the paths?", "None.", "They listed beds.", "Plant some."]),
        ],
    )
    def test_begins_with_the_summary(self, app: App, follows: str | None, sent: list[str]) -> None:  # X12
        """The kept messages come after it, unless it continues them as the compaction of a part does."""
        prompt = Message("system", (Text("Be brief."),))
        followed(app, prompt, user("List the beds."), said("Seven."), user("And the paths?"), said("None."))
        kept = tuple(f"id-{n}" for n in (0, 3, 4))
        summary = replace(entry(5, SUMMARY, kind="compaction_summary"), parent=follows)
        app.ingest.append_records("s", [Compaction(None, "auto", None, "c", kept=kept), summary])
        app.ingest.append_records("s", [entry(6, user("Plant some."))])
        assert [one["content"] for one in app.context.get("s", "openai").messages] == sent

    def test_has_the_summary_behind_its_parent(self, app: App) -> None:  # X12
        """An answer to it that the agent wrote itself stays behind it."""
        followed(
            app,
            user("We set up."),
            user("List the beds."),
            said("Seven."),
            user("And the paths?"),
            said("None."),
        )
        kept = tuple(f"id-{n}" for n in (0, 3, 4))
        summary = replace(entry(5, SUMMARY, kind="compaction_summary"), parent="id-0")
        thanks = replace(entry(6, Message("assistant", (Text("Got it."),), REMINDER)), parent="id-5")
        app.ingest.append_records("s", [Compaction(None, "auto", None, "c", kept=kept), summary, thanks])
        app.ingest.append_records("s", [replace(entry(7, user("Plant some.")), parent="id-4")])
        sent = ["We set up.", "They listed beds.", "Got it.", "And the paths?", "None.", "Plant some."]
        assert [one["content"] for one in app.context.get("s", "openai").messages] == sent

    def test_keeps_its_order_if_the_parent_is_pruned(self, app: App) -> None:  # X12
        """The user's newest message stays the last one."""
        followed(app, user("List the beds."), said("Seven."), user("And the paths?"), said("None."))
        kept = ("id-2", "id-3")
        summary = replace(entry(4, SUMMARY, kind="compaction_summary"), parent="id-3")
        more = [replace(entry(n, user(f"Plant {n}.")), parent=f"id-{n - 1}") for n in (5, 6)]
        app.ingest.append_records("s", [Compaction(None, "auto", None, "c", kept=kept), summary, *more])
        app.by_hand.drop("s", mid(app, "s", 4))
        sent = ["And the paths?", "They listed beds.", "Plant 5.", "Plant 6."]
        assert [one["content"] for one in app.context.get("s", "openai").messages] == sent
