"""Made-up sessions in which something misleads when it is lost, and what is left of them after a prune.

`python -m benchmarks.harms_kinds docs/pruned.md` writes one pruned context of each kind, to be read. Every session
comes from its kind and number. Nothing was chosen on them: they show what a guard does, not how often it is needed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from benchmarks.retention import Chat, Kept, prune
from benchmarks.retention_agents import Session

THINGS = "parser lexer cache router ledger scheduler importer renderer mailer indexer".split()  # noqa: SIM905
SHARE = 0.25  # of the tokens that may go
SHOWN_CHARS = 700


class Made(NamedTuple):
    """A session, and texts that have to be read in what is left of it."""

    messages: list[Chat]
    needed: list[str]


def chatter(random: Random, lines: int = 60) -> str:
    """Return a long output that nobody needs."""
    return "\n".join(
        f"{random.choice(THINGS)}: step {random.randrange(900)} of the build is done" for _ in range(lines)
    )


def work(session: Session, count: int) -> None:
    """Add calls with long outputs."""
    random = session.random
    for _ in range(count):
        output = chatter(random)
        session.call("bash", output, command=f"make {random.choice(THINGS)}-{random.randrange(99)}")


def rule(random: Random, *rules: str) -> Made:
    """Return work in the middle of which a user sets rules."""
    s = Session(random, ("user", f"Move the {random.choice(THINGS)} to the new API, one module at a time."))
    for one in rules:
        work(s, random.randint(10, 25))
        s.user(one)
        s.assistant("Understood, I will keep to that from here on, in all of the modules.")
    work(s, random.randint(60, 120))
    s.user("Carry on with the next module, please, and tell me when it is done.")
    return Made(s.messages, [*rules])


def prohibition(random: Random) -> Made:
    """Return a prohibition that is buried under hundreds of messages."""
    return rule(
        random, f"One thing: never run the {random.choice(THINGS)} migrations, the database is shared."
    )


def decision(random: Random) -> Made:
    """Return a decision that is overridden later."""
    return rule(
        random, "Always log to stdout.", "On second thought, no longer log to stdout: always log to syslog."
    )


def exception(random: Random) -> Made:
    """Return a rule and its exception."""
    return rule(
        random,
        "Do not change public names.",
        f"The one exception is {random.choice(THINGS)}_v1: you must rename it.",
    )


def failure(random: Random) -> Made:
    """Return a test run that failed, long ago enough to be cut."""
    s = Session(random, ("user", "Make the tests pass."))
    work(s, 12)
    error = f"E   ValueError: the {random.choice(THINGS)} has no limit"
    s.call("bash", f"{chatter(random, 90)}\n{error}\n1 failed, 88 passed in 3.1s", command="pytest tests")
    work(s, 14)
    s.user("Well, go on and tell me what you found.")
    return Made(s.messages, [error, "1 failed, 88 passed"])


def plan(random: Random) -> Made:
    """Return a plan that was written twice."""
    s = Session(random, ("user", "Bring all modules to the new API."))
    for state in ("pending", "completed"):
        todos = [{"content": f"move the {name}", "status": state} for name in THINGS]
        s.call("roadmap_write", "written", items=todos)
        work(s, 20)
    s.user("Go on with what is left of it, please.")
    return Made(s.messages, ['"completed"'])


def edited(random: Random) -> Made:
    """Return a file that was read and edited later."""
    name = random.choice(THINGS)
    task = f"Use the new values in {name}.py."
    lines = [f"{n:>5}\u2192{name}_{n} = the_old_value_of({n})" for n in range(1, 60)]
    s = Session(random, ("user", task))
    s.call("read_file", "\n".join(lines), path=f"src/{name}.py")
    for n in range(1, 20):
        old = f"{name}_{n} = the_old_value_of({n})"
        new = old.replace("old", "new")
        s.call("edit", "done", path=f"src/{name}.py", old_string=old, new_string=new)
        work(s, 2)
    s.user(f"Show me what {name}_30 is by now, and go on.")
    return Made(s.messages, [task])


def support(random: Random) -> Made:
    """Return a dialogue of a shop."""
    order = f"#W{random.randrange(10**6, 10**7)}"
    task = f"I want to return the lamp of order {order}, but keep the two chairs."
    s = Session(
        random, ("system", "You serve the customers of a shop. Confirm before you act."), ("user", task)
    )
    for n in range(30):
        s.assistant(f"I see. Could you tell me more about item {n} of the order, such as its state?")
        s.user(random.choice(["yes", "no", "it is fine", "I do not know that one by heart, sorry."]))
        item = {"item": n, "state": "ok", "notes": chatter(random, 3)}
        s.call("get_item", json.dumps(item), item=n)
    rules = "Only refund to the gift card, please, my bank account is closed."
    s.assistant("How do you want to be refunded for the lamp?")
    s.user(rules)
    s.assistant("Noted. Shall I go ahead?")
    s.user("yes")
    return Made(s.messages, [task, rules, "Shall I go ahead?"])


def correction(random: Random) -> Made:
    """Return a dialogue of a shop whose customer corrects the address of the first message."""
    task = f"My order W{random.randrange(10**6)} is broken, please send another one to 12 Elm Street, Leeds."
    corrected = "Sorry, I gave you the wrong address. We have moved to York, it is 98 Oak Lane there."
    s = Session(random, ("system", "You serve the customers of a shop."), ("user", task))
    s.assistant("I have booked a replacement to 12 Elm Street, Leeds.")
    place = random.randrange(5, 20)
    for n in range(30):
        if n == place:
            s.user(corrected)
            s.assistant("Thank you, I have corrected that.")
        s.user(f"And what about the {random.choice(THINGS)}, does part {n} come with it?")
        s.call("search", chatter(random, 3), query=f"part {n}")
        s.assistant(f"Part {n} comes with the {random.choice(THINGS)}, and can be ordered alone, too.")
    s.user("Thanks. Please send me a summary of all that.")
    return Made(s.messages, [task, corrected])


def facts(random: Random) -> Made:
    """Return a chat of short facts among long answers; the last question asks for one of them."""
    fact = "My sister Johanna is allergic to walnuts."
    s = Session(random)
    place = random.randrange(20, 60)
    for n in range(120):
        s.user(fact if n == place else f"What do you think of the {random.choice(THINGS)}?")
        s.assistant(" ".join(f"A {random.choice(THINGS)} can be many things." for _ in range(120)))
    s.user("What is my sister Johanna allergic to?")
    return Made(s.messages, [fact])


def in_text(random: Random) -> Made:
    """Return an agent in plain text whose first message is a demonstration."""
    demonstration = "Here is a demonstration of how to work:\n" + chatter(random, 80)
    task = f"Fix the {random.choice(THINGS)}: it loses the last line of each file."
    s = Session(random, ("system", "Answer with one command."), ("user", demonstration), ("user", task))
    for _ in range(60):
        s.assistant(f"I look at the next part.\n```\nmake {random.choice(THINGS)}\n```")
        s.user(f"OBSERVATION:\n{chatter(random, 30)}")
    return Made(s.messages, [task])


KINDS: Mapping[str, Callable[[Random], Made]] = {
    "a buried prohibition": prohibition, "a decision that is overridden": decision, "an exception to a rule": exception,
    "a test run that failed": failure, "a plan that is written again": plan, "a file that is edited": edited,
    "a dialogue of a shop": support, "a corrected address": correction, "short facts among long answers": facts,
    "an agent in plain text, after a demonstration": in_text,
}  # fmt: skip


def count(message: Chat) -> int:
    """Return the tokens of a message, four characters each."""
    calls = "".join(
        call["function"]["name"] + call["function"]["arguments"] for call in message.get("tool_calls") or ()
    )
    return 4 + (len(message["content"] or "") + len(calls) + 3) // 4


def pruned(messages: list[Chat], share: float = SHARE) -> list[Chat]:
    """Return what *Foresight* leaves of a list at this share of its tokens."""
    kept: Kept = prune(messages, int(sum(map(count, messages)) * share), count)
    return [messages[entry] if isinstance(entry, int) else entry[1] for entry in kept]


def shown(messages: Sequence[Chat]) -> str:
    """Return messages as they are read, long ones cut in the page alone."""
    out = []
    for message in messages:
        calls = [
            f"{c['function']['name']} {c['function']['arguments']}" for c in message.get("tool_calls") or ()
        ]
        text = "\n".join(filter(None, [message["content"], *calls]))
        cut = text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]} …"
        out.append(f"{message['role'].upper()}: {cut}")
    return "\n\n".join(out)


def excerpt(messages: Sequence[Chat], needed: Sequence[str]) -> str:
    """Return the first and the last messages, and those that have what has to be read."""
    wanted = {*range(4), *range(len(messages) - 4, len(messages))}
    wanted.update(n for n, message in enumerate(messages) if any(text in shown([message]) for text in needed))
    out: list[str] = []
    last = -1
    for number in sorted(wanted & set(range(len(messages)))):
        if number > last + 1:
            out.append(f"({number - last - 1} other messages that stay)")
        out.append(shown([messages[number]]))
        last = number
    return "\n\n".join(out)


def page() -> str:
    """Return the page of pruned contexts."""
    opening = (
        "# Pruned contexts to read\n\n<!-- Written by `python -m benchmarks.harms_kinds docs/pruned.md`. -->\n\n"
        "One made-up session of each kind, as *Foresight* leaves it at a quarter of its tokens. The page shows the "
        "first and the last messages, and those that contain what must not be lost. Longer texts are cut only on this "
        "page, with a `…` at their end. [What misleads](retention.md#what-misleads) explains what to look for."
    )
    parts = [opening]
    for kind, make in KINDS.items():
        made = make(Random(f"{kind} 0"))
        left = pruned(made.messages)
        again = (
            f"{len(made.messages)} messages, {len(left)} of which stay; what has to be read: "
            + "; ".join(f"`{text}`" for text in made.needed)
        )
        read = excerpt(left, made.needed)
        parts.append(f"## {kind[0].upper()}{kind[1:]}\n\n{again}\n\n````text\n{read}\n````")
    made = prohibition(Random("three prunes 0"))
    left = made.messages
    for _ in range(3):
        left = pruned(left, 0.6)
    parts.append(
        f"## Three prunes one after another\n\n{len(made.messages)} messages, each prune to 60 %; what has to be read: "
        f"`{made.needed[0]}`\n\n````text\n{excerpt(left, made.needed)}\n````"
    )
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
