"""The page on settings says what the code does."""

from __future__ import annotations

from dataclasses import fields

from scoring.settings import Settings
from scripts import document_settings


class TestThePageOnSettings:
    """docs/settings.md."""

    def test_is_what_the_code_says(self) -> None:  # B16
        """`make docs` was run after the last change of a setting, a default or a range."""
        assert document_settings.PAGE.read_text(encoding="utf-8") == document_settings.page(), (
            "stale; run `make docs`"
        )

    def test_says_what_each_setting_means(self) -> None:
        """Each field has a text below it, and each section begins at a field."""
        names = [field.name for field in fields(Settings)]
        assert list(document_settings.meanings()) == names
        assert set(document_settings.SECTIONS) <= set(names)
