"""Message lists made up for the tests of formats: a sample of each, valid conversations of every shape, and
arbitrary JSON.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from scoring.formats import FORMATS
from scoring.formats.media import Source, media_of
from scoring.messages import Message, Part, Reasoning, Text, ToolCall, ToolResult

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAAEklEQVR4nGP4z8DwHwyBNBQAAEnyB/kJ0H0PAAAAAElFTkSuQmCC"
PICTURE = media_of(Source("image", "image/png", data=PNG))

NAMES = sorted(FORMATS)

# One small list in each format, with a call and its result.
SAMPLES: dict[str, list[Any]] = {
    "openai": [
        {"role": "user", "content": "weather?", "x-own": 1},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "w", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
    ],
    "responses": [
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "weather?"}],
            "x-own": 1,
        },
        {"type": "function_call", "call_id": "c1", "name": "w", "arguments": "{}", "id": "fc_1"},
        {"type": "function_call_output", "call_id": "c1", "output": "sunny"},
    ],
    "anthropic": [
        {"role": "user", "content": "weather?", "x-own": 1},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "w", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "sunny"}]},
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": "weather?"}], "x-own": 1},
        {"role": "model", "parts": [{"functionCall": {"name": "w", "args": {}}, "thoughtSignature": "abc"}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "w", "response": {"output": "sunny"}}}]},
    ],
    "langchain": [
        {"type": "human", "data": {"content": "weather?", "x-own": 1}},
        {"type": "ai", "data": {"content": "", "tool_calls": [{"name": "w", "args": {}, "id": "c1"}]}},
        {"type": "tool", "data": {"content": "sunny", "tool_call_id": "c1"}},
    ],
}

texts = st.text(min_size=1, max_size=12).filter(lambda t: bool(t.strip()))
names = st.sampled_from(["search", "read_file", "bash", "get weather"])
arguments = st.sampled_from(["{}", '{"q": "x"}', '{"path": "a/b", "n": [1, 2]}', "plain words", ""])

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)

# Words that wire formats use, so that made-up objects come close to real ones.
_words = st.sampled_from(
    [
        "user",
        "assistant",
        "model",
        "tool",
        "system",
        "text",
        "tool_use",
        "tool_result",
        "function_call",
        "ai",
        "human",
        "message",
        "reasoning",
        "thinking",
        "image",
        "image_url",
        "function_call_output",
        "constructor",
    ]
)
_fields = st.sampled_from(
    [
        "role",
        "type",
        "content",
        "parts",
        "text",
        "tool_calls",
        "id",
        "function",
        "name",
        "arguments",
        "input",
        "tool_use_id",
        "tool_call_id",
        "call_id",
        "output",
        "functionCall",
        "functionResponse",
        "args",
        "response",
        "source",
        "image_url",
        "data",
        "kwargs",
        "lc",
        "thought",
        "thoughtSignature",
        "summary",
        "signature",
        "encrypted_content",
        "custom",
        "function_call",
        "status",
        "inlineData",
        "media_type",
        "url",
        "refusal",
    ]
)
near_wire = st.recursive(
    json_values | _words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_fields, inner, max_size=5),
    max_leaves=25,
)


@st.composite
def conversations(draw: st.DrawFn, reasoning: bool = True) -> list[Message]:
    """A valid list: perhaps a system message, user turns with tool rounds, the user or a result at the end."""
    out: list[Message] = []
    if draw(st.booleans()):
        out.append(Message("system", (Text(draw(texts)),)))
    reuse = draw(st.booleans())
    count = 0
    for turn in range(draw(st.integers(1, 3))):
        if turn:
            out += [Message("assistant", (Text(draw(texts)),)) for _ in range(draw(st.integers(1, 2)))]
        if draw(st.booleans()):
            out.append(Message("user", (Text(draw(texts)),)))
        extra: tuple[Part, ...] = (PICTURE,) if draw(st.integers(0, 4)) == 0 else ()
        out.append(Message("user", (Text(draw(texts)), *extra)))
        for _ in range(draw(st.integers(0, 2))):
            calls = []
            for n in range(draw(st.integers(1, 3))):
                count += 1
                call_id = f"call {n}" if reuse else f"call_{count}"
                calls.append(ToolCall(call_id, draw(names), draw(arguments)))
            said: list[Part] = [Text(draw(texts))] if draw(st.booleans()) else []
            thought: list[Part] = [Reasoning(draw(texts), 5)] if reasoning and draw(st.booleans()) else []
            out.append(Message("assistant", (*thought, *said, *calls)))
            results = [
                ToolResult(c.id, draw(st.text(max_size=8)), is_error=draw(st.booleans())) for c in calls
            ]
            order = draw(st.permutations(results))
            match draw(st.integers(0, 2)):
                case 0:
                    out += [Message("tool", (r,)) for r in order]
                case 1:
                    out.append(Message("tool", tuple(order)))
                case _:
                    out.append(Message("user", (*order, Text(draw(texts)))))
    return out


def wire_of(value: Any) -> list[Any]:
    """A list of wire objects out of whatever was made up."""
    return value if isinstance(value, list) else [value]
