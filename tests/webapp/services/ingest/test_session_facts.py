"""Facts that records state about their session: which are taken, and which were read before."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.webapp.building import entry, followed, said, user
from webapp.agents.records import Entry, Meta, Record
from webapp.app import App
from webapp.services.ingest.session_facts import apply_meta
from webapp.services.session.session import Session


class TestFacts:
    """Facts about the session in its records."""

    def test_never_make_a_session_its_own_parent(self, app: App) -> None:
        """The first parent that is another session is used."""
        followed(app, session_id="s")
        session = Session.load(app.environment, "s")
        apply_meta(session, [Meta(parent="s"), Meta(parent="t"), Meta(parent="u")])
        assert session.row.parent_id == "t"


class TestOldFacts:
    """Facts about a session that were read before."""

    START: Sequence[Record] = (
        Meta("First", "gpt-5", window=258_400), entry(1, user("a")), entry(2, said("b")), Meta("Next", "gpt-4.1"),
        entry(3, user("c")), entry(4, said("d")),
    )  # fmt: skip

    @pytest.mark.parametrize(
        ("records", "title", "model"),
        [
            (START, "Next", "gpt-4.1"),
            (START[:3], "Next", "gpt-4.1"),  # an older copy
            ([*START[:2], Meta("First")], "Next", "gpt-4.1"),
            ([*START, Meta("Last")], "Last", "gpt-4.1"),
            ([*START[4:], Meta("Last", "o3"), entry(5, user("e"))], "Last", "o3"),
            ([Meta("Last", "o3")], "Last", "o3"),
            ([Meta("Last", "o3"), entry(5, user("e"))], "Last", "o3"),
        ],
    )
    def test_do_not_come_back(
        self, app: App, records: Sequence[Record], title: str, model: str
    ) -> None:  # X12
        """A known message behind them shows that they were read, and so do messages after the last one."""
        app.ingest.ensure("s", "claude-code")
        app.ingest.append_records("s", self.START)
        app.ingest.append_records("s", records)
        row = app.store.sessions.get("s")
        assert (row.title, row.model, row.window) == (title, model, None)

    def test_are_taken_if_they_were_missing(self, app: App) -> None:
        """A session that an earlier version read can lack them."""
        app.ingest.ensure("s", "claude-code")
        app.ingest.append_records("s", [one for one in self.START if isinstance(one, Entry)])
        app.ingest.append_records("s", self.START[:3])
        assert app.store.sessions.get("s").model == "gpt-5"
