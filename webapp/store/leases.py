"""Leases: who among several workers does what only one may do, until when, and whether it shall end."""

from __future__ import annotations

from webapp.store.engine import Engine


class Leases:
    """Rows of `leases`, by name. Times are in ms since 1970. Writes belong inside `Engine.write()`."""

    def __init__(self, db: Engine) -> None:
        self._db = db

    def is_held(self, name: str, now: int) -> bool:
        """Return whether somebody has the lease."""
        return self._db.value("SELECT 1 FROM leases WHERE name = ? AND until > ?", (name, now)) is not None

    def acquire(self, name: str, holder: str, now: int, until: int) -> bool:
        """Take a lease that nobody has; return False if somebody has it."""
        if self.is_held(name, now):
            return False
        self._db.run("DELETE FROM leases WHERE name = ?", (name,))
        self._db.run("INSERT INTO leases VALUES (?, ?, ?, 0)", (name, holder, until))
        return True

    def renew(self, name: str, holder: str, until: int) -> bool:
        """Keep a lease longer; return False if it shall end or is another's."""
        sql = "UPDATE leases SET until = ? WHERE name = ? AND holder = ? AND cancelled = 0"
        return self._db.run(sql, (until, name, holder)) > 0

    def belongs(self, name: str, holder: str) -> bool:
        """Return whether a lease is this holder's, though it may be over."""
        sql = "SELECT 1 FROM leases WHERE name = ? AND holder = ?"
        return self._db.value(sql, (name, holder)) is not None

    def cancel(self, name: str, now: int) -> bool:
        """Ask the holder to end; return False if nobody has the lease."""
        return self._db.run("UPDATE leases SET cancelled = 1 WHERE name = ? AND until > ?", (name, now)) > 0

    def release(self, name: str, holder: str) -> None:
        """Give a lease back."""
        self._db.run("DELETE FROM leases WHERE name = ? AND holder = ?", (name, holder))
