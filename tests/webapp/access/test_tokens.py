"""Tokens and sessions: accepting, revoking and storing them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from webapp.access.identity import OPERATOR, SENDER, VIEWER, Identity
from webapp.access.tokens import SIGN_IN_MS, AccessTokens
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
    """The time in milliseconds, which a test can change."""
    return [1_000_000]


@pytest.fixture
def tokens(store: Store, now: list[int]) -> AccessTokens:
    """The tokens of a store without a configured token."""
    return AccessTokens(store, clock=lambda: now[0])


def begun(tokens: AccessTokens, token: str) -> str:
    """Begin a session with a valid token."""
    secret = tokens.sign_in(token, SERVER)
    assert secret is not None
    return secret


class TestTokens:
    """Tokens that were made with a command or on a page."""

    def test_are_not_required_before_one_is_made(self, tokens: AccessTokens) -> None:
        """A server on the user's own machine needs no token."""
        assert not tokens.requires_token()
        tokens.make("")
        assert tokens.requires_token()

    def test_admit_with_their_role(self, tokens: AccessTokens) -> None:
        """Any other value is refused."""
        _, token = tokens.make("", VIEWER)
        admitted = tokens.authenticate(token)
        assert admitted is not None
        assert admitted.role == VIEWER
        assert [
            tokens.authenticate(other) for other in (token[:-1], token + "x", "", "coppice_", "\udc80")
        ] == [None] * 5

    def test_are_long_and_never_the_same(self, tokens: AccessTokens) -> None:
        """Tokens have 256 random bits."""
        found = {tokens.make("")[1] for _ in range(50)}
        assert len(found) == 50
        assert min(map(len, found)) >= 43

    def test_are_not_in_the_store(self, tokens: AccessTokens, store: Store, tmp_path: Path) -> None:
        """Tokens and session secrets cannot be read from the database file."""
        _, token = tokens.make("")
        secret = begun(tokens, token)
        store.close()
        stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        assert token.encode() not in stored
        assert secret.encode() not in stored

    def test_admit_nobody_after_being_revoked(self, tokens: AccessTokens) -> None:
        """Their sessions end too, and revoking the last token opens nothing."""
        row, token = tokens.make("")
        secret, held = begun(tokens, token), tokens.authenticate(token)
        assert held is not None
        tokens.revoke(row.key)
        assert (tokens.authenticate(token), tokens.signed_in(secret, SERVER)) == (None, None)
        assert not tokens.is_still_valid(held)
        assert tokens.requires_token()

    def test_that_are_rotated_keep_name_and_role(self, tokens: AccessTokens) -> None:
        """The old one is revoked."""
        row, token = tokens.make("laptop", VIEWER)
        new_row, new = tokens.rotate(row.key)
        assert (new_row.name, new_row.role) == ("laptop", VIEWER)
        assert tokens.authenticate(token) is None
        assert tokens.authenticate(new) is not None

    def test_that_are_unknown_or_revoked_cannot_be_revoked(self, tokens: AccessTokens) -> None:
        """The message names the number."""
        row, _ = tokens.make("")
        tokens.revoke(row.key)
        for act in (tokens.revoke, tokens.rotate):
            for key in (row.key, 99):
                with pytest.raises(NotFound, match=str(key)):
                    act(key)

    def test_are_not_required_after_all_are_forgotten(self, tokens: AccessTokens) -> None:
        """Their numbers are not reused, so an open page never gets another token's rights."""
        row, token = tokens.make("")
        secret = begun(tokens, token)
        assert tokens.forget() == 1
        assert not tokens.requires_token()
        assert tokens.make("")[0].key > row.key
        assert tokens.signed_in(secret, SERVER) is None

    def test_of_another_role_are_refused(self, tokens: AccessTokens) -> None:
        """There are three roles."""
        with pytest.raises(Invalid, match="operator, viewer, sender"):
            tokens.make("", "owner")

    def test_of_senders_begin_no_session(self, tokens: AccessTokens) -> None:
        """Such tokens are for machines; the identity has the name of the user."""
        _, token = tokens.make("ada", SENDER)
        assert tokens.authenticate(token) == Identity(SENDER, "1", "ada")
        assert tokens.sign_in(token, SERVER) is None


class TestSessions:
    """Sessions of browsers."""

    def test_end_after_a_week(self, tokens: AccessTokens, now: list[int]) -> None:
        """Expired sessions are deleted when the next one begins."""
        _, token = tokens.make("")
        secret = begun(tokens, token)
        now[0] += SIGN_IN_MS
        assert tokens.signed_in(secret, SERVER) is not None
        now[0] += 1
        assert tokens.signed_in(secret, SERVER) is None

    def test_are_bound_to_their_server(self, tokens: AccessTokens) -> None:
        """A session belongs to a host and port; another server over the same store refuses it."""
        _, token = tokens.make("")
        secret = begun(tokens, token)
        assert [tokens.signed_in(secret, other) for other in ("127.0.0.1:5001", "localhost:5000", "")] == [
            None
        ] * 3

    def test_are_no_tokens(self, tokens: AccessTokens) -> None:
        """A program that finds the cookie has no token."""
        _, token = tokens.make("")
        assert tokens.authenticate(begun(tokens, token)) is None
        assert tokens.signed_in(token, SERVER) is None

    def test_do_not_begin_without_a_token(self, tokens: AccessTokens) -> None:
        """Any other value begins no session."""
        assert tokens.sign_in("guess", SERVER) is None


class TestTheConfiguredToken:
    """The token in `COPPICE_TOKEN`."""

    def test_is_an_operators_and_begins_sessions(self, store: Store) -> None:
        """It works together with the tokens that were made."""
        tokens = AccessTokens(store, "secret")
        admitted = tokens.authenticate("secret")
        assert admitted is not None
        assert admitted.role == OPERATOR
        assert tokens.signed_in(begun(tokens, "secret"), SERVER) == admitted
        assert [tokens.authenticate(other) for other in ("secre", "güess", "")] == [None] * 3

    def test_ends_its_sessions_when_it_changes(self, store: Store) -> None:
        """Sessions store a proof of the token, not the token."""
        secret = begun(AccessTokens(store, "secret"), "secret")
        assert AccessTokens(store, "other").signed_in(secret, SERVER) is None
        assert AccessTokens(store).signed_in(secret, SERVER) is None


class TestTheProxyToken:
    """The token with which the server's own proxy sends calls."""

    def test_admits_senders_of_this_process_only(self, store: Store) -> None:  # X13
        """It allows only sending calls, is not stored, and begins no browser session."""
        tokens = AccessTokens(store)
        token = tokens.make_process_token()
        admitted = tokens.authenticate(token)
        assert admitted is not None
        assert admitted.role == SENDER
        assert tokens.is_still_valid(admitted)
        assert tokens.sign_in(token, SERVER) is None
        assert AccessTokens(store).authenticate(token) is None
        assert tokens.listed() == []
