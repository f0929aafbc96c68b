"""Pruning: many turns through the official SDKs, with a provider that refuses invalid requests."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import anthropic
import httpx
import openai
import pytest

from tests.waiting import until
from tests.webapp.proxy.calling import FUNCTIONS, RESPONSE_TOOLS, TOOLS
from tests.webapp.proxy.conftest import Way
from webapp.agents.hook_runtime import hints
from webapp.commands.proxying import switch_pruning
from webapp.services.session.session import Session

OUTPUT = "\n".join(f"line {n}: " + "words of an output " * 4 for n in range(30))
# The suite makes few turns; `python -m benchmarks.proxy turns` makes many with the same agents.
TURNS, EVERY = 12, 4


class Agent:
    """An agent with one SDK and API, which asks, runs the called tool and continues."""

    def __init__(self, url: str, session: str) -> None:
        self.url, self.session, self.items = url, session, list[Any]()

    def turn(self, number: int) -> None:
        """Ask a question, and answer the resulting call."""
        self.items.append(self.question(f"Turn {number}: RUN(cat file{number}.txt)"))
        while calls := self.call():
            self.items += self.results(calls, f"{number} {OUTPUT}")

    def question(self, text: str) -> Any:
        """Return a message of the user."""
        return {"role": "user", "content": text}

    def call(self) -> list[Any]:
        """Ask the model, append its answer, and return its calls."""
        raise NotImplementedError

    def results(self, calls: list[Any], text: str) -> list[Any]:
        """Return the messages with the results of calls."""
        raise NotImplementedError


class Messages(Agent):
    """Anthropic's messages, streamed, with reasoning and cache marks like those of Claude Code."""

    @cached_property
    def sdk(self) -> anthropic.Anthropic:
        """Return the SDK behind the proxy."""
        return anthropic.Anthropic(
            base_url=f"{self.url}/anthropic", api_key="sk-ant-api-x",
            default_headers={"x-claude-code-session-id": self.session}, max_retries=0,
        )  # fmt: skip

    def call(self) -> list[Any]:
        """Ask the model, append its answer, and return its calls."""
        mark = {"cache_control": {"type": "ephemeral"}}
        last = self.items[-1]
        blocks = (
            [{"type": "text", "text": last["content"]}]
            if isinstance(last["content"], str)
            else last["content"]
        )
        marked: Any = {**last, "content": [*blocks[:-1], {**blocks[-1], **mark}]}
        system: Any = [{"type": "text", "text": "Be brief. " * 50, **mark}]
        thinking: Any = {"type": "adaptive"}
        with self.sdk.messages.stream(
            model="claude-opus-4-7", max_tokens=2_000, system=system, tools=TOOLS, thinking=thinking,
            messages=[*self.items[:-1], marked],
        ) as stream:  # fmt: skip
            said = stream.get_final_message()
        content = [block.model_dump(exclude_none=True) for block in said.content]
        self.items.append({"role": "assistant", "content": content})
        return [block for block in content if block["type"] == "tool_use"]

    def results(self, calls: list[Any], text: str) -> list[Any]:
        """Return the messages with the results of calls."""
        blocks = [{"type": "tool_result", "tool_use_id": call["id"], "content": text} for call in calls]
        return [{"role": "user", "content": blocks}]


class OpenAI(Agent):
    """An agent on OpenAI's SDK."""

    @cached_property
    def sdk(self) -> openai.OpenAI:
        """Return the SDK behind the proxy."""
        return openai.OpenAI(
            base_url=f"{self.url}/openai/v1", api_key="sk-x", max_retries=0,
            default_headers={"x-coppice-session": self.session},
        )  # fmt: skip


class Chat(OpenAI):
    """OpenAI's chat completions, streamed."""

    def call(self) -> list[Any]:
        """Ask the model, append its answer, and return its calls."""
        with self.sdk.chat.completions.stream(
            model="gpt-5.1", messages=self.items, tools=FUNCTIONS, stream_options={"include_usage": True}
        ) as stream:
            message = stream.get_final_completion().choices[0].message
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function.name, "arguments": call.function.arguments},
            }
            for call in message.tool_calls or ()
        ]
        said = {"role": "assistant", "content": message.content}
        self.items.append({**said, **({"tool_calls": calls} if calls else {})})
        return calls

    def results(self, calls: list[Any], text: str) -> list[Any]:
        """Return the messages with the results of calls."""
        return [{"role": "tool", "tool_call_id": call["id"], "content": text} for call in calls]


class Items(OpenAI):
    """OpenAI's Responses, streamed and without a history at the provider."""

    def call(self) -> list[Any]:
        """Ask the model, append its answer, and return its calls."""
        events: list[Any] = [
            *self.sdk.responses.create(
                model="gpt-5.1", input=self.items, tools=RESPONSE_TOOLS, store=False, stream=True
            )
        ]
        made = [item.model_dump(exclude_none=True) for item in events[-1].response.output]
        self.items += made
        return [item for item in made if item["type"] == "function_call"]

    def results(self, calls: list[Any], text: str) -> list[Any]:
        """Return the messages with the results of calls."""
        return [{"type": "function_call_output", "call_id": c["call_id"], "output": text} for c in calls]


def taken_in(way: Way, agent: Agent) -> None:
    """Wait until the server has all messages of the agent."""
    name, lists = f"proxy-{agent.session}", type(agent) in (Messages, Timed)
    until(lambda: name in way.sessions())
    until(lambda: way.server.app.sessions.get(name).messages >= len(agent.items) + lists)


def scripted(way: Way, agent: Agent) -> None:
    """Wait until the script of an agent's session says what the server does."""
    name, environment = f"proxy-{agent.session}", way.server.app.environment

    def is_current() -> bool:
        session, script = Session.load(environment, name), hints.read(name, hints.EDITS, hints.proxy_folder())
        prunes = session.state.proxy.prunes
        is_made = not prunes or script.get("at") == list(session.operations_version)
        return script.get("prunes", False) is prunes and is_made

    until(is_current)


def prune(way: Way, agent: Agent, tokens: int) -> None:
    """Prune a session's conversation to about `tokens` tokens, and wait for the script."""
    taken_in(way, agent)
    url = f"{way.server.url}/api/sessions/proxy-{agent.session}"
    session = httpx.get(url, timeout=60).json()
    regions = (session["agent"] or session["pruned"])["regions"]
    fixed = sum(one["tokens"] for one in regions if one["name"] in ("unseen", "tools", "system"))
    answer = httpx.post(f"{url}/prune", json={"max_tokens": fixed + tokens}, timeout=60)
    assert answer.status_code == 200, answer.text
    scripted(way, agent)


def size(agent: Agent) -> int:
    """Return the number of characters of an agent's messages."""
    return len(json.dumps(agent.items))


def sent(way: Way) -> int:
    """Return the number of characters of the conversation in the last request."""
    body = way.provider.requests[-1][2]
    return len(json.dumps(body.get("input") or body["messages"]))


def switch(way: Way, agent: Agent, *, on: bool = True) -> None:
    """Switch pruning of a session on or off, and wait for the script."""
    taken_in(way, agent)
    url = f"{way.server.url}/api/sessions/proxy-{agent.session}"
    httpx.patch(url, json={"proxy_prunes": on}, timeout=60).raise_for_status()
    scripted(way, agent)


class Timed(Chat):
    """An agent whose system message gives the time, so that each call begins with another one."""

    calls = 0

    def call(self) -> list[Any]:
        """Ask the model, append its answer, and return its calls."""
        self.calls += 1
        self.items.insert(0, {"role": "system", "content": f"It is {self.calls} o'clock."})
        made = super().call()
        del self.items[0]
        return made


AGENTS: dict[str, Callable[[str, str], Agent]] = {
    "messages": Messages,
    "chat": Chat,
    "items": Items,
    "timed": Timed,
}


class TestManyTurns:
    """Agents that continue while their sessions are pruned."""

    @pytest.mark.parametrize("kind", AGENTS)
    def test_are_never_refused(self, way: Way, kind: str) -> None:  # X13
        """Every pruned request has calls with results, the running loop's reasoning and a valid order."""
        agent = AGENTS[kind](way.url, f"many-{kind}")
        way.provider.clear()
        for number in range(TURNS):
            agent.turn(number)
            if number == 1:
                switch(way, agent)
            if number % EVERY == EVERY - 1:
                prune(way, agent, 1_200)
        agent.turn(TURNS)
        taken_in(way, agent)
        session = way.server.app.sessions.get(f"proxy-{agent.session}")
        assert way.provider.refused == []
        assert session.proxy.applied, session.proxy
        assert session.proxy.reason == ""
        assert sent(way) < size(agent) / 2

    def test_send_the_same_prefix_until_the_next_prune(self, way: Way) -> None:  # X13
        """Between two prunes each request begins with the bytes of the one before."""
        agent = Chat(way.url, "prefix")
        for number in range(6):
            agent.turn(number)
        switch(way, agent)
        prune(way, agent, 1_200)
        way.provider.clear()
        for number in range(6, 9):
            agent.turn(number)
        lists = [body["messages"] for body in way.provider.bodies("/chat/completions")]
        assert all(later[: len(before)] == before for before, later in pairwise(lists))
        assert sent(way) < size(agent)

    def test_reach_a_call_for_a_compaction(self, way: Way) -> None:  # X13
        """OpenAI sums up the pruned history."""
        agent = Items(way.url, "compacted")
        for number in range(5):
            agent.turn(number)
        switch(way, agent)
        prune(way, agent, 1_200)
        headers = {"authorization": "Bearer sk-x", "x-coppice-session": agent.session}
        asked = {"model": "gpt-5.1", "input": agent.items}
        httpx.post(
            f"{way.openai}/responses/compact", json=asked, headers=headers, timeout=60
        ).raise_for_status()
        assert sent(way) < size(agent) / 2

    def test_show_the_sent_context(self, way: Way) -> None:  # X13, X11
        """A session sent pruned has one context, with the tokens that the provider reports."""
        agent = Messages(way.url, "shown")
        for number in range(5):
            agent.turn(number)
        switch(way, agent)
        before = way.server.app.sessions.get("proxy-shown")
        prune(way, agent, 1_200)
        agent.turn(5)
        taken_in(way, agent)
        until(lambda: way.server.app.sessions.get("proxy-shown").proxy.applied)
        session = way.server.app.sessions.get("proxy-shown")
        assert before.agent is not None
        assert session.agent is None
        assert session.pruned.certainty == "exact"
        assert session.pruned.tokens == way.provider.usages[-1][0] + 20
        assert session.proxy.pruned_calls > 0
        assert session.proxy.unpruned > 0
        assert session.proxy.paid > 0

    def test_continue_unpruned_after_switching_off(self, way: Way) -> None:  # X13
        """With the switch off, the whole conversation is sent again, and the provider accepts it."""
        agent = Messages(way.url, "off")
        for number in range(4):
            agent.turn(number)
        switch(way, agent)
        prune(way, agent, 700)
        agent.turn(4)
        assert sent(way) < size(agent) / 2
        switch(way, agent, on=False)
        way.provider.clear()
        agent.turn(5)
        assert way.provider.refused == []
        assert len(way.provider.requests[-1][2]["messages"]) == len(agent.items) - 1
        assert OUTPUT.partition("\n")[0] in json.dumps(way.provider.requests[-1][2]["messages"][2])


def grown(way: Way, session: str) -> Messages:
    """Return an agent whose session was pruned, and which has thought over its pruned history since."""
    agent = Messages(way.url, session)
    for number in range(4):
        agent.turn(number)
    switch(way, agent)
    prune(way, agent, 700)
    for number in range(4, 6):
        agent.turn(number)
    way.provider.clear()
    return agent


class TestBranches:
    """Conversations that share their beginning with the one in which a prune took effect."""

    def test_are_pruned_from_an_edited_question_on(self, way: Way) -> None:  # X13
        """The question at which the prune took effect is gone, but the thoughts before it are still left out."""
        agent = Messages(way.url, "asked-again")
        for number in range(4):
            agent.turn(number)
        switch(way, agent)
        prune(way, agent, 700)
        way.provider.clear()
        before = [*agent.items]
        for number in (4, 5):
            agent.items = [*before]
            agent.turn(number)
            assert way.provider.refused == []
            assert sent(way) < size(agent) / 2

    def test_of_two_agents_have_their_own_prunes(self, way: Way) -> None:  # X13
        """A prune that takes effect for one agent waits for the end of the other's tool loop."""
        one, other = grown(way, "twice"), Messages(way.url, "twice")
        other.items = [*one.items]
        other.items.append(other.question("RUN(ls)"))
        calls = other.call()
        one.turn(6)
        prune(way, one, 500)
        one.turn(7)
        other.items += other.results(calls, OUTPUT)
        other.call()
        other.turn(8)
        assert way.provider.refused == []
        assert sent(way) < size(other) / 2


class TestTheWholeHistory:
    """A history that is sent whole after it was pruned: the model refuses the thoughts that it had in between."""

    def test_is_accepted_after_a_refused_prune(self, way: Way) -> None:  # X13
        """The provider refuses a prune after some calls; the agent goes on with the whole history."""
        agent = grown(way, "refused-later")
        way.provider.refuses = lambda body: "no" if len(body["messages"]) < len(agent.items) - 4 else None
        agent.turn(6)
        way.provider.refuses = None
        agent.turn(7)
        assert [reason for _, reason in way.provider.refused] == ["no"]
        assert sent(way) > size(agent) / 2

    def test_is_accepted_after_the_kill_switch(self, way: Way) -> None:  # X13
        """The agent goes on, and is pruned again once that is allowed."""
        agent = grown(way, "stopped")
        switch_pruning(on=False)
        try:
            agent.turn(6)
            whole = sent(way)
            assert whole > size(agent) / 2
        finally:
            switch_pruning(on=True)
        agent.turn(7)
        assert sent(way) < whole
        assert way.provider.refused == []

    @pytest.mark.parametrize("named", [True, False])
    def test_is_accepted_after_its_session_was_deleted(self, way: Way, *, named: bool) -> None:  # X13
        """The agent goes on, and nothing that was said is kept in the proxy's folder."""
        agent = grown(way, f"deleted-{named}")
        name = f"proxy-{agent.session}"
        url = f"{way.server.url}/api/sessions/{name}"
        httpx.delete(url, params={"confirm": name}, headers={"X-Coppice": "1"}).raise_for_status()
        until(lambda: not hints.read(name, hints.EDITS, hints.proxy_folder()))
        if not named:
            agent.sdk = agent.sdk.with_options(set_default_headers={})
        for number in (6, 7):
            agent.turn(number)
            assert sent(way) > size(agent) / 2
        assert way.provider.refused == []
        kept = [path.read_text() for path in Path(hints.proxy_folder()).glob(f"{name}.*")]
        assert all('"drop"' not in text for text in kept)
