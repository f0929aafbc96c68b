"""Extensions that agents load, run in node like in the agents."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.damages import damaged
from webapp.agents import AGENTS
from webapp.agents.hook_runtime import hints
from webapp.errors import Malformed

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")

# Gives lists of messages to the extension like its agent, in one process, and prints each result.
PI = """
import extension from "./extension.mjs";
let hear;
extension({ on: (_, handler) => { hear = handler; } });
const context = { sessionManager: { getSessionId: () => "s" } };
const lists = JSON.parse(process.argv[1]);
const out = lists.map((messages) => hear({ messages }, context)?.messages ?? null);
console.log(JSON.stringify(out));
"""
# Removes the note of the last call before each one.
PI_WITHOUT_NOTES = 'import { rmSync } from "node:fs";' + PI.replace(
    "hear({", "rmSync(process.env.NOTE, { force: true }) ?? hear({"
)
OPENCODE = """
import plugin from "./extension.mjs";
const hooks = await plugin.server({});
const out = [];
for (const messages of JSON.parse(process.argv[1])) {
  await hooks["experimental.chat.messages.transform"]({}, { messages });
  out.push(messages);
}
console.log(JSON.stringify(out));
"""

# Older versions of OpenCode 1 call every export of a plugin.
OLDER = """
globalThis.Bun = { version: process.env.BUN_VERSION };
const out = JSON.parse(process.argv[1]);
for (const plugin of Object.values(await import("./extension.mjs"))) {
  const hooks = await plugin({});
  for (const messages of out) await hooks["experimental.chat.messages.transform"]({}, { messages });
}
console.log(JSON.stringify(out));
"""


SECOND = """
import plugin from "./extension.mjs";
let hear;
await plugin.setup({ session: { hook: async (name, handler) => { if (name === "context") hear = handler; } } });
const out = [];
for (const messages of JSON.parse(process.argv[1])) {
  const event = { sessionID: "s", kind: "primary", messages };
  await hear(event);
  out.push(event.messages);
}
console.log(JSON.stringify(out));
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for hints."""
    monkeypatch.setenv("COPPICE_HINTS", str(tmp_path / "hints"))
    (tmp_path / "hints").mkdir()
    return tmp_path


def run(source: str, runner: str, folder: Path, *lists: list[dict[str, Any]]) -> list[Any]:
    """Return the results of the extension for lists of messages, in order."""
    integration = AGENTS[source].integration
    assert integration is not None
    (folder / "extension.mjs").write_text(integration.add(None, "coppice"))
    (folder / "run.mjs").write_text(runner)
    command = [str(NODE), "--input-type=module", "-e", runner, json.dumps(lists)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    answer: list[Any] = json.loads(done.stdout)
    return answer


def asked(at: int) -> dict[str, Any]:
    """Return a message of the user in pi."""
    return {"role": "user", "timestamp": at, "content": [{"type": "text", "text": f"ask {at}"}]}


def called(at: int, call: str) -> list[dict[str, Any]]:
    """Return reasoning, a call and its result in pi."""
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "toolCall", "id": call, "name": "bash"}]
    output = [{"type": "text", "text": "long"}]
    return [
        {"role": "assistant", "timestamp": at, "content": blocks},
        {"role": "toolResult", "toolCallId": call, "timestamp": at + 1, "content": output},
    ]


FIRST = [asked(1), *called(2, "a"), asked(4)]


class TestInPi:
    """The extension of pi, at its `context` event."""

    def test_leaves_the_call_as_it_is_where_there_is_no_script(self, folder: Path) -> None:  # X27
        """Without a script the list is not even copied."""
        assert run("pi", PI, folder, FIRST) == [None]

    def test_shortens_an_output_and_leaves_out_thoughts_of_turns_that_ended(
        self, folder: Path
    ) -> None:  # X27
        """The newest models refuse reasoning after a changed history."""
        hints.write("s", hints.EDITS, {"version": "1", "edits": {"toolResult:a": {"output": "short"}}})
        [made] = run("pi", PI, folder, FIRST)
        assert made[2]["content"] == [{"type": "text", "text": "short"}]
        assert [block["type"] for block in made[1]["content"]] == ["toolCall"]

    def test_keeps_the_thoughts_of_the_running_tool_loop(self, folder: Path) -> None:  # X27
        """This reasoning already follows the edited history."""
        hints.write("s", hints.EDITS, {"version": "1", "edits": {"toolResult:a": {"output": "short"}}})
        before, after = run("pi", PI, folder, FIRST, [*FIRST, *called(5, "b")])
        assert after[: len(before)] == before
        assert [block["type"] for block in after[4]["content"]] == ["thinking", "toolCall"]

    def test_drops_whole_pairs_and_puts_a_summary_in_their_place(self, folder: Path) -> None:  # X27
        """Calls are dropped with their results, as in the pruned view."""
        drops = {key: {"drop": True} for key in ("user:1", "assistant:2", "toolResult:a")}
        hints.write(
            "s", hints.EDITS, {"version": "1", "edits": {**drops, "user:4": {"before": ["In short."]}}}
        )
        [made] = run("pi", PI, folder, FIRST)
        assert [message["content"][0]["text"] for message in made] == ["In short.", "ask 4"]

    def test_notes_what_a_call_is_sent_with(self, folder: Path) -> None:  # X27
        """Usage is that of the edited context from then on; without a script nothing is noted."""
        run("pi", PI, folder, FIRST)
        assert hints.read("s", hints.ACTIVE) == {}
        hints.write("s", hints.EDITS, {"version": "v1", "edits": {"toolResult:a": {"output": "short"}}})
        run("pi", PI, folder, FIRST)
        assert hints.read("s", hints.ACTIVE) == {"version": "v1"}

    def test_notes_it_again_where_the_note_is_gone(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X27
        """Another agent's uninstallation removes the notes of all."""
        hints.write("s", hints.EDITS, {"version": "v1", "edits": {"toolResult:a": {"output": "short"}}})
        monkeypatch.setenv("NOTE", hints.path("s", hints.ACTIVE))
        run("pi", PI_WITHOUT_NOTES, folder, FIRST, FIRST)
        assert hints.read("s", hints.ACTIVE) == {"version": "v1"}

    def test_never_separates_a_call_from_its_result(self, folder: Path) -> None:  # X27
        """Such edits leave the list unchanged."""
        hints.write("s", hints.EDITS, {"version": "1", "edits": {"assistant:2": {"drop": True}}})
        assert run("pi", PI, folder, FIRST) == [None]


def message(role: str, name: str, *parts: dict[str, Any]) -> dict[str, Any]:
    """Return a message in OpenCode."""
    return {"info": {"id": name, "role": role, "sessionID": "s"}, "parts": list(parts)}


TOOL = {"type": "tool", "callID": "a", "state": {"status": "completed", "output": "long"}}
SESSION = [
    message("user", "m1", {"type": "text", "text": "ask"}),
    message("assistant", "m2", {"type": "reasoning", "text": "hm"}, TOOL),
    message("user", "m3", {"type": "text", "text": "and?"}),
]


class TestInOpenCode:
    """The plugin of OpenCode, at its hook for the messages of a call."""

    def test_leaves_the_call_as_it_is_where_there_is_no_script(self, folder: Path) -> None:  # X27
        """Message by message."""
        assert run("opencode", OPENCODE, folder, SESSION) == [SESSION]

    def test_shortens_an_output_and_leaves_out_thoughts_of_turns_that_ended(
        self, folder: Path
    ) -> None:  # X27
        """Other fields of the part stay."""
        hints.write("s", hints.EDITS, {"version": "1", "edits": {"m2": {"outputs": {"a": "short"}}}})
        [made] = run("opencode", OPENCODE, folder, SESSION)
        assert made[1]["parts"] == [{**TOOL, "state": {"status": "completed", "output": "short"}}]

    def test_drops_messages_and_puts_a_summary_in_their_place(self, folder: Path) -> None:  # X27
        """The summary is a part before the next message."""
        drops = {key: {"drop": True} for key in ("m1", "m2")}
        hints.write("s", hints.EDITS, {"version": "1", "edits": {**drops, "m3": {"before": ["In short."]}}})
        [[made]] = run("opencode", OPENCODE, folder, SESSION)
        assert [part["text"] for part in made["parts"]] == ["In short.", "and?"]


def part(kind: str, **fields: Any) -> dict[str, Any]:
    """Return a part of a message in OpenCode 2."""
    return {"type": kind, **fields}


LONG = {
    "role": "tool",
    "content": [part("tool-result", id="a", name="bash", result={"type": "text", "value": "long"})],
}
TURNS: list[dict[str, Any]] = [
    {"id": "m1", "role": "user", "content": [part("text", text="ask")]},
    {"id": "m2", "role": "assistant", "content": [part("reasoning", text="hm"), part("tool-call", id="a")]},
    LONG,
    {"role": "system", "content": [part("text", text="a rule")]},
    {"id": "m3", "role": "user", "content": [part("text", text="and?")]},
]


@pytest.mark.parametrize("bun", ["1.2.19", "1.3.0", "1.3.9", "1.3.11"])
def test_older_versions_of_opencode_call_the_plugin(
    bun: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # X27
    """They did not start with an export that is no function, and they call one that is exported twice twice."""
    monkeypatch.setenv("BUN_VERSION", bun)
    asked, answer, again = (
        {"info": {"id": name, "role": role, "sessionID": "s"}, "parts": [part("text", text="said")]}
        for name, role in (("m1", "user"), ("m2", "assistant"), ("m3", "user"))
    )
    hints.write("s", hints.EDITS, {"version": "1", "edits": {"m2": {"drop": True}}})
    hints.write("s", hints.ACTIVE, {"version": ""})
    assert run("opencode", OLDER, folder, [asked, answer, again]) == [[asked, again]]
    assert hints.read("s", hints.ACTIVE) == {"version": "1"}


class TestInOpenCode2:
    """The plugin of OpenCode 2, at its hook for the context of a call."""

    def test_leaves_the_call_as_it_is_where_there_is_no_script(self, folder: Path) -> None:  # X27
        """Message by message."""
        assert run("opencode", SECOND, folder, TURNS) == [TURNS]

    def test_shortens_an_output_and_leaves_out_thoughts_of_turns_that_ended(
        self, folder: Path
    ) -> None:  # X27
        """Results are separate messages without a name."""
        hints.write("s", hints.EDITS, {"version": "1", "edits": {"m2": {"outputs": {"a": "short"}}}})
        loop = [{"id": "m4", "role": "assistant", "content": [part("reasoning", text="so")]}]
        made, after = run("opencode", SECOND, folder, TURNS, [*TURNS, *loop])
        assert made[1]["content"] == [part("tool-call", id="a")]
        assert made[2]["content"][0]["result"] == {"type": "text", "value": "short"}
        assert after == [*made, *loop]

    def test_drops_calls_with_their_results_and_puts_a_summary_in_their_place(
        self, folder: Path
    ) -> None:  # X27
        """Rules that the agent inserts stay."""
        drops = {key: {"drop": True} for key in ("m1", "m2")}
        hints.write("s", hints.EDITS, {"version": "1", "edits": {**drops, "m3": {"before": ["In short."]}}})
        [made] = run("opencode", SECOND, folder, TURNS)
        assert [one["content"][0]["text"] for one in made] == ["a rule", "In short.", "and?"]

    def test_keeps_to_its_script_until_the_next_turn(self, folder: Path) -> None:  # X27
        """A script written meanwhile would change the cached prefix."""
        hints.write("s", hints.EDITS, {"version": "1", "edits": {"m2": {"outputs": {"a": "short"}}}})
        runner = SECOND.replace(
            "await hear(event);",
            "await hear(event); writeFileSync(process.env.COPPICE_HINTS + '/s.edits.json', "
            'JSON.stringify({version: "2", edits: {}}));',
        )
        runner = 'import { writeFileSync } from "node:fs";' + runner
        answer = {"id": "m4", "role": "assistant", "content": [part("tool-call", id="b")]}
        asked = {"id": "m5", "role": "user", "content": [part("text", text="more")]}
        first, second, third = run(
            "opencode", runner, folder, TURNS, [*TURNS, answer], [*TURNS, answer, asked]
        )
        assert second[: len(first)] == first
        assert third[2] == LONG


@pytest.mark.parametrize("source", ["pi", "opencode"])
def test_another_file_of_the_same_name_is_not_overwritten(source: str) -> None:
    """A file that Coppice did not write stays."""
    integration = AGENTS[source].integration
    assert integration is not None
    assert integration.installed_parts("export default 1") == []
    with pytest.raises(Malformed, match="not ours"):
        integration.add("export default 1", "coppice")
    assert integration.remove(integration.add(None, "coppice")) is None


@pytest.mark.parametrize(
    ("source", "runner", "calls", "key"),
    [
        ("pi", PI, [FIRST], "toolResult:a"),
        ("opencode", OPENCODE, [SESSION], "m2"),
        ("opencode", SECOND, [TURNS], "m2"),
    ],
)
def test_a_note_tells_whether_the_last_call_was_edited(
    source: str, runner: str, calls: list[Any], key: str, folder: Path
) -> None:  # X27
    """The usage of an edited call is that of the edited list. An undone prune leaves a script without edits."""
    run(source, runner, folder, *calls)
    assert hints.read("s", hints.ACTIVE) == {}
    hints.write("s", hints.EDITS, {"version": "1", "edits": {key: {"output": "x", "outputs": {"a": "x"}}}})
    run(source, runner, folder, *calls)
    assert hints.read("s", hints.ACTIVE) == {"version": "1"}
    hints.write("s", hints.EDITS, {"version": "2", "edits": {}})
    run(source, runner, folder, *calls)
    assert hints.read("s", hints.ACTIVE) == {"version": ""}
    hints.write("s", hints.EDITS, {"version": "3", "edits": {"of another conversation": {"drop": True}}})
    run(source, runner, folder, *calls)
    assert hints.read("s", hints.ACTIVE) == {"version": ""}


# The content of a session's script file, for each extension: a runner, a list of messages, and its edits.
READERS: list[tuple[str, str, list[dict[str, Any]], dict[str, Any]]] = [
    (
        "pi",
        PI,
        FIRST,
        {"user:1": {"before": ["In short."], "drop": False}, "toolResult:a": {"output": "short"}},
    ),
    ("opencode", OPENCODE, SESSION, {"m1": {"before": ["In short."]}, "m2": {"outputs": {"a": "short"}}}),
    ("opencode", SECOND, TURNS, {"m1": {"before": ["In short."]}, "m2": {"outputs": {"a": "short"}}}),
]
# Calls the extension once for each file in the place of the script, with a new list.
FILES = """
import {{ readFileSync, writeFileSync }} from "node:fs";
const files = JSON.parse(readFileSync("damages.json", "utf8"));
const messages = process.argv[1];
process.argv[1] = JSON.stringify(files.map(() => JSON.parse(messages)));
let turn = 0;
const write = () => writeFileSync(process.env.COPPICE_HINTS + "/s.edits.json", Buffer.from(files[turn++], "base64"));
{runner}
"""


def texts(value: Any) -> Iterator[Any]:
    """Yield everything in messages that a model reads as text."""
    if isinstance(value, dict):
        for name, one in value.items():
            if name in ("text", "value", "output"):
                yield one
            else:
                yield from texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from texts(one)


@pytest.mark.parametrize(("source", "runner", "messages", "edits"), READERS)
class TestADamagedScript:
    """A script with one value replaced, or broken as a whole, in the process of an agent."""

    def test_never_reaches_the_model(
        self, source: str, runner: str, messages: Any, edits: Any, folder: Path
    ) -> None:  # X27
        """Every text stays a text, and nothing is added but the summary."""
        files = list(damaged({"version": "1", "edits": edits}))
        # A script is taken up only if its version is new.
        named = (data.replace(b'"version": "1"', b'"version": "%d"' % n) for n, data in enumerate(files))
        coded = [base64.b64encode(data).decode() for data in named]
        (folder / "damages.json").write_text(json.dumps(coded))
        runner = runner.replace("hear(", "(write(), hear)(").replace("await hooks", "write(); await hooks")
        made = run(source, FILES.format(runner=runner), folder, *messages)
        assert len(made) == len(files)
        for sent, data in zip(made, files, strict=True):
            assert {type(text) for text in texts(sent)} <= {str}, data[:200]
            assert len(list(texts(sent))) <= len(list(texts(messages))) + 1, data[:200]

    def test_ends_the_note_of_what_calls_were_sent_with(
        self, source: str, runner: str, messages: Any, edits: Any, folder: Path
    ) -> None:  # X27
        """The next call goes out whole, so its usage is not that of the edited context."""
        for damage in ("", "{", '{"version": 1, "edits": {}}', None):
            hints.write("s", hints.EDITS, {"version": "v1", "edits": edits})
            run(source, runner, folder, messages)
            assert hints.read("s", hints.ACTIVE) == {"version": "v1"}
            script = Path(hints.path("s", hints.EDITS))
            script.unlink() if damage is None else script.write_text(damage)
            run(source, runner, folder, messages)
            assert hints.read("s", hints.ACTIVE) == {"version": ""}


def test_a_refused_edit_leaves_the_messages_of_pi_as_they_are(folder: Path) -> None:  # X27
    """The agent sends its own messages then, and they were not changed on the way."""
    edits = {"toolResult:a": {"output": "short"}, "assistant:5": {"drop": True}}
    hints.write("s", hints.EDITS, {"version": "1", "edits": edits})
    runner = PI.replace(
        "hear({ messages }, context)?.messages ?? null", "[hear({ messages }, context), messages][1]"
    )
    messages = [*FIRST, *called(5, "b"), asked(7)]
    assert run("pi", runner, folder, messages) == [messages]


@pytest.mark.parametrize(
    "session",
    ["a:b", "a_b", "a%3a%b", "a/../b", "\N{PARTY POPPER}é\N{ARABIC-INDIC DIGIT TWO}", "a" * 300, "é" * 150],
)
def test_a_session_has_files_of_its_own_under_any_name(session: str, folder: Path) -> None:  # X27
    """Server and extension agree on the names of the files."""
    hints.write(session, hints.EDITS, {"version": "own", "edits": {"toolResult:a": {"output": "own"}}})
    for other in {"a:b", "a_b", "a%3a%b", "a/../b", "a_.._b", "a" * 301, "é" * 151} - {session}:
        hints.write(other, hints.EDITS, {"version": other, "edits": {"toolResult:a": {"output": other}}})
    [made] = run("pi", PI.replace('"s"', json.dumps(session)), folder, FIRST)
    assert made[2]["content"] == [{"type": "text", "text": "own"}]
    assert hints.read(session, hints.ACTIVE) == {"version": "own"}


@pytest.mark.parametrize(("runner", "messages"), [(OPENCODE, SESSION), (SECOND, TURNS)])
def test_a_sub_agent_beside_it_does_not_begin_a_turn_of_opencode(
    runner: str, messages: list[dict[str, Any]], folder: Path
) -> None:  # X27
    """The script of a running turn is kept while another session of the process calls the model."""
    hints.write("s", hints.EDITS, {"version": "1", "edits": {"m2": {"outputs": {"a": "short"}}}})
    loop = message("assistant", "m4", TOOL) | {"id": "m4", "role": "assistant", "content": []}
    runner = 'import { writeFileSync } from "node:fs";' + runner.replace(
        'sessionID: "s"', 'sessionID: messages[0].sessionID ?? "s"'
    ).replace(
        "out.push(",
        "writeFileSync(process.env.COPPICE_HINTS + '/s.edits.json', "
        "JSON.stringify({ version: '2', edits: {} })); out.push(",
    )
    other = json.loads(json.dumps(messages).replace('"sessionID": "s"', '"sessionID": "other"'))
    other[0]["sessionID"] = "other"
    first, _, third = run("opencode", runner, folder, messages, other, [*messages, loop])
    assert third[: len(first)] == first
    assert "short" in json.dumps(third)
