"""Copies of calls through the proxy: their sessions, side calls, and the switch for pruning."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from tests.decoders import CALLS, Sample, call_of
from tests.odd_values import with_odd_values
from tests.waiting import until
from tests.webapp.promises import Client
from tests.webapp.services.proxied.copies import hand_over, said, take, user
from webapp.agents.hook_runtime import hints
from webapp.app import App
from webapp.errors import CoppiceError
from webapp.services.catalog.retention_choice import DAY_MS
from webapp.services.proxied import keys, read_calls
from webapp.services.proxied.call_records import LONGEST_WAIT_MS
from webapp.services.session.session import Session


def session(client: Client, name: str = "proxy-s") -> Any:
    """Return a session as the API answers it."""
    return client.get(f"/api/sessions/{name}").get_json()


def context(client: Client, name: str = "proxy-s") -> list[str]:
    """Return the texts of the messages in a session's context, in order."""
    rows = client.get(f"/api/sessions/{name}/messages?sort=oldest&fate=in").get_json()["messages"]
    return [row["text"] for row in rows]


def script() -> Any:
    """Return the edit script of the session; {} for none."""
    return hints.read("proxy-s", hints.EDITS, hints.proxy_folder())


def has_edits(count: int) -> bool:
    """Return whether the script has so many edits."""
    return len(script().get("edits", ())) == count


TOOLS = [{"type": "function", "function": {"name": "bash", "parameters": {}}}]


class TestTheTime:
    """The time of a call comes from the clock of the proxy's machine."""

    @pytest.mark.parametrize("days", [-400, -1, 0, 400])
    def test_is_bound_by_the_clock_of_the_server(self, client: Client, app: App, days: int) -> None:
        """A wrong clock makes no session look unused, which a limit on age would delete, or used in years to come."""
        now = app.environment.clock()
        take(client, [user("a")], at=now + days * DAY_MS)
        used = app.store.sessions.get("proxy-s").last_activity_at
        assert now - LONGEST_WAIT_MS <= used <= app.environment.clock()

    def test_is_that_of_the_call_if_its_copy_had_to_wait(self, client: Client, app: App) -> None:
        """A copy waits, for example, while the server is away for some minutes."""
        at = app.environment.clock() - LONGEST_WAIT_MS // 2
        take(client, [user("a")], at=at)
        assert app.store.sessions.get("proxy-s").last_activity_at == at


class TestACall:
    """A stored copy of a call."""

    def test_is_appended_once(self, client: Client) -> None:  # X13
        """The next call of a conversation adds only its new messages."""
        assert take(client, [user("a")]).get_json() == {"session_id": "proxy-s", "added": 2}
        take(client, [user("a"), said("Yes."), user("b")], "No.")
        assert session(client)["messages"] == 4

    @pytest.mark.parametrize("role", ["system", "developer"])
    @pytest.mark.parametrize("name", ["", "proxy-s"])
    def test_may_have_another_system_prompt(self, client: Client, name: str, role: str) -> None:  # X13
        """Some clients write the time into the prompt of a list: the conversation goes on with the new one."""
        talk: list[Any] = []
        for n in range(3):
            talk.append(user(f"a{n}"))
            prompt = {"role": role, "content": f"It is {n} o'clock."}
            found = take(client, [prompt, *talk], f"b{n}", session=name).get_json()["session_id"]
            talk.append(said(f"b{n}"))
        assert session(client, found)["operations"] == 0
        assert context(client, found) == ["It is 2 o'clock.", "a0", "b0", "a1", "b1", "a2", "b2"]

    @pytest.mark.parametrize("name", ["", "proxy-s"])
    @pytest.mark.parametrize("usage", [{"prompt_tokens": 100, "completion_tokens": 10}, None])
    def test_that_arrives_again_adds_and_counts_nothing(
        self, client: Client, name: str, usage: Any
    ) -> None:  # X13
        """The proxy sends a copy again if the server's answer to it was lost, as in a restart."""
        for messages in ([user("a")], [user("a"), said("Yes."), user("b")]):
            added = [take(client, messages, session=name, usage=usage).get_json() for _ in range(3)]
            assert [one["added"] for one in added] == [2, 0, 0]
            assert len({one["session_id"] for one in added}) == 1
        [only] = client.get("/api/sessions").get_json()["sessions"]
        assert context(client, only["id"]) == ["a", "Yes.", "b", "Yes."]
        assert session(client, only["id"])["operations"] == 0
        assert session(client, only["id"])["proxy"]["calls"] == (2 if usage else 0)

    def test_that_arrives_again_after_a_later_one_adds_nothing(self, client: Client) -> None:  # X13
        """Two proxies of one session can send it so."""
        for messages in ([user("a")], [user("a"), said("Yes."), user("b")], [user("a")]):
            take(client, messages)
        assert context(client) == ["a", "Yes.", "b", "Yes."]
        assert session(client)["proxy"]["calls"] == 2

    def test_may_have_the_id_of_another(self, client: Client) -> None:  # X13
        """Some local providers choose from few ids."""
        take(client, [user("a")], id="one")
        take(client, [user("a"), said("Yes."), user("b")], id="one")
        assert context(client) == ["a", "Yes.", "b", "Yes."]

    def test_that_failed_creates_no_session(self, client: Client) -> None:  # X13
        """A call with an error status is no part of a conversation."""
        assert take(client, [user("a")], status=529).get_json() == {"session_id": None, "added": 0}

    def test_with_a_broken_answer_keeps_its_question(self, client: Client) -> None:  # X13
        """The retry continues the same session with its answer."""
        take(client, [user("a")], whole=False)
        take(client, [user("a")], "Yes.")
        assert session(client)["messages"] == 2

    def test_that_its_user_stopped_counts_what_was_sent(self, client: Client, app: App) -> None:  # X13, X11
        """The provider names these tokens before it answers; the next call continues the session."""
        asked = {"model": "claude-opus-4-5", "messages": [user("a")]}
        usage = {"input_tokens": 900, "output_tokens": 1}
        message = {"id": "m1", "type": "message", "content": [], "usage": usage}
        begun = f"data: {json.dumps({'type': 'message_start', 'message': message})}\n\n"
        stopped = {"provider": "anthropic", "whole": False}
        hand_over(client, "/v1/messages", asked, begun, "proxy-s", **stopped)
        assert session(client)["messages"] == 1
        key = app.store.sessions.get("proxy-s").key
        assert [one.input_tokens for one in app.store.usage.calls(key)] == [900]
        again = {**asked, "messages": [user("a"), user("b")]}
        hand_over(client, "/v1/messages", again, begun.replace("m1", "m2"), "proxy-s", **stopped)
        assert session(client)["messages"] == 2

    def test_on_the_side_gets_its_own_session(self, client: Client) -> None:  # X13
        """A client's request for a title becomes a session below the conversation."""
        take(client, [user("a")], tools=TOOLS)
        take(client, [user("Make a title")], "A title")
        assert session(client)["messages"] == 2
        below = [
            one for one in client.get("/api/sessions").get_json()["sessions"] if one["parent_id"] == "proxy-s"
        ]
        assert len(below) == 1

    def test_on_the_side_before_the_conversation_is_no_part_of_it(self, client: Client) -> None:  # X13
        """OpenCode asks for a title first: that is no compaction, and the session is named by its own beginning."""
        take(client, [user("Make a title")], "A title")
        take(client, [user("a")], tools=TOOLS)
        seen = session(client)
        assert seen["agent"]["messages"] == 2
        assert seen["title"] == "a"
        changes = client.get("/api/sessions/proxy-s/timeline").get_json()["changes"]
        assert [one["kind"] for one in changes] == ["rewind"]
        take(client, [user("a"), said("Yes."), user("b")], tools=TOOLS)
        assert session(client)["agent"]["messages"] == 4

    def test_after_a_compaction_starts_a_new_context(self, client: Client) -> None:  # X13
        """The same tools with another beginning mean that the client compacted."""
        take(client, [user("a")], tools=TOOLS)
        take(client, [user("Summary of all so far")], tools=TOOLS)
        assert session(client)["agent"]["messages"] == 2
        marks = client.get("/api/sessions/proxy-s/timeline").get_json()["changes"]
        assert [one["kind"] for one in marks] == ["compaction"]

    def test_that_returns_to_an_earlier_branch_has_all_of_it(self, client: Client) -> None:  # X13
        """A client may ask its first question again, stop, and go on where it was."""
        talk = [user("a"), said("Yes."), user("b"), said("Yes."), user("c")]
        take(client, talk[:1])
        take(client, talk[:3])
        take(client, talk[:1], whole=False)
        assert context(client) == ["a"]
        take(client, talk)
        assert context(client) == ["a", "Yes.", "b", "Yes.", "c", "Yes."]

    def test_that_goes_back_keeps_what_follows_a_message_that_is_left_out(
        self, app: App, client: Client
    ) -> None:  # X13
        """A message above the maximum size is not in the log; those behind it are part of the branch all the same."""
        app.environment.sizes = replace(app.environment.sizes, message=10_000)
        talk = [user("a"), said("Yes."), user("b" * 20_000), said("Yes."), user("c")]
        take(client, talk)
        take(client, [*talk, said("Yes."), user("d")])
        take(client, [*talk, said("Yes."), user("e")])
        assert context(client) == ["a", "Yes.", "Yes.", "c", "Yes.", "e", "Yes."]

    def test_with_a_changed_answer_keeps_the_sent_form(self, client: Client) -> None:  # X13
        """If a client changes an answer before sending it back, the changed form is kept."""
        take(client, [user("a")], "Yes.")
        take(client, [user("a"), said("No!"), user("b")])
        texts = [one["text"] for one in client.get("/api/sessions/proxy-s/messages").get_json()["messages"]]
        assert "No!" in texts
        assert session(client)["messages"] == 4

    def test_counts_tools_as_their_own_region(self, client: Client) -> None:  # X13, X11
        """Tool definitions are counted apart from messages."""
        take(client, [user("a")], tools=TOOLS)
        regions = {one["name"] for one in session(client)["agent"]["regions"]}
        assert "tools" in regions

    @pytest.mark.parametrize("request_text", ["", "[]", "{}", '{"messages": []}', '{"messages": 3}'])
    def test_that_cannot_be_read_is_refused(self, client: Client, request_text: str) -> None:  # X13
        """The proxy gets an error."""
        assert take(client, [user("a")], request=request_text).status_code in (400, 422)


def respond(
    client: Client,
    text: str,
    answer: str,
    follows: str | None = None,
    session: str = "proxy-s",
    without: str = "",
    **fields: Any,
) -> Any:
    """Send the copy of a call of the Responses API, whose answer has the id `answer`, `without` its usage or all of it.

    The numbers of answers give the order of the calls in time.
    """
    asked: dict[str, Any] = {"model": "gpt-5.1", "input": text, **fields}
    if follows is not None:
        asked["previous_response_id"] = follows
    item = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": f"To {text}"}],
    }
    usage = {"input_tokens": 100, "output_tokens": 10}
    document = {"id": answer, "model": "gpt-5.1", "status": "completed", "output": [item], "usage": usage}
    if without == "usage":
        del document["usage"]
    at = 1_780_000_000_000 + int(answer[1:])
    return hand_over(
        client,
        "/v1/responses",
        asked,
        document,
        session,
        at=at,
        **({"whole": False} if without == "answer" else {}),
    )


def claude(client: Client, messages: list[Any], *blocks: Any) -> None:
    """Send the copy of a call of Claude without a name, answered with these blocks."""
    usage = {"input_tokens": 100, "output_tokens": 10}
    answer = {"type": "message", "id": f"m{len(messages)}{blocks}", "role": "assistant", "model": "claude-sonnet-4-6",
              "content": list(blocks), "stop_reason": "end_turn", "usage": usage}  # fmt: skip
    asked = {"model": "claude-sonnet-4-6", "messages": messages}
    hand_over(client, "/v1/messages", asked, answer, "", provider="anthropic")


class TestACompactionByTheProvider:
    """An answer that holds a summary of all before it: the provider reads nothing of that any more."""

    def test_leaves_only_the_answer_in_the_context(self, client: Client) -> None:  # X13, S1
        """The client goes on sending everything. The usage counts what is left."""
        summary = {"type": "compaction", "content": "They said a."}
        answer = [summary, {"type": "text", "text": "Yes."}]
        claude(client, [user("a")], {"type": "text", "text": "To a"})
        claude(client, [user("a"), said("To a"), user("b")], *answer)
        [one] = client.get("/api/sessions").get_json()["sessions"]
        assert context(client, one["id"]) == ["They said a.\nYes."]
        assert (one["agent"]["tokens"], one["agent"]["certainty"]) == (110, "exact")
        before = [user("a"), said("To a"), user("b"), {"role": "assistant", "content": answer}]
        claude(client, [*before, user("c")], {"type": "text", "text": "To c"})
        assert context(client, one["id"]) == ["They said a.\nYes.", "c", "To c"]
        operations = client.get(f"/api/sessions/{one['id']}/operations").get_json()["operations"]
        assert [operation["kind"] for operation in operations] == ["compaction"]

    def test_that_failed_changes_nothing(self, client: Client) -> None:  # X13
        """It has no summary."""
        claude(client, [user("a")], {"type": "compaction", "content": None}, {"type": "text", "text": "To a"})
        [one] = client.get("/api/sessions").get_json()["sessions"]
        assert (one["operations"], one["agent"]["messages"]) == (0, 2)

    def test_is_an_item_of_responses(self, client: Client) -> None:  # X13
        """Its summary is encrypted."""
        respond(client, "a", "r1")
        item = {"type": "compaction", "id": "cmp_1", "encrypted_content": "x"}
        usage = {"input_tokens": 30, "output_tokens": 10}
        document = {"id": "r2", "model": "gpt-5.1", "status": "completed", "output": [item], "usage": usage}
        asked = {"model": "gpt-5.1", "input": "b", "previous_response_id": "r1"}
        hand_over(client, "/v1/responses", asked, document, "proxy-s", at=1_780_000_000_009)
        respond(client, "c", "r3", "r2")
        assert context(client) == ["", "c", "To c"]

    @pytest.mark.parametrize("session", ["proxy-s", ""])
    def test_is_the_answer_to_a_call_for_it(self, client: Client, session: str) -> None:  # X13
        """The answer is the context; the session goes on with it, with its own model, tools and prompt."""
        tools = [{"type": "function", "name": "ls", "parameters": {}}]
        asked: dict[str, Any] = {"model": "gpt-5.1", "instructions": "Be brief.", "tools": tools}
        answer = {"id": "m1", "type": "message", **said("To a")}
        usage = {"input_tokens": 300, "output_tokens": 10}
        document = {"id": "r1", "model": "gpt-5.1", "status": "completed", "output": [answer], "usage": usage}
        hand_over(client, "/v1/responses", {**asked, "input": [user("a")]}, document, session)
        item = {"id": "cmp_1", "type": "compaction", "encrypted_content": "x"}
        compacted = {"id": "r2", "object": "response.compaction", "output": [user("a"), item], "usage": usage}
        history = {"model": "gpt-4.1", "input": [user("a"), said("To a")]}
        hand_over(client, "/v1/responses/compact", history, compacted, session, at=1_780_000_000_009)
        [one] = client.get("/api/sessions").get_json()["sessions"]
        assert (context(client, one["id"]), one["model"]) == (["Be brief.", "a", ""], "gpt-5.1")
        assert one["proxy"]["calls"] == 2
        document |= {"id": "r3", "output": [{**answer, "id": "m2", **said("To c")}]}
        again = {**asked, "input": [user("a"), item, user("c")]}
        hand_over(client, "/v1/responses", again, document, session, at=1_780_000_000_019)
        [one] = client.get("/api/sessions").get_json()["sessions"]
        assert context(client, one["id"]) == ["Be brief.", "a", "", "c", "To c"]
        assert one["agent"]["tokens"] == 310

    def test_can_be_of_a_history_at_the_provider(self, client: Client) -> None:  # X13
        """Such a call names the answer, and no items."""
        respond(client, "a", "r1")
        item = {"id": "cmp_1", "type": "compaction", "encrypted_content": "x"}
        compacted = {"id": "r2", "object": "response.compaction", "output": [user("a"), item]}
        asked = {"model": "gpt-5.1", "previous_response_id": "r1"}
        hand_over(client, "/v1/responses/compact", asked, compacted, "")
        assert context(client) == ["a", ""]


class TestTwoAgentsWithoutNames:
    """Agents whose first prompts are the same, told apart by their answers."""

    def test_keep_their_sessions_however_an_sdk_orders_fields(self, client: Client) -> None:  # X13
        """The result of a provider's tool comes back with its fields in another order."""
        search = {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {"query": "q"}}
        found = {"type": "web_search_result", "url": "https://x.y", "title": "T", "encrypted_content": "E"}
        result = {"type": "web_search_tool_result", "tool_use_id": "srv", "content": [found]}
        back = {**result, "content": [dict(reversed(found.items()))]}
        for words in ("one", "two"):
            claude(client, [user("begin")], search, result, {"type": "text", "text": words})
        for words in ("one", "two"):
            answer = {"role": "assistant", "content": [search, back, {"type": "text", "text": words}]}
            text = {"type": "text", "text": f"{words} again"}
            claude(client, [user("begin"), answer, user("go on")], text)
        sessions = client.get("/api/sessions").get_json()["sessions"]
        last = {context(client, one["id"])[-1] for one in sessions}
        assert (len(sessions), last) == (2, {"one again", "two again"})


def refer(client: Client, *turns: str, session: str = "") -> str:
    """Send the copies of a conversation of Responses whose answers come back as references; return its session."""
    items: list[Any] = []
    for turn in turns:
        name = turn.replace(" ", "")
        items.append(user(turn.split()[0]))
        thought = {"type": "reasoning", "id": f"rs_{name}", "summary": []}
        blocks = [{"type": "output_text", "text": f"To {turn}"}]
        message = {"type": "message", "id": f"msg_{name}", "role": "assistant", "content": blocks}
        usage = {"input_tokens": 100, "output_tokens": 10}
        document = {"id": f"r_{name}", "model": "gpt-5.1", "status": "completed"}
        answer = {**document, "output": [thought, message], "usage": usage}
        said = hand_over(client, "/v1/responses", {"model": "gpt-5.1", "input": items}, answer, session)
        items += [{"type": "item_reference", "id": one["id"]} for one in (thought, message)]
    return str(said.get_json()["session_id"])


class TestACallThatRefersToStoredItems:
    """A call that has the ids of earlier answers in place of them, as the AI SDK sends it."""

    @pytest.mark.parametrize("name", ["", "proxy-s"])
    def test_continues_with_the_answers_that_it_refers_to(self, client: Client, name: str) -> None:  # X13
        """Their texts stay in the context, without an operation."""
        found = refer(client, "a", "b", "c", session=name)
        assert [text for text in context(client, found) if text] == ["a", "To a", "b", "To b", "c", "To c"]
        assert session(client, found)["operations"] == 0

    def test_without_a_name_is_found_by_them(self, client: Client) -> None:  # X13
        """Two agents have the same first prompts."""
        first, second = refer(client, "a 1"), refer(client, "a 2")
        assert first != second
        for n, found in ((1, first), (2, second)):
            items = [user("a"), {"type": "item_reference", "id": f"msg_a{n}"}, user("b")]
            document = {"id": f"r{n}", "model": "gpt-5.1", "status": "completed", "output": []}
            taken = hand_over(client, "/v1/responses", {"model": "gpt-5.1", "input": items}, document, "")
            assert taken.get_json()["session_id"] == found


class TestACallWithoutItsHistory:
    """A call that names the answer it follows; the provider keeps the history."""

    @pytest.mark.parametrize("name", ["", "proxy-s"])
    def test_continues_the_conversation(self, client: Client, name: str) -> None:  # X13
        """The messages of all calls are in one session and in its context, without an operation."""
        session_id = respond(client, "a", "r1", session=name).get_json()["session_id"]
        respond(client, "b", "r2", "r1", session=name)
        respond(client, "b", "r3", "r2", session=name)
        assert context(client, session_id) == ["a", "To a", "b", "To b", "b", "To b"]
        assert session(client, session_id)["operations"] == 0
        assert len(client.get("/api/sessions").get_json()["sessions"]) == 1

    def test_is_appended_once(self, client: Client) -> None:  # X13
        """The same copy again adds no question."""
        respond(client, "a", "r1")
        respond(client, "b", "r2", "r1")
        assert respond(client, "b", "r2", "r1").get_json()["added"] == 0
        assert context(client)[:3] == ["a", "To a", "b"]
        assert len(context(client)) == 4

    def test_goes_back_to_the_answer_that_it_follows(self, client: Client) -> None:  # X13
        """Later messages leave the context, and come back with a call that follows them."""
        for text, answer, follows in [
            ("a", "r1", None),
            ("b", "r2", "r1"),
            ("c", "r3", "r2"),
            ("d", "r4", "r1"),
        ]:
            respond(client, text, answer, follows)
        assert context(client) == ["a", "To a", "d", "To d"]
        respond(client, "e", "r5", "r3")
        assert context(client) == ["a", "To a", "b", "To b", "c", "To c", "e", "To e"]
        marks = client.get("/api/sessions/proxy-s/timeline").get_json()["changes"]
        assert [one["kind"] for one in marks] == ["rewind", "rewind"]

    def test_continues_a_thread_with_its_tools(self, client: Client, app: App) -> None:  # X13
        """Anthropic keeps prompt and tools, too, and gets only the new messages."""
        tools = [{"name": "bash", "description": "Runs a command. " * 20, "input_schema": {}}]
        asked: dict[str, Any] = {"model": "claude-opus-5-5", "system": "You are an agent.", "tools": tools}
        for text, answer, thread in [
            ("a", "m1", {"type": "create"}),
            ("b", "m2", {"type": "continue", "previous_message_id": "m1"}),
            ("b", "m3", {"type": "continue", "previous_message_id": "m2"}),
            ("c", "m4", {"type": "continue", "previous_message_id": "m2"}),
        ]:
            said = [{"type": "text", "text": f"To {text}"}]
            usage = {"input_tokens": 1_000, "output_tokens": 10}
            document = {"id": answer, "type": "message", "role": "assistant", "content": said, "usage": usage}
            body = {**asked, "messages": [user(text)], "thread": thread}
            if thread["type"] == "continue":
                del body["system"], body["tools"]
            hand_over(client, "/v1/messages", body, document, "proxy-s", provider="anthropic")
        assert context(client) == ["You are an agent.", "a", "To a", "b", "To b", "c", "To c"]
        assert len(client.get("/api/sessions").get_json()["sessions"]) == 1
        assert Session.load(app.environment, "proxy-s").state.proxy.tool_tokens > 50

    @pytest.mark.parametrize("conversation", ["conv_1", {"id": "conv_1"}])
    def test_may_name_its_conversation(self, client: Client, conversation: Any) -> None:  # X13
        """The provider adds each call and its answer to it; the same question can be asked again, with other tools."""
        for answer, tools in [("r1", []), ("r2", []), ("r3", TOOLS)]:
            respond(client, "a", answer, session="", conversation=conversation, tools=tools)
        assert context(client, "proxy-conv_1") == ["a", "To a"] * 3
        assert session(client, "proxy-conv_1")["operations"] == 0
        assert len(client.get("/api/sessions").get_json()["sessions"]) == 1

    def test_is_appended_to_its_conversation_once(self, client: Client) -> None:  # X13
        """A copy that comes again, because the answer to it was lost, adds nothing."""
        for answer in ("r1", "r2", "r2", "r1"):
            respond(client, "a", answer, session="", conversation="conv_1")
        assert context(client, "proxy-conv_1") == ["a", "To a"] * 2

    @pytest.mark.parametrize("without", ["usage", "answer"])
    def test_is_appended_once_without_usage_or_answer(self, client: Client, without: str) -> None:  # X13
        """Its messages are known by the time of the call."""
        for _ in range(3):
            respond(client, "a", "r1", session="", conversation="conv_1", without=without)
        assert context(client, "proxy-conv_1") == ["a", "To a"][: 1 if without == "answer" else 2]

    @pytest.mark.parametrize("tools", [[], TOOLS])
    def test_continues_its_session_after_an_answer_that_was_not_seen(
        self, client: Client, tools: list[Any]
    ) -> None:  # X13
        """The provider alone knows what was said meanwhile; nothing leaves the context, nor with a later branch."""
        respond(client, "a", "r1")
        respond(client, "c", "r3", "unseen", tools=tools)
        assert context(client) == ["a", "To a", "c", "To c"]
        respond(client, "d", "r4", "r3", tools=tools)
        respond(client, "e", "r5", "r3", tools=tools)
        assert context(client) == ["a", "To a", "c", "To c", "e", "To e"]


class TestTheSwitch:
    """Pruning by the proxy, session by session."""

    def test_is_off_by_default(self, client: Client) -> None:  # X13
        """The proxy observes until pruning is switched on; no script is written for it."""
        take(client, [user("a")])
        assert session(client)["proxy"]["prunes"] is False
        assert script() == {}

    def test_writes_and_removes_the_script(self, client: Client) -> None:  # X13
        """The script of a session has its edits, and is deleted with the session."""
        take(client, [user("a")])
        client.patch("/api/sessions/proxy-s", json={"proxy_prunes": True})
        mid = client.get("/api/sessions/proxy-s/messages?sort=oldest").get_json()["messages"][1]["id"]
        take(client, [user("a"), said("Yes."), user("b")])
        client.post(f"/api/sessions/proxy-s/messages/{mid}/drop", json={})
        until(lambda: script().get("edits"))
        assert script()["prunes"] is True
        assert list(script()["edits"].values()) == [{"drop": True}]
        client.delete("/api/sessions/proxy-s?confirm=proxy-s")
        until(lambda: script() == {})

    @pytest.mark.parametrize("prompt", [[], [{"role": "system", "content": "Be brief."}]])
    def test_begins_with_a_message_of_the_user(self, client: Client, prompt: list[Any]) -> None:  # X13
        """The first question is dropped, but its answer stays: providers refuse a list that begins with the model."""
        take(client, [*prompt, user("a"), said("Yes."), user("b")])
        client.patch("/api/sessions/proxy-s", json={"proxy_prunes": True})
        rows = client.get("/api/sessions/proxy-s/messages?sort=oldest").get_json()["messages"]
        row = rows[len(prompt)]
        assert client.post(f"/api/sessions/proxy-s/messages/{row['id']}/drop", json={}).status_code == 200
        until(lambda: script().get("at") == [2, 0])
        assert script()["edits"] == {}

    def test_may_begin_with_a_summary(self, client: Client) -> None:  # X13
        """A summary is sent in the user's role, so no question is kept before it."""
        turns = [one for n in range(8) for one in (user(f"a{n} " * 50), said(f"Yes {n}. " * 50))]
        take(client, [{"role": "system", "content": "Be brief."}, *turns, user("b")])
        client.patch("/api/sessions/proxy-s", json={"proxy_prunes": True})
        done = client.post("/api/sessions/proxy-s/summarize", json={}).get_json()
        until(lambda: script().get("at") == [2, 0])
        dropped = [edit for edit in script()["edits"].values() if edit == {"drop": True}]
        assert len(dropped) == done["operation"]["messages"] > 0

    def test_sends_again_what_an_undo_brought_back(self, client: Client) -> None:  # X13
        """After each undo the script has the edits of the operations that remain."""
        take(client, [user("a"), said("Yes."), user("b"), said("No."), user("c")])
        client.patch("/api/sessions/proxy-s", json={"proxy_prunes": True})
        rows = client.get("/api/sessions/proxy-s/messages?sort=oldest").get_json()["messages"]
        drops = (f"messages/{rows[i]['id']}/drop" for i in (1, 2, 3))
        for path, count in zip(
            (*drops, "operations/2/undo", "operations/1/undo"), (1, 2, 3, 1, 0), strict=True
        ):
            assert client.post(f"/api/sessions/proxy-s/{path}", json={}).status_code == 200
            until(partial(has_edits, count))

    def test_counts_a_call_that_is_made_again_and_sent_pruned(self, client: Client) -> None:  # X13, X11
        """Its input is that of the pruned view, though its last message came with the call before."""
        asked = [user("a"), said(" ".join(f"word{n}" for n in range(2_000))), user("b")]
        take(client, asked, "No.", id="c1", usage={"prompt_tokens": 4_600, "completion_tokens": 10})
        client.patch("/api/sessions/proxy-s", json={"proxy_prunes": True})
        rows = client.get("/api/sessions/proxy-s/messages?sort=oldest").get_json()["messages"]
        client.post(f"/api/sessions/proxy-s/messages/{rows[1]['id']}/drop", json={})
        until(partial(has_edits, 1))
        hints.write("proxy-s", hints.ACTIVE, script(), hints.proxy_folder())
        used = {"prompt_tokens": 120, "completion_tokens": 10}
        take(client, asked, "Never.", id="c2", usage=used, applied=script()["version"])
        assert session(client)["notes"] == []
        assert 120 <= session(client)["pruned"]["tokens"] <= 130

    def test_is_refused_for_other_sessions(self, client: Client) -> None:  # X13
        """A session that no proxy sees cannot be switched on."""
        client.post("/api/sessions", json={"id": "mine"})
        assert client.patch("/api/sessions/mine", json={"proxy_prunes": True}).status_code == 409

    def test_is_refused_for_subscriptions(self, client: Client) -> None:  # X13
        """Requests with the token of a subscription are never changed."""
        take(client, [user("a")], subscription=True)
        assert client.patch("/api/sessions/proxy-s", json={"proxy_prunes": True}).status_code == 409


@pytest.mark.parametrize("sample", CALLS, ids=lambda sample: sample.name)
def test_an_odd_value_in_a_call_harms_nothing(app: App, sample: Sample) -> None:  # X13
    """An odd value anywhere in a request or answer is skipped or refused with a typed error."""
    for number, (_, broken) in enumerate(with_odd_values(sample.data)):
        with suppress(CoppiceError):
            app.calls.receive(call_of(sample, broken).model_copy(update={"session": f"odd-{number % 5}"}))
    assert list(app.verify()) == []
    assert app.sessions.list()


class TestSessionsOfAnEarlierVersion:
    """Chats whose system message had a key, on which all other keys depended."""

    @pytest.mark.parametrize("name", ["proxy-s", ""])
    def test_go_on_whole(self, client: Client, monkeypatch: pytest.MonkeyPatch, name: str) -> None:  # X13
        """The history begins again, with every message; without a name, in a new session."""
        messages = [{"role": "system", "content": "Be brief."}, user("first")]
        with monkeypatch.context() as earlier:
            for module in (keys, read_calls):
                earlier.setattr(module, "prompts_of", lambda _: 0)
            take(client, messages, "one", name)
        for question, answer in (("second", "two"), ("third", "three")):
            messages += [said("one" if question == "second" else "two"), user(question)]
            found = take(client, messages, answer, name).get_json()["session_id"]
        assert context(client, found) == ["Be brief.", "first", "one", "second", "two", "third", "three"]
