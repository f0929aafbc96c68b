"""Builds the application from its configuration, without Flask, for servers, commands and tests."""

from __future__ import annotations

import secrets
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from scoring.models import find_model
from webapp.app import App
from webapp.bus import Bus
from webapp.config import Config
from webapp.errors import Conflict, ReadOnlyStore
from webapp.providers.endpoint import Endpoint
from webapp.providers.wire import Question
from webapp.queue import Queue
from webapp.redaction import redactor
from webapp.services.session.environment import Environment, SizeLimits
from webapp.services.session.leases import Leases
from webapp.services.summaries.summarising import SummaryWriter, Written
from webapp.store import Store
from webapp.store.copying import UNFINISHED
from webapp.tokenizers import Tokenizers

if TYPE_CHECKING:
    from webapp.providers.client import ModelClient

# The name of a store, in its settings.
IDENTITY = "identity"


def build(config: Config, *, serves: bool = False) -> App:
    """Return the application for this configuration, creating a missing database. No background work runs yet.

    With `serves` it is one of the workers that share the configured queue, if there is one.

    Raises:
        StoreError, Conflict: as `open_store`.
        Invalid: the queue cannot be used.
    """
    store = open_store(config)
    queue = Queue(config.queue, identity_of(store)) if serves and config.queue is not None else None
    environment = environment_of(config, store, queue)
    endpoint = Endpoint.from_environment(config.environment)
    model = writer = None
    if endpoint is not None:
        from webapp.providers.client import ModelClient  # loads the HTTP library, which takes 50 ms

        model = ModelClient(endpoint)
        writer = summary_writer(model, environment)
    return App(config, environment, model=model, writer=writer, queue=queue)


def open_store(config: Config) -> Store:
    """Return the configured store.

    Raises:
        StoreError: it cannot be opened.
        Conflict: it is a copy that was interrupted.
    """
    store = Store(config.database, busy_seconds=config.busy_seconds, durable=config.durable)
    if store.small.setting(UNFINISHED) is not None:
        store.close()
        raise Conflict(f"{store.db.name} is a copy that was interrupted; end it with the same `coppice copy`")
    return store


def environment_of(config: Config, store: Store, queue: Queue | None) -> Environment:
    """Return what all services use; with a queue, other workers use the same store."""
    sizes = (int(mb * (1 << 20)) for mb in (config.max_message, config.max_session, config.max_store))
    return Environment(
        store,
        Bus(),
        Tokenizers(enabled=config.tokenizer),
        redactor=redactor() if config.redact else None,
        sizes=SizeLimits(*sizes),
        shared_values=queue,
        leases=Leases(store, shared=queue is not None),
    )


def identity_of(store: Store) -> str:
    """Return the random name of a store, by which its workers find each other at the queue.

    A worker also starts where nothing can be written; those of a store without a name then have nothing to tell.
    """
    name = store.small.setting(IDENTITY)
    if isinstance(name, str):
        return name
    made = secrets.token_hex(8)
    with suppress(ReadOnlyStore), store.write():
        name = store.small.setting(IDENTITY)  # another worker may have been first
        if isinstance(name, str):
            return name
        store.small.put_setting(IDENTITY, made)
    return made


def summary_writer(model: ModelClient, environment: Environment) -> SummaryWriter:
    """Return the configured model as a function for services, which returns failures and costs as values."""

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
