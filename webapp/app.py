"""The application for routes and commands: its services by name, each with those that it needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from webapp.access.tokens import AccessTokens
from webapp.config import Config
from webapp.providers import webhook
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
from webapp.services.context.proposals import LearningProposals
from webapp.services.ingest.following import Following, TranscriptAppender
from webapp.services.ingest.ingest import Ingest
from webapp.services.ingest.new_sessions import NewSessions
from webapp.services.ingest.pushed import PushedSessions
from webapp.services.integrations.hints import Hints
from webapp.services.planning.analysis_ahead import AnalysisAhead
from webapp.services.planning.heaviest import HeaviestGroups
from webapp.services.planning.message_pages import Messages
from webapp.services.planning.planning import Planning
from webapp.services.planning.shown_plans import ShownPlans
from webapp.services.planning.verdicts import VerdictRefresher, Verdicts
from webapp.services.proxied.calls import Calls
from webapp.services.proxied.followed import FollowedCalls
from webapp.services.proxied.scripts import ProxyScripts
from webapp.services.pruning.automatic import AutomaticPruning
from webapp.services.pruning.background import BackgroundSummaries
from webapp.services.pruning.by_hand import ChangesByHand
from webapp.services.pruning.cold_caches import ColdCaches
from webapp.services.pruning.operations import OperationService
from webapp.services.pruning.overflow import Overflow
from webapp.services.pruning.plan_summaries import PlanSummaries
from webapp.services.pruning.prunes import Prunes
from webapp.services.session.environment import Environment
from webapp.services.session.histories import Histories
from webapp.services.settings.common_settings import SettingsService
from webapp.services.settings.model_table import ModelTable
from webapp.services.settings.suggesting import Suggesting
from webapp.services.summaries.summarising import Summarising, SummaryWriter
from webapp.services.transfer.exporting import Exporting
from webapp.services.transfer.importing import Importing
from webapp.services.transfer.own_format import OwnFormat
from webapp.services.transfer.resuming import Resuming
from webapp.services.webhooks.sending import WebhookSender
from webapp.services.webhooks.webhooks import WebhookService
from webapp.watcher import Watcher

if TYPE_CHECKING:
    from webapp.providers.client import ModelClient


class App:
    """Everything that runs, by name. `writer` asks `model` for the texts of summaries; both are None without one."""

    def __init__(
        self,
        config: Config,
        environment: Environment,
        *,
        model: ModelClient | None,
        writer: SummaryWriter | None,
        queue: Queue | None,
    ) -> None:
        """Build every service from those that it needs. No background work runs yet."""
        self.config, self.environment, self.model, self.queue = config, environment, model, queue
        self.store, self.bus = environment.store, environment.bus
        self.histories = histories = Histories(self.store)
        planning = Planning(environment, histories)
        shown_plans = ShownPlans(environment, planning)
        self.analysis_ahead = AnalysisAhead(environment, histories)
        self.verdicts = Verdicts(environment, histories, planning)
        self.verdict_refresher = VerdictRefresher(self.verdicts)
        self.sessions = SessionService(environment, histories)
        self.messages = Messages(environment, planning, shown_plans)
        self.heaviest = HeaviestGroups(environment, histories, planning)
        self.memory = MemoryService(environment)
        self.proposals = LearningProposals(environment)
        self.context = ContextService(environment, self.memory)

        # Changes of contexts
        self.summarising = Summarising(environment, histories, writer)
        summaries = PlanSummaries(environment, self.summarising)
        self.prunes = Prunes(environment, histories, planning, shown_plans, self.messages, summaries)
        self.operations = OperationService(environment, histories)
        self.by_hand = ChangesByHand(environment, histories)
        self.overflow = Overflow(environment, histories, self.summarising)
        self.cold_caches = ColdCaches(environment)
        self.automatic = AutomaticPruning(
            environment, histories, planning, self.prunes, summaries, self.overflow, self.cold_caches
        )
        self.background = BackgroundSummaries(environment, self.summarising, self.automatic)

        # Input and output
        self.new_sessions = NewSessions(environment)
        self.ingest = Ingest(environment, histories, self.automatic.after_append)
        appender, own_format = TranscriptAppender(environment, self.ingest), OwnFormat(environment, histories)
        self.watcher = Watcher(Following(environment, appender, config.watch, config.environment))
        self.pushed = PushedSessions(environment, appender)
        self.importing = Importing(environment, self.ingest, self.new_sessions, own_format)
        self.exporting = Exporting(environment, self.context, own_format)
        self.resuming = Resuming(environment, self.prunes, config.environment, config.folder / "copies")
        followed_calls = FollowedCalls(environment, histories)
        self.calls = Calls(environment, self.ingest, followed_calls)
        self.proxy_scripts = ProxyScripts(environment, followed_calls)
        self.hints = Hints(environment, planning)
        self.webhook_sender = WebhookSender(environment, webhook)
        self.webhooks = WebhookService(environment, webhook, self.webhook_sender)

        # The catalog and the settings
        self.status = StatusService(environment, self.background, self.sessions)
        self.aftermaths = AftermathService(environment)
        self.timelines = Timelines(environment, self.aftermaths)
        self.savings = SavingsService(environment, self.aftermaths)
        self.search = Search(environment, self.messages)
        self.repairing = Repairing(environment, histories)
        self.retention = RetentionService(environment, self.sessions)
        self.demo = Demo(self.ingest, self.new_sessions, self.sessions)
        self.settings = SettingsService(environment)
        self.suggesting = Suggesting(environment)
        self.models = ModelTable(environment)
        self.access_tokens = AccessTokens(self.store, config.token)

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
        self.analysis_ahead.close()
        self.background.close()
        self.environment.leases.close()
        self.webhook_sender.close()
        if self.model is not None:
            self.model.close()
        self.store.close()
        if self.queue is not None:  # last, to tell of everything that was stored
            self.queue.close()
