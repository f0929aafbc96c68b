"""The page on settings says what the code does."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from scoring.settings import BLUEPRINT, FORESIGHT, STRATEGIES, Settings
from scoring.signals import SIGNALS
from scripts import document_settings
from tests.shared import ROOT

STAGES = [field.name for field in fields(Settings) if field.name.startswith("stage_")]


def row_of(page: str, name: str) -> list[str]:
    """Return the cells behind the name of a row in a table of a page that is written by hand."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    row = re.search(rf"^\| {name} \|(.*)\|$", text, re.MULTILINE)
    assert row is not None, f"add a row {name} to docs/{page}"
    return [cell.strip() for cell in row[1].split("|")]


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


class TestTheTablesByHand:
    """The tables of signals, strategies and stages, which have more words than the code."""

    @pytest.mark.parametrize("name", SIGNALS)
    def test_have_each_signal_with_its_weight(self, name: str) -> None:
        """The weight is that of *Foresight*, which the table explains."""
        assert row_of("retention.md", name)[-1] == f"{FORESIGHT.weights[name]:g}"

    @pytest.mark.parametrize("name", STRATEGIES)
    def test_have_each_strategy(self, name: str) -> None:
        """The row says what it does."""
        assert row_of("context.md", f"`{name}`")

    @pytest.mark.parametrize("name", STAGES)
    def test_have_each_stage_with_its_defaults(self, name: str) -> None:
        """A stage is on or off in *Foresight* and in *Blueprint*."""
        values = [getattr(settings, name) for settings in (FORESIGHT, BLUEPRINT)]
        assert row_of("retention.md", f"`{name}`")[-2:] == [
            "off" if one in (False, "off") else "on" for one in values
        ]
