"""The table of models."""

from __future__ import annotations

from datetime import date

from scoring.models.table import BLUEPRINT_ROWS, ROWS, Row


def fits_window(row: Row) -> bool:
    """Return whether the limits of a row are positive, and at most its window."""
    return 0 < (row.input_limit or 1) <= row.window and 0 < (row.output_limit or 1) <= row.window


def rises(row: Row) -> bool:
    """Return whether a row has no prices, or each is at least the one below it: cached, input, output or written."""
    if row.input_price is None:
        return True
    written = row.cache_write_price is None or row.cache_write_price >= row.input_price
    return (row.cached_price or 0) <= row.input_price <= (row.output_price or 0) and written


class TestRows:
    """Rules for every row."""

    def test_say_where_they_come_from_and_when(self) -> None:  # X10
        """Each limit has a source and a date."""
        assert [row.name for row in ROWS if not row.source] == []
        assert [row.name for row in ROWS if date.fromisoformat(row.date) < date(2023, 1, 1)] == []

    def test_are_consistent(self) -> None:  # B13
        """Limits fit the window, a cached token is never dearer than a new one, output never cheaper than input."""
        assert [row.name for row in ROWS if not (fits_window(row) and rises(row))] == []

    def test_say_what_kind_of_source_it_is(self) -> None:  # X10
        """The source is a page or list that was read, or is marked as an assumption."""
        read = (
            "platform.claude.com",
            "developers.openai.com",
            "ai.google.dev",
            "docs.mistral.ai",
            "docs.x.ai",
        )
        more = ("api-docs.deepseek.com", "alibabacloud.com", "dev.meta.ai", "huggingface.co", "vercel.com")
        known = (*read, *more, "genai-prices", "litellm", "pi ", "assumed: ")
        assert [row.name for row in ROWS if not row.source.startswith(known)] == []

    def test_have_names_of_their_own(self) -> None:
        """No model has two rows."""
        names = [row.name for row in ROWS]
        assert len(set(names)) == len(names)

    def test_cover_the_makers_people_use(self) -> None:  # B13
        """Anthropic, OpenAI, Google, Mistral, DeepSeek, xAI, Qwen and Meta."""
        makers = {row.name.split("-")[0].rstrip("0123456789.") for row in ROWS}
        assert makers >= {"claude", "gpt", "gemini", "mistral", "deepseek", "grok", "qwen", "llama"}

    def test_of_blueprint_are_three(self) -> None:  # B13
        """The preset's windows do not grow with the table."""
        assert [(r.name, r.window) for r in BLUEPRINT_ROWS] == [
            ("gemini-2.5-flash", 1_000_000),
            ("claude-4.5", 200_000),
            ("gpt-5", 128_000),
        ]
