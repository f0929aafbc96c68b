"""Memories and learnings: stored, searched, found for a message and proposed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scoring.messages import REMINDER, Message
from tests.webapp.building import call, entries, followed, heard, managed, mid, result, said, user, wire
from webapp.app import App
from webapp.errors import Invalid, NotFound
from webapp.events import MemoriesChanged


class TestMemory:
    """Memories and learnings, which behave alike."""

    @pytest.mark.parametrize("kind", ["memory", "learning"])
    def test_are_added_edited_searched_and_deleted(self, app: App, kind: str) -> None:  # M8
        """Each has its id."""
        made = app.memory.add(kind, "  the port is 8080 ")
        assert made.text == "the port is 8080"
        assert app.memory.get(kind, made.id) == made
        changed = app.memory.change(kind, made.id, "the port is 9090")
        assert app.memory.listed(kind, "9090 nothing") == [changed]
        assert app.memory.listed(kind, "8080") == []
        app.memory.delete(kind, made.id)
        with pytest.raises(NotFound):
            app.memory.get(kind, made.id)

    @pytest.mark.parametrize("kind", ["memory", "learning"])
    def test_announce_each_change(self, app: App, kind: str) -> None:  # M8
        """Open pages show it."""
        events = heard(app)
        number = app.memory.add(kind, "deploy on Mondays").id
        app.memory.change(kind, number, "deploy on Tuesdays")
        app.memory.delete(kind, number)
        assert events == [MemoriesChanged()] * 3

    def test_are_recorded_from_a_message(self, app: App) -> None:  # M8
        """The learning has the text, session and id of the message."""
        followed(app, user("never deploy on Fridays"))
        made = app.memory.add("learning", session_id="s", message_id=mid(app, "s", 1))
        assert made.text == "never deploy on Fridays"
        assert (made.session_id, made.message_id) == ("s", mid(app, "s", 1))

    @pytest.mark.parametrize("text", ["", "   ", None, "x" * 5_000])
    def test_need_a_text(self, app: App, text: str | None) -> None:
        """Empty and overlong texts are refused."""
        with pytest.raises(Invalid):
            app.memory.add("memory", text)

    def test_refuse_an_unknown_message(self, app: App) -> None:
        """The error names an unknown session or message, or the missing session."""
        with pytest.raises(NotFound):
            app.memory.add("memory", text="x", session_id="nope")
        followed(app, user("hi"))
        for text in ({}, {"text": "x"}):
            with pytest.raises(NotFound):
                app.memory.add("memory", session_id="s", message_id="m9-00000000", **text)
            with pytest.raises(Invalid, match="expected the message's session"):
                app.memory.add("memory", message_id=mid(app, "s", 1), **text)
        assert app.memory.listed("memory") == []

    def test_are_found_for_a_message_by_its_words(self, app: App) -> None:  # M3
        """A message without words finds no memory."""
        app.memory.add("memory", "the parser lives in src/parser.py")
        app.memory.add("learning", "parser tests need the cache")
        app.memory.add("learning", "answer in short sentences")
        memories, learnings = app.memory.relevant(user("please fix all parsers and the parser"), 5)
        assert memories == ["the parser lives in src/parser.py"]
        assert learnings == ["parser tests need the cache", "answer in short sentences"]
        assert app.memory.relevant(Message("user"), 1) == ([], ["answer in short sentences"])
        app.memory.add("memory", "the parser lives in src/parser.py")
        assert app.memory.relevant(user("please fix the parser"), 5)[0] == memories

    def test_prefer_learnings_with_a_stem_of_the_message(self, app: App) -> None:  # M3
        """Learnings that share a word stem come first, and the newest fill the rest."""
        for n in range(4):
            app.memory.add("learning", f"rule {n}")
        app.memory.add("learning", "tests are deployed on Mondays")
        app.memory.add("learning", "rule 4")
        _, learnings = app.memory.relevant(user("when do we deploy?"), 3)
        assert learnings == ["tests are deployed on Mondays", "rule 4", "rule 3"]


DECIDED = "Never run the migration twice because it drops the table."


class TestProposals:
    """Learnings proposed after a turn."""

    def test_come_from_turns_with_tools(self, app: App) -> None:  # M8
        """Decisions of the turn are proposed, and reading proposals stores nothing."""
        followed(app, user("go"), call("c1"), result("c1", "ok"), said(DECIDED))
        found = app.memory.proposals("s")
        assert [one.text for one in found] == [DECIDED]
        assert app.memory.listed("learning") == []

    def test_name_their_message(self, app: App) -> None:  # M8
        """A proposal has the number and id of its message and the title of its session."""
        followed(app, user("go"), call("c1"), result("c1", "ok"), said(DECIDED))
        [one] = app.memory.proposals("s")
        assert (one.session_id, one.session_title, one.number) == ("s", "go", 4)
        assert app.messages.one("s", one.message_id).number == 4

    def test_exclude_a_deleted_session_of_the_same_id(self, app: App) -> None:  # M8
        """A session that comes back with other messages has proposals of its own."""
        followed(app, user("go"), call("c1"), result("c1", "ok"), said(DECIDED))
        assert len(app.memory.proposals("s")) == 1
        app.sessions.delete("s")
        app.ingest.ensure("s", "claude-code", asked=True)
        followed(app, user("go"), call("c1"), result("c1", "ok"), said("Done."))
        assert app.memory.proposals("s") == app.memory.proposed() == []

    def test_exclude_mere_requests(self, app: App) -> None:  # M8
        """A user's request is proposed only if it refuses something or gives a reason."""
        asked = "Use tabs instead of spaces in the parser."
        followed(app, user(asked), call("c1"), result("c1", "ok"))
        assert app.memory.proposals("s") == []
        why = "Never use spaces in the parser because the linter breaks."
        followed(app, user(why), call("c1"), result("c1", "ok"), session_id="t")
        assert [one.text for one in app.memory.proposals("t")] == [why]

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
        assert app.memory.proposals("s") == []

    def test_exclude_answers_of_users_about_themselves(self, app: App) -> None:  # M8
        """Not knowing something is no preference, but not wanting something is."""
        for name, words in (
            ("s", "No, I don't remember the id because it is long."),
            ("t", "No, I do not want emails because I never read them."),
        ):
            followed(app, user(words), call("c1"), result("c1", "ok"), session_id=name)
        assert app.memory.proposals("s") == []
        assert len(app.memory.proposals("t")) == 1

    def test_exclude_text_of_the_agents_program(self, app: App) -> None:  # M8
        """The text of a command has the role of the user, but the user did not write it."""
        prompt = replace(user("Never repeat yourself in the file because readers skip it."), name=REMINDER)
        followed(app, user("go"), prompt, call("c1"), result("c1", "ok"))
        assert app.memory.proposals("s") == []

    def test_exclude_near_duplicates(self, app: App) -> None:  # M8
        """Of two sentences with mostly the same words only one is proposed."""
        again = "- Never run the migration twice because it drops the whole table."
        followed(app, user("go"), call("c1"), result("c1", "ok"), said(f"{DECIDED}\n{again}"))
        assert len(app.memory.proposals("s")) == 1

    def test_exclude_sub_agents(self, app: App) -> None:  # M8
        """Instructions to a sub-agent apply to one task only."""
        why = "Never use spaces in the parser because the linter breaks."
        followed(app, user(why), call("c1"), result("c1", "ok"))
        app.store.sessions.update(app.store.sessions.get("s").key, parent_id="above")
        assert app.memory.proposals("s") == []

    def test_are_not_repeated_after_being_kept_or_dismissed(self, app: App) -> None:  # M8
        """A proposal returns only if its dismissal is undone."""
        followed(app, user("go"), call("c1"), result("c1", "ok"), said(DECIDED))
        app.memory.dismiss(DECIDED)
        assert app.memory.proposals("s") == app.memory.proposed() == []
        app.memory.propose_again(DECIDED)
        assert len(app.memory.proposals("s")) == 1
        app.memory.add("learning", DECIDED)
        assert app.memory.proposals("s") == app.memory.proposed() == []

    def test_announce_a_dismissal_and_its_undo(self, app: App) -> None:  # M8
        """Open pages show it."""
        events = heard(app)
        app.memory.dismiss(DECIDED)
        app.memory.propose_again(DECIDED)
        assert events == [MemoriesChanged()] * 2

    def test_of_all_sessions_contain_each_text_once(self, app: App) -> None:  # M8
        """Recently active sessions come first, and their later sentences count."""
        for name in ("a", "b"):
            followed(app, user("go"), call("c1"), result("c1", "ok"), said(DECIDED), session_id=name)
        assert [one.text for one in app.memory.proposed()] == [DECIDED]
        more = [
            user("more"),
            call("c2"),
            result("c2", "ok"),
            said("Never push on a Friday because it breaks."),
        ]
        app.ingest.append_records("b", entries(*more, start=10))
        texts = [one.text for one in app.memory.proposed()]
        assert texts == ["Never push on a Friday because it breaks.", DECIDED]

    def test_exclude_turns_without_tools(self, app: App) -> None:  # M8
        """A turn without tools gives no proposal, even with a decision."""
        followed(app, user("We must never do that because it breaks."))
        assert app.memory.proposals("s") == []


class TestEnrichment:
    """Memories and learnings in the context."""

    def test_extends_the_system_prompt(self, app: App) -> None:  # M3
        """Memories follow under a heading, and reading the context changes nothing."""
        session = managed(app, wire("system", "Be brief."), wire("user", "fix the parser"))
        before = app.context.get(session).messages
        app.memory.add("memory", "the parser lives in src/parser.py")
        made = app.context.get(session)
        assert made.messages[0]["role"] == "system"
        assert made.messages[0]["content"].startswith("Be brief.\n\n## Relevant Memory\n\n- the parser lives")
        assert made.messages[1:] == before[1:]
        assert made.memories == 1
        assert app.context.get(session).messages == made.messages
