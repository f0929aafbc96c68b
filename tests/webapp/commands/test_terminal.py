"""Stored text in a terminal, whose control characters must have no effect."""

from __future__ import annotations

import io
import json
import logging
import re

import pytest
from rich.table import Table

from tests.sources import read_modules
from webapp.commands.terminal import SafeConsole, SafeHandler, out, safe, safe_json

# Control characters of terminals: title and clipboard (OSC), cursor and colours (CSI), both in eight bits, device
# control, bells, backspaces, carriage returns, and characters that change the direction or are invisible.
EVIL = (
    "\x1b]0;title\x07 \x1b]52;c;ZXZpbA==\x1b\\ \x1b[2J\x1b[1A \x9b2J \x9d0;x\x9c \x90q\x9c \x08\x08 a\rb \x7f \x85"
    " \u202eesrever\u202c \u2066x\u2069 \u200b \u061c \ufeff \U000e0041"
)
OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\U000e0041]"
)


class TestText:
    """Text of agents, files and web pages."""

    def test_escapes_every_control_character(self) -> None:
        """Each control character is replaced by a visible form."""
        assert OBEYED.search(safe(EVIL)) is None
        assert safe("\x1b[31m\x9b\u202e") == "␛[31m<U+009B><U+202E>"

    def test_keeps_all_other_characters(self) -> None:
        """Text in any script is unchanged, with tabs and line feeds."""
        for text in ("Grüße, 世界, مرحبا, 👩\u200d👧", "a\tb\nc", "│ ▲ …"):
            assert safe(text) == text

    def test_means_the_same_in_json(self) -> None:
        """Control characters are escaped, so that a program reads the stored text."""
        text = json.dumps({"title": EVIL}, ensure_ascii=False)
        assert OBEYED.search(safe_json(text)) is None
        assert json.loads(safe_json(text)) == {"title": EVIL}

    @pytest.mark.parametrize("is_terminal", [True, False])
    def test_is_safe_in_a_table(self, is_terminal: bool) -> None:
        """Cells, headings and titles are escaped, and Coppice's own colours stay."""
        file = io.StringIO()
        console = SafeConsole(file=file, force_terminal=is_terminal, width=300)
        table = Table(EVIL, title=EVIL, header_style="bold")
        table.add_row(EVIL)
        console.print(table)
        console.print(EVIL)
        shown = re.sub("\x1b\\[[0-9;]*m", "", file.getvalue())
        assert OBEYED.search(shown) is None
        assert ("\x1b[1m" in file.getvalue()) == is_terminal

    def test_is_not_read_as_emoji_in_a_table(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A title such as "Fix :bug:" stays as it is."""
        table = Table(":bug:")
        table.add_row("Fix :bug:")
        out().print(table)
        assert capsys.readouterr().out.count(":bug:") == 2

    def test_is_safe_in_a_log(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Log records contain names of files and titles."""
        SafeHandler().handle(logging.LogRecord("x", 30, "f", 1, "cannot read %s", (EVIL,), None))
        assert OBEYED.search(capsys.readouterr().err) is None


class TestPrinting:
    """Everything that prints."""

    def test_is_done_in_one_place(self) -> None:
        """No command prints by itself; output to a pipe or a file is JSON."""
        own = re.compile(r"click\.(s?echo|secho)\(|(?<![\w.])print\(|[^.\w]Console\(|import Console")
        printing = {name for name, module in read_modules().items() if own.search(module.text)}
        assert printing == {"webapp.commands.terminal"}
