"""The family of a model: it decides the tokens that are counted around the text."""

from __future__ import annotations

from functools import lru_cache

from scoring.models.lookup import find_model
from scoring.tokens import FAMILIES, OTHER, Family


def family_of(model: str | None) -> Family:
    """Return the family of a model; `OTHER` for an unknown name.

    It is found by the name in the table of models; for a model that is not in the table, by its own name in lower case,
    without provider and with dashes for dots.
    """
    return _family((model or "").strip().lower())


@lru_cache(maxsize=1_024)
def _family(model: str) -> Family:
    row = find_model(model)
    plain = (row.name if row.known else model.rsplit("/", 1)[-1]).replace(".", "-")
    fitting = [start for start in FAMILIES if plain.startswith(start)]
    return FAMILIES[max(fitting, key=len)] if fitting else OTHER
