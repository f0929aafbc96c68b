"""The share of what is needed later that survives in kinds of sessions *Foresight* was not chosen on. All made up.

`python -m benchmarks.retention_other_kinds TOOL` takes the retention benchmark's script, for its measure and habits of
the field. Chats hold facts that a last question asks for, in the words they were told in or in others, in four
languages, or that were corrected later. Agents' sessions are cut at three places; what an agent names after the cut and
could only know from before it is what is needed, as the tool defines it. Every session comes from its kind and number,
so that each run sees the same. A kind says how a strategy does where its needs are, not how often they are so.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from benchmarks.retention_talk import CORRECTED, FACTS, OTHER_WORDS, SAME_WORDS, chat

SESSIONS, CUTS, STEPS = 12, 3, 10

WORDS = """
glacier sediment turbine policy subsidy harvest reservoir census habitat coral tariff freight transit vaccine protein
enzyme orbit sensor battery lithium""".split()  # noqa: SIM905


class Session:
    """A list of messages as it grows."""

    def __init__(self, random: Random, *opening: tuple[str, str]) -> None:
        self.random = random
        self.messages: list[Chat] = [{"role": role, "content": text} for role, text in opening]

    def user(self, text: str) -> None:
        """Add a message of the user."""
        self.messages.append({"role": "user", "content": text})

    def call(self, name: str, output: str, **arguments: Any) -> None:
        """Add a call and its output."""
        call = {"id": f"call_{len(self.messages)}", "type": "function"}
        function = {"name": name, "arguments": json.dumps(arguments)}
        self.messages += [
            {"role": "assistant", "content": "", "tool_calls": [{**call, "function": function}]},
            {"role": "tool", "tool_call_id": call["id"], "content": output},
        ]

    def word(self, count: int = 1) -> str:
        """Return words joined to a name."""
        return "_".join(self.random.choices(WORDS, k=count))

    def code(self, length: int = 8) -> str:
        """Return a code of digits and letters."""
        return "".join(self.random.choices("0123456789abcdef", k=length))

    def number(self, digits: int) -> int:
        """Return a number with this many digits."""
        return self.random.randrange(10 ** (digits - 1), 10**digits)

    def shuffled(self, things: Sequence[Any]) -> list[Any]:
        """Return the same in another order."""
        return self.random.sample(things, len(things))


def shop(random: Random) -> Session:
    """Return support that views several orders and changes them at the end, by ids from much earlier outputs."""
    s = Session(
        random, ("system", "You are a shop's agent. Policy: confirm every return, exchange and refund.")
    )
    agreed = []
    for _ in range(random.randint(5, 8)):
        item, order = s.word(), f"#W{s.number(7)}"
        s.user(f"I would like another {item} for the one I ordered.")
        line = {
            "name": item,
            "item_id": str(s.number(10)),
            "product_id": str(s.number(10)),
            "price": s.number(3),
        }
        pay = f"credit_card_{s.number(7)}"
        s.call(
            "get_order_details",
            json.dumps({"order_id": order, "items": [line], "payment": pay}),
            order_id=order,
        )
        offered = [
            {**line, "item_id": str(s.number(10)), "color": s.word()} for _ in range(random.randint(5, 10))
        ]
        s.call(
            "get_product_details", json.dumps({"variants": offered}, indent=2), product_id=line["product_id"]
        )
        s.messages.append(
            {"role": "assistant", "content": f"There is one in {offered[0]['color']}. Shall I?"}
        )
        agreed.append((order, line["item_id"], offered[0]["item_id"], pay))
    s.user("Now please do all of them as you proposed.")
    for order, old, new, pay in s.shuffled(agreed):
        s.call("exchange_items", "requested", order_id=order, item_ids=[old], new_item_ids=[new], payment=pay)
    return s


def research(random: Random) -> Session:
    """Return searches and long pages; the report names sources and numbers."""
    s = Session(
        random, ("system", "You search the web."), ("user", "Report what is known, with figures and sources.")
    )
    found = []
    for _ in range(random.randint(7, 10)):
        urls = [f"https://{s.word()}.example/{s.word()}/{s.code(6)}" for _ in range(8)]
        s.call(
            "web_search", "\n\n".join(f"{s.word()} and {s.word()}\n{url}" for url in urls), query=s.word(3)
        )
        url, key = (
            random.choice(urls),
            f"{s.word().title()}Watch counted {s.number(6)} units of {s.word()} last year.",
        )
        page = [
            f"The {s.word()} of the {s.word()} rose with the {s.word()} in most regions." for _ in range(60)
        ]
        page.insert(random.randrange(60), key)
        s.call("fetch_page", "\n\n".join(page), url=url)
        found.append((url, key))
    for url, key in s.shuffled(found):
        s.call("append_report", "ok", text=f"{key}\nSource: {url}")
    return s


def cloud(random: Random, indent: int | None) -> Session:
    """Return an API that answers in JSON; the ids of what was picked are used at the end."""
    s = Session(random, ("user", "Find instances that idle, then stop them one by one."))
    idle = []
    for _ in range(random.randint(7, 10)):
        items = [
            {"InstanceId": f"i-0{s.code(16)}", "Volume": f"vol-0{s.code(16)}", "Cpu": n} for n in range(6)
        ]
        items = s.shuffled(items)
        s.call("describe", json.dumps({"items": items, "next": s.code(40)}, indent=indent), group=s.word(2))
        idle += [item for item in items if not item["Cpu"]]
    for item in s.shuffled(idle):
        s.call("stop", "stopping", id=item["InstanceId"])
        s.call("snapshot", "pending", volume=item["Volume"])
    return s


def logs(random: Random, needed: str) -> Session:
    """Return logs; the values used at the end are in lines that report an error, or in any lines."""
    s = Session(
        random, ("user", "Since last night some orders fail. Read the logs, then repair what I name.")
    )
    bad = []
    for day in range(random.randint(7, 10)):
        ids = [(f"req-{s.code()}", s.number(8)) for _ in range(random.randint(40, 120))]
        lines = [f"INFO api [{a}] served order {b} in {s.number(2)}ms" for a, b in ids]
        for n in random.sample(range(len(ids)), 2):
            bad.append(ids[n])
            if needed == "errors":
                lines[n] = f"ERROR api [{ids[n][0]}] order {ids[n][1]} failed: E_STALE"
        lines = [f"2024-11-{day + 10}T02:{n // 60:02}:{n % 60:02}Z {line}" for n, line in enumerate(lines)]
        s.call("bash", "\n".join(lines), command=f"journalctl --since -{day}d")
        s.call(
            "bash",
            "\n".join(f"{s.word(2)} = {s.number(5)}" for _ in range(20)),
            command=f"cat {s.word()}.conf",
        )
    for request, order in s.shuffled(bad):
        s.call("bash", "repaired", command=f"repair --request {request} --order {order}")
    return s


def corrected(random: Random) -> Session:
    """Return a task whose values the user corrects on the way; the newest are written at the end."""
    s = Session(random)
    values = {
        f"{s.word()}_{kind}".upper(): f"{s.word()}-{s.code(5)}"
        for kind in ("host", "port", "name", "key") * 2
    }
    s.user("Set up staging. " + " ".join(f"{key} is {value}." for key, value in values.items()))
    for key in s.shuffled(list(values)):
        for _ in range(random.randint(1, 3)):
            body = "\n".join(
                f"def {s.word(2)}({s.word()}): return {s.word()}.get_{s.word()}()" for _ in range(40)
            )
            s.call("read_file", body, path=f"src/{s.word()}/{s.word(2)}.py")
        if random.random() < 0.6:
            values[key] = f"{s.word()}-{s.code(5)}"
            s.user(f"No, use {values[key]} for {key} instead.")
    for key in s.shuffled(list(values)):
        s.call("write_file", "written", path=f"staging/{key.lower()}.env", content=f"{key}={values[key]}")
    return s


PRUNERS = {"Foresight": prune, "Blueprint": blueprint}
AGENTS: Mapping[str, Callable[[Random], Session]] = {
    "support of a shop": shop, "research with long pages": research, "JSON, a field a line": lambda r: cloud(r, 2),
    "JSON on one line": lambda r: cloud(r, None), "logs, errors needed": lambda r: logs(r, "errors"),
    "logs, any lines needed": lambda r: logs(r, "any"), "values corrected by the user": corrected,
}  # fmt: skip


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
    """Print the recall of each kind: *Foresight*'s at each budget, and its mean beside those of others."""
    tool = load_tool(arguments[0])
    count = tool.make_counter()
    habits = {"random": tool.shuffled, "newest": tool.recency_skip, "first user": tool.task_recency}
    if find_spec("langchain_core"):
        habits["trim"] = langchain_trim
    all_cases = list(cases(tool, count))
    found = {name: tool.evaluate(all_cases, one, count) for name, one in {**PRUNERS, **habits}.items()}
    table = Table("kind", *(f"{b} %" for b in tool.BUDGETS), *found, "s.e.", "invalid", box=None)
    for kind, budgets in found["Foresight"].items():
        at = [budgets[b]["recall"] for b in tool.BUDGETS]
        means = [fmean(one[kind][b]["recall"] for b in tool.BUDGETS) for one in found.values()]
        worst = [max(budgets[b][name] for b in tool.BUDGETS) for name in ("stderr", "invalid")]
        table.add_row(kind, *(f"{100 * share:.0f}" for share in (*at, *means, *worst)))
    Console(width=150).print(table)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
