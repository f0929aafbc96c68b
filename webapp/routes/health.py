"""The health check, and metrics in Prometheus' text format."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from flask import Flask, Response, current_app, g, request
from prometheus_client import CollectorRegistry, Counter, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from webapp.app import App
from webapp.errors import StoreError, to_json
from webapp.events import (
    ContextPruned,
    ContextRestored,
    ContextSummarized,
    Event,
    MessagesAppended,
    OperationUndone,
    TargetCrossed,
)
from webapp.routes.api.routing import EXTENSION
from webapp.routes.json_answers import json_response
from webapp.routes.problems import RequestFault

# Each session is a label value, and a metrics server keeps every one it ever saw.
SESSIONS_SHOWN = 200
REASONS = ("manual", "automatic", "emergency")


class Metrics:
    """Counters of events since the server's start, and gauges of sessions that are read at each request."""

    def __init__(self, app: App) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self.requests = Histogram(
            "coppice_http_request_duration_seconds",
            "Time to answer, by route and status",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self.appended = self._counter("coppice_messages_appended", "Messages added to the log")
        self.prunes = self._counter("coppice_prunes", "Prunes applied, by who asked for them", ["reason"])
        for reason in REASONS:  # without a value of 0, the first increase would not show
            self.prunes.labels(reason)
        self.drops = self._counter("coppice_drops", "Single messages dropped by hand, each with its unit")
        self.summaries = self._counter("coppice_summaries", "Summaries put into a context")
        self.restored = self._counter("coppice_messages_restored", "Messages put back into a context")
        self.undone = self._counter("coppice_operations_undone", "Operations taken back")
        self.crossed = self._counter(
            "coppice_target_crossings", "Appends that brought a context above its target"
        )
        self.freed = self._counter(
            "coppice_freed_tokens", "Tokens that prunes and drops took out of contexts"
        )
        self.removed = self._counter(
            "coppice_messages_removed", "Messages that prunes and drops took out of contexts"
        )
        self.registry.register(SessionGauges(app))
        self.registry.register(WebhookCounts(app))
        app.bus.subscribe(self.count)

    def _counter(self, name: str, meaning: str, labels: Sequence[str] = ()) -> Counter:
        return Counter(name, meaning, labels, registry=self.registry)

    def count(self, event: Event) -> None:
        """Count one event."""
        match event:
            case MessagesAppended():
                self.appended.inc(max(event.count, len(event.message_nos)) - event.grown)
            case ContextPruned():
                if event.kind == "prune":
                    self.prunes.labels(event.reason).inc()
                else:
                    self.drops.inc()
                self.freed.inc(max(0, event.original - event.final))
                self.removed.inc(event.removed)
            case ContextSummarized():
                self.summaries.inc()
            case ContextRestored():
                self.restored.inc(len(event.message_ids))
            case OperationUndone():
                self.undone.inc(len(event.numbers))
            case TargetCrossed():
                self.crossed.inc()


class SessionGauges(Collector):
    """The gauges of the sessions, read from the service at each request."""

    def __init__(self, app: App) -> None:
        self.app = app

    def describe(self) -> list[Metric]:
        """Return no metrics, so that registering does not read the store."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield one sample per session, the most recently active ones first."""
        sessions = self.app.sessions.list()
        states = GaugeMetricFamily("coppice_sessions", "Sessions by state", labels=["state"])
        for state in ("idle", "active", "warning"):
            states.add_metric([state], sum(one.state == state for one in sessions))
        names = ["session", "source", "model", "view"]
        tokens = GaugeMetricFamily("coppice_session_context_tokens", "Tokens in the context", labels=names)
        fill = GaugeMetricFamily(
            "coppice_session_utilization_ratio",
            "Share of the input limit; above 1 where it is exceeded",
            labels=names,
        )
        target = GaugeMetricFamily(
            "coppice_session_target_ratio", "Share of the input limit that is the target", labels=["session"]
        )
        recent = sorted(sessions, key=lambda one: one.last_activity or "", reverse=True)
        for one in recent[:SESSIONS_SHOWN]:
            target.add_metric([one.id], one.target_tokens / max(1, one.limit))
            for view, gauge in (("agent", one.agent), ("pruned", one.pruned)):
                if gauge is not None:
                    labels = [one.id, one.source, one.model or "", view]
                    tokens.add_metric(labels, gauge.tokens)
                    fill.add_metric(labels, gauge.tokens / max(1, one.limit))
        yield from (states, tokens, fill, target)


class WebhookCounts(Collector):
    """The delivery attempts of webhooks, counted by their service."""

    def __init__(self, app: App) -> None:
        self.app = app

    def collect(self) -> Iterator[Metric]:
        """Yield the attempts by result, and the number of dropped events."""
        counts = self.app.webhook_sender.counts
        tries = CounterMetricFamily("coppice_webhook_tries", "Messages posted to webhooks", labels=["result"])
        tries.add_metric(["delivered"], counts.delivered)
        tries.add_metric(["failed"], counts.failed)
        yield tries
        yield CounterMetricFamily(
            "coppice_webhook_events_dropped",
            "Events for webhooks that found the queue full",
            value=counts.dropped,
        )


def healthz() -> Response:
    """Answer 200 if the store and the queue work, 503 with the reason otherwise."""
    app: App = current_app.extensions[EXTENSION]
    try:
        app.store.check()
        if app.queue is not None:
            app.queue.check()
    except StoreError as error:  # of any kind: the server may work again without a restart
        raise RequestFault(503, to_json(error)["error"]["type"], str(error)) from error
    return json_response({"status": "ok"})


def install(flask_app: Flask) -> None:
    """Register /healthz and /metrics, and time every request."""
    metrics = Metrics(flask_app.extensions[EXTENSION])

    def show() -> Response:
        return Response(generate_latest(metrics.registry), content_type=CONTENT_TYPE_LATEST)

    def start() -> None:
        g.started = time.perf_counter()

    def stop(response: Response) -> Response:
        route = request.url_rule.rule if request.url_rule else "(none)"
        seconds = time.perf_counter() - g.get("started", time.perf_counter())
        metrics.requests.labels(request.method, route, response.status_code).observe(seconds)
        return response

    flask_app.before_request(start)
    flask_app.after_request(stop)
    flask_app.add_url_rule("/healthz", "healthz", healthz)
    flask_app.add_url_rule("/metrics", "metrics", show)
