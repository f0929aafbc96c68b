"""Proposed learnings."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scoring.messages import REMINDER
from tests.webapp.building import call, entries, followed, heard, result, said, user
from webapp.app import App
from webapp.events import MemoriesChanged

DECIDED = "Never run the migration twice because it drops the table."


class TestProposals:
    """Learnings proposed after a turn."""

    def test_come_from_turns_with_tools(self, app: App) -> None:  # M8
        """Decisions of the turn are proposed, and reading proposals stores nothing."""
        followed(app, user("go"), call("c1"), result("c1", "ok"), said(DECIDED))
        found = app.proposals.of("s")
        assert [one.text for one in found] == [DECIDED]
        assert app.memory.listed("learning") == []

    def test_name_their_message(self, app: App) -> None:  # M8
        """A proposal has the number and id of its message and the title of its session."""
        followed(app, user("go"), call("c1"), result("c1", "ok"), said(DECIDED))
        [one] = app.proposals.of("s")
        assert (one.session_id, one.session_title, one.number) == ("s", "go", 4)
        assert app.messages.one("s", one.message_id).number == 4

    def test_exclude_a_deleted_session_of_the_same_id(self, app: App) -> None:  # M8
        """A session that comes back with other messages has proposals of its own."""
        followed(app, user("go"), call("c1"), result("c1", "ok"), said(DECIDED))
        assert len(app.proposals.of("s")) == 1
        app.sessions.delete("s")
        app.ingest.ensure("s", "claude-code", asked=True)
        followed(app, user("go"), call("c1"), result("c1", "ok"), said("Done."))
        assert app.proposals.of("s") == app.proposals.recent() == []

    def test_exclude_mere_requests(self, app: App) -> None:  # M8
        """A user's request is proposed only if it refuses something or gives a reason."""
        asked = "Use tabs instead of spaces in the parser."
        followed(app, user(asked), call("c1"), result("c1", "ok"))
        assert app.proposals.of("s") == []
        why = "Never use spaces in the parser because the linter breaks."
        followed(app, user(why), call("c1"), result("c1", "ok"), session_id="t")
        assert [one.text for one in app.proposals.of("t")] == [why]

    @pytest.mark.parametrize(
        "words",
        [
            "Let me also check whether the parser never fails because of the linter.",
            "OK, now I'll use tabs instead of spaces because the linter breaks.",
            "Do not push.",
            "Coverage is at 70% because the new parser isn't tested yet.",
        ],
    )
    def test_exclude_sentences_about_the_moment(self, app: App, words: str) -> None:  # M8
        """Only facts that are useful in another session are proposed."""
        followed(app, user("go"), call("c1"), result("c1", "ok"), said(words))
        assert app.proposals.of("s") == []

    def test_exclude_answers_of_users_about_themselves(self, app: App) -> None:  # M8
        """Not knowing something is no preference, but not wanting something is."""
        for name, words in (
            ("s", "No, I don't remember the id because it is long."),
            ("t", "No, I do not want emails because I never read them."),
        ):
            followed(app, user(words), call("c1"), result("c1", "ok"), session_id=name)
        assert app.proposals.of("s") == []
        assert len(app.proposals.of("t")) == 1

    def test_exclude_text_of_the_agents_program(self, app: App) -> None:  # M8
        """The text of a command has the role of the user, but the user did not write it."""
        prompt = replace(user("Never repeat yourself in the file because readers skip it."), name=REMINDER)
        followed(app, user("go"), prompt, call("c1"), result("c1", "ok"))
        assert app.proposals.of("s") == []

    def test_exclude_near_duplicates(self, app: App) -> None:  # M8
        """Of two sentences with mostly the same words only one is proposed."""
        again = "- Never run the migration twice because it drops the whole table."
        followed(app, user("go"), call("c1"), result("c1", "ok"), said(f"{DECIDED}\n{again}"))
        assert len(app.proposals.of("s")) == 1

    def test_exclude_sub_agents(self, app: App) -> None:  # M8
        """Instructions to a sub-agent apply to one task only."""
        why = "Never use spaces in the parser because the linter breaks."
        followed(app, user(why), call("c1"), result("c1", "ok"))
        app.store.sessions.update(app.store.sessions.get("s").key, parent_id="above")
        assert app.proposals.of("s") == []

    def test_are_not_repeated_after_being_kept_or_dismissed(self, app: App) -> None:  # M8
        """A proposal returns only if its dismissal is undone."""
        followed(app, user("go"), call("c1"), result("c1", "ok"), said(DECIDED))
        app.proposals.dismiss(DECIDED)
        assert app.proposals.of("s") == app.proposals.recent() == []
        app.proposals.propose_again(DECIDED)
        assert len(app.proposals.of("s")) == 1
        app.memory.add("learning", DECIDED)
        assert app.proposals.of("s") == app.proposals.recent() == []

    def test_announce_a_dismissal_and_its_undo(self, app: App) -> None:  # M8
        """Open pages show it."""
        events = heard(app)
        app.proposals.dismiss(DECIDED)
        app.proposals.propose_again(DECIDED)
        assert events == [MemoriesChanged()] * 2

    def test_of_all_sessions_contain_each_text_once(self, app: App) -> None:  # M8
        """Recently active sessions come first, and their later sentences count."""
        for name in ("a", "b"):
            followed(app, user("go"), call("c1"), result("c1", "ok"), said(DECIDED), session_id=name)
        assert [one.text for one in app.proposals.recent()] == [DECIDED]
        more = [
            user("more"),
            call("c2"),
            result("c2", "ok"),
            said("Never push on a Friday because it breaks."),
        ]
        app.ingest.append_records("b", entries(*more, start=10))
        texts = [one.text for one in app.proposals.recent()]
        assert texts == ["Never push on a Friday because it breaks.", DECIDED]

    def test_exclude_turns_without_tools(self, app: App) -> None:  # M8
        """A turn without tools gives no proposal, even with a decision."""
        followed(app, user("We must never do that because it breaks."))
        assert app.proposals.of("s") == []
