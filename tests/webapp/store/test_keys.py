"""Keys: a session's rows lie together and apart from everyone else's."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from webapp.store.keys import MASK, bounds, key, number

NUMBERS = st.integers(0, MASK)
SESSIONS = st.integers(1, (1 << 31) - 1)


class TestKey:
    """One number for a session and a row in it."""

    @given(SESSIONS, NUMBERS)
    def test_gives_back_the_number(self, session: int, n: int) -> None:
        """The number within the session can be read from the key."""
        assert number(key(session, n)) == n

    @given(SESSIONS, NUMBERS)
    def test_lies_within_the_bounds_of_its_session_only(self, session: int, n: int) -> None:
        """Ranges of sessions do not touch, and fit SQLite's integers."""
        low, high = bounds(session)
        assert low <= key(session, n) <= high < bounds(session + 1)[0]
        assert high < 1 << 63
