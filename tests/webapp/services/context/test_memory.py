"""Memories and learnings: stored, searched, and found for a message."""

from __future__ import annotations

import pytest

from scoring.messages import Message
from tests.webapp.building import followed, heard, managed, mid, user, wire
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
