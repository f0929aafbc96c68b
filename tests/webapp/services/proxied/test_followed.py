"""A session both followed and proxied, which is one session and counted once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from scoring.messages import Message, Text, ToolCall, ToolResult
from tests.waiting import until
from tests.webapp.building import heard, transactions
from tests.webapp.promises import Client
from webapp.agents.hook_runtime import hints
from webapp.agents.records import Entry, Meta, Record, Usage, UsageReport
from webapp.app import App
from webapp.errors import BusyStore
from webapp.events import SessionDeleted, SessionUpdated, TargetCrossed
from webapp.proxy.editing import Body
from webapp.proxy.scripts import Scripts
from webapp.services.proxied.keys import PROTOCOLS
from webapp.services.session.environment import SessionLock
from webapp.services.session.replacements import Replacement
from webapp.store.context import PRUNED

NAME = "7d1f0e0a-1111-4222-8333-444455556666"
TOOLS = [{"name": "Read", "input_schema": {"type": "object"}}]
NOW = datetime(2026, 11, 1, tzinfo=UTC)
ASKED = "Please read the first file and the second one."
SAID = "Both files say nothing of interest, so I stop here."
OUTPUT = "output of a tool " * 400


def written() -> Iterator[Record]:
    """Yield a transcript as Claude Code writes it: one row per block, with usage from before the answer's end."""

    def row(name: str, message: Message, call: str = "", usage: Usage | None = None) -> Entry:
        key = f"{call}:req_1" if call else None
        return Entry(message, name, group=key, at=NOW, model="claude-opus-4-5", usage=usage, call_key=key)

    yield row("u1", Message("user", (Text(ASKED),)))
    early = Usage(1000, 3)
    yield row("a1", Message("assistant", (ToolCall("t1", "Read", '{"n":1}'),)), "msg_1", early)
    yield row("a2", Message("assistant", (ToolCall("t2", "Read", '{"n":2}'),)), "msg_1", early)
    yield row("r2", Message("tool", (ToolResult("t2", OUTPUT),)))
    yield row("r1", Message("tool", (ToolResult("t1", OUTPUT),)))
    yield row("a3", Message("assistant", (Text(SAID),)), "msg_2", Usage(5000, 2))


def follow(app: App, records: Iterator[Record] | None = None) -> None:
    """Append a transcript to its session."""
    app.ingest.ensure(NAME, "claude-code")
    app.ingest.append_records(NAME, records or written())


REMINDER = {"type": "text", "text": "<system-reminder>today</system-reminder>"}
FIRST: Any = {"role": "user", "content": [REMINDER, {"type": "text", "text": ASKED}]}
CALLS: Any = [{"type": "tool_use", "id": f"t{n}", "name": "Read", "input": {"n": n}} for n in (1, 2)]
RESULTS: Any = [{"type": "tool_result", "tool_use_id": f"t{n}", "content": OUTPUT} for n in (2, 1)]
HISTORY: list[Any] = [
    FIRST,
    {"role": "assistant", "content": CALLS},
    {"role": "user", "content": RESULTS},
]
GO_ON: Any = {"role": "user", "content": "Go on, please."}
LATER: list[Any] = [*HISTORY, {"role": "assistant", "content": [{"type": "text", "text": SAID}]}]


def take(
    client: Client, messages: list[Any], answer: str = "msg_2", session: str = f"proxy-{NAME}", **more: Any
) -> Any:
    """Send the copy of a call of Claude Code; return the server's answer."""
    usage = {"input_tokens": 1000, "cache_read_input_tokens": 4000, "output_tokens": 250}
    said: dict[str, Any] = {
        "id": answer,
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-4-5",
        "usage": usage,
    }
    said["content"] = [{"type": "text", "text": SAID}]
    body = {"model": "claude-opus-4-5", "messages": messages, "tools": more.pop("tools", TOOLS)}
    call = {
        "provider": "anthropic", "path": "/v1/messages", "session": session, "parent": None, "status": 200,
        "request": json.dumps({**body, **more.pop("fields", {})}), "answer": json.dumps(said), "whole": True,
        "at": int(NOW.timestamp() * 1000), "applied": "", "reason": "", "subscription": False, **more,
    }  # fmt: skip
    return client.post("/api/proxy/calls", json=call).get_json()


_CHAT_CALLS = [
    {"id": f"t{n}", "type": "function", "function": {"name": "read", "arguments": f'{{"n":{n}}}'}}
    for n in (1, 2)
]
# By wire format: the path, the name of the list, and a conversation with two calls at once.
OPENAI: dict[str, tuple[str, str, list[Any]]] = {
    "openai": (
        "/v1/chat/completions",
        "messages",
        [
            {"role": "user", "content": ASKED},
            {"role": "assistant", "content": "I read both.", "tool_calls": _CHAT_CALLS},
            *({"role": "tool", "tool_call_id": f"t{n}", "content": OUTPUT} for n in (1, 2)),
            {"role": "assistant", "content": SAID},
        ],
    ),
    "responses": (
        "/v1/responses",
        "input",
        [
            {"role": "user", "content": [{"type": "input_text", "text": ASKED}]},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
            {"role": "assistant", "id": "m1", "content": [{"type": "output_text", "text": "I read both."}]},
            *(
                {"type": "function_call", "call_id": f"t{n}", "name": "read", "arguments": f'{{"n":{n}}}'}
                for n in (1, 2)
            ),
            *({"type": "function_call_output", "call_id": f"t{n}", "output": OUTPUT} for n in (1, 2)),
            {"role": "assistant", "id": "m2", "content": [{"type": "output_text", "text": SAID}]},
        ],
    ),
}


def take_openai(client: Client, path: str, request: dict[str, list[Any]]) -> None:
    """Send the copy of a call of one of OpenAI's formats."""
    call = {
        "provider": "openai", "path": path, "session": f"proxy-{NAME}", "parent": None, "status": 200,
        "request": json.dumps({"model": "gpt-5", "tools": TOOLS, **request}), "answer": "{}", "whole": True,
        "at": int(NOW.timestamp() * 1000), "applied": "", "reason": "", "subscription": False,
    }  # fmt: skip
    assert client.post("/api/proxy/calls", json=call).status_code == 200


def listed(client: Client) -> list[str]:
    """Return the ids of all sessions."""
    return [one["id"] for one in client.get("/api/sessions").get_json()["sessions"]]


def session(client: Client) -> Any:
    """Return the session."""
    return client.get(f"/api/sessions/{NAME}").get_json()


def outputs(app: App) -> list[tuple[str, int, int, int]]:
    """Return the key and the input, output and cached tokens of each call."""
    key = app.store.sessions.get(NAME).key
    return [
        (c.call_key, c.input_tokens, c.output_tokens, c.cached_tokens) for c in app.store.usage.calls(key)
    ]


class TestOneSession:
    """The session of calls and a transcript that belong together."""

    def test_gets_no_message_twice(self, app: App, client: Client) -> None:  # X13
        """The transcript has the text, and the call is only counted."""
        follow(app)
        before = session(client)["messages"]
        assert take(client, HISTORY) == {"session_id": NAME, "added": 0}
        assert listed(client) == [NAME]
        assert session(client)["messages"] == before
        assert session(client)["proxy"]["calls"] == 1

    def test_locks_out_no_writer_of_another_session(
        self, app: App, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X13
        """With PostgreSQL several sessions are written at once."""
        follow(app)
        opened = transactions(app, monkeypatch)
        take(client, HISTORY)
        app.ingest.append_records(NAME, [*written()])
        assert set(opened) == {NAME}

    @pytest.mark.parametrize("begun", [False, True])
    def test_counts_a_copy_that_arrives_again_once(
        self, app: App, client: Client, begun: bool
    ) -> None:  # X13
        """The proxy sends a copy again if the server's answer to it was lost, even if the session was merged since."""
        if begun:
            take(client, HISTORY)
        follow(app)
        for _ in range(3):
            take(client, HISTORY)
        assert session(client)["proxy"]["calls"] == 1

    def test_has_the_usage_of_the_provider(self, app: App, client: Client) -> None:  # X13, X11
        """Claude Code writes usage before its answer ends, so the provider's output replaces it."""
        follow(app)
        assert outputs(app) == [("msg_1:req_1", 1000, 3, 0), ("msg_2:req_1", 5000, 2, 0)]
        take(client, HISTORY)
        assert outputs(app) == [("msg_1:req_1", 1000, 3, 0), ("msg_2:req_1", 5000, 250, 4000)]

    def test_has_the_usage_of_the_provider_in_any_order(self, app: App, client: Client) -> None:  # X13, X11
        """The copy of a call may arrive before the row, and a repeated row does not replace it."""
        rows = list(written())
        follow(app, iter(rows[:-1]))
        take(client, HISTORY)
        app.ingest.append_records(NAME, rows[-1:])
        app.ingest.append_records(NAME, rows[-1:])
        assert outputs(app)[-1] == ("msg_2:req_1", 5000, 250, 4000)

    def test_replaces_the_session_of_the_proxy(self, app: App, client: Client) -> None:  # X13
        """The session of the proxy ends when the transcript appears, and its switch is kept."""
        take(client, [FIRST], "msg_1")
        assert listed(client) == [f"proxy-{NAME}"]
        client.patch(f"/api/sessions/proxy-{NAME}", json={"proxy_prunes": True})
        follow(app)
        assert listed(client) == [NAME]
        assert session(client)["proxy"]["prunes"] is True
        take(client, HISTORY)
        assert session(client)["proxy"]["calls"] == 2
        assert listed(client) == [NAME]

    @pytest.mark.parametrize(
        "fields",
        [
            {"metadata": {"user_id": json.dumps({"device_id": "d", "session_id": NAME})}},
            {"metadata": {"user_id": f"user_x_account__session_{NAME}"}},
            {"metadata": {"session_id": NAME}},
            {"prompt_cache_key": NAME},
            {},
        ],
        ids=["metadata", "older metadata", "own metadata", "key of the cache", "its messages"],
    )
    def test_is_found_without_a_header(self, app: App, client: Client, fields: Any) -> None:  # X13
        """The body's metadata, the key of the prompt cache, or the calls in its messages identify the session."""
        follow(app, iter([*written()]))
        app.environment.clock = lambda: int(NOW.timestamp() * 1000)
        assert take(client, HISTORY, session="", fields=fields)["session_id"] == NAME
        assert listed(client) == [NAME]

    def test_is_not_found_by_a_short_text(self, app: App, client: Client) -> None:  # X13
        """Two conversations may begin with the same short text."""
        follow(app, iter([Entry(Message("user", (Text("hi"),)), "u", at=NOW)]))
        app.environment.clock = lambda: int(NOW.timestamp() * 1000)
        found = take(client, [{"role": "user", "content": "hi"}], session="")
        assert found["session_id"] != NAME

    def test_has_side_calls_as_child_sessions(self, app: App, client: Client) -> None:  # X13
        """A request for a title becomes a child of the session."""
        follow(app)
        take(client, HISTORY)
        take(client, [{"role": "user", "content": "Write a title"}], "msg_t", tools=[])
        below = [
            one for one in client.get("/api/sessions").get_json()["sessions"] if one["parent_id"] == NAME
        ]
        assert len(below) == 1

    def test_gets_the_call_that_was_received_when_its_transcript_appeared(
        self, app: App, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X13
        """The session that the proxy made is gone once the call may be added to it."""
        take(client, [FIRST], "msg_1")
        lock, left = app.environment.lock, [follow]

        def later(session_id: str) -> SessionLock:
            if left:
                left.pop()(app)
            return lock(session_id)

        monkeypatch.setattr(app.environment, "lock", later)
        assert take(client, HISTORY)["session_id"] == NAME
        assert session(client)["proxy"]["calls"] == 2

    def test_is_merged_completely_or_not_at_all(
        self, app: App, client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:  # X13
        """If the proxy's session cannot be deleted, its calls are not counted in both."""
        take(client, [FIRST], "msg_1")

        def busy(*_: object) -> None:
            raise BusyStore("another process is writing; try again")

        with monkeypatch.context() as patch:
            patch.setattr(app.store.sessions, "remove", busy)
            follow(app)
        assert "a listener failed" in caplog.text
        take(client, HISTORY)
        assert listed(client) == [NAME]
        assert session(client)["proxy"]["calls"] == 2

    def test_tells_pages_the_new_parent_of_its_sub_agents(self, app: App, client: Client) -> None:  # X13
        """Each of them is below the followed session then."""
        take(client, [FIRST], "msg_1")
        child = take(client, [FIRST], "msg_2", session=f"proxy-{NAME}.a1", parent=f"proxy-{NAME}")
        events = heard(app)
        follow(app)
        assert app.store.sessions.get(child["session_id"]).parent_id == NAME
        assert {event for event in events if isinstance(event, SessionUpdated | SessionDeleted)} >= {
            SessionUpdated(NAME), SessionUpdated(child["session_id"]), SessionDeleted(f"proxy-{NAME}"),
        }  # fmt: skip

    def test_stays_deleted(self, app: App, client: Client) -> None:  # X13
        """A deleted session is not created again by its calls."""
        follow(app)
        client.delete(f"/api/sessions/{NAME}?confirm={NAME}")
        assert take(client, HISTORY) == {"session_id": None, "added": 0}
        assert listed(client) == []

    def test_is_that_of_a_sub_agent(self, app: App, client: Client) -> None:  # X13
        """The header names the sub-agent without the prefix of its file."""
        app.ingest.ensure(f"{NAME}.agent-a1", "claude-code", parent_id=NAME)
        app.ingest.append_records(f"{NAME}.agent-a1", [*written()])
        found = take(client, HISTORY, session=f"proxy-{NAME}.a1", parent=f"proxy-{NAME}")
        assert found["session_id"] == f"{NAME}.agent-a1"

    def test_is_not_the_one_above_of_which_a_sub_agent_has_history_and_cache(
        self, app: App, client: Client
    ) -> None:  # X13
        """A sub-agent of Codex begins with its parent's messages, under its parent's key of the cache."""
        follow(app)
        app.environment.clock = lambda: int(NOW.timestamp() * 1000)
        own: Any = {"session": "proxy-own", "parent": f"proxy-{NAME}", "fields": {"prompt_cache_key": NAME}}
        assert take(client, HISTORY, **own)["session_id"] == "proxy-own"
        app.ingest.ensure("own", "claude-code", parent_id=NAME)
        app.ingest.append_records("own", [*written()])
        assert take(client, LATER, "msg_3", **own)["session_id"] == "own"
        assert sorted(listed(client)) == sorted([NAME, "own"])

    def test_is_that_of_a_sub_agent_that_its_calls_do_not_name(self, app: App, client: Client) -> None:  # X13
        """Its messages show whose call it is; the session made before its transcript was read is merged into it."""
        follow(app)
        take(client, HISTORY)
        asked = "Count the files of the folder and report their number."
        request = [{"role": "user", "content": asked}]
        tools = [{"name": "Bash", "input_schema": {"type": "object"}}]
        take(client, request, "msg_s", tools=tools)
        below = f"{NAME}.agent-a1"
        said = Message("assistant", (Text(SAID),))
        rows = [
            Entry(Message("user", (Text(asked),)), "s1", at=NOW),
            Entry(said, "s2", at=NOW, usage=Usage(5_000, 2), call_key="msg_s:req_s"),
        ]
        app.ingest.ensure(below, "claude-code", parent_id=NAME)
        app.ingest.append_records(below, rows)
        found = take(client, request, "msg_s", tools=tools)
        assert found["session_id"] == below
        assert sorted(listed(client)) == [NAME, below]
        assert session(client)["proxy"]["calls"] == 1
        key = app.store.sessions.get(below).key
        assert [call.output_tokens for call in app.store.usage.calls(key)] == [250]
        assert app.sessions.get(below).proxy is None


def script() -> Any:
    """Return the edit script of the session; {} for none."""
    return hints.read(f"proxy-{NAME}", hints.EDITS, hints.proxy_folder())


def is_written_at(operations: list[int]) -> bool:
    """Return whether the script is that of these operations."""
    return bool(script().get("at") == operations)


def sent(items: list[Any], wire_format: str = "anthropic", name: str = f"proxy-{NAME}") -> Any:
    """Return the list that the proxy sends instead of this one."""
    protocol = next(one for one in PROTOCOLS if one.format == wire_format)
    data = json.dumps({"model": "m", protocol.list_name: items}).encode()
    outcome = Scripts().apply(name, Body.read(data, protocol))
    assert outcome.reason == ""
    return json.loads(outcome.data or data)[protocol.list_name]


def send_pruned(version: str = "1") -> None:
    """Write down, as the proxy does before it sends a call, that the next one is sent pruned."""
    Path(hints.proxy_folder()).mkdir(exist_ok=True)
    active: Any = {"version": version, "edits": {"k": {"drop": True}}, "ended": "k"}
    hints.write(f"proxy-{NAME}", hints.ACTIVE, active, hints.proxy_folder())


def answered(app: App, tokens: int) -> None:
    """Append an answer that took so many tokens and 5 of output."""
    said = Message("assistant", (Text("Anything else?"),))
    last = Entry(said, "a4", at=NOW, usage=Usage(tokens, 5), call_key="msg_9:req_9")
    app.ingest.append_records(NAME, [last])


def restart(app: App) -> None:
    """Forget the calls of a session and its script, as a restart of the server does."""
    app.proxy_scripts._followed._usage.clear()
    app.proxy_scripts._written.clear()


def restart_while_pruning(app: App, client: Client) -> None:
    """Switch the pruning of a followed session on, and restart."""
    follow(app)
    take(client, HISTORY)
    client.patch(f"/api/sessions/{NAME}", json={"proxy_prunes": True})
    take(client, LATER, "msg_3")
    until(lambda: script().get("prunes") is True)
    restart(app)


def calls_of(client: Client) -> Any:
    """Return the session's first message of the model, which has calls."""
    rows = client.get(f"/api/sessions/{NAME}/messages?sort=oldest").get_json()["messages"]
    return next(one for one in rows if one["role"] == "assistant")


def drop_calls(client: Client) -> None:
    """Take that message out of the context, with the results of its calls."""
    client.post(f"/api/sessions/{NAME}/messages/{calls_of(client)['id']}/drop", json={})


class TestSentPruned:
    """The switch for pruned calls of such a session."""

    def test_names_the_rows_of_the_transcript(self, app: App, client: Client) -> None:  # X13
        """The proxy drops the messages of a request whose rows are all dropped."""
        follow(app)
        take(client, HISTORY)
        assert client.patch(f"/api/sessions/{NAME}", json={"proxy_prunes": True}).status_code == 200
        drop_calls(client)
        until(lambda: [*script().get("edits", ())] == ["a1", "a2", "r2", "r1"])
        assert script()["prunes"] is True
        assert sent([*LATER, GO_ON]) == [FIRST, LATER[3], GO_ON]

    @pytest.mark.parametrize("before", ["a restart", "its transcript was found"])
    def test_applies_a_prune_to_the_first_call_after(
        self, app: App, client: Client, before: str
    ) -> None:  # X13
        """The messages are found in the call itself, so that no other one is needed first."""
        if before == "a restart":
            follow(app)
        take(client, HISTORY)
        if before == "a restart":
            restart(app)
        else:
            follow(app)
        client.patch(f"/api/sessions/{NAME}", json={"proxy_prunes": True})
        drop_calls(client)
        until(lambda: script().get("edits"))
        assert sent([*LATER, GO_ON]) == [FIRST, LATER[3], GO_ON]

    def test_applies_it_to_calls_without_a_name(self, app: App, client: Client) -> None:  # X13
        """Older versions and other clients of an agent can leave out the headers that name the session."""
        follow(app)
        app.environment.clock = lambda: int(NOW.timestamp() * 1000)
        assert take(client, LATER, "msg_3", session="")["session_id"] == NAME
        client.patch(f"/api/sessions/{NAME}", json={"proxy_prunes": True})
        drop_calls(client)
        until(lambda: script().get("edits"))
        assert sent([*LATER, GO_ON], name="") == [FIRST, LATER[3], GO_ON]

    def test_drops_the_last_answer(self, app: App, client: Client) -> None:  # X13
        """It is not in the last call, and was written down before the prune."""
        follow(app)
        take(client, HISTORY)
        app.ingest.append_records(NAME, [Entry(Message("user", (Text(GO_ON["content"]),)), "u2", at=NOW)])
        client.patch(f"/api/sessions/{NAME}", json={"proxy_prunes": True})
        rows = client.get(f"/api/sessions/{NAME}/messages?sort=oldest").get_json()["messages"]
        said = [one["id"] for one in rows if one["role"] == "assistant"][-1]
        client.post(f"/api/sessions/{NAME}/messages/{said}/drop", json={})
        until(lambda: script().get("edits"))
        assert sent([*LATER, GO_ON]) == [*HISTORY, GO_ON]

    @pytest.mark.parametrize("wire_format", sorted(OPENAI))
    def test_drops_every_item_of_a_message(self, app: App, client: Client, wire_format: str) -> None:  # X13
        """OpenCode has the parallel calls of an answer in one message, and their results in another."""
        calls = tuple(ToolCall(f"t{n}", "read", f'{{"n":{n}}}') for n in (1, 2))
        results = tuple(ToolResult(f"t{n}", OUTPUT) for n in (1, 2))
        rows = [
            Entry(Message("user", (Text(ASKED),)), "u1", at=NOW),
            Entry(Message("assistant", (Text("I read both."), *calls)), "a1", at=NOW, model="gpt-5"),
            Entry(Message("tool", results), "a1:results", at=NOW),
            Entry(Message("assistant", (Text(SAID),)), "a2", at=NOW, model="gpt-5"),
        ]
        follow(app, iter(rows))
        path, name, items = OPENAI[wire_format]
        take_openai(client, path, {name: items[:-1]})
        client.patch(f"/api/sessions/{NAME}", json={"proxy_prunes": True})
        shown = client.get(f"/api/sessions/{NAME}/messages?sort=oldest").get_json()["messages"]
        client.post(f"/api/sessions/{NAME}/messages/{shown[1]['id']}/drop", json={})
        until(lambda: script().get("edits"))
        asked = {"role": "user", "content": "Go on"}
        assert sent([*items, asked], wire_format) == [items[0], items[-1], asked]

    def test_shortens_each_result_of_a_message(self, app: App, client: Client) -> None:  # X13
        """Parallel results are separate rows of the transcript, but one message of the request."""
        follow(app)
        take(client, HISTORY)
        key = app.store.sessions.get(NAME).key
        shorter: Iterator[tuple[int, str | None]] = (
            (row, Replacement(1, {call: call}).text) for row, call in ((3, "t2"), (4, "t1"))
        )
        with app.store.write():
            app.store.contexts.set_replacements(key, PRUNED, shorter)
        client.patch(f"/api/sessions/{NAME}", json={"proxy_prunes": True})
        until(lambda: script().get("edits"))
        outputs = [block["content"] for block in sent([*LATER, GO_ON])[2]["content"]]
        assert outputs == ["t2", "t1"]

    def test_is_not_measured_by_a_call_of_a_loop_with_older_edits(
        self, app: App, client: Client
    ) -> None:  # X13
        """A prune in a running loop with thoughts waits for its end."""
        restart_while_pruning(app, client)
        send_pruned()
        take(client, LATER, "msg_3", applied="1")
        answered(app, 5200)
        found = session(client)
        assert (found["agent"], found["pruned"]["certainty"]) == (None, "calibrated")

    def test_ends_with_a_call_that_holds_nothing_of_the_edits(self, app: App, client: Client) -> None:  # X13
        """The proxy keeps its script after a compaction by the agent, and the calls are sent as they are."""
        restart_while_pruning(app, client)
        send_pruned()
        take(client, LATER, "msg_3")
        answered(app, 5200)
        assert session(client)["agent"]["tokens"] == 5205

    def test_counts_a_pruned_call_for_the_pruned_view(self, app: App, client: Client) -> None:  # X13
        """The transcript's usage is then that of the pruned context, even if its row comes before the copy."""
        rows = list(written())
        follow(app, iter(rows[:-1]))
        take(client, [FIRST], "msg_1")
        client.patch(f"/api/sessions/{NAME}", json={"proxy_prunes": True})
        send_pruned()
        app.ingest.append_records(NAME, rows[-1:])
        assert session(client)["agent"] is None
        take(client, HISTORY, applied="1")
        assert session(client)["agent"] is None
        marks = client.get(f"/api/sessions/{NAME}/timeline").get_json()["changes"]
        assert marks == []

    def test_is_not_to_be_resumed(self, app: App, client: Client) -> None:  # X18
        """The verdict says that its prunes reach the agent, once pruning is switched on and unless the proxy cannot."""
        follow(app)
        take(client, HISTORY)
        drop_calls(client)
        settings = {"target_percent": 2, "aim_percent": 1}
        app.environment.clock = lambda: int(NOW.timestamp() * 1000)
        kinds = []
        for switch in (False, True):
            client.patch(f"/api/sessions/{NAME}", json={"proxy_prunes": switch, "settings": settings})
            kinds.append(session(client)["verdict"]["action"])
        for reason in (hints.WAITS, "its history is at the provider"):
            take(client, HISTORY, reason=reason)
            kinds.append(session(client)["verdict"]["action"])
        assert [one and one["kind"] for one in kinds] == ["resume", None, None, "resume"]

    def test_has_no_clearing_where_a_prune_takes_effect_late(self, app: App, client: Client) -> None:  # X24
        """A prune waits for the end of a tool loop; the input that falls then was cut by us, not by the agent."""
        follow(app)
        take(client, HISTORY)
        client.patch(f"/api/sessions/{NAME}", json={"proxy_prunes": True})
        until(partial(is_written_at, [1, 0]))
        send_pruned()
        for n, tokens in enumerate((9_000, 9_100, 5_800), 4):
            if n == 5:
                drop_calls(client)
            elif n == 6:
                until(lambda: script().get("edits"))
                send_pruned(script()["version"])
            said, usage = Message("assistant", (Text(f"{SAID} {n}"),)), Usage(tokens, 20)
            app.ingest.append_records(
                NAME, [Entry(said, f"a{n}", at=NOW, usage=usage, call_key=f"m{n}:r{n}")]
            )
        made = client.get(f"/api/sessions/{NAME}/operations").get_json()["operations"]
        assert [one["kind"] for one in made] == ["drop"]
        assert session(client)["pruned"]["tokens"] == 5_820

    @pytest.mark.parametrize("first", ["the usage", "a look without news", "the copy"])
    def test_counts_the_first_pruned_call_though_its_usage_comes_apart(
        self, app: App, client: Client, first: str
    ) -> None:  # X13
        """OpenCode writes an answer down before it has the usage; the input is that of the pruned view."""
        follow(app)
        take(client, HISTORY)
        client.patch(f"/api/sessions/{NAME}", json={"proxy_prunes": True})
        drop_calls(client)
        begun = [
            Entry(Message("user", (Text("Go on"),)), "u2", at=NOW),
            Entry(Message("assistant", (Text("Yes"),)), "a4", group="a4", at=NOW, model="claude-opus-4-5"),
        ]
        app.ingest.append_records(NAME, begun)
        until(lambda: script().get("edits"))
        version = script()["version"]
        send_pruned(version)
        if first == "a look without news":
            app.ingest.append_records(NAME, [Meta(title="Two files")])
        elif first == "the copy":
            take(client, [*LATER, {"role": "user", "content": "Go on"}], "msg_5", applied=version)
        report = UsageReport(Usage(700, 3), NOW, "a4", "claude-opus-4-5", "", "u2")
        app.ingest.append_records(NAME, [report])
        assert not any("set aside" in note for note in session(client)["notes"])
        assert session(client)["pruned"]["tokens"] == 703

    def test_counts_a_call_whose_prune_was_refused_for_the_whole_context(
        self, app: App, client: Client
    ) -> None:  # X13, X11
        """The transcript is read while the pruned call is tried, and again before the copy of the whole one comes."""
        rows = list(written())
        follow(app, iter(rows[:-2]))
        take(client, [FIRST], "msg_1")
        client.patch(f"/api/sessions/{NAME}", json={"proxy_prunes": True})
        send_pruned()
        app.ingest.append_records(NAME, rows[-2:-1])
        hints.write(f"proxy-{NAME}", hints.ACTIVE, {"edits": {}}, hints.proxy_folder())
        app.ingest.append_records(NAME, rows[-1:])
        assert session(client)["agent"]["tokens"] == 5002

    @pytest.mark.parametrize("copied", [False, True])
    def test_compares_a_pruned_call_with_what_was_sent(
        self, app: App, client: Client, *, copied: bool
    ) -> None:  # X13, X24
        """Its question was written down before the call was pruned, its usage after that, before or behind the copy."""
        follow(app)
        take(client, LATER, "msg_3")
        client.patch(f"/api/sessions/{NAME}", json={"proxy_prunes": True})
        drop_calls(client)
        asked = Entry(Message("user", (Text("And the third?"),)), "u2", at=NOW)
        app.ingest.append_records(NAME, [asked])
        until(lambda: script().get("edits"))
        send_pruned(script()["version"])
        if copied:
            take(client, LATER, "msg_4", applied=script()["version"])
        used = Usage(session(client)["pruned"]["tokens"], 5)
        app.ingest.append_records(NAME, [UsageReport(used, NOW, "total 1", input_end="u2")])
        made = client.get(f"/api/sessions/{NAME}/operations").get_json()["operations"]
        assert [one["kind"] for one in made] == ["drop"]
        assert session(client)["pruned"]["certainty"] == "exact"

    def test_compares_a_call_that_waited_for_a_prune_with_what_was_sent(
        self, app: App, client: Client
    ) -> None:  # X13, X24
        """A session is pruned once more between a question and its call, as while the agent tries a call again."""
        follow(app)
        take(client, LATER, "msg_3")
        client.patch(f"/api/sessions/{NAME}", json={"proxy_prunes": True})
        rows = client.get(f"/api/sessions/{NAME}/messages?sort=oldest").get_json()["messages"]
        calls, *_, said = [one["id"] for one in rows if one["role"] == "assistant"]
        for n, dropped in enumerate((said, calls), 2):
            asked = Entry(Message("user", (Text(f"And number {n}?"),)), f"u{n}", at=NOW)
            app.ingest.append_records(NAME, [asked])
            client.post(f"/api/sessions/{NAME}/messages/{dropped}/drop", json={})
            until(partial(is_written_at, [n, 0]))
            send_pruned(script()["version"])
        used = Usage(session(client)["pruned"]["tokens"], 5)
        app.ingest.append_records(NAME, [UsageReport(used, NOW, "total 1", input_end="u3")])
        made = client.get(f"/api/sessions/{NAME}/operations").get_json()["operations"]
        assert [one["kind"] for one in made] == ["drop", "drop"]
        assert session(client)["pruned"]["certainty"] == "exact"

    def test_is_not_above_its_target_before_the_copy_of_a_pruned_call(
        self, app: App, client: Client
    ) -> None:  # X13, X16
        """The row of the transcript may come first; the context without the prune was not sent."""
        follow(app)
        take(client, HISTORY)
        drop_calls(client)
        settings = {"target_percent": 3, "aim_percent": 2}
        client.patch(f"/api/sessions/{NAME}", json={"proxy_prunes": True, "settings": settings})
        send_pruned()
        app.environment.clock = lambda: int(NOW.timestamp() * 1000)
        events = heard(app)
        usage, more = Usage(5000, 2), Message("assistant", (Text(SAID),))
        app.ingest.append_records(NAME, [Entry(more, "a4", at=NOW, usage=usage, call_key="msg_3:req_1")])
        assert session(client)["pruned"]["tokens"] < session(client)["target_tokens"]
        assert not [event for event in events if isinstance(event, TargetCrossed)]

    def test_is_switched_off_before_the_next_call(self, app: App, client: Client) -> None:  # X13
        """After a restart of the server the script is switched off, and its edits stay."""
        restart_while_pruning(app, client)
        client.patch(f"/api/sessions/{NAME}", json={"proxy_prunes": False})
        until(lambda: script()["prunes"] is False)
        assert "version" in script()

    @pytest.mark.parametrize("restarted", [False, True])
    @pytest.mark.parametrize("back", ["operations/1/undo", "messages/{}/restore"])
    def test_is_sent_whole_after_an_undo(
        self, app: App, client: Client, back: str, *, restarted: bool
    ) -> None:  # X13
        """This holds for the next call, also for the first one since a start of the server."""
        follow(app)
        take(client, HISTORY)
        client.patch(f"/api/sessions/{NAME}", json={"proxy_prunes": True})
        drop_calls(client)
        until(lambda: len(script().get("edits", ())) == 4)
        if restarted:
            restart(app)
        path = f"/api/sessions/{NAME}/{back.format(calls_of(client)['id'])}"
        assert client.post(path, json={}).status_code == 200
        until(lambda: script()["edits"] == {})
