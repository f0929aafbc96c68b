"""Webhooks: each event reaches each subscribed receiver, with retries, and delays no append."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from tests.waiting import until
from tests.webapp.building import followed, heard, mid, user, wire
from tests.webapp.providers.endpoints import Endpoints, answering, sending
from webapp.app import App
from webapp.config import Config
from webapp.errors import ClosedStore, Conflict, Invalid, NotFound
from webapp.events import ContextPruned, ContextSummarized, ProblemReported, TargetCrossed, WebhooksChanged
from webapp.services.session.times import now_ms
from webapp.services.webhooks import sending as module
from webapp.services.webhooks.sending import EVENTS, QUEUED, WAITS
from webapp.services.webhooks.webhooks import MOST_WEBHOOKS
from webapp.store.webhooks import DELIVERIES_KEPT, DeliveryRow
from webapp.wiring import build

PRUNED = ContextPruned("a", 7, "manual", 100, 60, 2, ("m1", "m2"), 30.0)
SUMMARIZED = ContextSummarized("a", "u1", 20, 10, "Previous 20 turns")
CROSSED = TargetCrossed("a", 165, 160, 200, 82.5)


@pytest.fixture
def receiver() -> Iterator[Endpoints]:
    """A receiver that accepts every message."""
    with answering(sending("", 204)) as made:
        yield made


@pytest.fixture
def sends(app: App) -> App:
    """The application with its sending thread, as in a server."""
    app.webhook_sender.start()
    return app


def states(app: App, number: int) -> list[str]:
    """Return the states of a webhook's messages, newest first."""
    return [one.state for one in app.webhooks.deliveries(number).deliveries]


class TestEvents:
    """Events that webhooks send."""

    def test_reach_the_receiver_with_their_payload(self, sends: App, receiver: Endpoints) -> None:  # X16, B14
        """A message has the name of the event and the payload that pages get."""
        sends.webhooks.add(receiver.url)
        sends.bus.publish(PRUNED, SUMMARIZED, CROSSED)
        until(lambda: len(receiver.seen) == 3)
        bodies = [body for _, _, body in receiver.seen]
        assert [body["type"] for body in bodies] == list(EVENTS)
        assert [body["data"] for body in bodies] == [
            {**one.payload(), **({"removed_ids": ["m1", "m2"]} if one is PRUNED else {})}
            for one in (PRUNED, SUMMARIZED, CROSSED)
        ]
        assert bodies[0]["data"]["tokenReduction"] == 40
        until(lambda: states(sends, 1) == ["delivered"] * 3)

    def test_go_to_subscribed_webhooks_only(self, sends: App, receiver: Endpoints) -> None:
        """A webhook of other events or a paused one gets nothing."""
        wants = sends.webhooks.add(receiver.url, ["context:summarized"]).webhook.id
        paused = sends.webhooks.add(receiver.url).webhook.id
        sends.webhooks.change(paused, active=False)
        sends.bus.publish(PRUNED, SUMMARIZED)
        until(lambda: states(sends, wants) == ["delivered"])
        assert states(sends, paused) == []
        assert len(receiver.seen) == 1

    @pytest.mark.parametrize("damaged", ["", "[", "3", '{"a": 1}', "[3]"])
    def test_reach_other_webhooks_if_the_row_of_one_is_damaged(
        self, app: App, receiver: Endpoints, damaged: str
    ) -> None:
        """It gets no events until they are chosen again."""
        first, second = (app.webhooks.add(receiver.url).webhook.id for _ in range(2))
        with app.store.write():
            app.store.db.run("UPDATE webhooks SET events = ? WHERE id = ?", (damaged, first))
        app.webhook_sender.start()
        app.bus.publish(PRUNED)
        until(lambda: states(app, second) == ["delivered"])
        assert [one.events for one in app.webhooks.listed().webhooks] == [[], list(EVENTS)]
        app.webhooks.change(first, events=["context:pruned"])
        app.bus.publish(PRUNED)
        until(lambda: states(app, first) == ["delivered"])

    def test_with_half_a_character_hold_up_no_other(self, sends: App, receiver: Endpoints) -> None:
        """A model can cut a character of its summary in two; its escape is kept."""
        sends.webhooks.add(receiver.url)
        sends.bus.publish(replace(SUMMARIZED, summary="half \ud83d"), CROSSED)
        until(lambda: len(receiver.seen) == 2)
        assert receiver.seen[0][2]["data"]["summary"] == "half \ud83d"

    def test_are_sent_after_an_unforeseen_failure(
        self, app: App, receiver: Endpoints, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The thread that sends goes on."""
        monkeypatch.setattr(module, "LOOK_SECONDS", 0.0)
        number, due, left = app.webhooks.add(receiver.url).webhook.id, app.store.webhooks.due, [ValueError()]

        def fail_once(now: int) -> list[DeliveryRow]:
            if left:
                raise left.pop()
            return due(now)

        monkeypatch.setattr(app.store.webhooks, "due", fail_once)
        app.webhook_sender.start()
        app.bus.publish(PRUNED)
        until(lambda: states(app, number) == ["delivered"])
        assert not left

    def test_that_cannot_be_stored_do_not_keep_the_application_open(
        self, config: Config, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The store is closed after any failure."""
        app = build(config)
        app.bus.publish(PRUNED)
        monkeypatch.setattr(app.store.webhooks, "all", lambda: 1 / 0)
        app.close()
        with pytest.raises(ClosedStore):
            app.sessions.list()

    def test_never_delay_an_append(self, sends: App) -> None:  # X16
        """A receiver that does not answer delays only its own messages."""
        released = threading.Event()

        def hang(handler: Any) -> None:
            released.wait(10)

        with answering(hang) as hanging, answering(sending("", 204)) as quick:
            first = sends.webhooks.add(hanging.url).webhook.id
            second = sends.webhooks.add(quick.url).webhook.id
            sends.bus.publish(*[PRUNED] * 5)
            until(lambda: states(sends, second) == ["delivered"] * 5)
            assert states(sends, first) == ["waiting"] * 5
            until(lambda: len(hanging.seen) == 1)
            released.set()

    def test_beyond_the_queue_are_counted_and_dropped(self, app: App) -> None:
        """The queue of events is bounded."""
        app.bus.publish(*[PRUNED] * (QUEUED + 3))
        assert app.webhook_sender.counts.dropped == 3

    def test_of_a_command_are_sent_by_the_server(self, config: Config, receiver: Endpoints) -> None:
        """A command stores its events when it ends, and the server sends them."""
        command = build(config)
        command.webhooks.add(receiver.url)
        command.bus.publish(PRUNED)
        command.close()
        assert receiver.seen == []
        server = build(config)
        server.webhook_sender.start()
        until(lambda: len(receiver.seen) == 1)
        server.close()


class TestRetries:
    """Attempts to deliver a message."""

    def test_continue_until_the_message_arrives(
        self, app: App, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X16
        """Each attempt has the same id, and the attempts are counted."""
        monkeypatch.setattr(module, "WAITS", (0, 0, 0))
        app.webhook_sender.start()
        with answering(sending("", 500), sending("", 503), sending("", 204)) as receiver:
            number = app.webhooks.add(receiver.url).webhook.id
            app.bus.publish(PRUNED)
            until(lambda: states(app, number) == ["delivered"])
        [one] = app.webhooks.deliveries(number).deliveries
        assert (one.tries, one.status, one.problem) == (3, 204, "")
        assert len({headers["webhook-id"] for _, headers, _ in receiver.seen}) == 1

    def test_hold_up_no_other_message(self, app: App) -> None:  # X16
        """A message that waits for its retry is overtaken by later ones."""
        app.webhook_sender.start()
        with answering(sending("", 500), sending("", 204)) as receiver:
            number = app.webhooks.add(receiver.url).webhook.id
            app.bus.publish(PRUNED)
            until(lambda: receiver.seen)
            app.bus.publish(SUMMARIZED)
            until(lambda: states(app, number) == ["delivered", "waiting"])

    def test_wait_as_long_as_the_receiver_asks(self, app: App) -> None:
        """The wait that a receiver asks for replaces a shorter default."""
        clock = count(1_000_000, 0)
        app.environment.clock = clock.__next__
        app.webhook_sender.start()
        with answering(sending("", 500), sending("", 503, retry_after="900")) as receiver:
            number = app.webhooks.add(receiver.url).webhook.id
            app.bus.publish(PRUNED)
            until(lambda: app.webhooks.deliveries(number).deliveries[:1])
            until(lambda: app.webhooks.deliveries(number).deliveries[0].tries == 1)
            [row] = app.store.webhooks.deliveries(number)
            assert row.next_at == 1_000_000 + WAITS[0] * 1000
            app.webhooks.send_again(number, row.id)
            until(lambda: len(receiver.seen) == 2)
            until(lambda: app.store.webhooks.deliveries(number)[0].status == 503)
        assert app.store.webhooks.deliveries(number)[0].next_at == 1_000_000 + 900_000

    def test_end_after_the_last_wait(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        """A problem names the receiver, and the message can be sent again by hand."""
        monkeypatch.setattr(module, "WAITS", (0,))
        events = heard(app)
        app.webhook_sender.start()
        with answering(sending("", 500), sending("", 500), sending("", 204)) as receiver:
            number = app.webhooks.add(receiver.url).webhook.id
            app.bus.publish(PRUNED)
            until(lambda: states(app, number) == ["failed"])
            problems = [one.message for one in events if isinstance(one, ProblemReported)]
            assert problems == ["a webhook message to 127.0.0.1 failed: the receiver answers 500, 2 tries"]
            app.webhooks.send_again(number, app.webhooks.deliveries(number).deliveries[0].id)
            until(lambda: states(app, number) == ["delivered"])

    def test_begin_at_once_after_a_clock_was_set_back(self, app: App, receiver: Endpoints) -> None:
        """A message that was stored on a day to come does not wait for that day."""
        number = app.webhooks.add(receiver.url).webhook.id
        app.environment.clock = lambda: now_ms() + 10 * 86_400_000
        app.bus.publish(PRUNED)
        app.webhook_sender.store_queued()
        app.environment.clock = now_ms
        app.webhook_sender.start()
        until(lambda: states(app, number) == ["delivered"])

    def test_end_if_the_receiver_is_gone(self, sends: App) -> None:
        """The status 410 pauses the webhook."""
        with answering(sending("", 410)) as receiver:
            number = sends.webhooks.add(receiver.url).webhook.id
            sends.bus.publish(PRUNED)
            until(lambda: states(sends, number) == ["failed"])
        assert not sends.webhooks.listed().webhooks[0].active

    def test_continue_after_a_restart(self, config: Config) -> None:
        """Waiting messages are in the store."""
        with answering(sending("", 500), sending("", 204)) as receiver:
            before = build(config)
            before.webhook_sender.start()
            number = before.webhooks.add(receiver.url).webhook.id
            before.bus.publish(PRUNED)
            until(lambda: before.webhooks.deliveries(number).deliveries[:1])
            until(lambda: before.webhooks.deliveries(number).deliveries[0].tries == 1)
            before.close()
            after = build(config)
            after.environment.clock = lambda: before.environment.clock() + 1000 * WAITS[0] + 1
            after.webhook_sender.start()
            until(lambda: states(after, number) == ["delivered"])
            after.close()


class TestWebhooks:
    """Creating, changing and deleting webhooks."""

    def test_show_the_secret_once(self, app: App) -> None:
        """Only creating or replacing a secret shows it, and the caller can choose one."""
        made = app.webhooks.add("http://127.0.0.1:9/")
        rotated = app.webhooks.rotate(made.webhook.id)
        assert made.secret != rotated.secret
        shown = f"{app.webhooks.listed()} {app.webhooks.deliveries(made.webhook.id)}"
        assert made.secret not in shown
        assert rotated.secret not in shown
        assert app.webhooks.add("http://127.0.0.1:9/", secret=made.secret).secret == made.secret

    def test_keep_the_newest_log_entries(self, app: App) -> None:
        """Older entries of the log are deleted."""
        number = app.webhooks.add("http://127.0.0.1:9/").webhook.id
        app.bus.publish(*[PRUNED] * (DELIVERIES_KEPT + 5))
        app.webhook_sender.store_queued()
        assert len(app.store.webhooks.deliveries(number, 10 * DELIVERIES_KEPT)) == DELIVERIES_KEPT

    def test_delete_messages_of_a_deleted_session(self, app: App) -> None:
        """Stored messages may quote the deleted session."""
        app.new_sessions.create(id="a", model="gpt-5")
        number = app.webhooks.add("http://127.0.0.1:9/").webhook.id
        app.bus.publish(SUMMARIZED)
        app.webhook_sender.store_queued()
        app.sessions.delete("a")
        assert states(app, number) == []

    def test_refuse_invalid_requests(self, app: App) -> None:
        """Unknown or missing events, an unknown webhook, too many webhooks and a test of a paused one are errors."""
        for events in (["context:eaten"], []):
            with pytest.raises(Invalid):
                app.webhooks.add("http://127.0.0.1:9/", events)
        for act in (app.webhooks.remove, app.webhooks.rotate, app.webhooks.test, app.webhooks.deliveries):
            with pytest.raises(NotFound):
                act(5)
        for _ in range(MOST_WEBHOOKS):
            number = app.webhooks.add("http://127.0.0.1:9/").webhook.id
        with pytest.raises(Conflict):
            app.webhooks.add("http://127.0.0.1:9/")
        app.webhooks.change(number, active=False)
        with pytest.raises(Conflict):
            app.webhooks.test(number)

    def test_announce_each_change(self, app: App) -> None:
        """Creating, changing, rotating, testing and removing each cause an event."""
        events = heard(app)
        number = app.webhooks.add("http://127.0.0.1:9/").webhook.id
        app.webhooks.change(number, events=["context:pruned"])
        app.webhooks.rotate(number)
        app.webhooks.test(number)
        app.webhooks.remove(number)
        assert events == [WebhooksChanged()] * 5
        assert list(app.verify()) == []


class TestTheTarget:
    """The event `session:above_target`."""

    def test_is_sent_once_per_crossing(self, app: App) -> None:  # X16
        """Appends above the target send no further event until the context has been below it."""
        events = heard(app)
        app.new_sessions.create(id="a", model="default", settings={"cap_tokens": 1_000, "fresh_tail": 0})
        for _ in range(4):
            app.ingest.append_messages("a", [wire("user", "word " * 600)])
        [one] = [one for one in events if isinstance(one, TargetCrossed)]
        assert one.tokens > one.target_tokens == 1_000
        for no in (1, 2, 3):
            app.by_hand.drop("a", mid(app, "a", no))
        assert app.sessions.get("a").pruned.tokens < 1_000
        app.ingest.append_messages("a", [wire("user", "word " * 600)])
        assert len([one for one in events if isinstance(one, TargetCrossed)]) == 2

    def test_is_not_sent_for_old_messages(self, app: App) -> None:
        """An import of old transcripts sends no event."""
        events = heard(app)
        app.settings.put({"cap_tokens": 1_000})
        followed(app, *[user("word " * 600)] * 4)
        assert app.sessions.get("s").pruned.tokens > 1_000
        assert [one for one in events if isinstance(one, TargetCrossed)] == []
