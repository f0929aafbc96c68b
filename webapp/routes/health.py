"""Health check and metrics of a running server, the latter in Prometheus' text format."""

from __future__ import annotations

import time
from collections.abc import Iterator

from flask import Flask, Response, current_app, g, request
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from webapp.app import App
from webapp.events import ContextPruned, Event, MessagesAppended, OperationUndone
from webapp.routes.answers import json_response
from webapp.routes.api.routing import EXTENSION

# Each session is a label, and a metrics server keeps every label it ever saw.
SESSIONS_SHOWN = 200


class Metrics:
    """Counters of events since the server's start; a session's gauge is read when it is collected."""

    def __init__(self, app: App) -> None:
        self.registry = CollectorRegistry()
        self.requests = Histogram(
            "coppice_http_request_seconds",
            "Time to answer, by route and status",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self.appended = Counter(
            "coppice_messages_appended", "Messages added to the log", registry=self.registry
        )
        self.prunes = Counter("coppice_prunes", "Prunes applied", ["reason"], registry=self.registry)
        self.freed = Counter("coppice_tokens_freed", "Tokens that prunes took out", registry=self.registry)
        self.undone = Counter("coppice_operations_undone", "Operations taken back", registry=self.registry)
        self.registry.register(Fills(app))
        app.bus.subscribe(self.count)

    def count(self, event: Event) -> None:
        """Count one event."""
        match event:
            case MessagesAppended():
                self.appended.inc(max(event.count, len(event.message_nos)))
            case ContextPruned():
                self.prunes.labels(event.reason).inc()
                self.freed.inc(max(0, event.original - event.final))
            case OperationUndone():
                self.undone.inc(len(event.numbers))


class Fills(Collector):
    """The gauge of each session, read from the service when it is collected."""

    def __init__(self, app: App) -> None:
        self.app = app

    def describe(self) -> list[Metric]:
        """Return no metrics: registering must not read the store."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield one sample a session, the most recently active ones first."""
        sessions = self.app.sessions.list()
        states = GaugeMetricFamily("coppice_sessions", "Sessions by state", labels=["state"])
        for state in ("idle", "active", "warning"):
            states.add_metric([state], sum(one.state == state for one in sessions))
        names = ["session", "source", "model", "view"]
        tokens = GaugeMetricFamily("coppice_session_tokens", "Tokens in the context", labels=names)
        fill = GaugeMetricFamily(
            "coppice_session_utilization_percent", "Share of the input limit", labels=names
        )
        recent = sorted(sessions, key=lambda one: one.last_activity or "", reverse=True)
        for one in recent[:SESSIONS_SHOWN]:
            for view, gauge in (("agent", one.agent), ("pruned", one.pruned)):
                if gauge is not None:
                    labels = [one.id, one.source, one.model or "", view]
                    tokens.add_metric(labels, gauge.tokens)
                    fill.add_metric(labels, gauge.utilization)
        yield from (states, tokens, fill)


def healthz() -> Response:
    """Answer 200 if the store answers, 503 with the reason if it does not."""
    current_app.extensions[EXTENSION].store.check()
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
