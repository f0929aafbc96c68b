"""The limits of a server: those of the dashboard, and those of a proxy."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Capacity:
    """The limits of a server.

    `threads` requests are answered at once, and `waiting` more wait for a thread. A body of up to `buffered_bytes` is
    read before its request gets a thread; larger ones, and those sent with `Expect`, are read by the thread, at most
    `uploads` at once. `arriving_bytes` limits the total size of requests that are still arriving. A read or write
    without progress ends after `stalled_seconds`, an idle connection after `kept_seconds`. A request
    has up to `fields` headers of up to `field_bytes` each; those with an underscore in their names are dropped except
    with `underscores`, because WSGI cannot tell them from those with a hyphen.
    """

    threads: int = 48
    waiting: int = 256
    uploads: int = 8
    buffered_bytes: int = 1024 * 1024
    arriving_bytes: int = 64 * 1024 * 1024
    stalled_seconds: float = 15.0
    kept_seconds: int = 5
    fields: int = 100
    field_bytes: int = 8_190
    underscores: bool = False


# The proxy needs a thread for each running answer, and forwards a request while it arrives. Some agents name the
# folders of their user in a header, and older ones their session in one with an underscore.
OF_PROXY = Capacity(
    threads=256,
    uploads=256,
    buffered_bytes=0,
    stalled_seconds=600.0,
    kept_seconds=75,
    fields=1_000,
    field_bytes=60_000,
    underscores=True,
)
