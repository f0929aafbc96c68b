"""Websockets on one thread, with slow, stuck and invalid clients."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import httpx
import pytest
import socketio

from tests.servers import Server, running_server
from tests.waiting import PATIENCE, until
from tests.webapp.live.raw import MASK, opened, read_until, sent
from webapp.events import ProblemReported
from webapp.live.gateway import Gateway
from webapp.live.websockets import FRAMES, INBOX, LAG_BYTES, Websocket, Websockets


def pages(server: Server) -> int:
    """Return the number of open pages."""
    gateway: Gateway = server.flask.extensions["coppice.live"]
    return len(gateway.socketio.server.eio.sockets)


class TestAPage:
    """A page with a websocket of a test."""

    def test_that_reads_nothing_is_disconnected_by_bytes(self, live_server: Server) -> None:
        """The bytes of its pending messages are bounded, even if they are few."""
        stuck = opened(live_server.url)
        read_until(stuck, b'"sid"')
        sent(stuck, "40")
        sent(stuck, '421["subscribe",{"room":"overview"}]')
        read_until(stuck, b"snapshot")
        text = "x" * (LAG_BYTES // 16)

        def tell() -> bool:
            live_server.app.bus.publish(ProblemReported(None, text))
            return pages(live_server) == 0

        until(tell)
        stuck.close()

    @pytest.mark.parametrize(
        "rude",
        [
            b"\x81\xff" + (1 << 62).to_bytes(8) + bytes(4),  # a frame of four exabytes
            b"\x82\x84" + bytes(8),  # binary
            b"\x81\x05hello",  # without a mask
            b"\xff\xff\xff\xff",
        ],
        ids=["huge", "binary", "unmasked", "noise"],
    )
    def test_that_violates_the_protocol_is_disconnected(self, live_server: Server, rude: bytes) -> None:
        """Other pages stay connected."""
        polite, impolite = opened(live_server.url), opened(live_server.url)
        until(lambda: pages(live_server) == 2)
        impolite.sendall(rude + b"x" * 2_000_000 if rude.startswith(b"\x81\xff") else rude)
        until(lambda: pages(live_server) == 1)
        sent(polite, "40")
        assert b"40" in read_until(polite, b"40{")
        polite.close()
        impolite.close()

    def test_with_too_many_pending_requests_is_disconnected(self, live_server: Server) -> None:
        """The queue of its requests is bounded."""
        free = threading.Event()
        live_server.app.sessions.list = lambda **_: free.wait(PATIENCE)  # type: ignore[assignment]
        page = opened(live_server.url)
        sent(page, "40")
        until(lambda: pages(live_server) == 1)
        for n in range(2 * INBOX):
            sent(page, f'42{n}["subscribe",{{"room":"overview"}}]')
        try:
            until(lambda: pages(live_server) == 0)
        finally:
            free.set()
            page.close()

    @pytest.mark.parametrize("frame", [b"\x89\x80" + MASK, b"\x81\x81" + MASK + b"3"], ids=["pings", "pongs"])
    def test_that_floods_the_server_is_disconnected(self, live_server: Server, frame: bytes) -> None:
        """Reading without end would delay all pages; other pages stay connected."""
        page, flood = opened(live_server.url), opened(live_server.url)
        until(lambda: pages(live_server) == 2)
        flood.sendall(frame * (2 * FRAMES))
        until(lambda: pages(live_server) == 1)
        sent(page, "40")
        assert b"40" in read_until(page, b"40{")
        page.close()
        flood.close()

    def test_is_never_read_by_a_blocking_call(
        self, live_server: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A blocking read would delay all pages, even the first read of a page."""
        looks: list[bool] = []
        look_at = Websockets.look_at

        def looked(self: Websockets, websocket: Websocket) -> None:
            looks.append(websocket.socket.getblocking())
            look_at(self, websocket)

        monkeypatch.setattr(Websockets, "look_at", looked)
        page = opened(live_server.url)
        read_until(page, b'"sid"')
        assert looks
        assert not any(looks)
        page.close()

    def test_without_a_key_is_refused(self, live_server: Server) -> None:
        """Without a key it is no handshake, and gets 400."""
        headers = {"Upgrade": "websocket", "Connection": "Upgrade"}
        answer = httpx.get(
            live_server.url + "/socket.io/?EIO=4&transport=websocket", headers=headers, timeout=PATIENCE
        )
        assert answer.status_code == 400

    def test_may_start_by_polling(self, live_server: Server) -> None:
        """It can switch to a websocket without losing a message."""
        heard = threading.Event()
        client = socketio.Client(reconnection=False)
        client.on("session:updated", lambda _: heard.set())
        client.connect(live_server.url, wait_timeout=PATIENCE)
        try:
            until(lambda: client.transport() == "websocket")
            client.call("subscribe", {"room": "overview"}, timeout=PATIENCE)
            live_server.app.new_sessions.create(id="a", model="gpt-5")
            assert heard.wait(PATIENCE)
        finally:
            client.disconnect()

    def test_is_forgotten_after_it_leaves(self, live_server: Server) -> None:
        """This applies to every kind of disconnect."""
        for _ in range(5):
            opened(live_server.url).close()
        client = socketio.Client(reconnection=False)
        client.connect(live_server.url, transports=["websocket"], wait_timeout=PATIENCE)
        client.disconnect()
        until(lambda: pages(live_server) == 0)


class TestAnInvalidPacket:
    """A packet that is not Socket.IO."""

    @pytest.mark.parametrize("packet", ["9", "2probe", "4" * 2_000_000], ids=["kind", "ping", "size"])
    def test_of_a_page_that_polls_holds_no_thread(self, live_server: Server, packet: str) -> None:
        """The page is disconnected, although it never asks for what waits for it."""
        address = f"{live_server.url}/socket.io/?EIO=4&transport=polling"
        with httpx.Client(timeout=PATIENCE) as client:
            page = json.loads(client.get(address).text[1:])["sid"]
            headers = {"Content-Type": "text/plain"}
            answer = client.post(f"{address}&sid={page}", content=packet, headers=headers)
        assert answer.status_code == 400
        assert pages(live_server) == 0

    @pytest.mark.parametrize("packet", ["42[", '42[{"a":1}]', "42[]", '44"x"', "42[1e999]", "42" + "9" * 110])
    def test_is_not_logged(self, tmp_path: Path, caplog: pytest.LogCaptureFixture, packet: str) -> None:
        """The next packet is still answered."""
        with running_server(tmp_path) as server, opened(server.url) as page:
            read_until(page, b"pingInterval")
            sent(page, "40")
            read_until(page, b"40{")
            sent(page, packet)
            sent(page, '421["unsubscribe",{"room":"x"}]')
            read_until(page, b'431[{"room":"x"}]')
        assert not [record for record in caplog.records if "handler error" in record.getMessage()]
