"""`coppice token`: tokens created, listed, rotated and revoked."""

from __future__ import annotations

import json
from pathlib import Path

from tests.webapp.commands.running import Run
from webapp.commands.tokens import NONE
from webapp.store import Store


class TestTheCommand:
    """The command."""

    def test_shows_a_token_once(self, run: Run) -> None:
        """Only the token is on stdout, for scripts; the instructions are on stderr."""
        made = run("token", "--name", "laptop")
        assert made.code == 0
        token = made.out.strip()
        assert (token.startswith("coppice_"), len(token.split())) == (True, 1)
        assert "only time" in made.err
        listed = run("token", "list")
        assert "laptop" in listed.out
        assert token not in listed.out

    def test_takes_the_database_before_or_after_the_name_of_a_subcommand(
        self, run: Run, tmp_path: Path
    ) -> None:
        """The last one given counts."""
        other = tmp_path / "other.db"
        run("token", "--db", other, "--name", "laptop")
        for arguments in (
            ("--db", other, "list"),
            ("list", "--db", other),
            ("--db", "x.db", "list", "--db", other),
        ):
            assert "laptop" in run("token", *arguments).out

    def test_lists_roles_and_times(self, run: Run) -> None:
        """The list is a table or JSON."""
        run("token", "--role", "viewer")
        [row] = json.loads(run("token", "list", "--json").out)
        assert (row["number"], row["role"], row["revoked_at"]) == (1, "viewer", None)

    def test_says_how_to_make_the_first_one(self, run: Run, db: Path) -> None:
        """A list without rows names the command; JSON is an empty list."""
        Store(db).close()
        listed = run("token", "list")
        assert (listed.code, listed.out) == (0, f"{NONE}\n")
        assert json.loads(run("token", "list", "--json").out) == []

    def test_creates_a_token_that_can_only_send(self, run: Run) -> None:
        """The instructions are for a machine, not for a browser."""
        made = run("token", "--role", "sender", "--name", "ada")
        assert (made.code, "COPPICE_TOKEN" in made.err, "?token=" in made.err) == (0, True, False)
        assert "of its user" in made.err
        assert "belongs to no user" in run("token", "--role", "sender").err

    def test_rotates_and_revokes(self, run: Run) -> None:
        """Tokens are named by number; revoking the last one lets nobody in, and the command says so."""
        first = run("token").out
        second = run("token", "rotate", "1")
        assert second.out != first
        revoked = run("token", "revoke", "2")
        assert "nobody gets in" in revoked.err
        assert run("token", "revoke", "2").code == 2

    def test_rotates_the_only_token_without_its_number(self, run: Run) -> None:
        """If there are several or none, the number is asked for, and nothing is changed."""
        first = run("token", "--name", "laptop").out
        rotated = run("token", "rotate")
        assert (rotated.code, rotated.out == first) == (0, False)
        run("token")
        several = run("token", "rotate")
        assert (several.code, "name the token by its number: 2, 3" in several.err) == (2, True)
        for number in ("2", "3"):
            run("token", "revoke", number)
        none = run("token", "rotate")
        assert (none.code, "there is no valid token" in none.err) == (2, True)

    def test_can_be_switched_off(self, run: Run) -> None:
        """No token is then required on this machine."""
        run("token")
        assert "1 token deleted" in run("token", "off").out
        assert json.loads(run("token", "list", "--json").out) == []

    def test_creates_a_database_only_for_a_token(self, run: Run, db: Path) -> None:
        """A wrong COPPICE_DB is refused instead of showing that there are no tokens."""
        for arguments in (("list",), ("rotate", "1"), ("revoke", "1"), ("off",)):
            done = run("token", *arguments)
            assert (done.code, f"there is no database at {db}" in done.err) == (2, True)
        assert not db.exists()
        assert run("token").code == 0
