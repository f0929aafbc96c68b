"""The windows of the models that pi's user defines or changes in `models.json` (pi's `core/model-registry.ts`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from webapp.agents.reading.finding import read_json_file
from webapp.agents.reading.rows import count_of, list_of, object_of, text_of

# The window of a model that is defined without one.
USUAL = 128_000


def windows_beside(session: Path) -> Mapping[tuple[str, str], int]:
    """Return the windows by provider and model, from the folder of pi that holds the file of a session.

    Empty for a file elsewhere.
    """
    folder = session.parent.parent
    if folder.name != "sessions":
        return {}
    said = object_of(read_json_file(folder.parent / "models.json", commented=True))
    return {
        (provider, model): window
        for provider, models in object_of(said.get("providers")).items()
        for model, window in _windows_of(object_of(models))
        if window
    }


def _windows_of(provider: Mapping[str, object]) -> Iterator[tuple[str, int]]:
    """Yield the windows of a provider's models: of those that are defined, then as they are changed."""
    for model in map(object_of, list_of(provider.get("models"))):
        yield text_of(model.get("id")), count_of(model.get("contextWindow", USUAL))
    for name, changes in object_of(provider.get("modelOverrides")).items():
        yield name, count_of(object_of(changes).get("contextWindow"))
