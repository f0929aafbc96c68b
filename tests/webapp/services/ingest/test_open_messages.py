"""Open messages: the messages of a batch that new entries belong to."""

from __future__ import annotations

from scoring.messages import Message, Text
from tests.webapp.building import entry, followed, said, user
from webapp.app import App
from webapp.services.ingest.open_messages import GROUP_REACH, OpenMessages
from webapp.services.session.session import Session


def opened(app: App, name: str = "s", estimate: int = 500) -> OpenMessages:
    """Return the open messages of a new batch, for a session with `estimate` tokens."""
    session = Session.load(app.environment, name)
    session.main.totals = {"user": (estimate, 1)}
    return OpenMessages(session, [], {})


class TestAnEntry:
    """An entry of the batch."""

    def test_without_a_group_begins_a_message(self, app: App) -> None:
        """The message gets the next number at the end of the log."""
        followed(app, user("go"), said("yes"))
        found = opened(app)
        one, two = found.of(entry(5, said("a"))), found.of(entry(6, said("b")))
        assert (one.no, two.no) == (3, 4)
        assert (one.first_seq, one.estimate_before, one.old) == (2, 500, None)
        assert list(found.finished()) == []

    def test_of_a_group_joins_its_message(self, app: App) -> None:
        """Entries of another group form another message."""
        followed(app, user("go"))
        found = opened(app)
        one = found.of(entry(5, said("a"), group="g"))
        assert found.of(entry(6, said("b"), group="g")) is one
        assert found.of(entry(7, said("c"), group="h")) is not one

    def test_of_a_group_in_the_log_extends_its_message(self, app: App) -> None:
        """The message keeps its earlier parts, and its own tokens do not count before it."""
        followed(app, user("go"))
        app.ingest.append_records("s", [entry(5, said("a"), group="g"), entry(6, said("b"), group="g")])
        tokens = app.store.log.message(1, 2).tokens
        again = opened(app).of(entry(7, said("c"), group="g"))
        assert (again.no, again.last_source) == (2, "id-6")
        assert again.message() == Message("assistant", (Text("a"), Text("b")))
        assert again.old is not None
        assert again.estimate_before <= 500 - tokens

    def test_of_a_group_far_back_begins_a_message(self, app: App) -> None:
        """The search for a group in the log is bounded."""
        app.ingest.ensure("s", "claude-code")
        app.ingest.append_records("s", [entry(0, said("a"), group="g")])
        app.ingest.append_records("s", [entry(n, user("more")) for n in range(1, GROUP_REACH)])
        assert opened(app).of(entry(900, said("b"), group="g")).no == 1
        app.ingest.append_records("s", [entry(800, user("one more"))])
        assert opened(app).of(entry(900, said("b"), group="g")).no == GROUP_REACH + 2

    def test_that_replaces_another_belongs_to_its_message(self, app: App) -> None:
        """The group of the entry is ignored; without such a message the entry becomes a new one."""
        followed(app, user("go"), said("partial"))
        assert opened(app).of(entry(5, said("whole")), 2).no == 2
        assert opened(app).of(entry(5, said("whole")), 7).no == 3


class TestOpenMessages:
    """The messages of a batch that may still grow."""

    def test_are_finished_once(self, app: App) -> None:
        """Then they are not open any more."""
        followed(app, user("go"))
        found = opened(app)
        made = {name: found.of(entry(n, said(name), group=name)) for n, name in enumerate("gh", 5)}
        assert [found.has(name) for name in ("g", "h", "i", None)] == [True, True, False, False]
        assert list(found.finished()) == [*made.values()]
        assert list(found.finished()) == []
        assert not found.has("g")

    def test_are_not_read_from_the_log_again(self, app: App) -> None:
        """An open message has entries that the log lacks."""
        followed(app, user("go"))
        app.ingest.append_records("s", [entry(5, said("a"), group="g")])
        found = opened(app)
        waiting = found.of(entry(6, said("b"), group="g"))
        assert found.reopened(2) is waiting
        assert found.reopened(99) is None
