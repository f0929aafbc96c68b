"""The locks of transactions that write; the database gives them back at the end, also those of a killed process."""

from __future__ import annotations

import zlib

# Two numbers name a lock: ours, and what it locks. 0 locks the store.
STORE_LOCK, SESSION_LOCK = 0x636F7070, 0x636F7071
# A transaction that writes and asks for nothing so long ends.
IDLE_MS = 120_000


def begin(session_id: str | None) -> str:
    """Return the statements that open a transaction with its locks: the store's, or a share of it and a session's.

    The database ends it, and gives the locks back, where its process hangs or its machine is gone.
    """
    begun = f"BEGIN; SET LOCAL idle_in_transaction_session_timeout = {IDLE_MS}"
    if session_id is None:
        return f"{begun}; SELECT pg_advisory_xact_lock({STORE_LOCK}, 0)"
    number = zlib.crc32(session_id.encode("utf-8", "replace")) - (1 << 31)
    return (
        f"{begun}; SELECT pg_advisory_xact_lock_shared({STORE_LOCK}, 0); "
        f"SELECT pg_advisory_xact_lock({SESSION_LOCK}, {number})"
    )
