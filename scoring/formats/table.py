"""The table of wire formats. Nothing else names all of them."""

from __future__ import annotations

from scoring.errors import UnknownFormat, shown
from scoring.formats import anthropic, gemini, langchain, openai, responses
from scoring.formats.base import Format

FORMATS: dict[str, Format] = {
    f.name: f for f in (openai.FORMAT, responses.FORMAT, anthropic.FORMAT, gemini.FORMAT, langchain.FORMAT)
}


def must_begin_with_user(name: str, model: str | None) -> bool:
    """Return whether a list in this format has to begin with the user: by its rules or those of a model's provider.

    A library or an endpoint that takes other formats sends the list to the provider in the same order.
    """
    called = (model or "").lower()
    return any(
        format.begins_with_user
        and (format.name == name or called.startswith((*format.models, *format.models_elsewhere)))
        for format in FORMATS.values()
    )


def is_run_by_provider(call_id: str) -> bool:
    """Return whether a provider runs the call with this id itself, so that it needs no result."""
    return any(call_id.startswith(f.provider_calls) for f in FORMATS.values())


def native_format(model: str | None) -> str | None:
    """Return the format of the model's own provider; None if it does not follow from the name.

    A name before a slash is that of a gateway, and gateways use OpenAI's format.
    """
    name = (model or "").lower()
    return next((f.name for f in FORMATS.values() if name.startswith(f.models)), None)


def format_named(name: str) -> Format:
    """Return a format by its name. Raises UnknownFormat if there is none."""
    if name not in FORMATS:
        raise UnknownFormat(f"there is no format {shown(name)}; expected one of {', '.join(FORMATS)}")
    return FORMATS[name]
