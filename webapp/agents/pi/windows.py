"""The windows that the user sets for models in pi's `models.json`: for own models, and for others at their provider."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scoring.models import ModelLimits, name_at
from webapp.agents.reading.finding import folder_of, read_json_file
from webapp.agents.reading.rows import count_of, list_of, object_of, text_of

# The window of a model of the user's own that has none in the file.
USUAL = 128_000


def declared(env: Mapping[str, str], _cwd: str | None) -> Iterator[tuple[str, int]]:
    """Yield the models with a window, and the window of each."""
    file = folder_of(env, "PI_CODING_AGENT_DIR", ".pi", "agent") / "models.json"
    config = object_of(read_json_file(file, commented=True))
    for provider, about in object_of(config.get("providers")).items():
        models = map(object_of, list_of(object_of(about).get("models")))
        own = {text_of(model.get("id")): {"contextWindow": USUAL} | model for model in models}
        for name, model in (object_of(object_of(about).get("modelOverrides")) | own).items():
            if name and (window := count_of(object_of(model).get("contextWindow"))):
                yield name_at(provider, name), window


def usual_window(model: ModelLimits, _version: str, _behind_proxy: bool) -> int | None:
    """Return the window that pi takes for an own model without one, None for a known model."""
    return None if model.known else USUAL
