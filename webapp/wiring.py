"""Builds store, bus and services without Flask: what a server, a command and a test all start from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from webapp.bus import Bus
from webapp.config import Config
from webapp.services.assembling import Context
from webapp.services.demo import Demo
from webapp.services.desk import Desk
from webapp.services.exporting import Exporting
from webapp.services.following import Following
from webapp.services.importing import Importing
from webapp.services.ingest import Ingest
from webapp.services.library import Models, SettingsService
from webapp.services.messages import Messages
from webapp.services.operations import Operations
from webapp.services.own_format import OwnFormat
from webapp.services.planning import Planning
from webapp.services.prunes import Prunes
from webapp.services.searching import Search
from webapp.services.sessions import Sessions
from webapp.services.views import Views
from webapp.store import Store
from webapp.tokenizers import Tokenizers
from webapp.transcripts.watcher import Watcher


@dataclass(slots=True)
class App:
    """Everything that runs, by name."""

    config: Config
    store: Store
    bus: Bus
    desk: Desk
    views: Views
    ingest: Ingest
    sessions: Sessions
    messages: Messages
    prunes: Prunes
    operations: Operations
    settings: SettingsService
    models: Models
    search: Search
    context: Context
    importing: Importing
    exporting: Exporting
    demo: Demo
    following: Watcher

    def verify(self) -> Iterator[str]:
        """Every fault in the store, one line each."""
        return self.store.verify()

    def close(self) -> None:
        """Stops what runs and closes the store."""
        self.following.stop()
        self.demo.stop()
        self.store.close()


def build(config: Config) -> App:
    """The application for this configuration; the database is made if there is none. Nothing runs yet.

    Raises:
        StoreError: the database cannot be opened.
    """
    store = Store(config.database, busy_seconds=config.busy_seconds, durable=config.durable)
    bus = Bus()
    desk = Desk(store, bus, Tokenizers(enabled=config.tokenizer))
    views = Views(store)
    planning = Planning(desk, views)
    ingest, sessions, messages = Ingest(desk, views), Sessions(desk, views), Messages(desk, planning)
    prunes = Prunes(desk, views, planning, messages)
    ingest.automatic = prunes.automatic
    context, own = Context(desk), OwnFormat(desk, views)
    return App(
        config=config,
        store=store,
        bus=bus,
        desk=desk,
        views=views,
        ingest=ingest,
        sessions=sessions,
        messages=messages,
        prunes=prunes,
        operations=Operations(desk, views, messages),
        settings=SettingsService(desk),
        models=Models(desk),
        search=Search(desk, messages),
        context=context,
        importing=Importing(desk, ingest, sessions, own),
        exporting=Exporting(desk, context, own),
        demo=Demo(desk, ingest, sessions),
        following=Watcher(Following(desk, ingest, config.watch, config.environment)),
    )
