"""The table of wire formats. Nothing else names all of them."""

from __future__ import annotations

from scoring.formats import anthropic, gemini, langchain, openai, responses
from scoring.formats.base import Format

FORMATS: dict[str, Format] = {
    f.name: f for f in (openai.FORMAT, responses.FORMAT, anthropic.FORMAT, gemini.FORMAT, langchain.FORMAT)
}


def must_begin_with_user(name: str) -> bool:
    """Return whether a list in this format has to begin with the user; False for a format not in the table."""
    return name in FORMATS and FORMATS[name].begins_with_user
