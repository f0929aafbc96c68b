"""The facts about a session, each yielded once it is known and whenever it changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from webapp.agents.reading.rows import optional, short_title
from webapp.agents.records import Meta


class KnownMeta:
    """The known facts about a session, named as in `Meta`. `known` holds them, JSON-ready, and can be stored.

    `has_title` is True for a file whose title is known from elsewhere.
    """

    def __init__(self, known: dict[str, Any] | None = None, *, has_title: bool = False) -> None:
        self._known = {} if known is None else known
        self._has_title = has_title

    @property
    def model(self) -> str | None:
        """Return the model of the last answer."""
        return optional(self._known.get("model"))

    def changed(self, **facts: str | None) -> Iterator[Meta]:
        """Yield those of these facts that are neither empty nor known."""
        new = {name: value for name, value in facts.items() if value and self._known.get(name) != value}
        if new:
            self._known |= new
            yield Meta(**new)  # type: ignore[arg-type]  # the names are those of texts

    def first_words(self, words: str | None) -> Iterator[Meta]:
        """Yield a title from the user's first words; nothing if the session has a title."""
        if words and not self._has_title and not self._known.get("title"):
            yield from self.changed(title=short_title(words))
