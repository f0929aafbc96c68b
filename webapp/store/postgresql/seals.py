"""Seals in PostgreSQL: triggers send the hash of each row to the client that wrote it; the commit writes the seals.

A trigger is silent unless the connection has set `coppice.sealing`, so that changes by another program are
detected. Hashes are made and compared by the database.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from webapp.store.parts import PARTS, Part
from webapp.store.sql import listed

SWITCH = "coppice.sealing"
SAID = "coppice.seal"
# XOR of what is there and what comes. In the order of keys, so that two writers never wait for each other in a circle.
ADD = (
    "INSERT INTO seals (session, part, value) SELECT * FROM unnest(?::bigint[], ?::text[], ?::bigint[]) "
    "ON CONFLICT (session, part) DO UPDATE SET value = seals.value # excluded.value"
)
_HASH = """
CREATE FUNCTION seal_of(said text) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT ('x' || encode(substr(sha256(convert_to(said, 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint
$$
"""


class Seals:
    """The changes of seals caused by the rows of a transaction, kept for one connection until it commits."""

    def __init__(self) -> None:
        self._noted: dict[tuple[int, str], int] = {}

    def hear(self, message: str) -> None:
        """Take what a trigger says: a part, the session's number and a hash. The server may say other things."""
        if message.startswith(f"{SAID} "):
            _, part, session, value = message.split(" ")
            owner = int(session), part
            self._noted[owner] = self._noted.get(owner, 0) ^ int(value)

    def write(self, run: Callable[[str, tuple[Any, ...]], object]) -> None:
        """Write the changed seals; call it last before the commit."""
        changes = sorted((owner, value) for owner, value in self._noted.items() if value)
        if changes:
            sessions = [session for (session, _), _ in changes]
            run(ADD, (sessions, [part for (_, part), _ in changes], [value for _, value in changes]))
        self._noted.clear()

    def forget(self) -> None:
        """Discard the recorded changes, because the transaction was rolled back."""
        self._noted.clear()


def statements() -> list[str]:
    """Return the statements that make the functions and triggers."""
    return [_HASH, *(statement for part in PARTS for statement in _triggers(part))]


def sealed_first(name: str) -> list[str]:
    """Return the statements that make the trigger of a part of a new table."""
    return _triggers(next(part for part in PARTS if part.name == name))


def sealed_again(name: str) -> list[str]:
    """Return the statements that make the trigger of a part for its present columns, and its seals."""
    part = next(part for part in PARTS if part.name == name)
    return [
        f"DROP FUNCTION seal_{name}() CASCADE",
        *_triggers(part),
        f"DELETE FROM seals WHERE part = '{name}'",
        (
            "INSERT INTO seals (session, part, value) "
            f"SELECT owner, '{name}', value FROM ({query(part)}) AS rows (owner, value)"
        ),
    ]


def query(part: Part, session: int | None = None) -> str:
    """Return the query for the seals of a part by session: all, or that of one session."""
    of = part.session.format("")
    where = "" if session is None else f" WHERE {of} = {session:d}"
    return f"SELECT {of}, bit_xor({_hash(part, '')}) FROM {part.table}{where} GROUP BY 1"


def _hash(part: Part, before: str) -> str:
    return f"seal_of(ROW({listed(part.columns, before)})::text)"


def _triggers(part: Part) -> list[str]:
    new, old = _hash(part, "NEW."), _hash(part, "OLD.")
    return [
        f"""
        CREATE FUNCTION seal_{part.name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF TG_OP = 'INSERT' THEN
                RAISE INFO '{SAID} {part.name} % %', {part.session.format("NEW.")}, {new};
            ELSIF TG_OP = 'DELETE' THEN
                RAISE INFO '{SAID} {part.name} % %', {part.session.format("OLD.")}, {old};
            ELSE
                RAISE INFO '{SAID} {part.name} % %', {part.session.format("NEW.")}, {new} # {old};
            END IF;
            RETURN NULL;
        END $$
        """,
        f"""
        CREATE TRIGGER seal_{part.name}
            AFTER INSERT OR DELETE OR UPDATE OF {listed(part.columns)} ON {part.table}
            FOR EACH ROW WHEN (current_setting('{SWITCH}', true) = 'on') EXECUTE FUNCTION seal_{part.name}()
        """,
    ]
