"""Measure retention on made-up kinds of sessions that *Foresight* was not tuned on.

`python -m benchmarks.retention_other_kinds TOOL` takes the retention benchmark's script, for its measure and its simple
strategies. In chats a last question asks for a fact, in the same words or in others, in four languages; or the fact was
corrected later. Agents' sessions are cut at three places; needed is what the agent names after the cut and could only
know from before it, as the tool defines it. A session is generated from its kind and number, so that every run is the
same. A kind shows how well a strategy does where such things are needed, not how often they are needed.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random
from statistics import fmean
from types import ModuleType
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.peers import langchain_trim
from benchmarks.retention import Chat, blueprint, prune
from benchmarks.retention_agents import AGENTS
from benchmarks.retention_talk import CORRECTED, FACTS, OTHER_WORDS, SAME_WORDS, chat

SESSIONS, CUTS, STEPS = 12, 3, 10

PRUNERS = {"Foresight": prune, "Blueprint": blueprint}


def labelled(tool: ModuleType, messages: list[Chat], cut: int) -> list[dict[str, list[str]]]:
    """Return what each of the agent's next messages names that it could only know from before the cut."""
    names = [tool.identifiers(tool.message_text(m)) for m in messages]
    must = tool.must_keep(messages[:cut])
    counts = Counter(name for found in names[:cut] for name in found)
    common = {name for name, count in counts.items() if count > max(5, cut / 4)}
    known = counts.keys() - common - {name for i in must for name in names[i]}
    hard = {n for n in known if counts[n] <= 3} - {
        n for found in names[max(0, cut - 10) : cut] for n in found
    }
    steps: list[dict[str, list[str]]] = []
    for at in range(cut, len(messages)):
        if messages[at]["role"] == "assistant" and len(steps) < STEPS:
            new = sorted(names[at] & known)
            steps.append({"names": new, "hard": [n for n in new if n in hard], "lines": []})
        known -= names[at]
    return steps


def cases(tool: ModuleType, count: Callable[[Chat], int], sessions: int = SESSIONS) -> Iterator[Any]:
    """Yield all cases of all kinds, as the tool evaluates them."""
    chats = [(f"chat, {language}, same words", language, SAME_WORDS) for language in FACTS]
    chats += [(f"chat, {language}, other words", language, OTHER_WORDS) for language in FACTS]
    for kind, language, asked in [*chats, ("chat, facts corrected", "English", CORRECTED)]:
        for n in range(sessions):
            messages, questions = chat(language, Random(f"{kind} {n}"), asked)
            for question, place in questions:
                whole = [*messages, {"role": "user", "content": question}]
                yield tool.EvidenceCase(kind, n, whole, list(map(count, whole)), [place])
    for kind, make in AGENTS.items():
        for n in range(sessions):
            messages = make(Random(f"{kind} {n}")).messages
            turns = [
                i for i, m in enumerate(messages) if m["role"] == "assistant" and i > len(messages) // 3
            ][:-4]
            for cut in turns[:: len(turns) // CUTS][:CUTS]:
                context = messages[:cut]
                steps = labelled(tool, messages, cut)
                yield tool.TrajectoryCase(kind, n, context, list(map(count, context)), steps)


def load_tool(path: str | Path) -> ModuleType:
    """Return the module at a path: the tool that measures retention."""
    spec = spec_from_file_location("retention_tool", path)
    assert spec is not None
    assert spec.loader is not None
    tool = module_from_spec(spec)
    sys.modules[spec.name] = tool  # its dataclasses look their module up
    spec.loader.exec_module(tool)
    return tool


def main(arguments: Sequence[str]) -> int:
    """Print the recall of each kind: *Foresight*'s at each budget, newest first's in brackets, and the means of all."""
    tool = load_tool(arguments[0])
    count = tool.make_counter()
    habits = {"random": tool.shuffled, "newest": tool.recency_skip, "first user": tool.task_recency}
    if find_spec("langchain_core"):
        habits["trim"] = langchain_trim
    all_cases = list(cases(tool, count))
    found = {name: tool.evaluate(all_cases, one, count) for name, one in {**PRUNERS, **habits}.items()}
    table = Table("kind", *(f"{b} %" for b in tool.BUDGETS), *found, "s.e.", "invalid", box=None)
    for kind, budgets in found["Foresight"].items():
        newest = found["newest"][kind]
        at = [f"{100 * budgets[b]['recall']:.0f} ({100 * newest[b]['recall']:.0f})" for b in tool.BUDGETS]
        means = [fmean(one[kind][b]["recall"] for b in tool.BUDGETS) for one in found.values()]
        worst = [max(budgets[b][name] for b in tool.BUDGETS) for name in ("stderr", "invalid")]
        table.add_row(kind, *at, *(f"{100 * share:.0f}" for share in (*means, *worst)))
    Console(width=180).print(table)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
