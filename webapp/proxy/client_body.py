"""The body of a request to the proxy, forwarded while it arrives or read first."""

from __future__ import annotations

from collections.abc import Iterator

from webapp.access.requests import Environ

# A conversation is edited and copied up to this size, in bytes: Anthropic takes 32 MB, OpenAI 50 MB of files.
BUFFERED_BYTES = 64 * 1024 * 1024
# The size of the pieces in which a request is forwarded.
PIECE_BYTES = 128 * 1024


class ClientGone(OSError):
    """A client that disconnected before its request was complete."""


class ClientBody:
    """The body of a request: forwarded while it arrives, or read first if it is edited.

    It is buffered for the copy if the call is a conversation, up to `BUFFERED_BYTES`. A longer one is only forwarded.

    Raises:
        ClientGone: it is sent in chunks, and incomplete.
    """

    def __init__(self, environ: Environ, *, copied: bool) -> None:
        self._input = environ["wsgi.input"]
        self._pieces: list[bytes] = []
        self.broke_off = False
        # Bytes of the whole, and those that have not arrived; None if only its end will tell.
        self.length: int | None = None
        self._missing: int | None = None
        if environ.get("HTTP_TRANSFER_ENCODING"):
            self._measure()
        else:
            self.length = self._missing = int(environ.get("CONTENT_LENGTH") or 0)
        self.is_buffered = copied and self.length is not None and self.length <= BUFFERED_BYTES

    @property
    def is_whole(self) -> bool:
        """Return whether all of it has arrived and is buffered."""
        return self.is_buffered and not self._missing

    def __iter__(self) -> Iterator[bytes]:
        """Yield what has arrived, then the rest while it arrives. Raises ClientGone."""
        arrived = tuple(self._pieces)
        if not self.is_buffered:
            self._pieces.clear()
        yield from arrived
        while data := self._next():
            if self.is_buffered:
                self._pieces.append(data)
            yield data

    def whole(self) -> bytes:
        """Return all of it, if it is buffered. Raises ClientGone."""
        while data := self._next():
            self._pieces.append(data)
        self._pieces = [b"".join(self._pieces)]
        return self._pieces[0]

    def _measure(self) -> None:
        """Read a body in chunks, so that it is sent on with its length, as most servers want it. A long one is not."""
        size = 0
        while size <= BUFFERED_BYTES:
            data = self._next()
            if not data:
                self.length = size
                return
            self._pieces.append(data)
            size += len(data)

    def _next(self) -> bytes:
        """Return the next piece, b"" at the end."""
        if self._missing == 0:
            return b""
        size = PIECE_BYTES if self._missing is None else min(PIECE_BYTES, self._missing)
        try:
            data = bytes(self._input.read(size))
        except (OSError, ValueError) as error:
            self.broke_off = True
            raise ClientGone(f"the request broke off: {error}") from error
        if self._missing is not None:
            if not data:
                self.broke_off = True
                raise ClientGone("the request broke off")
            self._missing -= len(data)
        elif not data:
            self._missing = 0
        return data
