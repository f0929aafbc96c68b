"""Builds store, bus and services, without Flask, for servers, commands and tests."""

from __future__ import annotations

import secrets
import threading
from typing import TYPE_CHECKING

from scoring.models import find_model
from webapp.access.tokens import AccessTokens
from webapp.app import App
from webapp.bus import Bus
from webapp.config import Config
from webapp.errors import Conflict
from webapp.providers import webhook
from webapp.providers.endpoint import Endpoint
from webapp.providers.wire import Question
from webapp.queue import Queue
from webapp.redaction import redactor
from webapp.services.catalog.aftermaths import AftermathService
from webapp.services.catalog.demo import Demo
from webapp.services.catalog.repairing import Repairing
from webapp.services.catalog.retention import RetentionService
from webapp.services.catalog.savings import SavingsService
from webapp.services.catalog.search import Search
from webapp.services.catalog.sessions import SessionService
from webapp.services.catalog.status import StatusService
from webapp.services.catalog.timelines import Timelines
from webapp.services.context.assembling import ContextService
from webapp.services.context.memory import MemoryService
from webapp.services.ingest.following import Following, TranscriptAppender
from webapp.services.ingest.ingest import Ingest
from webapp.services.ingest.pushed import PushedSessions
from webapp.services.integrations.hints import Hints
from webapp.services.planning.heaviest import HeaviestGroups
from webapp.services.planning.message_pages import Messages
from webapp.services.planning.planning import Planning
from webapp.services.planning.verdicts import VerdictRefresher, Verdicts
from webapp.services.proxied.calls import Calls
from webapp.services.proxied.followed import FollowedCalls
from webapp.services.proxied.scripts import ProxyScripts
from webapp.services.pruning.automatic import AutomaticPruning
from webapp.services.pruning.background import BackgroundSummaries
from webapp.services.pruning.cold_caches import ColdCaches
from webapp.services.pruning.operations import OperationService
from webapp.services.pruning.overflow import Overflow
from webapp.services.pruning.prunes import Prunes
from webapp.services.session.environment import Environment, Sizes
from webapp.services.session.histories import Histories
from webapp.services.session.leases import Leases
from webapp.services.settings.common_settings import SettingsService
from webapp.services.settings.model_table import ModelTable
from webapp.services.settings.suggesting import Suggesting
from webapp.services.summaries.plan_summary import PlanSummaries
from webapp.services.summaries.summarising import Summarising, SummaryWriter, Written
from webapp.services.transfer.exporting import Exporting
from webapp.services.transfer.importing import Importing
from webapp.services.transfer.own_format import OwnFormat
from webapp.services.transfer.resuming import Resuming
from webapp.services.webhooks.webhooks import WebhookService
from webapp.store import Store
from webapp.store.copying import UNFINISHED
from webapp.tokenizers import Tokenizers
from webapp.watcher import Watcher

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
    histories = Histories(store)
    planning = Planning(environment, histories)
    verdicts = Verdicts(environment, histories, planning)
    sessions, messages = SessionService(environment, histories), Messages(environment, planning)
    memory = MemoryService(environment)
    context, own = ContextService(environment, memory), OwnFormat(environment, histories)
    endpoint = Endpoint.from_environment(config.environment)
    model = model_client(endpoint) if endpoint is not None else None
    writer = summary_writer(model, environment) if model is not None else None
    summarising = Summarising(environment, histories, writer)
    plan_summaries = PlanSummaries(environment, summarising)
    prunes = Prunes(environment, histories, planning, messages, plan_summaries)
    overflow = Overflow(environment, histories, summarising)
    cold_caches = ColdCaches(environment)
    automatic = AutomaticPruning(
        environment, histories, planning, prunes, plan_summaries, overflow, cold_caches
    )
    ingest = Ingest(environment, histories, automatic)
    appender = TranscriptAppender(environment, ingest)
    background = BackgroundSummaries(environment, summarising, automatic)
    aftermaths = AftermathService(environment)
    followed_calls = FollowedCalls(environment, histories)
    return App(
        config=config,
        store=store,
        bus=environment.bus,
        environment=environment,
        histories=histories,
        ingest=ingest,
        pushed=PushedSessions(environment, appender),
        sessions=sessions,
        aftermaths=aftermaths,
        timelines=Timelines(environment, aftermaths),
        messages=messages,
        heaviest=HeaviestGroups(environment, histories, planning),
        prunes=prunes,
        operations=OperationService(environment, histories),
        settings=SettingsService(environment),
        suggesting=Suggesting(environment),
        models=ModelTable(environment),
        savings=SavingsService(environment, aftermaths),
        search=Search(environment, messages),
        context=context,
        memory=memory,
        summarising=summarising,
        overflow=overflow,
        automatic=automatic,
        cold_caches=cold_caches,
        background=background,
        status=StatusService(environment, background, sessions),
        verdicts=verdicts,
        verdict_refresher=VerdictRefresher(verdicts),
        model=model,
        queue=queue,
        importing=Importing(environment, ingest, sessions, own),
        exporting=Exporting(environment, context, own),
        resuming=Resuming(environment, prunes, config.environment, config.folder / "copies"),
        repairing=Repairing(environment, histories),
        retention=RetentionService(environment, sessions),
        demo=Demo(ingest, sessions),
        access_tokens=AccessTokens(store, config.token),
        hints=Hints(environment, planning),
        webhooks=WebhookService(environment, webhook),
        calls=Calls(environment, ingest, followed_calls),
        proxy_scripts=ProxyScripts(environment, followed_calls),
        watcher=Watcher(Following(environment, appender, config.watch, config.environment)),
    )


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
        sizes=Sizes(*sizes),
        shared_values=queue,
        leases=Leases(store, shared=queue is not None),
    )


def identity_of(store: Store) -> str:
    """Return the random name of a store, by which its workers find each other at the queue."""
    with store.write():
        name = store.small.setting(IDENTITY)
        if not isinstance(name, str):
            name = secrets.token_hex(8)
            store.small.put_setting(IDENTITY, name)
    return name


def model_client(endpoint: Endpoint) -> ModelClient:
    """Return a client of the endpoint. Only with one is the HTTP library loaded, which takes 50 ms."""
    from webapp.providers.client import ModelClient

    return ModelClient(endpoint)


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
