"""The types of the fixture that runs commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Done(NamedTuple):
    """The exit code and output of a command."""

    code: int
    out: str
    err: str


Run = Callable[..., Done]
