"""Replacements: the stored text, its cost, and the text that the model reads."""

from __future__ import annotations

from scoring.history import Features, content_of
from scoring.messages import Message, Text, ToolResult
from tests.webapp.building import conversation, followed
from webapp.app import App
from webapp.services.session.replacements import Replacement, features_with, sent_tokens, with_replacement

OUTPUTS = Message("tool", (ToolResult("a", "long " * 9), ToolResult("b", "as it is")))


class TestReplacement:
    """A replacement text for a message of the log."""

    def test_has_its_own_cost(self, app: App) -> None:
        """Without a replacement a message costs its own tokens."""
        followed(app, *conversation(1))
        message = app.store.log.message(1, 3)
        assert message is not None
        assert sent_tokens(message, None) == message.tokens
        assert sent_tokens(message, Replacement(7, {}).text) == 7

    def test_replaces_the_outputs_it_names(self) -> None:  # C3
        """Other outputs stay unchanged."""
        made = with_replacement(OUTPUTS, Replacement(7, {"a": "[cut]"}).text)
        assert [one.text for one in made.results] == ["[cut]", "as it is"]

    def test_with_parts_replaces_the_whole_message(self) -> None:
        """The parts replace the whole message, including results named in the replacement."""
        parts = (Text("in short"),)
        assert with_replacement(OUTPUTS, Replacement(7, {"a": "[cut]"}, parts).text).parts == parts

    def test_is_optional(self) -> None:
        """A message without a replacement stays the same object."""
        assert with_replacement(OUTPUTS, None) is OUTPUTS

    def test_replaces_the_features_of_the_message(self) -> None:
        """A plan reads its tokens and words, and not those of the replaced output."""
        whole = Features("tool", tokens=90, chars=400, traces="/a/b.py")
        short = features_with(whole, Replacement(7, {"a": "see /c.py"}).text)
        assert (short.tokens, short.chars, short.traces) == (7, 9, "")
        assert short.content == content_of("see /c.py", ["see /c.py"])
        assert features_with(whole, Replacement(5, {}, (Text("in short"),)).text).tokens == 5
