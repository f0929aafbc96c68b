"""Lists of agents with outputs of any shape, for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from scoring.messages import Message, ToolResult, message
from tests.scoring.builders import calls, model, user

_ROWS = st.sampled_from(
    ["error in /src/app.py", "value=12 " * 30, "数据库连接失败 🎉 " * 8, "x", "alpha beta 7 gamma " * 4, ""]
)
_TEXTS = st.sampled_from(["go on", "fix /src/app.py", "because value=12 failed " * 20, "数据库 " * 40])


@st.composite
def talks(draw: st.DrawFn) -> list[Message]:
    """A valid list of an agent, whose outputs have rows of very different lengths and alphabets."""
    out = [message("system", "be brief")] if draw(st.booleans()) else []
    for turn in range(draw(st.integers(1, 5))):
        out.append(user(draw(_TEXTS)))
        for n in range(draw(st.integers(0, 3))):
            ids = [f"{turn}-{n}-{k}" for k in range(draw(st.integers(1, 2)))]
            out.append(calls(*ids))
            said = ["\n".join(draw(st.lists(_ROWS, max_size=25))) for _ in ids]
            out += [message("tool", "", ToolResult(i, text)) for i, text in zip(ids, said, strict=True)]
        out.append(model(draw(_TEXTS)))
    return [*out, user("and now?")]
