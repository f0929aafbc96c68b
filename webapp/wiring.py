"""Builds store, bus and services without Flask: what a server, a command and a test all start from."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass

from scoring.models import find_model
from webapp.bus import Bus
from webapp.config import Config
from webapp.providers.client import ModelClient
from webapp.providers.endpoint import Endpoint
from webapp.providers.wire import Question
from webapp.services.catalog.search import Search
from webapp.services.catalog.sessions import Sessions
from webapp.services.catalog.status import Status
from webapp.services.context.assembling import Context
from webapp.services.context.memory import Memory
from webapp.services.ingest.demo import Demo
from webapp.services.ingest.following import Following
from webapp.services.ingest.ingest import Ingest
from webapp.services.planning.message_pages import Messages
from webapp.services.planning.planning import Planning
from webapp.services.pruning.automatic import Automatic
from webapp.services.pruning.background import Background
from webapp.services.pruning.operations import Operations
from webapp.services.pruning.overflow import Overflow
from webapp.services.pruning.prunes import Prunes
from webapp.services.session.environment import Environment
from webapp.services.session.histories import Histories
from webapp.services.settings.library import Models, SettingsService
from webapp.services.settings.suggesting import Suggesting
from webapp.services.summaries.plan_summary import Covering
from webapp.services.summaries.summarising import Summarising, Writes, Written
from webapp.services.transfer.exporting import Exporting
from webapp.services.transfer.importing import Importing
from webapp.services.transfer.own_format import OwnFormat
from webapp.store import Store
from webapp.tokenizers import Tokenizers
from webapp.watcher import Watcher


@dataclass(slots=True)
class App:
    """Everything that runs, by name."""

    config: Config
    store: Store
    bus: Bus
    environment: Environment
    histories: Histories
    ingest: Ingest
    sessions: Sessions
    messages: Messages
    prunes: Prunes
    operations: Operations
    settings: SettingsService
    suggesting: Suggesting
    models: Models
    search: Search
    context: Context
    memory: Memory
    summarising: Summarising
    overflow: Overflow
    automatic: Automatic
    background: Background
    status: Status
    importing: Importing
    exporting: Exporting
    demo: Demo
    following: Watcher
    model: ModelClient | None = None

    def verify(self) -> Iterator[str]:
        """Every fault in the store, one line each."""
        return self.store.verify()

    def close(self) -> None:
        """Stops what runs and closes the store."""
        self.following.stop()
        self.demo.stop()
        self.background.close()
        if self.model is not None:
            self.model.close()
        self.store.close()


def build(config: Config) -> App:
    """The application for this configuration; the database is made if there is none. Nothing runs yet.

    Raises:
        StoreError: the database cannot be opened.
    """
    store = Store(config.database, busy_seconds=config.busy_seconds, durable=config.durable)
    bus = Bus()
    environment = Environment(store, bus, Tokenizers(enabled=config.tokenizer))
    histories = Histories(store)
    planning = Planning(environment, histories)
    ingest, sessions, messages = (
        Ingest(environment, histories),
        Sessions(environment, histories),
        Messages(environment, planning),
    )
    memory = Memory(environment)
    context, own = Context(environment, memory), OwnFormat(environment, histories)
    endpoint = Endpoint.from_environment(config.environment)
    model = ModelClient(endpoint) if endpoint is not None else None
    summarising = Summarising(
        environment, histories, asking(model, environment) if model is not None else None
    )
    covering = Covering(environment, summarising)
    prunes = Prunes(environment, histories, planning, messages, covering)
    overflow = Overflow(environment, histories, summarising)
    automatic = Automatic(environment, histories, planning, prunes, covering, overflow)
    ingest.automatic = automatic.after_append
    background = Background(environment, summarising, automatic)
    return App(
        config=config,
        store=store,
        bus=bus,
        environment=environment,
        histories=histories,
        ingest=ingest,
        sessions=sessions,
        messages=messages,
        prunes=prunes,
        operations=Operations(environment, histories, messages),
        settings=SettingsService(environment),
        suggesting=Suggesting(environment),
        models=Models(environment),
        search=Search(environment, messages),
        context=context,
        memory=memory,
        summarising=summarising,
        overflow=overflow,
        automatic=automatic,
        background=background,
        status=Status(environment, background),
        model=model,
        importing=Importing(environment, ingest, sessions, own),
        exporting=Exporting(environment, context, own),
        demo=Demo(environment, ingest, sessions),
        following=Watcher(Following(environment, ingest, config.watch, config.environment)),
    )


def asking(model: ModelClient, environment: Environment) -> Writes:
    """The model that is configured, as a service asks it: its failure and its cost in plain values."""

    def write(system: str, text: str, cancelled: threading.Event | None) -> Written:
        reply = model.ask(Question(system, text), cancelled)
        name = reply.model or model.endpoint.model
        cost = reply.usage.cost(find_model(model.endpoint.model, environment.overrides()))
        if reply.failure is not None:
            return Written(
                "", reply.failure.message, name, cost, reply.failure.kind in ("cancelled", "closed")
            )
        return Written(reply.text, "", name, cost)

    return write
