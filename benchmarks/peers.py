"""Other projects' ways to shorten a context, as pruners for the retention benchmark.

Each has the signature of `retention.prune` and uses the other project as its own documentation shows. `installed()`
leaves out what is not installed; langchain-core comes with the development tools, the others with
`pip install --group peers`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from benchmarks.retention import Chat, Counter, Kept

Pruner = Callable[[list[Chat], int, Counter], Kept]


def installed() -> dict[str, Pruner]:
    """Return the peers that can be run here, by name."""
    peers = {
        "langchain_core": {"langchain-trim": langchain_trim},
        "langchain": {"langchain-clear": langchain_clear},
        "headroom": {"headroom-scored": headroom_scored},
    }
    return {
        name: prune for package, found in peers.items() if find_spec(package) for name, prune in found.items()
    }


def langchain_trim(messages: list[Chat], budget: int, count: Counter) -> Kept:
    """Prune by langchain-core's `trim_messages`: the newest, beginning with a message that may begin a list.

    Its guide begins with a human message, which leaves nothing of an agent's session with one request.
    """
    from langchain_core.messages import trim_messages

    trimmed: list[Any] = trim_messages(
        _to_langchain(messages),
        max_tokens=budget,
        token_counter=lambda some: sum(count(messages[int(m.id)]) for m in some),
        strategy="last",
        start_on=("human", "ai"),
        include_system=True,
    )
    return sorted(int(m.id) for m in trimmed)


def langchain_clear(messages: list[Chat], budget: int, count: Counter) -> Kept:
    """Prune by LangChain's `ClearToolUsesEdit`, as much as it takes; then `trim_messages` if that is not enough."""
    from langchain.agents.middleware.context_editing import ClearToolUsesEdit
    from langchain_core.messages import ToolMessage, trim_messages

    def cost(message: Any) -> int:
        original = messages[int(message.id)]
        if isinstance(message, ToolMessage) and message.content != original["content"]:
            return count({**original, "content": message.content})
        return count(original)

    def total(some: Any) -> int:
        return sum(map(cost, some))

    edited = _to_langchain(messages)
    before = total(edited)
    ClearToolUsesEdit(trigger=budget, clear_at_least=max(1, before - budget)).apply(
        edited, count_tokens=total
    )
    if total(edited) > budget:
        edited = trim_messages(
            edited,
            max_tokens=budget,
            token_counter=total,
            strategy="last",
            start_on=("human", "ai"),
            include_system=True,
        )
    kept: Kept = []
    for message in edited:
        i = int(message.id)
        changed = isinstance(message, ToolMessage) and message.content != messages[i]["content"]
        kept.append((i, {**messages[i], "content": message.content}) if changed else i)
    return sorted(kept, key=lambda entry: entry if isinstance(entry, int) else entry[0])


def headroom_scored(messages: list[Chat], budget: int, count: Counter) -> Kept:
    """Prune by Headroom's `IntelligentContextManager`: messages dropped by its score, tool units whole."""
    from headroom.config import IntelligentContextConfig
    from headroom.transforms.intelligent_context import IntelligentContextManager

    class Tokenizer:
        """Counts as the benchmark does."""

        def count_messages(self, some: list[Chat]) -> int:
            return sum(map(self.count_message, some))

        def count_message(self, message: Chat) -> int:
            return count({k: v for k, v in message.items() if k != "_at"})

        def count_text(self, text: str) -> int:
            return max(1, len(text) // 4)

    config = IntelligentContextConfig(toin_integration=False, output_buffer_tokens=0, compress_threshold=0.0)
    marked = [{**message, "_at": i} for i, message in enumerate(messages)]
    result = IntelligentContextManager(config).apply(marked, Tokenizer(), model_limit=budget, output_buffer=0)
    return sorted(m["_at"] for m in result.messages if "_at" in m)


def _to_langchain(messages: list[Chat]) -> list[Any]:
    from langchain_core.messages import convert_to_messages

    converted = convert_to_messages([dict(m) for m in messages])
    return [m.model_copy(update={"id": str(i)}) for i, m in enumerate(converted)]


def main() -> None:
    """Print the peers that can be run here as options of a benchmark's command line, by the option's name."""
    option = sys.argv[1] if len(sys.argv) > 1 else "--pruner"
    print(*(f"{option} benchmarks.peers:{prune.__name__}" for prune in installed().values()))


if __name__ == "__main__":
    main()
