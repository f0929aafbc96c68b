"""An immutable table of numbers by name, compared and hashed by content."""

from __future__ import annotations

from typing import Any, NoReturn


class Table(dict[str, float]):
    """A dict that refuses every change, so that frozen settings contain nothing that can be changed."""

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return Table, (dict(self),)

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("a table cannot be changed; make a new one")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse
