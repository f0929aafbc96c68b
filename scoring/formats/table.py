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


def is_run_by_provider(call_id: str) -> bool:
    """Return whether a provider runs the call with this id itself, so that it needs no result."""
    return any(call_id.startswith(f.provider_calls) for f in FORMATS.values())


def native_format(model: str | None) -> str | None:
    """Return the format of the model's own provider; None if it does not follow from the name.

    A name before a slash is that of a gateway, and gateways use OpenAI's format.
    """
    name = (model or "").lower()
    return next((f.name for f in FORMATS.values() if name.startswith(f.models)), None)
