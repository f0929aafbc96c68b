"""A summary as a value."""

from __future__ import annotations

from scoring.summary.summary import Summary


class TestSummary:
    """The text of a summary."""

    def test_has_a_heading_that_says_what_it_covers(self) -> None:  # M6
        """Depth, messages, days; a summary of one day names it twice."""
        assert Summary("s", "", 2, 45, "2024-01-15", "2024-01-16").heading == (
            "[Summary: depth 2, 45 messages, covers 2024-01-15 to 2024-01-16]"
        )
        assert Summary("s", "", 1, 1, "2024-01-15").heading.endswith(
            "1 message, covers 2024-01-15 to 2024-01-15]"
        )
        assert Summary("s", "").heading == "[Summary: depth 1, 0 messages]"

    def test_is_read_as_a_user_message_with_its_note(self) -> None:  # P6
        """The note of an emergency stands in it."""
        said = Summary("s", "what was", note="Emergency compression dropped 4 oldest messages").as_message()
        assert said.role == "user"
        assert said.text.endswith("what was\n[Emergency compression dropped 4 oldest messages]")
