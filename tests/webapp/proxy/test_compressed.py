"""Compressed requests and answers: forwarded unchanged, but observed and edited."""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.webapp.proxy.calling import claude, session_with
from tests.webapp.proxy.conftest import Way
from tests.webapp.proxy.edit_files import LONG, script, user
from webapp.proxy.unpacking import unpacked

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MOST = 1_000_000
PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "zstd": zstd.compress,
}


def call(way: Way, name: str, coding: str, messages: list[Any]) -> bytes:
    """Make a compressed call like Codex; return its bytes."""
    data = PACK[coding](json.dumps({"model": "gpt-5.1", "messages": messages}).encode())
    headers = {"content-encoding": coding, "x-coppice-session": name, "authorization": "Bearer sk-x"}
    answer = httpx.post(f"{way.openai}/chat/completions", content=data, headers=headers, timeout=60)
    assert answer.status_code == 200
    return data


@pytest.fixture
def gzipping(way: Way) -> Iterator[Way]:
    """Let the provider compress its answers."""
    way.provider.gzips = True
    yield way
    way.provider.gzips = False


@pytest.mark.parametrize("coding", PACK)
class TestARequest:
    """A compressed body of a client."""

    def test_is_forwarded_unchanged_and_observed(self, way: Way, coding: str) -> None:  # X13
        """The provider gets the client's bytes; the session has the messages and the exact usage."""
        data = call(way, f"packed-{coding}", coding, [user("Hello")])
        session = session_with(way, f"proxy-packed-{coding}", 2)
        assert way.provider.bytes[-1] == data
        assert session.pruned.certainty == "exact"

    def test_is_sent_pruned(self, way: Way, coding: str) -> None:  # X13
        """An edited request is sent uncompressed."""
        script(f"cut-{coding}", LONG, 1, 2)
        call(way, f"cut-{coding}", coding, [*LONG, user("e")])
        _, headers, body = way.provider.requests[-1]
        assert "content-encoding" not in headers
        assert body["messages"] == [LONG[0], LONG[3], user("e")]


class TestAnAnswer:
    """A compressed body that the client did not ask for."""

    @pytest.mark.parametrize("streams", [False, True])
    def test_is_forwarded_and_observed(self, gzipping: Way, *, streams: bool) -> None:  # X13
        """The client decompresses it, and the session has its usage."""
        client, name = claude(gzipping, f"gzips-{streams}"), f"proxy-gzips-{streams}"
        asked: Any = {"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
        if streams:
            with client.messages.stream(**asked) as stream:
                said = stream.get_final_message()
        else:
            said = client.messages.create(**asked)
        assert said.content[0].text == "The output was read."
        assert session_with(gzipping, name, 2).agent.certainty == "exact"


class TestDecompression:
    """Decompressing bodies."""

    @pytest.mark.parametrize("coding", PACK)
    def test_is_bounded(self, coding: str) -> None:  # X13
        """A body that expands too far is refused, and so are a malformed one and one with trailing bytes."""
        packed = PACK[coding](b"x" * MOST)
        assert unpacked(packed, coding, MOST + 1) == b"x" * MOST
        for data in (PACK[coding](b"x" * 50 * MOST), packed[:-9], b"no such thing", packed + packed):
            with pytest.raises(ValueError, match=coding):
                unpacked(data, coding, MOST + 1)

    @pytest.mark.parametrize("coding", PACK)
    def test_reads_an_answer_that_broke_off(self, coding: str) -> None:  # X13
        """A truncated answer has its usage so far."""
        text = b"".join(b"event %d\n" % n for n in range(50_000))
        found = unpacked(PACK[coding](text)[:-200], coding, MOST, cut=True)
        assert text.startswith(found)

    def test_does_not_support_brotli(self) -> None:  # X13
        """The reason names the compression."""
        with pytest.raises(ValueError, match="compressed with br"):
            unpacked(b"x", "br", MOST)
