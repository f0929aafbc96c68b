"""Tokens and sessions: which are accepted, which no longer are, and what is stored of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from webapp.access.keys import SESSION_MS, Keys
from webapp.access.passes import OPERATOR, SENDER, VIEWER, Pass
from webapp.errors import Invalid, NotFound
from webapp.store import Store

SERVER = "127.0.0.1:5000"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A fresh store."""
    made = Store(tmp_path / "c.db")
    yield made
    made.close()


@pytest.fixture
def now() -> list[int]:
    """The time in milliseconds, to be moved."""
    return [1_000_000]


@pytest.fixture
def keys(store: Store, now: list[int]) -> Keys:
    """The keys of a store without a configured token."""
    return Keys(store, clock=lambda: now[0])


def begun(keys: Keys, token: str) -> str:
    """Begin a session with a valid token."""
    secret = keys.begin(token, SERVER)
    assert secret is not None
    return secret


class TestTokens:
    """Made tokens."""

    def test_are_not_asked_for_before_one_was_made(self, keys: Keys) -> None:
        """A server on one's own machine needs none."""
        assert not keys.is_asked()
        keys.make("")
        assert keys.is_asked()

    def test_let_in_with_their_role(self, keys: Keys) -> None:
        """Any other value is refused."""
        _, token = keys.make("", VIEWER)
        admitted = keys.admit(token)
        assert admitted is not None
        assert admitted.role == VIEWER
        assert [keys.admit(other) for other in (token[:-1], token + "x", "", "coppice_", "\udc80")] == [
            None
        ] * 5

    def test_are_long_and_never_the_same(self, keys: Keys) -> None:
        """256 random bits, so that no guess finds one."""
        found = {keys.make("")[1] for _ in range(50)}
        assert len(found) == 50
        assert min(map(len, found)) >= 43

    def test_are_not_in_the_store(self, keys: Keys, store: Store, tmp_path: Path) -> None:
        """Tokens and session secrets cannot be read from the database file."""
        _, token = keys.make("")
        secret = begun(keys, token)
        store.close()
        stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        assert token.encode() not in stored
        assert secret.encode() not in stored

    def test_that_are_revoked_let_nobody_in(self, keys: Keys) -> None:
        """Their sessions end too, and revoking the last token opens nothing."""
        row, token = keys.make("")
        secret, held = begun(keys, token), keys.admit(token)
        assert held is not None
        keys.revoke(row.key)
        assert (keys.admit(token), keys.resume(secret, SERVER)) == (None, None)
        assert not keys.still_holds(held)
        assert keys.is_asked()

    def test_that_are_rotated_keep_name_and_role(self, keys: Keys) -> None:
        """The old one is revoked."""
        row, token = keys.make("laptop", VIEWER)
        new_row, new = keys.rotate(row.key)
        assert (new_row.name, new_row.role) == ("laptop", VIEWER)
        assert keys.admit(token) is None
        assert keys.admit(new) is not None

    def test_that_are_unknown_or_revoked_cannot_be_revoked(self, keys: Keys) -> None:
        """The message names the number."""
        row, _ = keys.make("")
        keys.revoke(row.key)
        for act in (keys.revoke, keys.rotate):
            for key in (row.key, 99):
                with pytest.raises(NotFound, match=str(key)):
                    act(key)

    def test_that_are_forgotten_are_asked_for_no_more(self, keys: Keys) -> None:
        """Numbers are not used again, so an open page never gets another token's rights."""
        row, token = keys.make("")
        secret = begun(keys, token)
        assert keys.forget() == 1
        assert not keys.is_asked()
        assert keys.make("")[0].key > row.key
        assert keys.resume(secret, SERVER) is None

    def test_of_another_role_are_refused(self, keys: Keys) -> None:
        """There are three."""
        with pytest.raises(Invalid, match="operator, viewer, sender"):
            keys.make("", "owner")

    def test_of_senders_begin_no_session(self, keys: Keys) -> None:
        """They are for machines; the pass has the name of the user."""
        _, token = keys.make("ada", SENDER)
        assert keys.admit(token) == Pass(SENDER, "1", "ada")
        assert keys.begin(token, SERVER) is None


class TestSessions:
    """Sessions of browsers."""

    def test_end_after_a_week(self, keys: Keys, now: list[int]) -> None:
        """Expired sessions are deleted when the next one begins."""
        _, token = keys.make("")
        secret = begun(keys, token)
        now[0] += SESSION_MS
        assert keys.resume(secret, SERVER) is not None
        now[0] += 1
        assert keys.resume(secret, SERVER) is None

    def test_are_bound_to_their_server(self, keys: Keys) -> None:
        """Name and port; another server over the same store does not take it."""
        _, token = keys.make("")
        secret = begun(keys, token)
        assert [keys.resume(secret, other) for other in ("127.0.0.1:5001", "localhost:5000", "")] == [
            None
        ] * 3

    def test_are_no_tokens(self, keys: Keys) -> None:
        """A program that finds the cookie has no token."""
        _, token = keys.make("")
        assert keys.admit(begun(keys, token)) is None
        assert keys.resume(token, SERVER) is None

    def test_do_not_begin_without_a_token(self, keys: Keys) -> None:
        """Any other value begins no session."""
        assert keys.begin("guess", SERVER) is None


class TestTheConfiguredToken:
    """`COPPICE_TOKEN`."""

    def test_is_an_operators_and_begins_sessions(self, store: Store) -> None:
        """It works together with the tokens that were made."""
        keys = Keys(store, "secret")
        admitted = keys.admit("secret")
        assert admitted is not None
        assert admitted.role == OPERATOR
        assert keys.resume(begun(keys, "secret"), SERVER) == admitted
        assert [keys.admit(other) for other in ("secre", "güess", "")] == [None] * 3

    def test_ends_its_sessions_when_it_changes(self, store: Store) -> None:
        """Sessions store a proof of the token, not the token."""
        secret = begun(Keys(store, "secret"), "secret")
        assert Keys(store, "other").resume(secret, SERVER) is None
        assert Keys(store).resume(secret, SERVER) is None


class TestTheTokenOfWhatRunsBeside:
    """The token that the server's own proxy hands over with."""

    def test_lets_in_and_begins_no_session(self, store: Store) -> None:  # X13
        """It only hands over calls, is not stored, is valid for this process only, and begins no browser session."""
        keys = Keys(store)
        token = keys.make_beside()
        admitted = keys.admit(token)
        assert admitted is not None
        assert admitted.role == SENDER
        assert keys.still_holds(admitted)
        assert keys.begin(token, SERVER) is None
        assert Keys(store).admit(token) is None
        assert keys.listed() == []
