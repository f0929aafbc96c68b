"""Leases: which of several workers does a job that only one may do, until when, and whether it has to end."""

from __future__ import annotations

from webapp.store.engine import Subject
from webapp.store.sql import upsert

# No lease is taken for longer, by clocks that agree within seconds. A longer one was taken while a clock was wrong; its
# holder, if it still runs, renews it by the corrected clock.
LONGEST_MS = 60_000


class Leases(Subject):
    """Rows of `leases`, by name. Times are in ms since 1970."""

    def is_held(self, name: str, now: int) -> bool:
        """Return whether somebody has the lease."""
        sql = "SELECT 1 FROM leases WHERE name = ? AND until > ? AND until <= ?"
        return self._db.value(sql, (name, now, now + LONGEST_MS)) is not None

    def acquire(self, name: str, holder: str, now: int, until: int) -> bool:
        """Take a lease that nobody has; return False if somebody has it."""
        sql = upsert("leases", ("name", "holder", "until", "cancelled"), keys=1)
        sql += " WHERE leases.until <= ? OR leases.until > ?"
        return self._db.run(sql, (name, holder, until, 0, now, now + LONGEST_MS)) > 0

    def renew(self, name: str, holder: str, until: int) -> bool:
        """Extend a lease; return False if it was cancelled or belongs to another holder."""
        sql = "UPDATE leases SET until = ? WHERE name = ? AND holder = ? AND cancelled = 0"
        return self._db.run(sql, (until, name, holder)) > 0

    def belongs(self, name: str, holder: str) -> bool:
        """Return whether a lease belongs to this holder, expired or not."""
        sql = "SELECT 1 FROM leases WHERE name = ? AND holder = ?"
        return self._db.value(sql, (name, holder)) is not None

    def cancel(self, name: str, now: int) -> bool:
        """Ask the holder to end; return False if nobody has the lease."""
        return self._db.run("UPDATE leases SET cancelled = 1 WHERE name = ? AND until > ?", (name, now)) > 0

    def release(self, name: str, holder: str) -> None:
        """Give a lease back."""
        self._db.run("DELETE FROM leases WHERE name = ? AND holder = ?", (name, holder))
