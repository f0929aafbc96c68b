"""Posting to a webhook: the signatures of Standard Webhooks, and receivers of every kind."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import orjson
import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from tests.webapp.providers.endpoints import answering, sending
from webapp.errors import Invalid
from webapp.providers import webhook
from webapp.providers.webhook import Outcome, check_secret, check_url, new_secret, post, sign
from webapp.services.session.times import now_ms

BODY = orjson.dumps({"type": "context:pruned", "data": {"removed": 3, "text": "ümlaut"}})


def posted(url: str, secret: str | None = None) -> Outcome:
    """Post the body once."""
    return asyncio.run(post(url, secret or new_secret(), "msg_1", now_ms() // 1000, BODY))


class TestSigning:
    """The headers `webhook-id`, `webhook-timestamp` and `webhook-signature`."""

    def test_is_verified_by_the_official_library(self) -> None:  # X16
        """Id, time and body are signed together."""
        secret = new_secret()
        with answering(sending("", 204)) as receiver:
            assert posted(receiver.url, secret) == Outcome(204)
        _, headers, body = receiver.seen[0]
        assert Webhook(secret).verify(orjson.dumps(body), headers) == orjson.loads(BODY)
        with pytest.raises(WebhookVerificationError):
            Webhook(secret).verify(orjson.dumps({**body, "type": "other"}), headers)
        with pytest.raises(WebhookVerificationError):
            Webhook(new_secret()).verify(orjson.dumps(body), headers)

    def test_matches_the_example_of_the_specification(self) -> None:
        """The official libraries are tested with the same example."""
        secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b'{"test": 2432232314}'
        signed = sign(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body)
        assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="

    def test_requires_secrets_of_the_specified_form(self) -> None:
        """A secret has 24 to 64 bytes."""
        assert check_secret(new_secret())
        for wrong in ("", "whsec_", "whsec_???", "whsec_" + "A" * 12, new_secret().removeprefix("whsec_")):
            with pytest.raises(Invalid):
                check_secret(wrong)


class TestReceivers:
    """Receivers, and the result of one attempt."""

    @pytest.mark.parametrize("status", [200, 202, 299])
    def test_that_accept_are_successes(self, status: int) -> None:
        """The body of the answer does not matter."""
        with answering(sending("thanks", status)) as receiver:
            assert posted(receiver.url) == Outcome(status)

    @pytest.mark.parametrize("status", [302, 400, 404, 500, 503])
    def test_that_answer_otherwise_are_failures(self, status: int) -> None:
        """A redirect is not followed."""
        with answering(sending("", status, location="http://127.0.0.1:1/")) as receiver:
            assert posted(receiver.url) == Outcome(status, f"the receiver answers {status}")
        assert len(receiver.seen) == 1

    def test_can_ask_to_wait_or_be_gone(self) -> None:
        """Retry-After is in seconds, and 410 means gone."""
        with answering(sending("", 429, retry_after="90"), sending("", 410)) as receiver:
            assert posted(receiver.url).wait_seconds == 90
            assert posted(receiver.url).gone

    def test_that_hang_are_aborted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The whole attempt has one time limit, even if bytes keep arriving."""
        monkeypatch.setattr(webhook, "SECONDS", 0.2)

        def hang(handler: Any) -> None:
            handler.wfile.write(b"HTTP/1.1 2")
            receiver.released.wait(10)

        with answering(hang) as receiver:
            assert posted(receiver.url).problem == "no answer within 0.2 seconds"

    def test_that_are_unreachable_or_invalid_raise_no_error(self) -> None:
        """The result is a value in every case."""
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            assert posted(f"http://127.0.0.1:{closed.getsockname()[1]}/").problem == "no connection"

        def greet(handler: Any) -> None:
            handler.wfile.write(b"SSH-2.0\r\n")

        with answering(greet) as receiver:
            assert posted(receiver.url).problem.startswith("the connection failed")
            assert posted(receiver.url.replace("http:", "https:")).problem

    @pytest.mark.parametrize("secret", ["whsec_é", "whsec_a"])
    def test_get_nothing_that_cannot_be_signed(self, secret: str) -> None:
        """A secret that was damaged in the store is named as the problem."""
        assert posted("http://127.0.0.1:9/", secret).problem == "its secret is damaged; give it a new one"


class TestAddresses:
    """Addresses of receivers."""

    @pytest.mark.parametrize(
        "url",
        [
            "http://127.0.0.1:9000/x", "http://localhost/x", "http://192.168.1.4/x", "http://[::1]:80/x",
            "https://example.org/hook?token=a", "http://10.0.0.1/",
        ],
    )  # fmt: skip
    def test_may_be_on_this_machine_and_its_networks(self, url: str) -> None:
        """Most receivers run there."""
        assert check_url(url) == url

    @pytest.mark.parametrize(
        "url",
        [
            "http://169.254.169.254/latest/meta-data/", "http://[fe80::1%25eth0]/", "http://0.0.0.0/", "http://[::]/",
            "http://[::ffff:169.254.169.254]/", "http://224.0.0.1/", "ftp://example.org/", "file:///etc/passwd", "x",
            "http://", "http://user:pass@example.org/", "http://example.org/#a", "http://[::1", "http://a:99999/",
            "http://example.org/\n", "",
            # Other spellings of addresses, which resolvers accept but simple filters miss.
            "http://0/", "http://0x7f.1/", "http://2130706433/", "http://127.1/", "http://0177.0.0.1/",
            "http://0xa9fea9fe/", "http://2852039166/", "http://169.254.43518/", "http://1.2.3.4.5/", "http://1.2.3.999/",
            "http://\uff11\uff12\uff17.0.0.1/", "http://169\u3002254\u3002169\u3002254/", "http://1.0x/",
            # Addresses that embed another one, that clouds use for credentials, or that no host has.
            "http://[::169.254.169.254]/", "http://[64:ff9b::a9fe:a9fe]/", "http://[2002:a9fe:a9fe::]/", "http://0.1.2.3/",
            "http://[fd00:ec2::254]/", "http://[fd20:ce::254]/", "http://100.100.100.200/", "http://192.0.0.192/",
            "http://168.63.129.16/", "http://255.255.255.255/", "http://250.1.2.3/", "http://[ff02::1]/",
            # No names of hosts.
            "http://a b/", "http://a%20b/", "http://-a.org/", "http://a..org/", "http://.org/", "http://a<b/", "http://a'/",
            "http://" + "a" * 64 + ".org/", "http://a,b/", "http://a\\b/", "http://[v1.x]/", "http://\ud800/", "http://a\u0000b/",
        ],
    )  # fmt: skip
    def test_of_no_host_or_of_cloud_credentials_are_refused(self, url: str) -> None:
        """The error names the field."""
        with pytest.raises(Invalid) as refused:
            check_url(url)
        assert refused.value.details[0]["field"] == "url"

    @pytest.mark.parametrize("port", ["0", "00", "65536", "99999", "http", "-1"])
    def test_of_no_port_are_refused(self, port: str) -> None:
        """The error is about the port, and names it."""
        for host in ("example.org", "[::1]"):
            with pytest.raises(Invalid, match=f"expected a port from 1 to 65535, got {port}$"):
                check_url(f"https://{host}:{port}/hook")

    def test_are_checked_after_the_name_is_resolved(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A name can change its address, so the connection is checked before anything is sent."""
        monkeypatch.setattr(webhook, "refused", lambda host: host == "127.0.0.1")
        with answering(sending("")) as receiver:
            outcome = posted(receiver.url.replace("127.0.0.1", "localhost"))
        assert outcome.problem == "nothing is sent to 127.0.0.1, to which the name leads"
        assert receiver.seen == []
