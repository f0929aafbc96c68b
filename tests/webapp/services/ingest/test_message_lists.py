"""Message lists: their session, and the facts they contain."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.errors import UnknownFormat
from tests.webapp.building import said, usage, user
from webapp.agents.records import Entry, UsageReport
from webapp.app import App
from webapp.services.ingest.message_lists import entries_of, ids_of, read_list, session_of

MESSAGES = [user("a"), said("b"), user("a"), said("b")]


class TestIds:
    """A message's id is the hash of the list up to it."""

    def test_differ_for_equal_messages(self) -> None:
        """Lists with the same beginning give the same ids."""
        ids = ids_of(MESSAGES)
        assert len(set(ids)) == 4
        assert ids_of(MESSAGES[:2]) == ids[:2]
        assert ids_of(MESSAGES[2:], before=ids[1]) == ids[2:]


class TestRead:
    """Reading a program's value into messages."""

    def test_takes_the_prompt_out_of_the_body(self) -> None:
        """The prompt becomes the first message; the other fields stay in the envelope."""
        found = read_list(
            {
                "model": "m",
                "system": "be brief",
                "max_tokens": 5,
                "messages": [{"role": "user", "content": "hi"}],
            }
        )
        assert [m.role for m in found.messages] == ["system", "user"]
        assert found.messages[0].text == "be brief"
        assert "system" not in found.envelope
        assert found.envelope["max_tokens"] == 5

    def test_prefers_the_format_of_the_session(self) -> None:
        """The session's format decides for a list that several formats recognise."""
        plain = [{"role": "user", "content": "hi"}]
        assert read_list(plain).format == "openai"
        assert read_list(plain, "anthropic").format == "anthropic"
        assert read_list([{"role": "user", "parts": [{"text": "hi"}]}], "anthropic").format == "gemini"

    @pytest.mark.parametrize("value", [7, "text", [1], {"a": 1}])
    def test_refuses_what_is_no_list(self, value: Any) -> None:
        """The error says what the value looked like."""
        with pytest.raises(UnknownFormat):
            read_list(value)


class TestEntries:
    """Entries and the usage reported with them."""

    def test_give_usage_to_the_answer_it_was_for(self) -> None:
        """Usage belongs to the last message if that is the assistant's; otherwise it is a separate report."""
        records = entries_of(MESSAGES, ids_of(MESSAGES), usage(5))
        assert isinstance(records[-1], Entry)
        assert records[-1].usage == usage(5)
        records = entries_of(MESSAGES[:3], ids_of(MESSAGES[:3]), usage(5))
        assert isinstance(records[-1], UsageReport)


class TestSession:
    """The session that a list belongs to."""

    def test_is_the_one_with_the_longest_common_beginning(self, app: App) -> None:
        """A shorter list, the same, or a longer one; another continuation is another session."""
        ids = ids_of(MESSAGES)
        for name, count in (("two", 2), ("three", 3)):
            app.ingest.ensure(name, "import", "managed")
            app.ingest.append_list(name, MESSAGES[:count], ids[:count], None)
        assert session_of(app.store, ids).id == "three"
        assert session_of(app.store, ids[:1]).id in ("two", "three")
        other = ids_of([user("a"), said("something else")])
        assert session_of(app.store, other) is None
        assert session_of(app.store, []) is None
