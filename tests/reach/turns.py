"""Long loops of agents through the real SDKs, pruned as they go, against the strict provider.

Claude thinks before its calls, and the provider accepts a thought only after the history that it was thought over.

`python -m tests.reach.turns 300` says for each protocol how many calls were refused, and how much of the input was read
from the provider's cache, with pruning and without.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anthropic
import httpx
import openai

from tests.reach.upstream import Upstream, strict_upstream
from webapp import create_app
from webapp.app import App
from webapp.client import Coppice
from webapp.config import Config
from webapp.wiring import build

# The size at which a session is pruned, in tokens, so that 100 turns are pruned often; and the words of one output.
TARGET, WORDS = 3_000, 25
MODEL = {"anthropic": "claude-sonnet-4-6", "chat": "gpt-5.1", "responses": "gpt-5.1"}
# Sends a context, streamed or not; returns what was said, the usage, and the ids of the calls.
Ask = Callable[[Any, bool], tuple[list[Any], Any, list[str]]]
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The calls of a loop, those refused, the prunes, and the input with its part that was cached, in tokens."""

    calls: int
    refused: int
    prunes: int
    tokens: int
    cached: int

    def __str__(self) -> str:
        share = 100 * self.cached / self.tokens if self.tokens else 0.0
        return (
            f"{self.calls} calls, {self.refused} refused, {self.prunes} prunes, "
            f"{self.tokens:,} tokens of input, {share:.1f} % of them cached"
        )


def run(protocol: str, turns: int, *, prunes: bool, folder: Path) -> Outcome:
    """Run so many turns, each with three calls at once, their results and an answer; every other one is streamed."""
    app = build(Config(db=folder / "turns.db", follow=False, tokenizer=False, env={"HOME": str(folder)}))
    flask_app = create_app(app.config, app=app)
    try:
        with (
            strict_upstream() as upstream,
            Coppice(
                "http://127.0.0.1:5000",
                session="turns",
                model=MODEL[protocol],
                format={"chat": "openai"}.get(protocol, protocol),
                http=httpx.Client(transport=httpx.WSGITransport(flask_app)),
            ) as coppice,
        ):
            # A loop on this machine never pauses, so the cache would never be cold.
            rules = {"automatic": True, "cap_tokens": TARGET, "wait_for_cold_cache": False}
            settings = rules if prunes else {"automatic": False}
            coppice.create(system="You are careful.", settings=settings)
            ask = ASK[protocol](upstream)
            for n in range(turns):
                _turn(coppice, ask, protocol, n)
            return _outcome(upstream, app)
    finally:
        flask_app.extensions["coppice.live"].close()
        app.close()


def _outcome(upstream: Upstream, app: App) -> Outcome:
    prunes = app.sessions.get("turns").prunes
    total, cached = (sum(usage[n] for usage in upstream.usages) for n in (0, 1))
    return Outcome(len(upstream.requests), len(upstream.refused), prunes, total, cached)


def _turn(coppice: Coppice, ask: Ask, protocol: str, n: int) -> None:
    coppice.append([{"role": "user", "content": f"Step {n}: RUN(a{n}) RUN(b{n}) RUN(c{n})"}])
    while True:
        said, usage, calls = ask(coppice.context(), n % 2 == 1)
        coppice.append(said, usage=usage)
        if not calls:
            return
        coppice.append(list(_results(protocol, calls, n)))


def _results(protocol: str, calls: list[str], n: int) -> Iterator[dict[str, Any]]:
    texts = {call: f"step {n} of {call}: " + f"line {n} " * WORDS for call in calls}
    if protocol == "anthropic":
        blocks = [
            {"type": "tool_result", "tool_use_id": call, "content": text} for call, text in texts.items()
        ]
        yield {"role": "user", "content": blocks}
        return
    for call, text in texts.items():
        if protocol == "chat":
            yield {"role": "tool", "tool_call_id": call, "content": text}
        else:
            yield {"type": "function_call_output", "call_id": call, "output": text}


def _anthropic(upstream: Upstream) -> Ask:
    sdk = anthropic.Anthropic(base_url=upstream.url, api_key="k", max_retries=0)
    tools: Any = [{"name": "Bash", "input_schema": SCHEMA}]
    thinking = {"type": "enabled", "budget_tokens": 1_024}

    def ask(context: Any, streamed: bool) -> tuple[list[Any], Any, list[str]]:
        request = context.request
        request["messages"] = [*request["messages"][:-1], _marked(request["messages"][-1])]
        wanted: Any = {"model": MODEL["anthropic"], "max_tokens": 4_000, "tools": tools, "thinking": thinking}
        wanted |= request
        if streamed:
            with sdk.messages.stream(**wanted) as stream:
                reply = stream.get_final_message()
        else:
            reply = sdk.messages.create(**wanted)
        return [reply], reply.usage, [block.id for block in reply.content if block.type == "tool_use"]

    return ask


def _marked(message: Any) -> Any:
    """Return the last message with the mark up to which the provider caches."""
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    last = {**blocks[-1], "cache_control": {"type": "ephemeral"}}
    return {**message, "content": [*blocks[:-1], last]}


def _chat(upstream: Upstream) -> Ask:
    sdk = openai.OpenAI(base_url=f"{upstream.url}/v1", api_key="k", max_retries=0)
    tools: Any = [{"type": "function", "function": {"name": "bash", "parameters": SCHEMA}}]

    def ask(context: Any, streamed: bool) -> tuple[list[Any], Any, list[str]]:
        wanted: Any = {"model": MODEL["chat"], "messages": context, "tools": tools}
        if streamed:
            with sdk.chat.completions.stream(**wanted, stream_options={"include_usage": True}) as stream:
                reply: Any = stream.get_final_completion()
        else:
            reply = sdk.chat.completions.create(**wanted)
        message = reply.choices[0].message
        made = {"role": "assistant", "content": message.content}
        calls = [_call(one) for one in message.tool_calls or []]
        return [{**made, **({"tool_calls": calls} if calls else {})}], reply.usage, [c["id"] for c in calls]

    return ask


def _call(made: Any) -> dict[str, Any]:
    function = {"name": made.function.name, "arguments": made.function.arguments}
    return {"id": made.id, "type": "function", "function": function}


def _responses(upstream: Upstream) -> Ask:
    sdk = openai.OpenAI(base_url=f"{upstream.url}/v1", api_key="k", max_retries=0)
    tools: Any = [{"type": "function", "name": "bash", "parameters": SCHEMA, "strict": False}]

    def ask(context: Any, streamed: bool) -> tuple[list[Any], Any, list[str]]:
        wanted: Any = {"model": MODEL["responses"], "tools": tools, "store": False, **context.request}
        reply: Any = None
        if streamed:
            for event in sdk.responses.create(**wanted, stream=True):
                if event.type == "response.completed":
                    reply = event.response
        else:
            reply = sdk.responses.create(**wanted)
        return list(reply.output), reply.usage, [i.call_id for i in reply.output if i.type == "function_call"]

    return ask


ASK: dict[str, Callable[[Upstream], Ask]] = {
    "anthropic": _anthropic,
    "chat": _chat,
    "responses": _responses,
}


def main(turns: int) -> int:
    """Print both outcomes of each protocol; return 1 where a call was refused."""
    refused = 0
    for protocol in ASK:
        for prunes in (True, False):
            with tempfile.TemporaryDirectory() as folder:
                done = run(protocol, turns, prunes=prunes, folder=Path(folder))
            refused += done.refused
            print(f"{protocol}, {'pruned' if prunes else 'not pruned'}: {done}", flush=True)  # noqa: T201
    return int(refused > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 300))
