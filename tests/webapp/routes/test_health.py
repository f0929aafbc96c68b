"""Monitoring: the health check and metrics."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.shared import ROOT
from tests.webapp.building import entry, mid, said, wire
from tests.webapp.promises import Client
from webapp.app import App
from webapp.bodies import PruneBody
from webapp.errors import BusyStore, FullDisk, ReadOnlyStore, StoreError
from webapp.events import (
    ContextPruned,
    ContextRestored,
    ContextSummarized,
    MessagesAppended,
    OperationUndone,
    TargetCrossed,
)

# The parts of a query or legend that name metrics and labels.
METRIC = re.compile(r"\b((?:coppice|process)_\w+)")
LABEL = re.compile(r"(\w+)(?:=~|=)\"")
BY = re.compile(r"by \(([^)]*)\)")
SHOWN = re.compile(r"\{\{(\w+)\}\}")
VALUES = re.compile(r"label_values\((\w+), (\w+)\)")


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

    def test_answers_ok(self, client: Client) -> None:
        """The store can be read."""
        assert client.get("/healthz").json == {"status": "ok"}

    @pytest.mark.parametrize("error", [FullDisk, ReadOnlyStore, StoreError])
    def test_fails_while_nothing_can_be_stored(
        self, client: Client, app: App, monkeypatch: pytest.MonkeyPatch, error: type[StoreError]
    ) -> None:
        """After a write without room or permission, or on a broken disk, until one succeeds; the check itself tries.

        While others write, the reason is still the answer.
        """
        full, run = [error("no room left")], app.store.db.run

        def run_if_there_is_room(sql: str, values: Sequence[object] = ()) -> int:
            if full:
                raise full[0]
            return run(sql, values)

        monkeypatch.setattr(app.store.db, "run", run_if_there_is_room)
        assert client.get("/healthz").status_code == 200
        assert client.post("/api/memories", json={"text": "x"}).status_code in (500, 503)
        for _ in range(2):
            answer = client.get("/healthz")
            assert (answer.status_code, answer.json["error"]["message"]) == (503, "no room left")
            full[0] = BusyStore("busy")
        full.clear()
        assert client.get("/healthz").json == {"status": "ok"}
        assert list(app.verify()) == []

    def test_fails_with_the_store(self, client: Client, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        """The answer is 503, with the reason."""

        def fail() -> None:
            raise BusyStore("the database is busy")

        monkeypatch.setattr(app.store, "check", fail)
        answer = client.get("/healthz")
        assert (answer.status_code, answer.json["error"]["message"]) == (503, "the database is busy")

    def test_fails_with_the_queue(self, client: Client, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        """The answer is 503, with the reason; it is no failure of the server, whose log stays as it is."""

        class Away:
            def check(self) -> None:
                raise StoreError("the queue does not answer")

        with monkeypatch.context() as patch:
            patch.setattr(app, "queue", Away())
            answer = client.get("/healthz")
        assert (answer.status_code, answer.json["error"]["message"]) == (503, "the queue does not answer")


PRUNED = ContextPruned("a", 1, "automatic", 100, 60, 2, ("m1", "m2"), 1.0)


class TestMetrics:
    """GET /metrics, in Prometheus' text format."""

    def test_count_events(self, client: Client, app: App) -> None:  # X16
        """The numbers come from the events."""
        app.bus.publish(MessagesAppended("a", (1, 2), 2), PRUNED, OperationUndone("a", (1, 2)))
        app.bus.publish(ContextSummarized("a", "u1", 20, 10, "…"), ContextRestored("a", 1, ("m1",)))
        app.bus.publish(TargetCrossed("a", 165, 160, 200, 82.5))
        found = samples(client)
        assert found["coppice_messages_appended_total"] == 2
        assert found["coppice_prunes_total{reason=automatic}"] == 1
        assert found["coppice_freed_tokens_total"] == 40
        assert found["coppice_messages_removed_total"] == 2
        assert found["coppice_operations_undone_total"] == 2
        assert found["coppice_summaries_total"] == 1
        assert found["coppice_messages_restored_total"] == 1
        assert found["coppice_target_crossings_total"] == 1

    def test_count_each_message_of_the_log_once(self, client: Client, app: App) -> None:  # X16
        """A system prompt counts from the start, and an answer whose parts arrive one by one counts once."""
        app.new_sessions.create(id="a", model="gpt-5", system="You help.")
        app.ingest.append_messages("a", [wire("user", "hi")])
        app.ingest.ensure("s", "claude-code")
        for n in range(3):
            app.ingest.append_records("s", [entry(n, said(f"part {n}"), group="one")])
        in_logs = sum(one.messages for one in app.sessions.list())
        assert samples(client)["coppice_messages_appended_total"] == in_logs == 3

    def test_do_not_count_a_drop_as_a_prune(self, client: Client, app: App) -> None:  # X16
        """`reason="manual"` counts only prunes that a person requested."""
        app.new_sessions.create(id="a", model="gpt-5")
        app.ingest.append_messages("a", [{"role": "user", "content": f"{n} hello " * 300} for n in range(20)])
        app.by_hand.drop("a", mid(app, "a", 1))
        found = samples(client)
        assert (found["coppice_drops_total"], found["coppice_prunes_total{reason=manual}"]) == (1, 0)
        app.prunes.apply("a", PruneBody(max_tokens=4_000))
        found = samples(client)
        assert (found["coppice_drops_total"], found["coppice_prunes_total{reason=manual}"]) == (1, 1)

    def test_count_attempts_of_webhooks(self, client: Client, app: App) -> None:
        """Attempts are counted by outcome."""
        app.webhook_sender.counts.failed = 3
        assert samples(client)["coppice_webhook_tries_total{result=failed}"] == 3

    def test_have_the_utilization_of_each_session(self, client: Client, app: App) -> None:  # X16
        """The ratio is labelled with id, source and model."""
        app.new_sessions.create(id="a", model="gpt-5")
        app.ingest.append_messages("a", [{"role": "user", "content": "hello " * 50}])
        labels = "{model=gpt-5,session=a,source=api,view=pruned}"
        found, shown = samples(client), app.sessions.get("a")
        assert found[f"coppice_session_context_tokens{labels}"] == shown.pruned.tokens
        assert found[f"coppice_session_utilization_ratio{labels}"] == shown.pruned.tokens / shown.limit
        assert found["coppice_session_target_ratio{session=a}"] == shown.target_tokens / shown.limit

    def test_measure_requests_by_route(self, client: Client) -> None:
        """The number of labels by path would be unbounded."""
        client.get("/api/sessions/one")
        client.get("/api/sessions/two")
        labels = "{method=GET,route=/api/sessions/<session_id>,status=404}"
        assert samples(client)[f"coppice_http_request_duration_seconds_count{labels}"] == 2

    def test_are_named_as_prometheus_recommends(self, client: Client) -> None:  # X16
        """Names follow its guide: base units, ratios, `_total` for counters."""
        units = ("_seconds", "_bytes", "_tokens", "_ratio")
        families = list(text_string_to_metric_families(client.get("/metrics").text))
        ours = [
            one for one in families if one.name.startswith("coppice_") and not one.name.endswith("_created")
        ]
        for family in ours:
            assert family.documentation
            assert not re.search(r"percent|milli|_ms(_|$)", family.name)
            if family.type == "counter":
                assert all(s.name.endswith(("_total", "_created")) for s in family.samples)
            elif family.name != "coppice_sessions":
                assert family.name.endswith(units), family.name


class TestTheDashboard:
    """docs/grafana.json, which a user imports into Grafana."""

    @pytest.fixture
    def labels(self, client: Client, app: App) -> dict[str, set[str]]:
        """Return the labels of each metric of a used server, with the job that Prometheus adds."""
        app.new_sessions.create(id="a", model="gpt-5")
        app.bus.publish(PRUNED)
        client.get("/api/sessions")
        found: dict[str, set[str]] = {}
        for family in text_string_to_metric_families(client.get("/metrics").text):
            for one in family.samples:
                found.setdefault(one.name, {"job"}).update(one.labels)
        return found

    def test_queries_existing_metrics(self, labels: dict[str, set[str]]) -> None:  # X16
        """The labels exist, too."""
        dashboard = json.loads((ROOT / "docs" / "grafana.json").read_text("utf-8"))
        asked: set[str] = set()
        for panel in dashboard["panels"]:
            for target in panel["targets"]:
                names = set(METRIC.findall(target["expr"]))
                asked |= names
                assert names <= set(labels), panel["title"]
                wanted = set(LABEL.findall(target["expr"])) | set(SHOWN.findall(target["legendFormat"]))
                wanted |= {one.strip() for by in BY.findall(target["expr"]) for one in by.split(",")}
                assert names
                assert wanted <= set.intersection(*(labels[name] for name in names)), panel["title"]
        for variable in dashboard["templating"]["list"]:
            for metric, label in VALUES.findall(str(variable["query"])):
                assert label in labels[metric]
        ours = {name.removesuffix("_bucket").removesuffix("_count").removesuffix("_sum") for name in labels}
        shown = {name.removesuffix("_bucket").removesuffix("_count") for name in asked}
        assert {one for one in ours if one.startswith("coppice_") and not one.endswith("_created")} <= shown

    def test_has_panels_that_do_not_overlap(self) -> None:
        """Each panel has its own id and place."""
        panels = json.loads((ROOT / "docs" / "grafana.json").read_text("utf-8"))["panels"]
        assert len({one["id"] for one in panels}) == len(panels)
        taken: set[tuple[int, int]] = set()
        for one in panels:
            at = one["gridPos"]
            assert at["x"] + at["w"] <= 24
            cells = {(at["x"] + i, at["y"] + j) for i in range(at["w"]) for j in range(at["h"])}
            assert not taken & cells, one["title"]
            taken |= cells
