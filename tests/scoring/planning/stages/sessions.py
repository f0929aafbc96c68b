"""Made-up sessions of an agent that works on files: reads, writes, commands, and repeated outputs."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from scoring.history import History
from scoring.messages import Message, Part, Text, ToolCall, ToolResult, message
from scoring.planning.stages.contract import Cut, StageInput
from scoring.settings import FORESIGHT, Settings

OFF = FORESIGHT.from_dict({"stage_duplicates": False, "stage_superseded": False, "stage_outputs": "off"})


def file_text(name: str, lines: int = 60) -> str:
    """Return the output of a tool that reads a file."""
    return "".join(f"{n:>4} the line number {n} of {name}\n" for n in range(1, lines))


def asked(call_id: str, tool: str, **arguments: Any) -> Message:
    """A call."""
    return message("assistant", "", ToolCall(call_id, tool, json.dumps(arguments)))


def answered(call_id: str, text: str, *, failed: bool = False) -> Message:
    """Its output."""
    return message("tool", "", ToolResult(call_id, text, is_error=failed))


def read(call_id: str, path: str, text: str | None = None, **more: Any) -> list[Message]:
    """A file that is read: the call and its output."""
    return [asked(call_id, "Read", file_path=path, **more), answered(call_id, text or file_text(path))]


def wrote(call_id: str, path: str, *, failed: bool = False) -> list[Message]:
    """A file that is written as a whole."""
    written = answered(call_id, "written" if not failed else "no such folder", failed=failed)
    return [asked(call_id, "Write", file_path=path, content=file_text("new " + path)), written]


def ran(call_id: str, command: str, output: str) -> list[Message]:
    """A command and its output."""
    return [asked(call_id, "Bash", command=command), answered(call_id, output)]


def given(messages: list[Message], settings: Settings = FORESIGHT, *, kept: frozenset[int] = frozenset(),
           gone: frozenset[int] = frozenset()) -> StageInput:  # fmt: skip
    """Return the input of a stage; the units at the heads `kept` always stay, those at `gone` always go."""
    history = History.of(messages, settings=settings)
    return StageInput(history, settings, frozenset(history.units.heads()) - kept - gone, kept)


def places(cuts: list[Cut]) -> list[tuple[int, int | None]]:
    """Return the position of each replaced output, and that of the message that makes it redundant."""
    return [(cut.position, cut.other) for cut in cuts]


_FILES = st.sampled_from(["/repo/a.py", "/repo/b.py", "/repo/docs/notes.md"])
_OUTPUTS = st.one_of(
    st.sampled_from(
        ["done", file_text("log", 12), file_text("log", 90), "x" * 3_000, "ERROR: it failed\n" * 200]
    ),
    st.text(max_size=300).map(lambda text: text * 9),
)
_COMMANDS = st.sampled_from(["make", "pytest -q", "cat a.py", "sed -n '1,20p' b.py", "cd /repo && cat a.py"])


@st.composite
def _rounds(draw: st.DrawFn, count: int) -> list[Message]:
    """Parallel calls and their results, in one message or one each."""
    calls: list[Part] = []
    results: list[ToolResult] = []
    for n in range(draw(st.integers(1, 3))):
        call_id, path = f"call_{count}_{n}", draw(_FILES)
        tool = draw(st.sampled_from(["Read", "Read", "Write", "Edit", "Bash"]))
        arguments: dict[str, Any] = {"command": draw(_COMMANDS)} if tool == "Bash" else {"file_path": path}
        if tool == "Read" and draw(st.integers(0, 3)) == 0:
            arguments |= {"offset": 10, "limit": 20}
        if tool in ("Write", "Edit"):
            arguments["content"] = file_text(path, draw(st.integers(2, 60)))
        text = file_text(path, draw(st.sampled_from([2, 40, 40, 60]))) if tool == "Read" else draw(_OUTPUTS)
        calls.append(ToolCall(call_id, tool, json.dumps(arguments)))
        results.append(ToolResult(call_id, text, is_error=draw(st.integers(0, 5)) == 0))
    apart = draw(st.booleans())
    answers = [Message("tool", (r,)) for r in results] if apart else [Message("tool", tuple(results))]
    return [Message("assistant", tuple(calls)), *answers]


@st.composite
def sessions(draw: st.DrawFn) -> list[Message]:
    """A valid list: the user asks, an agent calls tools and says something, a few turns of it."""
    out: list[Message] = [message("system", "be brief")] if draw(st.booleans()) else []
    for turn in range(draw(st.integers(1, 3))):
        out.append(message("user", draw(st.sampled_from(["go on", "fix a.py", file_text("the task", 8)]))))
        for n in range(draw(st.integers(0, 4))):
            out += draw(_rounds(10 * turn + n))
        out.append(Message("assistant", (Text(draw(st.sampled_from(["done", "a.py is fixed"]))),)))
    return [*out, message("user", "and now?")]


STAGES = st.fixed_dictionaries(
    {
        "stage_duplicates": st.booleans(),
        "stage_superseded": st.booleans(),
        "stage_outputs": st.sampled_from(["off", "shorten", "clear"]),
        "tool_outputs_keep_turns": st.integers(0, 2),
        "tool_outputs_keep_tokens": st.sampled_from([0, 200, 2_000]),
        "tool_outputs_minimum_gain": st.just(0),
        "tool_outputs_exempt": st.sampled_from([[], ["Bash"]]),
        "counting": st.sampled_from(["tokenizer", "four_characters"]),
        "user_words_tokens": st.sampled_from([0, 20_000]),
    }
).map(Settings.from_dict)
