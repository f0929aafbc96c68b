"""Text for a terminal, with control characters made visible and harmless.

Titles, model names and messages come from agents, files and web pages. Control characters in them could move the
cursor, rewrite lines above, set the title, reach the clipboard or change the reading direction; each is shown as a
picture or by its number. All commands print through this module; a test finds any that does not.
"""

from __future__ import annotations

import io
import json
import logging
import re
import sys
from collections.abc import Iterator
from typing import Any

import click
from rich.console import Console, ConsoleOptions
from rich.segment import Segment

# C0 except tab and line feed, DEL, C1, and characters that change the direction or hide text.
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def safe(text: str) -> str:
    """Return a text with every control character made visible and harmless; tabs and line feeds stay."""
    return UNSAFE.sub(lambda found: _picture(ord(found[0])), text)


def _picture(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"<U+{code:04X}>"


def safe_json(text: str) -> str:
    """Return a JSON text with the same meaning, in which every control character is escaped."""
    return UNSAFE.sub(lambda found: json.dumps(found[0])[1:-1], text)


def echo(text: str, *, err: bool = False) -> None:
    """Print lines of text on stdout, or on stderr."""
    click.echo(safe(text), err=err)


def out() -> Console:
    """Return the console for answers; if stdout is not a terminal, as wide as the text needs."""
    width = None if sys.stdout.isatty() else 300
    return SafeConsole(file=sys.stdout, width=width, highlight=False, soft_wrap=True, emoji=False)


def err() -> Console:
    """Return the console for reports and progress."""
    return SafeConsole(file=sys.stderr, highlight=False, soft_wrap=True, emoji=False)


def print_all_characters() -> None:
    """Let stdout and stderr escape characters that their encoding lacks, as on Windows or in an old locale."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


class _NamedStdout(io.FileIO):
    """The file of stdout, which its errors name."""

    def write(self, data: Any, /) -> int:
        """Write bytes."""
        try:
            return super().write(data)
        except OSError as error:
            error.filename = "stdout"
            raise


def name_stdout() -> None:
    """Let errors of writing to stdout name it, unless it is a terminal: alone they do not tell what is full.

    It is buffered even under `python -u`, whose single writes to a full disk lose the rest without an error.
    """
    stream = sys.stdout
    if isinstance(stream, io.TextIOWrapper) and stream is sys.__stdout__ and not stream.isatty():
        buffer = io.BufferedWriter(_NamedStdout(stream.fileno(), "w", closefd=False))
        sys.stdout = io.TextIOWrapper(
            buffer, stream.encoding, stream.errors, line_buffering=stream.write_through
        )


def log_safely() -> None:
    """Write log records to stderr as safe text."""
    root = logging.getLogger()
    if not any(isinstance(one, SafeHandler) for one in root.handlers):
        root.addHandler(SafeHandler())


class SafeConsole(Console):
    """A console that sends no control character but its own."""

    def render(self, renderable: Any, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """Yield the pieces of an answer, safe, before their widths are measured."""
        for piece in super().render(renderable, options):
            yield piece if piece.control else Segment(safe(piece.text), piece.style)


class SafeHandler(logging.Handler):
    """A handler that prints log records as safe text, with the names and titles in them."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Print the lines of a record."""
        echo(self.format(record), err=True)
