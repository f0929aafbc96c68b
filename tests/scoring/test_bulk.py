"""The collector stands still, and goes on."""

from __future__ import annotations

import gc

import pytest

from scoring.bulk import no_collection


class TestNoCollection:
    """Around building many objects."""

    def test_switches_off_and_on_again(self) -> None:
        """Also when something fails inside, and when nested."""

        def fail() -> None:
            with no_collection():
                assert not gc.isenabled()
                with no_collection():
                    pass
                assert not gc.isenabled()
                raise KeyError

        with pytest.raises(KeyError):
            fail()
        assert gc.isenabled()
