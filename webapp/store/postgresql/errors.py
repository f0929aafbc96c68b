"""PostgreSQL's errors as ours. No message ever has a password in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors
from psycopg_pool import PoolTimeout

from webapp.config import Server
from webapp.errors import BusyStore, DamagedStore, FullDisk, ReadOnlyStore, StoreError

BUSY = (
    errors.LockNotAvailable,
    errors.DeadlockDetected,
    errors.SerializationFailure,
    errors.TooManyConnections,
    PoolTimeout,
)
READ_ONLY = (errors.ReadOnlySqlTransaction, errors.InsufficientPrivilege)
DAMAGED = (errors.DataCorrupted, errors.IndexCorrupted)


@contextmanager
def translated(doing: str, server: Server) -> Iterator[None]:
    """Raise the database's errors as ours, the cause chained."""
    try:
        yield
    except psycopg.Error as error:
        raise ours(error, doing, server) from error


def ours(error: psycopg.Error, doing: str, server: Server) -> StoreError:
    """Return the error that a caller of the store gets."""
    text = server.masked(" ".join((error.diag.message_primary or str(error)).split()))
    if isinstance(error, BUSY):
        return BusyStore(f"the database {server} is busy: another process is writing; try again")
    if isinstance(error, errors.DiskFull):
        return FullDisk(f"no room left for {server}; nothing was stored. Free some space and try again")
    if isinstance(error, READ_ONLY):
        return ReadOnlyStore(f"{server} is read-only: looking works, nothing can be stored ({text})")
    if isinstance(error, DAMAGED):
        return DamagedStore(f"{server} is damaged ({text}); put a copy back")
    return StoreError(f"{doing} {server} failed: {text}")
