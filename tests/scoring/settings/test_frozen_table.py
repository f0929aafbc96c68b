"""Tables of numbers that cannot be changed."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest

from scoring.settings.frozen_table import Table


class TestTable:
    """A dict that refuses changes."""

    @pytest.mark.parametrize(
        "change",
        [
            lambda t: t.update(a=2),
            lambda t: t.pop("a"),
            lambda t: t.clear(),
            lambda t: t.setdefault("b", 1),
            lambda t: t.__delitem__("a"),
            lambda t: t.popitem(),
        ],
    )
    def test_refuses_every_change(self, change: Callable[[Table], object]) -> None:
        """Every method that changes a dict raises an error."""
        table = Table(a=1)
        with pytest.raises(TypeError, match="cannot be changed"):
            change(table)
        assert table == {"a": 1}

    def test_is_equal_and_hashed_by_content(self) -> None:
        """Order does not matter; a pickled copy is equal."""
        assert hash(Table(a=1, b=2)) == hash(Table(b=2, a=1))
        assert pickle.loads(pickle.dumps(Table(a=1))) == Table(a=1)
