"""The requests that the proxy keeps, so that the next one is parsed in part, and the scripts of branches (X13)."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import orjson
import pytest

from scoring.messages import Message, Text
from webapp.agents.hook_runtime import hints
from webapp.proxy.editing import Body, Item
from webapp.proxy.scripts import BRANCHES, KEPT_BODIES, Scripts
from webapp.services.proxied.keys import PROTOCOLS
from webapp.services.proxied.request_contents import TranscriptRow

ANTHROPIC = PROTOCOLS[0]
MARK = {"cache_control": {"type": "ephemeral"}}


def said(*texts: str) -> list[Any]:
    """Return messages of the user and the model in turn; the last one is marked for the cache, as clients do."""
    roles = ("user", "assistant")
    messages = [
        {"role": roles[i % 2], "content": [{"type": "text", "text": one}]} for i, one in enumerate(texts)
    ]
    messages[-1]["content"][0].update(MARK)  # type: ignore[attr-defined]
    return messages


def body(*texts: str) -> Body:
    """Return a request with messages."""
    return Body.read(orjson.dumps({"model": "m", "messages": said(*texts)}), ANTHROPIC)


def write_script(name: str, version: str, dropped: str, tail: str = "") -> None:
    """Write the script of a session, which drops one message."""
    folder = hints.proxy_folder()
    Path(folder).mkdir(exist_ok=True)
    script = {"version": version, "edits": {dropped: {"drop": True}}, "prunes": True, "session": name}
    hints.write(name, hints.EDITS, {**script, "tail": tail}, folder)


def write_script_by_rows(name: str, version: str, dropped: str, *texts: str) -> None:
    """Write the script of a followed session, which drops the text `dropped` of its transcript."""
    rows = [
        TranscriptRow.of(Message("assistant" if i % 2 else "user", (Text(text),)), text).to_dict()
        for i, text in enumerate(texts or "abcde")
    ]
    script = {"version": version, "edits": {dropped: {"drop": True}}, "prunes": True, "session": name}
    folder = hints.proxy_folder()
    Path(folder).mkdir(exist_ok=True)
    hints.write(name, hints.EDITS, {**script, "rows": rows}, folder)


class Reader:
    """Reads requests as the relay does, one after the other."""

    def __init__(self) -> None:
        self.scripts = Scripts()

    def items(self, messages: Sequence[Any], name: str = "") -> list[Item]:
        """Return the items of the next request."""
        data = orjson.dumps({"model": "m", "messages": messages})
        before = self.scripts.before(name, data)
        body = Body.read(data, ANTHROPIC, before)
        self.scripts.sent(name, body, before)
        return [*body.items]


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    """A reader without any script."""
    monkeypatch.setenv("COPPICE_HINTS", str(tmp_path))
    return Reader()


@pytest.mark.parametrize("name", ["", "proxy-s"])
def test_a_call_without_its_history_says_why_it_is_not_pruned(reader: Reader, name: str) -> None:  # X13
    """Its new messages are none of the script's, and tell nothing of its session."""
    write_script("proxy-s", "1", "dropped", "tail")
    data = orjson.dumps({"input": [{"role": "user", "content": "b"}], "previous_response_id": "resp_1"})
    outcome = reader.scripts.apply(name, Body.read(data, PROTOCOLS[2]))
    assert (outcome.data, outcome.reason) == (None, "its history is at the provider (previous_response_id)")


class TestRequestsWithoutASession:
    """Calls of clients that name no session, as programs with an SDK."""

    def test_reuse_what_they_repeat(self, reader: Reader) -> None:  # X13
        """Only what comes after the shared messages is parsed, call after call."""
        first = reader.items(said("a", "b", "c"))
        second = reader.items(said("a", "b", "c", "d", "e"))
        third = reader.items(said("a", "b", "c", "d", "e", "f", "g"))
        assert second[:2] == first[:2]
        assert third[:4] == second[:4]

    def test_of_conversations_with_one_beginning_do_not_displace_each_other(self, reader: Reader) -> None:
        """Agents of one program often share their first message."""
        one, other = said("same", "b", "c"), said("same", "x", "y")
        first, second = reader.items(one), reader.items(other)
        assert reader.items(said("same", "b", "c", "d", "e"))[:2] == first[:2]
        assert reader.items(said("same", "x", "y", "d", "e"))[:2] == second[:2]

    def test_are_kept_once_for_each_conversation(self, reader: Reader) -> None:
        """A long conversation does not displace those of the other clients."""
        first = reader.items(said("other", "b", "c"))
        texts = ["a"]
        for n in range(KEPT_BODIES + 1):
            reader.items(said(*texts))
            texts += [f"answer {n}", f"question {n}"]
        assert reader.items(said("other", "b", "c", "d", "e"))[:2] == first[:2]

    def test_share_nothing_with_named_sessions(self, reader: Reader) -> None:
        """A named session continues its own request, whatever was sent without a name in between."""
        first = reader.items(said("a", "b", "c"), "named")
        reader.items(said("a", "b", "c"))
        assert reader.items(said("a", "b", "c", "d", "e"), "named")[:2] == first[:2]


class TestRequestsAtTheSameTime:
    """Agents that call at once."""

    def test_are_all_read(self, reader: Reader) -> None:  # X13
        """No request is sent unchanged because another one came in between."""
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            with ThreadPoolExecutor(8) as several:
                read = [*several.map(lambda n: reader.items(said(f"conversation {n}")), range(3_200))]
        finally:
            sys.setswitchinterval(interval)
        assert {len(items) for items in read} == {1}


class TestAScript:
    """The script of a session, which the server writes again after each operation."""

    def test_is_read_again_after_a_second_write_at_the_same_time(self, reader: Reader) -> None:  # X13
        """Clocks of file systems have steps of some milliseconds."""
        request = body("a", "b", "c", "d", "e")
        for version, dropped in (("v1", 1), ("v2", 3)):
            write_script("s", version, request.keys[dropped])
            os.utime(hints.path("s", hints.EDITS, hints.proxy_folder()), ns=(0, 0))
            assert reader.scripts.apply("s", request).version == version


class TestBranches:
    """The scripts that took effect in several histories of one session, or of sessions that share a beginning."""

    def test_that_call_at_the_same_time_are_all_kept(self, reader: Reader) -> None:  # X13
        """The next call of each is sent with the same edits, also after a restart."""
        bodies = [body("a", "b", "c", "d", f"branch {n}") for n in range(BRANCHES)]
        write_script("s", "v1", bodies[0].keys[2])
        with ThreadPoolExecutor(BRANCHES) as several:
            outcomes = [*several.map(lambda one: reader.scripts.apply("s", one), bodies)]
        assert {one.version for one in outcomes} == {"v1"}
        for scripts in (reader.scripts, Scripts()):
            again = [scripts.apply("s", one) for one in bodies]
            assert [one.was_pruned for one in again] == [True] * BRANCHES

    def test_outlive_many_prunes_of_another_one(self, reader: Reader) -> None:  # X13
        """A second agent of the session does nothing meanwhile."""
        other = body("a", "b", "c", "d", "other")
        write_script("s", "v", other.keys[1])
        reader.scripts.apply("s", other)
        texts = ["a", "b", "c", "d", "e"]
        for number in range(BRANCHES + 1):
            write_script("s", f"v{number}", other.keys[3 - number % 2 * 2])
            assert reader.scripts.apply("s", body(*texts)).version == f"v{number}"
            texts += [f"answer {number}", f"question {number}"]
        assert reader.scripts.apply("s", other).was_pruned

    def test_belong_to_the_session_that_was_pruned_last_in_them(self, reader: Reader) -> None:  # X13
        """Two sessions without names share their beginning; the client changed what comes after their prunes."""
        first, later = body("a", "b", "c"), body("a", "b", "c", "d", "e")
        write_script("first", "v1", first.keys[1])
        write_script("second", "v2", later.keys[1])
        assert reader.scripts.apply("first", first).version == "v1"
        assert reader.scripts.apply("second", later).version == "v2"
        assert reader.scripts.apply("", body("a", "b", "c", "d", "e", "f", "g")).session == "second"


class TestAScriptByRows:
    """The script of a session whose transcript is followed."""

    def test_takes_effect_after_a_request_beside_the_conversation(self, reader: Reader) -> None:  # X13
        """Such as one for a title, which begins with the same message and has few of the others."""
        write_script_by_rows("s", "v1", "b")
        assert reader.scripts.apply("s", body("a")).version == ""
        assert reader.scripts.apply("s", body("a", "b", "c", "d", "e")).version == "v1"

    def test_keeps_the_one_before_for_a_request_without_the_last_rows(self, reader: Reader) -> None:  # X13
        """It can have only some of the edited rows, and the rest would stay in later requests."""
        write_script_by_rows("s", "v1", "b", *"abc")
        assert reader.scripts.apply("s", body("a", "b", "c", "x", "y")).version == "v1"
        write_script_by_rows("s", "v2", "h", *"abcdefghijklmnopq")
        assert reader.scripts.apply("s", body("a", "b", "c", "x", "y")).version == "v1"
        assert reader.scripts.apply("s", body(*"abcdefghijklmnopq")).version == "v2"

    def test_takes_effect_on_a_branch_that_the_transcript_does_not_have_yet(
        self, reader: Reader
    ) -> None:  # X13
        """Its user goes back, and the request comes before the row."""
        write_script_by_rows("s", "v1", "b", *"abcdefghijklm")
        assert reader.scripts.apply("s", body(*"abcdefghijklm")).version == "v1"
        assert reader.scripts.apply("s", body("a", "b", "other")).version == "v1"

    def test_is_found_without_a_name(self, reader: Reader) -> None:  # X13
        """By texts that say which conversation they are of, or by what took effect in it."""
        texts = [f"{n} is a text of this conversation" for n in "abcde"]
        write_script_by_rows("other", "v0", "b")
        write_script_by_rows("s", "v1", texts[1], *texts)
        assert reader.scripts.apply("", body("a", "b", "c", "d", "e")).session == ""
        assert reader.scripts.apply("", body(*texts)).session == "s"
        later = reader.scripts.apply("", body(*texts, *texts))
        assert (later.session, later.version, later.was_pruned) == ("s", "v1", True)


class TestFilesOfAnEarlierVersion:
    """Active scripts that a proxy stored before sessions had branches."""

    @pytest.mark.parametrize("known", [True, False])
    def test_are_used_if_their_message_has_the_same_key(self, reader: Reader, *, known: bool) -> None:  # X13
        """Otherwise the request is sent whole: a chat with a system message has other keys now."""
        request = body("a", "b", "c", "d", "e")
        write_script("s", "new", request.keys[1] if known else "old key")
        edits = {request.keys[1] if known else "old key": {"drop": True}}
        active: dict[str, object] = {
            "version": "old",
            "edits": edits,
            "ended": request.keys[2] if known else "old last key",
        }
        hints.write("s", hints.ACTIVE, active, hints.proxy_folder())
        outcome = reader.scripts.apply("s", request)
        assert (outcome.was_pruned, outcome.reason) == (known, "")
        assert (outcome.data is not None) == known


class TestARefusedPrune:
    """A prune whose result the provider refuses."""

    def test_is_no_longer_noted_as_applied(self, reader: Reader) -> None:  # X13, X11
        """The server reads the note to know for which context the usage of the next call is."""
        request = body("a", "b", "c")
        write_script("s", "v1", request.keys[1])
        outcome = reader.scripts.apply("s", request)
        assert hints.read("s", hints.ACTIVE, reader.scripts.folder)["edits"] != {}
        reader.scripts.refused(outcome)
        assert hints.read("s", hints.ACTIVE, reader.scripts.folder)["edits"] == {}
