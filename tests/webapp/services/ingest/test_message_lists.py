"""Message lists: reading them, and finding their session."""

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
    """Ids of messages, which hash the list up to each."""

    def test_differ_for_equal_messages(self) -> None:
        """Equal beginnings give equal ids, and a list can be continued."""
        ids = ids_of(MESSAGES)
        assert len(set(ids)) == 4
        assert ids_of(MESSAGES[:2]) == ids[:2]
        assert ids_of(MESSAGES[2:], before=ids[1]) == ids[2:]


class TestRead:
    """Reading a message list of a program."""

    def test_reads_the_prompt_from_the_body(self) -> None:
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

    @pytest.mark.parametrize(
        "kind",
        [
            "mcp_approval_request", "mcp_approval_response", "mcp_list_tools", "program", "program_output",
            "tool_search_output", "additional_tools", "configuration_update", "compaction_trigger",
        ],
    )  # fmt: skip
    def test_recognises_a_single_item_of_responses(self, kind: str) -> None:
        """An item alone has nothing but its type to be known by."""
        assert read_list([{"type": kind, "id": "x"}]).format == "responses"

    def test_takes_items_of_new_types_in_a_session_of_responses(self) -> None:
        """The API gets new ones often. No other format has such objects."""
        item = {"type": "hologram", "id": "x"}
        [message] = read_list([item], "responses").messages
        assert message.wire is not None
        assert message.wire.value is item
        for name in (None, "openai", "anthropic"):
            with pytest.raises(UnknownFormat):
                read_list([item], name)
        with pytest.raises(UnknownFormat):
            read_list([{"id": "x"}], "responses")

    @pytest.mark.parametrize("value", [7, "text", [1], {"a": 1}])
    def test_refuses_values_without_messages(self, value: Any) -> None:
        """A value that is no message list is an error."""
        with pytest.raises(UnknownFormat):
            read_list(value)


class TestEntries:
    """The entries of a message list, with its usage."""

    def test_attach_usage_to_the_last_answer(self) -> None:
        """If the last message is not the assistant's, the usage is a separate report."""
        records = entries_of(MESSAGES, ids_of(MESSAGES), usage(5))
        assert isinstance(records[-1], Entry)
        assert records[-1].usage == usage(5)
        records = entries_of(MESSAGES[:3], ids_of(MESSAGES[:3]), usage(5))
        assert isinstance(records[-1], UsageReport)


class TestSession:
    """The session that a list belongs to."""

    def test_has_the_longest_common_beginning(self, app: App) -> None:
        """A list with another continuation belongs to another session."""
        ids = ids_of(MESSAGES)
        for name, count in (("two", 2), ("three", 3)):
            app.ingest.ensure(name, "import", "managed")
            app.ingest.append_list(name, MESSAGES[:count], ids[:count], None)
        assert session_of(app.store, ids).id == "three"
        assert session_of(app.store, ids[:1]).id in ("two", "three")
        other = ids_of([user("a"), said("something else")])
        assert session_of(app.store, other) is None
        assert session_of(app.store, []) is None
