"""For those who watch: alive or not, and the figures of what happened."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.webapp.promises import Client
from webapp.app import App
from webapp.errors import BusyStore
from webapp.events import ContextPruned, MessagesAppended, OperationUndone


def samples(client: Client) -> dict[str, float]:
    """Return the metrics by name and labels, without those of requests."""
    families = text_string_to_metric_families(client.get("/metrics").text)
    found = {}
    for family in families:
        for one in family.samples:
            labels = ",".join(f"{k}={v}" for k, v in sorted(one.labels.items()))
            found[f"{one.name}{{{labels}}}" if labels else one.name] = one.value
    return found


class TestLiveness:
    """GET /healthz."""

    def test_says_ok(self, client: Client) -> None:
        """With a store that answers."""
        assert client.get("/healthz").json == {"status": "ok"}

    def test_fails_with_the_store(self, client: Client, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        """503, with the reason."""

        def fail() -> None:
            raise BusyStore("the database is busy")

        monkeypatch.setattr(app.store, "check", fail)
        answer = client.get("/healthz")
        assert (answer.status_code, answer.json["error"]["message"]) == (503, "the database is busy")


class TestMetrics:
    """GET /metrics, in Prometheus' text format."""

    def test_count_what_happened(self, client: Client, app: App) -> None:  # X16
        """Appends, prunes by reason, tokens freed, undone operations."""
        app.bus.publish(MessagesAppended("a", (1, 2), 2))
        app.bus.publish(ContextPruned("a", 1, "automatic", 100, 60, 2, (), 1.0))
        app.bus.publish(OperationUndone("a", (1, 2)))
        found = samples(client)
        assert found["coppice_messages_appended_total"] == 2
        assert found["coppice_prunes_total{reason=automatic}"] == 1
        assert found["coppice_tokens_freed_total"] == 40
        assert found["coppice_operations_undone_total"] == 2

    def test_tell_how_full_each_session_is(self, client: Client, app: App) -> None:  # X16
        """By id, source and model."""
        app.sessions.create(id="a", model="gpt-5")
        app.ingest.append_messages("a", [{"role": "user", "content": "hello " * 50}])
        labels = "{model=gpt-5,session=a,source=api,view=pruned}"
        found = samples(client)
        assert found[f"coppice_session_tokens{labels}"] == app.sessions.get("a").pruned.tokens
        assert f"coppice_session_utilization_percent{labels}" in found

    def test_time_requests_by_route(self, client: Client) -> None:
        """Not by path: a path may be anything."""
        client.get("/api/sessions/one")
        client.get("/api/sessions/two")
        labels = "{method=GET,route=/api/sessions/<session_id>,status=404}"
        assert samples(client)[f"coppice_http_request_seconds_count{labels}"] == 2
