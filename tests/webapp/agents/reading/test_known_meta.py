"""The facts about a session."""

from __future__ import annotations

import pytest

from webapp.agents.reading.known_meta import KnownMeta
from webapp.agents.records import Meta


class TestFacts:
    """The facts that a decoder passes on."""

    def test_come_together_once_and_again_when_they_change(self) -> None:
        """Empty facts are left out, and an empty one changes nothing."""
        facts = KnownMeta()
        assert [*facts.changed(cwd="/a", model="m", version=None)] == [Meta(cwd="/a", model="m")]
        assert [*facts.changed(cwd="/a", model="n")] == [Meta(model="n")]
        assert [*facts.changed(cwd="/a", model=None)] == []
        assert facts.model == "n"

    def test_are_known_from_an_earlier_read(self) -> None:
        """The stored facts are not yielded again, and are updated."""
        known = {"cwd": "/a"}
        assert [*KnownMeta(known).changed(cwd="/a", title="A garden")] == [Meta(title="A garden")]
        assert known == {"cwd": "/a", "title": "A garden"}


class TestTheTitle:
    """The title from the user's first words."""

    def test_is_that_of_the_first_words(self) -> None:
        """Later words and none are ignored."""
        facts = KnownMeta()
        words = [None, " ", "Plan a\ngarden", "Now plant it"]
        assert [meta.title for one in words for meta in facts.first_words(one)] == ["Plan a garden"]

    @pytest.mark.parametrize("facts", [KnownMeta({"title": "A garden"}), KnownMeta(has_title=True)])
    def test_never_replaces_another(self, facts: KnownMeta) -> None:
        """The session has a title, or its file has one."""
        assert [*facts.first_words("Plan a garden")] == []
