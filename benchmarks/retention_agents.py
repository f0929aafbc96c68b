"""The agents' sessions of `retention_other_kinds`: support, research, APIs, logs, tables, offers, SQL, tickets, mail.

In each, ids are used at the end that calls and outputs named long before.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from benchmarks.retention import Chat

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

    def assistant(self, text: str) -> None:
        """Add a text of the agent."""
        self.messages.append({"role": "assistant", "content": text})

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
        s.assistant(f"There is one in {offered[0]['color']}. Shall I?")
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


def tables(random: Random) -> Session:
    """Return pages of tables, of which some rows are entered in a form, and others corrected at the end."""
    s = Session(
        random, ("system", "You keep the books of a warehouse."), ("user", "Enter what came this week.")
    )
    wrong = []
    for page in range(random.randint(8, 12)):
        notes = [
            (f"DN-{s.number(6)}", f"ART{s.number(5)}", s.number(3)) for _ in range(random.randint(8, 14))
        ]
        rows = [f"| {note} | {article} | {count} | {s.word()} |" for note, article, count in notes]
        s.call("read_table", "\n".join(["| note | article | quantity | supplier |", *rows]), page=page)
        for note, article, count in random.sample(notes, 3):
            s.call("enter_row", f"stored as ROW-{s.number(7)}", note=note, article=article, quantity=count)
        wrong += random.sample(notes, 2)
    s.user("Thank you. Now correct the notes that do not agree with the invoices.")
    for note, article, _ in s.shuffled(wrong):
        s.call("correct_row", "ok", note=note, article=article, quantity=s.number(3))
    return s


def travel(random: Random) -> Session:
    """Return lists of flights and hotels; what was agreed is booked at the end."""
    s = Session(random, ("system", "You are a travel agent. Offer, ask, and book only what was agreed."))
    agreed = []
    for _ in range(random.randint(5, 8)):
        s.user(f"I need to go to {s.word()} and stay {s.number(1)} nights.")
        flights = [(f"OF{s.code()}", s.number(4), s.number(3)) for _ in range(random.randint(6, 12))]
        lines = [f"offer {offer}, flight {flight}, {price} EUR" for offer, flight, price in flights]
        s.call("search_flights", "\n".join(lines), to=s.word())
        hotels = [(f"HT{s.code()}", s.word(), s.number(3)) for _ in range(random.randint(4, 8))]
        lines = [f"{hotel} {name}, {price} EUR a night" for hotel, name, price in hotels]
        s.call("search_hotels", "\n".join(lines), city=s.word())
        flight, hotel = random.choice(flights), random.choice(hotels)
        offer = f"I would take the flight for {flight[2]} EUR and the {hotel[1]}. Shall I note that?"
        s.assistant(offer)
        s.user("Yes, but do not book yet.")
        s.assistant("Noted. What is next?")
        agreed.append((flight[0], hotel[0]))
    s.user("That is all. Now book everything that we noted.")
    for offer, hotel in s.shuffled(agreed):
        s.call("book_flight", f"confirmed {s.code(6)}", offer=offer)
        s.call("book_hotel", f"confirmed {s.code(6)}", hotel=hotel)
    return s


def queries(random: Random) -> Session:
    """Return SQL: tables are described, then asked; single rows are looked at again at the end."""
    s = Session(random, ("user", "Find out why revenue and refunds of last quarter do not agree."))
    columns = {s.word(2): [f"{s.word()}_{kind}" for kind in ("id", "at", "sum", "state")] for _ in range(8)}
    for table, names in columns.items():
        types = [f"{name} | {random.choice(('bigint', 'text'))} | not null" for name in names]
        s.call("run_sql", "\n".join(types), query=f"DESCRIBE {table}")
    odd = []
    for _ in range(random.randint(14, 24)):
        table = random.choice(list(columns))
        names = random.sample(columns[table], 3)
        rows = [(s.number(8), s.number(3), f"tx_{s.code()}") for _ in range(random.randint(6, 25))]
        shown = [" | ".join(map(str, row)) for row in (names, *rows)]
        s.call(
            "run_sql", "\n".join(shown), query=f"SELECT {', '.join(names)} FROM {table} ORDER BY {names[0]}"
        )
        if random.random() < 0.4:
            odd.append((table, names, random.choice(rows)))
    for table, names, row in s.shuffled(odd):
        s.call("run_sql", "1 row", query=f"SELECT * FROM {table} WHERE {names[2]} = '{row[2]}'")
    return s


def tickets(random: Random) -> Session:
    """Return lists of tickets, one of each list read in full; that one and another are closed at the end."""
    s = Session(random, ("user", "Sort the tickets of this week and close those that are done."))
    done = []
    for _ in range(random.randint(8, 11)):
        found = [f"OPS-{s.number(5)}" for _ in range(random.randint(5, 9))]
        s.call(
            "list_tickets", "\n".join(f"{ticket}: {s.word()} {s.word()}" for ticket in found), label=s.word(2)
        )
        fails = [f"The {s.word()} fails when the {s.word()} is full." for _ in range(random.randint(3, 15))]
        read, other = random.sample(found, 2)
        s.call("read_ticket", "\n".join([read, *fails, f"fixed in {s.code(10)}"]), ticket=read)
        done += [read, other]
    s.user("Now close them.")
    for ticket in s.shuffled(done):
        s.call("close_ticket", "closed", ticket=ticket)
    return s


def mail(random: Random) -> Session:
    """Return a mailbox: mails are read and left for later; all are answered at the end, and rooms booked."""
    s = Session(random, ("system", "You are an assistant with a mailbox and a calendar."))
    later = []
    for _ in range(random.randint(7, 12)):
        s.user(f"Is there any mail about the {s.word()}?")
        box = [(f"msg-{s.code(10)}", f"{s.word(2)}@{s.word()}.example") for _ in range(random.randint(3, 6))]
        listed = [{"id": one, "from": sender, "subject": s.word()} for one, sender in box]
        s.call("list_mail", json.dumps(listed, indent=1), folder="inbox")
        (one, sender), room = random.choice(box), f"room_{s.word()}_{s.number(4)}"
        lines = [f"We also spoke of the {s.word()} and the {s.word()}." for _ in range(random.randint(2, 10))]
        s.call("read_mail", "\n".join([f"From: {sender}", f"Could we meet in {room}?", *lines]), id=one)
        s.assistant(f"They ask about the {s.word()}. Shall I wait?")
        s.user("Yes, later.")
        s.assistant("All right.")
        later.append((one, sender, room))
    s.user("Now answer all that I left for later, and book the rooms.")
    for one, sender, room in s.shuffled(later):
        s.call("reply", "sent", id=one, to=sender)
        s.call("book_room", "booked", room=room)
    return s


AGENTS: Mapping[str, Callable[[Random], Session]] = {
    "support of a shop": shop, "research with long pages": research, "JSON, a field a line": lambda r: cloud(r, 2),
    "JSON on one line": lambda r: cloud(r, None), "logs, errors needed": lambda r: logs(r, "errors"),
    "logs, any lines needed": lambda r: logs(r, "any"), "values corrected by the user": corrected,
    "tables, rows corrected": tables, "travel, lists of offers": travel, "SQL, rows looked at again": queries,
    "tickets of a week": tickets, "mail left for later": mail,
}  # fmt: skip
