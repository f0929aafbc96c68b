"""The proxy, measured: the delay that it adds, and many turns of agents whose sessions are pruned.

`python -m benchmarks.proxy delay` streams answers of 60 events, 15 ms apart, for bodies of 650 KB, directly and through
`coppice proxy`, while a server takes its copies and plans: one stream at a time, and twenty that begin one after the
other. A relay of bytes in a process of its own is measured beside, because a busy machine delays any process between.
Each call is the next of its session: two messages longer than the one before.

`python -m benchmarks.proxy turns [300 [messages chat items]]` runs an agent on each protocol against a strict provider
with a prompt cache, with pruning and without. Nothing leaves this machine.
"""

from __future__ import annotations

import http.client
import json
import multiprocessing
import os
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from benchmarks.rows import percentile
from tests.servers import running_server
from tests.webapp.proxy.conftest import running_proxy
from webapp.agents.hook_runtime import hints
from webapp.services.proxied.keys import keys_of

EVENTS, PAUSE = 60, 0.015
BODY_BYTES = 650_000
STREAMS = 20
SESSION = "x-claude-code-session-id"


# -- a provider that streams on time


def provider(ready: Any) -> None:
    """Serve streams forever; each event contains the time when it was sent."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    ready.put(listener.getsockname()[1])
    while True:
        client, _ = listener.accept()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=_stream_all, args=(client,), daemon=True).start()


def _stream_all(client: socket.socket) -> None:
    with client, suppress(OSError):
        file = client.makefile("rb", buffering=1 << 20)
        while True:
            length = 0
            while (line := file.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if not line:
                return
            file.read(length)
            head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
            _event(client, head)
            for _ in range(EVENTS - 1):
                time.sleep(PAUSE)
                _event(client)
            client.sendall(b"0\r\n\r\n")


def relay(ready: Any, port: int) -> None:
    """Pass bytes between clients and a port forever, without parsing them."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    ready.put(listener.getsockname()[1])
    while True:
        client, _ = listener.accept()
        other = socket.create_connection(("127.0.0.1", port))
        for one in (client, other):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for ends in ((client, other), (other, client)):
            threading.Thread(target=_pass_on, args=ends, daemon=True).start()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(131_072):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


def _event(client: socket.socket, head: bytes = b"") -> None:
    event = b"event: ping\ndata: %d\n\n" % time.monotonic_ns()
    client.sendall(b"%s%x\r\n%s\r\n" % (head, len(event), event))


# -- a client that looks at the clock


def measure(url: str, body: bytes, name: str) -> tuple[float, list[float]]:
    """Return the time to the first byte and the delay of every later event, in ms."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    connection.connect()
    begun = time.monotonic_ns()
    connection.request(
        "POST", parts.path + "/v1/messages", body, {"x-api-key": "sk-ant-api-x", SESSION: name}
    )
    answer = connection.getresponse()
    first, delays = 0.0, list[float]()
    while data := answer.read1(65_536):
        now = time.monotonic_ns()
        first = first or (now - begun) / 1e6
        sent = [int(line[6:]) for line in data.split(b"\n") if line.startswith(b"data: ")]
        delays += [(now - at) / 1e6 for at in sent]
    connection.close()
    return first, delays[1:]


Found = tuple[list[float], list[float]]
# The session and its messages so far.
Talk = tuple[str, list[Any]]


def streams(url: str, talks: Sequence[Talk], *, at_once: bool) -> Found:
    """Return first bytes and event delays of streams one after the other, or begun one after the other."""
    found: list[tuple[float, list[float]]] = []
    threads = []
    for name, messages in talks:
        body = next_body(messages)
        if not at_once:
            found.append(measure(url, body, name))
            continue
        threads.append(threading.Thread(target=lambda b=body, n=name: found.append(measure(url, b, n))))
        threads[-1].start()
        time.sleep(EVENTS * PAUSE / STREAMS)
    for thread in threads:
        thread.join()
    return [first for first, _ in found], [delay for _, delays in found for delay in delays]


def next_body(messages: list[Any]) -> bytes:
    """Return the next request of a session, whose last message is marked for the cache, as Claude Code does."""
    number = f"n{len(messages)}"
    call = {"type": "tool_use", "id": number, "name": "Bash", "input": {"command": "ls"}}
    result = {"type": "tool_result", "tool_use_id": number, "content": "some file\n" * 50}
    messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    marked = {"role": "user", "content": [{**result, "cache_control": {"type": "ephemeral"}}]}
    return body_of([*messages[:-1], marked])


def conversation(name: str) -> list[Any]:
    """Return messages of about BODY_BYTES: questions, calls, and results of 4 KB."""
    output = "\n".join(f"{name} line {n}: " + "some words of an output " * 3 for n in range(45))
    messages: list[Any] = []
    number = 0
    while len(messages) * len(output) / 2 < BODY_BYTES:
        number += 1
        call = {
            "type": "tool_use",
            "id": f"t{number}",
            "name": "Bash",
            "input": {"command": f"make {number}"},
        }
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": f"{number} {output}"}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return [{"role": "user", "content": f"Begin {name}"}, *messages, {"role": "user", "content": "Go on"}]


def body_of(messages: list[Any]) -> bytes:
    """Return a request."""
    return json.dumps(
        {"model": "claude-opus-4-7", "max_tokens": 9, "stream": True, "messages": messages}
    ).encode()


def write_script(name: str, messages: list[Any]) -> None:
    """Switch a session on, with an edit script that shortens every other result and drops every tenth pair."""
    keys = keys_of(messages)
    edits: dict[str, Any] = {}
    for i, message in enumerate(messages[:-3]):
        if message["role"] != "assistant":
            continue
        call = message["content"][0]["id"]
        if i % 20 == 1:
            edits[keys[i]] = edits[keys[i + 1]] = {"drop": True}
        elif i % 4 == 1:
            edits[keys[i + 1]] = {"outputs": {call: "[output of make, shortened]"}}
    session = f"proxy-{name}"
    script = {"version": "1", "edits": edits, "prunes": True, "session": session, "tail": keys[-1]}
    hints.write(session, hints.EDITS, script, hints.proxy_folder())


@contextmanager
def planning(server: str) -> Iterator[None]:
    """Keep a server planning."""
    messages, done = conversation("planned"), threading.Event()
    httpx.post(f"{server}/api/sessions", json={"id": "planned", "model": "claude-opus-4-7"}, timeout=60)
    httpx.post(f"{server}/api/sessions/planned/messages", json={"messages": messages}, timeout=60)

    def plan() -> None:
        with httpx.Client(timeout=60) as client:
            while not done.is_set():
                client.post(f"{server}/api/sessions/planned/plan", json={"max_tokens": 40_000})

    thread = threading.Thread(target=plan, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def serve(ready: Any, folder: str) -> None:
    """Serve until the process is ended."""
    with running_server(Path(folder), tokenizer=False) as server:
        ready.put(server.url)
        threading.Event().wait()


def delay() -> None:
    """Print the delays."""
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        os.environ["COPPICE_HINTS"] = str(folder / "hints")
        ready = spawn.Queue()
        for target, arguments in ((provider, (ready,)), (serve, (ready, name))):
            process = spawn.Process(target=target, args=arguments, daemon=True)
            process.start()
            stack.callback(process.kill)
        one, other = ready.get(timeout=60), ready.get(timeout=60)
        port, server = (one, other) if isinstance(one, int) else (other, one)
        direct = f"http://127.0.0.1:{port}"
        process = spawn.Process(target=relay, args=(ready, port), daemon=True)
        process.start()
        stack.callback(process.kill)
        bare = f"http://127.0.0.1:{ready.get(timeout=60)}"
        proxy = stack.enter_context(running_proxy(direct, server, folder)) + "/anthropic"
        stack.enter_context(planning(server))
        talks = [(f"b{n}", conversation(f"b{n}")) for n in range(STREAMS)]
        print(f"bodies of {len(body_of(talks[0][1])):,} bytes, {EVENTS} events {1000 * PAUSE:g} ms apart, ms")
        print(f"{'':34}{'first byte p50':>15}{'p99':>8}{'event p50':>12}{'p99':>8}{'cpu a call':>12}")
        streams(proxy, talks[:2], at_once=False)  # what is loaded with the first call
        for label in ("observing", "pruning"):
            if label == "pruning":
                for session, messages in talks:
                    write_script(session, messages)
                streams(proxy, talks, at_once=False)  # each session's first call is read whole
            for at_once, how in ((False, "1 stream"), (True, f"{STREAMS} staggered")):
                known = show(f"direct, {how}", streams(direct, talks, at_once=at_once))
                show(f"bare relay, {how}", streams(bare, talks, at_once=at_once), known)
                before = busy_ms()
                found = streams(proxy, talks, at_once=at_once)
                show(f"{label}, {how}", found, known, (busy_ms() - before) / len(talks))


def busy_ms() -> float:
    """Return the processor time of the proxy, the one child that is a `webapp proxy`, in ms."""
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (place / "cmdline").read_bytes().split(b"\0")
            fields = (place / "stat").read_text().rpartition(")")[2].split()
            if b"proxy" in words and b"webapp" in words and int(fields[1]) == os.getpid():
                return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")
    return 0.0


def show(
    label: str, found: Found, direct: list[float] | None = None, cpu: float | None = None
) -> list[float]:
    """Print percentiles, and with those of direct calls what is added to them; return them."""
    firsts, delays = found
    values = [percentile(times, percent) for times in (firsts, delays) for percent in (50, 99)]
    busy = "" if cpu is None else f"{cpu:12.1f}"
    print(f"{label:34}{values[0]:15.1f}{values[1]:8.1f}{values[2]:12.2f}{values[3]:8.1f}{busy}")
    if direct is not None:
        more = [value - other for value, other in zip(values, direct, strict=True)]
        print(f"{'  added':34}{more[0]:15.1f}{more[1]:8.1f}{more[2]:12.2f}{more[3]:8.1f}", flush=True)
    return values


# -- many turns


def turns(count: int, kinds: Sequence[str]) -> None:
    """Print how many of many turns were refused, and what they cost, with pruning and without."""
    from tests.reach.upstream import strict_upstream
    from tests.webapp.proxy.conftest import Way
    from tests.webapp.proxy.test_pruning import AGENTS, prune, switch, taken_in

    print(f"{count} turns, each with a tool call; a prune every 25 turns")
    print(
        f"{'':22}{'calls':>7}{'400s':>6}{'tokens in':>13}{'from cache':>12}{'last call':>11}{'pruned calls':>14}"
    )
    for kind in kinds or AGENTS:
        for prunes in (True, False):
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                os.environ["COPPICE_HINTS"] = str(folder / "hints")
                with (
                    strict_upstream() as upstream,
                    running_server(folder, tokenizer=False) as server,
                    running_proxy(upstream.url, server.url, folder) as url,
                ):
                    way, agent = Way(upstream, server, url), AGENTS[kind](url, "turns")
                    for number in range(count):
                        agent.turn(number)
                        if prunes and number == 1:
                            switch(way, agent)
                        if prunes and number % 25 == 24:
                            prune(way, agent, 6_000)
                    taken_in(way, agent)
                    proxied = server.app.sessions.get("proxy-turns").proxy
                total = sum(one[0] for one in upstream.usages)
                cached = sum(one[1] for one in upstream.usages)
                label = f"{kind}, {'pruned' if prunes else 'unpruned'}"
                print(
                    f"{label:22}{len(upstream.usages):7}{len(upstream.refused):6}{total:13,}"
                    f"{100 * cached / total:11.1f}%{upstream.usages[-1][0]:11,}"
                    f"{proxied.pruned_calls if proxied else 0:14}",
                    flush=True,
                )
                if prunes and proxied:
                    print(f"  billed {proxied.paid} dollars; unpruned it would have been {proxied.unpruned}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["turns"]:
        turns(int(sys.argv[2]) if len(sys.argv) > 2 else 300, sys.argv[3:])
    else:
        delay()
