"""Short ways to write messages, and hypothesis strategies that generate whole histories of them."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from scoring.formats import opening
from scoring.history import History
from scoring.messages import Media, Message, Part, Reasoning, Text, ToolCall, ToolResult, message
from scoring.planning import PrunePlan
from scoring.settings import ANY, BLUEPRINT, FORESIGHT, Settings

SHORT = "plain words"
# The four signals as a sum, and a fresh tail: settings whose effect is easy to predict.
BALANCED = replace(
    FORESIGHT, weights=BLUEPRINT.weights, task_type=ANY, strategy="score", fresh_tail=16,
    user_words_messages_percent=100.0,
)  # fmt: skip


def system(text: str = SHORT) -> Message:
    """A system message."""
    return message("system", text)


def user(text: str = SHORT) -> Message:
    """A user message."""
    return message("user", text)


def model(text: str = SHORT) -> Message:
    """An assistant message of text alone."""
    return message("assistant", text)


def calls(*ids: str, text: str = "") -> Message:
    """An assistant message that makes calls with these ids."""
    return message("assistant", text, *(ToolCall(i, "read", '{"path": "a.py"}') for i in ids))


def results(*ids: str, text: str = SHORT) -> Message:
    """A tool message that answers these calls."""
    return message("tool", "", *(ToolResult(i, text) for i in ids))


def thought(text: str = SHORT) -> Message:
    """An item that holds only reasoning."""
    return Message("assistant", (Reasoning(text),))


def left_by(plan: PrunePlan, messages: list[Message]) -> list[Message]:
    """Return the messages that stay in a plan, with the opening line if the plan adds one."""
    made = {i: plan.shortenings[i].apply(messages[i]) for i in plan.shortened}
    left = [made.get(i, messages[i]) for i in sorted((*plan.kept, *plan.shortened))]
    if plan.opening_tokens:
        left.insert(next(n for n, one in enumerate(left) if one.role != "system"), opening())
    return left


def in_letters(letters: str) -> list[Message]:
    """A list in shorthand: `s`ystem, `u`ser, `a`ssistant, `c`all (answered by the next `t`), `t`ool result."""
    made = 0
    out: list[Message] = []
    for letter in letters:
        made += letter == "c"
        call = f"call-{made}"
        out.append({"s": system(), "u": user(), "a": model(), "c": calls(call), "t": results(call)}[letter])
    return out


def history_of(messages: list[Message], settings: Settings = BLUEPRINT) -> History:
    """The columns of some messages, counted as the settings say."""
    return History.of(messages, settings=settings)


_IDS = st.sampled_from(["a", "b", "c", ""])  # few, so that ids come again in later rounds, and orphans arise
_TEXTS = st.one_of(
    st.just(""),
    st.text(max_size=30),
    st.sampled_from(["ERROR: failed", "UPDATE: done", "x" * 1_200, "y" * 6_000, "数据库连接失败 🎉"]),
)
_MEDIA = st.builds(Media, st.sampled_from(["image", "audio", "other"]))
_CALLS = st.builds(ToolCall, _IDS, st.just("read"), st.sampled_from(["", "{}", '{"path": "a"}', "{broken"]))
_RESULTS = st.builds(ToolResult, _IDS, _TEXTS, media=st.lists(_MEDIA, max_size=1).map(tuple))
_PARTS: dict[str, st.SearchStrategy[list[Part]]] = {
    "system": st.lists(st.builds(Text, _TEXTS), max_size=1),
    "user": st.lists(st.one_of(st.builds(Text, _TEXTS), _MEDIA, _RESULTS), max_size=3),
    "assistant": st.lists(
        st.one_of(st.builds(Text, _TEXTS), st.builds(Reasoning, _TEXTS, st.integers(0, 400)), _CALLS),
        max_size=4,
    ),
    "tool": st.lists(_RESULTS, max_size=3),
}


def _messages(role: str) -> st.SearchStrategy[Message]:
    return _PARTS[role].map(lambda parts: Message(role, tuple(parts)))  # type: ignore[arg-type]


# Any list at all: parallel calls, reused ids, orphans both ways, reasoning, media, empty messages, one message,
# nobody speaking as the user, nothing but system messages, nothing.
any_messages = st.lists(st.sampled_from(list(_PARTS)).flatmap(_messages), max_size=25)
