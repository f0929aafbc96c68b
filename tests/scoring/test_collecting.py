"""The cycle collector, paused."""

from __future__ import annotations

import gc

import pytest

from scoring.collecting import no_collector


class TestPausing:
    """What is left behind."""

    def test_goes_on_afterwards(self) -> None:
        """Also where something failed meanwhile."""
        with pytest.raises(ZeroDivisionError), no_collector():
            1 // gc.isenabled()
        assert gc.isenabled()

    def test_leaves_a_paused_collector_paused(self) -> None:
        """Whoever paused it before decides."""
        gc.disable()
        try:
            with no_collector():
                pass
            assert not gc.isenabled()
        finally:
            gc.enable()
