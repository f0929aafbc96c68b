"""A sender of copies of calls that keeps them."""

from __future__ import annotations

from webapp.proxy.call_copy import CallCopy


class Kept:
    """A sender that keeps the copies."""

    def __init__(self) -> None:
        self.copies: list[CallCopy] = []

    def put(self, copy: CallCopy) -> None:
        """Keep a copy."""
        self.copies.append(copy)

    def close(self) -> None:
        """Do nothing."""
