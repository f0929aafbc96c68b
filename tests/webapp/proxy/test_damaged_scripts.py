"""Edit scripts that were damaged, at the proxy: the request is sent unchanged, or edited by texts only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from scoring.messages import Message, Text, ToolCall, ToolResult
from tests.damages import damaged
from tests.webapp.proxy.edit_files import user
from webapp.agents.hook_runtime import hints
from webapp.proxy.editing import Body, Refused
from webapp.proxy.scripts import Scripts
from webapp.services.proxied.keys import PROTOCOLS, keys_of
from webapp.services.proxied.request_contents import TranscriptRow

NAME = "proxy-s"
CALL = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "long"}]}
MESSAGES: list[Any] = [user("a"), {"role": "assistant", "content": "b"}, user("c"), CALL, RESULT, user("d")]
KEYS = keys_of(MESSAGES)
EDITS = {
    KEYS[1]: {"drop": True},
    KEYS[2]: {"before": ["In short."]},
    KEYS[4]: {"outputs": {"t": "short"}, "output": "short"},
}
SCRIPT = {"version": "1", "edits": EDITS, "prunes": True, "session": NAME, "tail": KEYS[-1], "at": [1, 0]}
ACTIVE = {"version": "1", "edits": EDITS, "ended": KEYS[0]}
# The same by the rows of a transcript.
SAID = [Message("user", (Text("a"),)), Message("assistant", (Text("b"),)), Message("user", (Text("c"),)),
        Message("assistant", (ToolCall("t", "Bash", "{}"),)), Message("tool", (ToolResult("t", "long"),))]  # fmt: skip
ROWS = [TranscriptRow.of(one, f"row {i}").to_dict() for i, one in enumerate(SAID)]
BY_ROWS = {
    **SCRIPT,
    "rows": ROWS,
    "edits": {f"row {KEYS.index(key)}": edit for key, edit in EDITS.items()},
    "tail": "",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the scripts."""
    monkeypatch.setenv("COPPICE_HINTS", str(tmp_path / "hints"))
    folder = Path(hints.proxy_folder())
    folder.mkdir()
    return folder


def sent(name: str) -> list[Any]:
    """Return the messages that a proxy, started now, sends for a session."""
    data = orjson.dumps({"model": "m", "messages": MESSAGES})
    try:
        outcome = Scripts().apply(name, Body.read(data, PROTOCOLS[0]))
    except Refused:
        return MESSAGES
    found: list[Any] = orjson.loads(outcome.data or data)["messages"]
    return found


def is_whole(message: Any) -> bool:
    """Return whether the content of a message is of the types that providers accept."""
    content = message["content"]
    outputs = (
        [block["content"] for block in content if block["type"] == "tool_result"]
        if isinstance(content, list)
        else [content]
    )
    return all(isinstance(one, str) for one in outputs)


class TestScriptsOfSessionsWithSimilarNames:
    """Sessions that share their first messages, and whose names differ only in signs."""

    @pytest.mark.parametrize("other", ["proxy-a_s", "proxy-a@s", "proxy-a+s", "proxy-a%3a%s"])
    def test_are_separate(self, other: str) -> None:  # X13
        """A script of one prunes no other, and a call without a name finds it."""
        script = {**SCRIPT, "session": "proxy-a:s"}
        hints.write("proxy-a:s", hints.EDITS, script, hints.proxy_folder())
        assert sent(other) == MESSAGES
        assert sent("proxy-a:s") == sent("") != MESSAGES


class TestADamagedScript:
    """A file with one value replaced, or broken as a whole."""

    @pytest.mark.parametrize("name", [NAME, ""])
    @pytest.mark.parametrize(
        ("kind", "whole"), [(hints.EDITS, SCRIPT), (hints.EDITS, BY_ROWS), (hints.ACTIVE, ACTIVE)]
    )
    def test_sends_nothing_that_is_not_a_message(self, name: str, kind: str, whole: Any) -> None:  # X13
        """A number in the place of a text would make the provider refuse the call."""
        hints.write(NAME, hints.EDITS, BY_ROWS if whole is BY_ROWS else SCRIPT, hints.proxy_folder())
        assert sent(name)[2]["content"] == "c"
        for data in damaged(whole):
            hints.remove(NAME, hints.ACTIVE, hints.proxy_folder())
            hints.write(NAME, hints.EDITS, SCRIPT, hints.proxy_folder())
            Path(hints.path(NAME, kind, hints.proxy_folder())).write_bytes(data)
            messages = sent(name)
            assert all(map(is_whole, messages)), data[:200]
            assert abs(len(messages) - len(MESSAGES)) <= 1, data[:200]  # one is dropped, and one is new

    def test_of_one_session_keeps_no_other_from_being_pruned(self) -> None:  # X13
        """Named or not: the file of another session is only looked at."""
        hints.write(NAME, hints.EDITS, SCRIPT, hints.proxy_folder())
        pruned = sent(NAME)
        assert pruned[2]["content"] == "c"
        Path(hints.path(NAME, hints.ACTIVE, hints.proxy_folder())).unlink()
        for kind, whole in ((hints.EDITS, SCRIPT), (hints.EDITS, BY_ROWS), (hints.ACTIVE, ACTIVE)):
            other = Path(hints.path("proxy-other", kind, hints.proxy_folder()))
            for data in damaged({**whole, "tail": "another"}):
                other.write_bytes(data)
                assert sent("") == pruned, data[:200]
