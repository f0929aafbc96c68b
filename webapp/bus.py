"""Publish and subscribe inside one process.

Events are published after the commit, on the thread that committed. A listener must be quick; if it fails, the failure
is logged, and neither other listeners nor the publisher are affected.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from webapp.events import Event

Listener = Callable[[Event], None]
log = logging.getLogger(__name__)


class Bus:
    """Passes every published event to every listener, in the order of their subscription."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: tuple[Listener, ...] = ()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Add a listener and return a function that removes it."""
        with self._lock:
            self._listeners = (*self._listeners, listener)

        def cancel() -> None:
            with self._lock:
                self._listeners = tuple(one for one in self._listeners if one is not listener)

        return cancel

    def publish(self, *events: Event) -> None:
        """Pass each event to each listener."""
        for event in events:
            for listener in self._listeners:
                try:
                    listener(event)
                except Exception:
                    log.exception("a listener failed on %s", type(event).__name__)
