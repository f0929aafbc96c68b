"""The application for routes and commands: its services by name, and what they share. `webapp.wiring` builds it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from webapp.access.tokens import AccessTokens
from webapp.bus import Bus
from webapp.config import Config
from webapp.queue import Queue
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
from webapp.services.ingest.ingest import Ingest
from webapp.services.ingest.pushed import PushedSessions
from webapp.services.integrations.hints import Hints
from webapp.services.planning.heaviest import HeaviestGroups
from webapp.services.planning.message_pages import Messages
from webapp.services.planning.verdicts import VerdictRefresher, Verdicts
from webapp.services.proxied.calls import Calls
from webapp.services.proxied.scripts import ProxyScripts
from webapp.services.pruning.automatic import AutomaticPruning
from webapp.services.pruning.background import BackgroundSummaries
from webapp.services.pruning.cold_caches import ColdCaches
from webapp.services.pruning.operations import OperationService
from webapp.services.pruning.overflow import Overflow
from webapp.services.pruning.prunes import Prunes
from webapp.services.session.environment import Environment
from webapp.services.session.histories import Histories
from webapp.services.settings.common_settings import SettingsService
from webapp.services.settings.model_table import ModelTable
from webapp.services.settings.suggesting import Suggesting
from webapp.services.summaries.summarising import Summarising
from webapp.services.transfer.exporting import Exporting
from webapp.services.transfer.importing import Importing
from webapp.services.transfer.resuming import Resuming
from webapp.services.webhooks.webhooks import WebhookService
from webapp.store import Store
from webapp.watcher import Watcher

if TYPE_CHECKING:
    from webapp.providers.client import ModelClient


@dataclass(slots=True)
class App:
    """Everything that runs, by name."""

    config: Config
    store: Store
    bus: Bus
    environment: Environment
    histories: Histories
    ingest: Ingest
    pushed: PushedSessions
    sessions: SessionService
    aftermaths: AftermathService
    timelines: Timelines
    heaviest: HeaviestGroups
    messages: Messages
    prunes: Prunes
    operations: OperationService
    settings: SettingsService
    suggesting: Suggesting
    models: ModelTable
    savings: SavingsService
    search: Search
    context: ContextService
    memory: MemoryService
    summarising: Summarising
    overflow: Overflow
    automatic: AutomaticPruning
    cold_caches: ColdCaches
    background: BackgroundSummaries
    status: StatusService
    verdicts: Verdicts
    verdict_refresher: VerdictRefresher
    importing: Importing
    exporting: Exporting
    repairing: Repairing
    retention: RetentionService
    resuming: Resuming
    demo: Demo
    hints: Hints
    webhooks: WebhookService
    calls: Calls
    proxy_scripts: ProxyScripts
    watcher: Watcher
    access_tokens: AccessTokens
    model: ModelClient | None = None
    queue: Queue | None = None

    def verify(self) -> Iterator[str]:
        """Yield every fault in the store, one line each."""
        return self.store.verify()

    def close(self) -> None:
        """Stop all background work and close the store."""
        self.watcher.stop()
        self.demo.stop()
        self.retention.close()
        self.hints.close()
        self.proxy_scripts.close()
        self.verdict_refresher.close()
        self.cold_caches.close()
        self.aftermaths.close()
        self.background.close()
        self.environment.leases.close()
        self.webhooks.close()
        if self.model is not None:
            self.model.close()
        self.store.close()
        if self.queue is not None:  # last, to tell of everything that was stored
            self.queue.close()
