"""Edit scripts applied to the text of a request: removals, replacements, and unchanged parts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.webapp.proxy.edits import ANTHROPIC, CHAT, DROP, RESPONSES, body, sent, user
from webapp.proxy.editing import Body, Refused, edited
from webapp.services.proxied.keys import keys_of

MARK = {"type": "ephemeral"}


def call(name: str, *thoughts: str, **more: Any) -> Any:
    """Return a message of the model that calls a tool."""
    thinking = [{"type": "thinking", "thinking": one, "signature": f"signed {one}"} for one in thoughts]
    used = {"type": "tool_use", "id": name, "name": "Bash", "input": {}, **more}
    return {"role": "assistant", "content": [*thinking, used]}


def result(name: str, text: str = "an output", **more: Any) -> Any:
    """Return a message with the result of a call."""
    return {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": name, "content": text, **more}],
    }


class TestDroppedMessages:
    """Messages that a script drops."""

    def test_include_both_call_and_result(self) -> None:  # X13, P4
        """A call and its result are dropped together, and stay if the script names only one of them."""
        messages = [user("a"), call("1"), result("1"), call("2"), result("2"), user("b")]
        assert sent(messages, {1: DROP, 2: DROP}) == [messages[0], *messages[3:]]
        assert sent(messages, {1: DROP, 3: DROP, 4: DROP}) == [*messages[:3], messages[5]]

    def test_never_include_the_first_question_before_an_answer(self) -> None:  # X13, X6
        """The first question stays if the list would otherwise begin with an answer."""
        messages = [user("a"), call("1"), result("1"), user("b")]
        assert sent(messages, {0: DROP})[0] == messages[0]

    def test_include_the_first_question_before_another_one(self) -> None:  # X13, X6
        """A system message before them changes nothing."""
        messages = [{"role": "system", "content": "s"}, user("a"), call("1"), result("1"), user("b")]
        dropped = dict.fromkeys((1, 2, 3), DROP)
        assert sent(messages, dropped) == [messages[0], messages[4]]
        assert sent(messages[1:], {number - 1: DROP for number in dropped}) == messages[4:]

    def test_include_their_reasoning(self) -> None:  # X13
        """A reasoning item and the item after it are dropped together."""
        items = [
            {"type": "message", "role": "user", "content": "a"},
            {"type": "reasoning", "id": "r1", "summary": [], "encrypted_content": "x"},
            {"type": "function_call", "id": "f1", "call_id": "1", "name": "bash", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "1", "output": "o"},
            {"type": "message", "role": "user", "content": "b"},
        ]
        assert sent(items, {2: DROP, 3: DROP}, RESPONSES) == items
        assert sent(items, {1: DROP, 2: DROP, 3: DROP}, RESPONSES) == [items[0], items[4]]

    @pytest.mark.parametrize("dropped", [1, 2])
    def test_include_the_result_of_a_deprecated_call(self, dropped: int) -> None:  # X13
        """Earlier chat completions had calls without an id, whose result is the next message."""
        called = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
        messages = [user("one"), called, {"role": "function", "name": "f", "content": "out"}, user("two")]
        assert sent(messages, {dropped: DROP}, CHAT) == messages
        assert sent(messages, {1: DROP, 2: DROP}, CHAT) == [messages[0], messages[3]]

    def test_leave_other_messages_unchanged(self) -> None:  # X13
        """The kept parts are equal to the byte."""
        kept = '{ "role":"user" , "content":"\\u00e9\\/ 1.0e3" }'
        text = f'{{"temperature":1.00,"messages":[{kept},{{"role":"assistant","content":"x"}}, {kept} ],"z" : {{}}}}'
        one = Body.read(text.encode(), CHAT)
        made = edited(one, {one.keys[1]: DROP}, "")
        assert made == f'{{"temperature":1.00,"messages":[{kept},{kept} ],"z" : {{}}}}'

    def test_are_refused_in_an_incomplete_list(self) -> None:  # X13
        """A list with an unmatched result is sent unchanged, with the reason."""
        one = body([user("a"), result("lost"), user("b"), user("c")])
        with pytest.raises(Refused, match="the client's own list is not whole"):
            edited(one, {one.keys[2]: DROP}, "")

    def test_are_refused_where_calls_are_only_referred_to(self) -> None:  # X13
        """SDKs that store answers at the provider send their ids; the client's list is not at fault."""
        output = {"type": "function_call_output", "call_id": "c1", "output": "out"}
        items = [user("a"), {"type": "item_reference", "id": "fc_1"}, output, user("b"), user("c")]
        one = body(items, RESPONSES)
        with pytest.raises(Refused, match=r"its calls are at the provider \(item_reference\)"):
            edited(one, {one.keys[3]: DROP}, "")


class TestReplacedOutputs:
    """Outputs with a shorter text."""

    def test_keep_other_fields(self) -> None:  # X13
        """The result keeps its id, error flag and cache breakpoint."""
        messages = [user("a"), call("1"), result("1", "long", is_error=True, cache_control=MARK), user("b")]
        made = sent(messages, {2: {"outputs": {"1": "short"}}})
        assert made[2] == result("1", "short", is_error=True, cache_control=MARK)

    def test_are_found_in_every_protocol(self) -> None:  # X13
        """Chat completions and Responses have the output in other fields."""
        chat = [
            {"role": "user", "content": "a"},
            {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "x"}}]},
            {"role": "tool", "tool_call_id": "1", "content": "long"},
        ]
        assert sent(chat, {2: {"outputs": {"1": "short"}}}, CHAT)[2]["content"] == "short"
        items = [
            {"role": "user", "content": "a"},
            {"type": "function_call", "call_id": "1", "name": "bash", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "1", "output": "long"},
        ]
        assert sent(items, {2: {"outputs": {"1": "short"}}}, RESPONSES)[2]["output"] == "short"

    def test_follow_summaries(self) -> None:  # X13
        """A summary comes before the message that follows the covered ones."""
        messages = [user("a"), call("1"), result("1"), user("b"), user("c")]
        made = sent(messages, {1: DROP, 2: DROP, 3: {"before": ["A summary."]}})
        assert [one["content"] for one in made] == [
            messages[0]["content"], "A summary.", messages[3]["content"], messages[4]["content"],
        ]  # fmt: skip


class TestReasoning:
    """Blocks with signed reasoning."""

    def test_before_the_script_began_is_removed(self) -> None:  # X13
        """A model refuses earlier reasoning after the history has changed."""
        messages = [user("a"), call("1", "x"), result("1"), user("b"), call("2", "y"), result("2")]
        made = sent(messages, {2: {"outputs": {"1": "short"}}}, ended=3)
        assert made[1] == call("1")

    def test_of_the_running_loop_is_unchanged(self) -> None:  # X13
        """Reasoning since the last message of the user is sent unchanged."""
        messages = [user("a"), call("1", "x"), result("1"), user("b"), call("2", "y"), result("2")]
        made = sent(messages, {2: {"outputs": {"1": "short"}}}, ended=3)
        assert made[3:] == messages[3:]
        assert body(messages).is_thinking

    def test_of_a_loop_with_a_reminder_is_unchanged(self) -> None:  # X13
        """A text right after the results belongs to them, in one message or in the next."""
        messages = [user("a"), call("1", "x"), result("1"), user("mind it"), user("and that")]
        one = body(messages)
        assert (one.is_thinking, one.asked) == (True, 0)
        assert body([*messages, {"role": "assistant", "content": "b"}, user("c")]).asked == 6

    def test_alone_in_a_message_removes_it(self) -> None:  # X13
        """No message is left without content."""
        thought = {"role": "assistant", "content": [{"type": "thinking", "thinking": "x", "signature": "s"}]}
        messages = [user("a"), thought, user("b"), call("1"), result("1"), user("c")]
        assert sent(messages, {4: {"outputs": {"1": "short"}}}, ended=5)[1] == messages[2]


class TestCacheBreakpoints:
    """Cache breakpoints of removed blocks."""

    def test_move_to_the_message_before(self) -> None:  # X13
        """The breakpoint of a removed block moves to the last block before it."""
        messages = [user("a"), call("1"), result("1", cache_control=MARK), user("b")]
        made = sent(messages, {1: DROP, 2: DROP})
        assert made == [user("a", cache_control=MARK), messages[3]]

    def test_move_to_a_string(self) -> None:  # X13
        """A string becomes a block, because only blocks can have a breakpoint."""
        messages = [{"role": "user", "content": "a"}, call("1"), result("1", cache_control=MARK), user("b")]
        assert sent(messages, {1: DROP, 2: DROP})[0] == user("a", cache_control=MARK)

    def test_are_not_repeated(self) -> None:  # X13
        """A message that has a breakpoint keeps it."""
        messages = [user("a", cache_control=MARK), call("1"), result("1", cache_control=MARK), user("b")]
        assert sent(messages, {1: DROP, 2: DROP})[0] == messages[0]


class TestUneditableRequests:
    """Requests that no script can change."""

    def test_include_those_with_a_history_at_the_provider(self) -> None:  # X13
        """Their list is only a part of the conversation."""
        one = body([{"role": "user", "content": "a"}], RESPONSES, previous_response_id="resp_1")
        assert "previous_response_id" in str(one.why_not)
        thread = {"type": "continue", "previous_message_id": "msg_1"}
        assert "thread" in str(body([user("a")], thread=thread).why_not)
        assert body([user("a")], thread={"type": "create"}).why_not == ""

    def test_say_so_of_a_history_at_the_provider_before_a_text_of_the_user(self) -> None:  # X13
        """Such an input is no list, but that is not the reason."""
        with pytest.raises(Refused, match="history is at the provider \\(previous_response_id"):
            Body.read(b'{"input":"hi","previous_response_id":"resp_1"}', RESPONSES)

    @pytest.mark.parametrize(
        "data", [b"", b"[]", b"{", b'{"messages":"x"}', b"\xff", b'{"messages":[1],"messages":[2]}']
    )
    def test_include_invalid_bodies(self, data: bytes) -> None:  # X13
        """A body that cannot be read is refused."""
        with pytest.raises(Refused):
            Body.read(data, CHAT)

    def test_have_keys_without_breakpoints_and_reasoning(self) -> None:  # X13
        """A message has the same key with a breakpoint, without its reasoning, or as a string."""
        before = [user("a", cache_control=MARK), call("1", "x"), result("1")]
        after = [{"role": "user", "content": "a"}, call("1"), result("1", cache_control=MARK)]
        assert keys_of(before) == keys_of(after)


class TestTheLastQuestion:
    """The message at which a script takes effect."""

    def test_has_a_key_where_there_is_none(self) -> None:  # X13
        """A list without a word of the user has no prompt as its question: every list with a prompt would have it."""
        one = body([{"role": "system", "content": "s"}, {"role": "assistant", "content": "a"}], CHAT)
        assert one.keys[one.asked]


class TestAnotherRequestOfASession:
    """A body that is read together with the one before it."""

    @pytest.mark.parametrize(
        "now",
        [
            [user("a"), call("1", "x"), result("1"), user("b"), call("2"), result("2", cache_control=MARK)],
            [user("a"), call("1", "x"), result("1", "another"), user("b")],
            [user("before"), user("a"), call("1", "x"), result("1")],
            [user("a")],
            [1, 12, "x", user("b")],
        ],
        ids=["longer", "changed", "shifted", "shorter", "odd"],
    )
    def test_is_read_like_the_first(self, now: list[Any]) -> None:  # X13
        """Its keys and its edited form do not depend on the request before."""
        before = [user("a"), call("1", "x"), result("1", cache_control=MARK)]
        keys = keys_of(now)
        edits = {key: {"outputs": {"1": "short"}} for key in keys}
        known = body(before, tools=[1], system="s")
        edited(known, {key: {"outputs": {"1": "other"}} for key in known.keys}, "")
        text = json.dumps({"model": "n", "messages": now, "system": "s", "tools": [12]}).encode()
        warm, cold = Body.read(text, ANTHROPIC, known), Body.read(text, ANTHROPIC)
        assert warm.keys == cold.keys == keys
        assert [item.value for item in warm.items] == now
        assert warm.fields == cold.fields
        assert said(warm, edits, keys[-1]) == said(cold, edits, keys[-1])

    def test_reuses_unchanged_messages(self) -> None:  # X13
        """Unchanged messages are not decoded again, so only new messages take time."""
        before = [user("a"), call("1"), result("1")]
        known = body(before)
        later = Body.read(known.text.replace('"m"', '"another"').encode(), ANTHROPIC, known)
        assert [*later.items] == [*known.items]


def said(one: Body, edits: Any, ended: str) -> str:
    """Return the edited request, or the reason why it is sent unchanged."""
    try:
        return edited(one, edits, ended)
    except Refused as refused:
        return str(refused)


DEEP = "[" * 300 + "]" * 300
TWICE = '{"role": "assistant", "role": "assistant", "content": [{"text": "b", "cache_control": {}}]}'


class TestAmbiguousRequests:
    """Requests that cannot be edited safely."""

    @pytest.mark.parametrize(
        ("messages", "reason"),
        [
            (f'[{{"role": "user", "content": "a"}}, {TWICE}]', "no new name"),
            ('[5, {"role": "user", "content": "a"}]', "not an object"),
            (f'[{{"content": {DEEP}}}]', "too deeply"),
        ],
    )
    def test_are_sent_unchanged_with_a_reason(self, messages: str, reason: str) -> None:  # X13
        """These have a repeated key, a message that is no object, or one nested too deeply."""
        with pytest.raises(Refused, match=reason):
            drop_all(f'{{"messages": {messages}}}'.encode())


def drop_all(data: bytes) -> str:
    """Apply a script that removes every message."""
    one = Body.read(data, ANTHROPIC)
    return edited(one, dict.fromkeys(one.keys, DROP), "")
