"""Builds store, bus and services without Flask: what a server, a command and a test all start from."""

from __future__ import annotations

from dataclasses import dataclass

from webapp.bus import Bus
from webapp.config import Config
from webapp.services.desk import Desk
from webapp.services.ingest import Ingest
from webapp.services.messages import Messages
from webapp.services.operations import Operations
from webapp.services.planning import Planning
from webapp.services.prunes import Prunes
from webapp.services.sessions import Sessions
from webapp.services.views import Views
from webapp.store import Store
from webapp.tokenizers import Tokenizers


@dataclass(slots=True)
class App:
    """Everything that runs, by name."""

    config: Config
    store: Store
    bus: Bus
    desk: Desk
    ingest: Ingest
    sessions: Sessions
    messages: Messages
    prunes: Prunes
    operations: Operations

    def close(self) -> None:
        """Stops what runs and closes the store."""
        self.store.close()


def build(config: Config) -> App:
    """The application for this configuration; the database is made if there is none.

    Raises:
        StoreError: the database cannot be opened.
    """
    store = Store(config.database, busy_seconds=config.busy_seconds, durable=config.durable)
    bus = Bus()
    desk = Desk(store, bus, Tokenizers(enabled=config.tokenizer))
    views = Views(store)
    planning = Planning(desk, views)
    ingest = Ingest(desk, views)
    messages = Messages(desk, planning)
    prunes = Prunes(desk, views, planning, messages)
    ingest.automatic = prunes.automatic
    return App(
        config=config,
        store=store,
        bus=bus,
        desk=desk,
        ingest=ingest,
        sessions=Sessions(desk, views),
        messages=messages,
        prunes=prunes,
        operations=Operations(desk, views, messages),
    )
