"""Writes docs/api.md, docs/events.md and docs/cli.md from the route table, the events and the help texts.

A test fails when a page is stale.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel

from scripts.api_examples import examples
from webapp import bodies, events
from webapp.commands.cli import commands
from webapp.events import Event
from webapp.live.notices import NOTICES, notices_of
from webapp.routes.api import routes
from webapp.routes.api.documents import PARAMETER, WHY, build_document, failing
from webapp.routes.api.routing import Route

ROOT = Path(__file__).resolve().parent.parent
MARK = "<!-- Written by scripts/document_edges.py; run `make docs` to update it. -->\n"
HELP_WIDTH = 100

# One of each event, to see which messages it makes.
EXAMPLES: tuple[Event, ...] = (
    events.SessionCreated("s1"),
    events.SessionUpdated("s1"),
    events.SessionJudged("s1"),
    events.CacheExpired("s1"),
    events.SessionDeleted("s1"),
    events.MessagesAppended("s1", (41, 42), 2),
    events.ContextPruned("s1", 7, "automatic", 100_000, 60_000, 42, ("m1",), 30.0),
    events.ContextRestored("s1", 7, ("m1",)),
    events.ContextSummarized("s1", "u1", 20, 10, "Previous 20 turns …"),
    events.OperationUndone("s1", (7,)),
    events.SettingsChanged(),
    events.ModelsChanged(),
    events.TargetCrossed("s1", 165_000, 160_000, 200_000, 82.5),
    events.WebhooksChanged(),
    events.MemoriesChanged(),
    events.ProblemReported("s1", "line 212 is not JSON"),
    events.ImportProgressed("rollout.jsonl", 33_554_432, 209_715_200),
)

# Further examples, which make other messages than those above.
MORE_EXAMPLES: tuple[Event, ...] = (events.ProblemReported("s1", "no summary was made", failed=True),)

# The requests of a page: name, model of the payload, answer.
REQUESTS: tuple[tuple[str, type[BaseModel], str], ...] = (
    (
        "subscribe",
        bodies.Subscribe,
        "`room`, its `revision`, and either the number of `missed` messages, which are sent again, or a `snapshot`",
    ),
    ("unsubscribe", bodies.Subscribe, "the room"),
    ("context:plan", bodies.SocketPlan, "as `POST /api/sessions/<id>/plan`"),
    ("context:prune", bodies.SocketPrune, "as `POST /api/sessions/<id>/prune`"),
    ("context:undo", bodies.SocketUndo, "as `POST /api/sessions/<id>/operations/<n>/undo`"),
)


@cache
def api_page() -> str:
    """Return the page on the HTTP API: every route, then every body and answer with its fields."""
    table = routes()
    lines = [
        "# The HTTP API",
        "",
        MARK,
        "JSON in UTF-8, keys in snake_case, times in ISO 8601 with `Z`, tokens as integers, percents as numbers.",
        "The same as an OpenAPI 3.1 document: `GET /api/openapi.json`.",
        "Reading changes nothing: no `GET` has an effect.",
        "",
        "The server answers requests for this machine's own host names from its own pages and from programs.",
        "A request for another host name, or from a page of another origin, gets 403.",
        "Once a token exists, a request needs one with the role that its section names ([access](access.md)).",
        "So every request can also fail with 401, 403 or 429.",
        "",
        'Errors have one shape: `{"error": {"type", "message", "details"}}`, each detail `{"field", "message"}`.',
        "A request that is no valid HTTP, or too long, gets 400, 414, 417, 431, 501 or 505 in this shape at any path.",
        "",
        "| status | meaning |",
        "|---|---|",
        *(f"| {status} | {words} |" for status, words in sorted(WHY.items())),
        "",
    ]
    for tag in tags():
        lines += [f"## {tag.capitalize()}", ""]
        for route in table:
            if route.tag == tag:
                lines += route_lines(route)
    document = build_document(table)
    schemas, shown = document["components"]["schemas"], examples(table, document)
    sent = {route.body.__name__ for route in table if route.body}
    lines += ["## Bodies", ""]
    for name in sorted(sent - {bodies.EmptyBody.__name__}):
        lines += schema_lines(name, schemas[name])
    lines += ["## Answers", "", "Every field is always present. In the examples `…` marks what is cut.", ""]
    for name in sorted(schemas.keys() - sent):
        lines += schema_lines(name, schemas[name])
        if name in shown:
            lines += ["```js", shown[name], "```", ""]
    return tidy(lines)


def route_lines(route: Route) -> list[str]:
    """Return the section of one route: its purpose, input, answer and failures."""
    path = PARAMETER.sub(r"<\g<name>>", route.path)
    lines = [f"### `{route.method} /api{path}`", "", described(route.view), ""]
    if route.query is not None:
        names = ", ".join(f"`{name}`" for name in route.query.model_fields)
        lines += [f"Query: {names}. {described(route.query)}", ""]
    if route.body is not None and route.body.model_fields:
        lines += [f"Body: {link(route.body.__name__)}.", ""]
    answer = link(route.answers.__name__) if route.answers else "a file"
    refused = ", ".join(str(status) for status in sorted(failing(route)))
    return [*lines, f"Role: {route.role}. Answers {route.status} with {answer}. Failures: {refused}.", ""]


@cache
def tags() -> tuple[str, ...]:
    """Return the tags of the routes; each is a heading before those of bodies and answers."""
    return tuple(dict.fromkeys(route.tag for route in routes()))


def link(name: str) -> str:
    """Return a link to the section of a body or an answer; a heading that a tag has already gets a number."""
    return f"[{name}](#{name.lower()}{'-1' if name.lower() in tags() else ''})"


def schema_lines(name: str, schema: Mapping[str, Any]) -> list[str]:
    """Return the section of one body or answer: its meaning and its fields."""
    lines = [f"### {name}", "", paragraphs(schema.get("description", "")), ""]
    if not schema.get("properties"):
        return lines
    lines += ["| field | type | meaning |", "|---|---|---|"]
    required = schema.get("required", ())
    for field, one in schema["properties"].items():
        optional = "" if field in required else ", optional"
        meaning = paragraphs(one.get("description", "")).replace("|", "\\|")
        lines.append(f"| `{field}` | {type_words(one)}{optional} | {meaning} |")
    return [*lines, ""]


def type_words(schema: Mapping[str, Any]) -> str:
    """Return a schema in words; bounds and patterns are in the OpenAPI document."""
    if "$ref" in schema:
        return link(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        return " or ".join(type_words(one) for one in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return ("one of " if len(values) > 1 else "") + ", ".join(f"`{one}`" for one in values)
    if schema.get("type") == "array":
        items = schema.get("items") or {}
        many = [type_words(one) for one in schema.get("prefixItems", ())] or [type_words(items)]
        return f"array of {' and '.join(many)}"
    if schema.get("type") == "object":
        values = schema.get("additionalProperties")
        return f"object of {type_words(values)}" if isinstance(values, Mapping) and values else "object"
    return str(schema.get("type", "any JSON"))


def events_page() -> str:
    """Return the page on events: inner events, the messages they make, and the requests of pages."""
    lines = [
        "# Events",
        "",
        MARK,
        "Inside the server, events are values named in the past tense and published after the commit they report.",
        "`webapp/live/` turns them into Socket.IO messages, at most ten a second for one session in one room.",
        "",
        "Rooms are `overview` and `session:<id>`. Every message carries its `room` and a `revision`,",
        "which grows by one with each message in that room and never repeats, not even after a restart.",
        "With several workers the revision is a position in their queue: it only grows, and messages that are",
        "sent together have the same one.",
        "",
        "## Events and the messages they make",
        "",
    ]
    for example in EXAMPLES:
        lines += event_lines(example)
    lines += ["## Messages to pages", "", "| message | payload |", "|---|---|", *message_rows(), ""]
    lines += [
        "## Requests from pages",
        "",
        "The acknowledgement carries the answer; a failure has the form of the API's errors.",
        "",
    ]
    lines += ["| request | payload | answer |", "|---|---|---|"]
    for name, model, answer in REQUESTS:
        lines.append(f"| `{name}` | {', '.join(f'`{field}`' for field in model.model_fields)} | {answer} |")
    return tidy([*lines, ""])


def event_lines(example: Event) -> list[str]:
    """Return the section of one event: its meaning and the messages it makes."""
    lines = [f"### {type(example).__name__}", "", described(type(example)), ""]
    for notice in notices_of(example):
        room = f"`{notice.room}`".replace("s1", "<id>") if notice.room else "every room"
        names = [f"`{name}`" for name in message_names(notice)]
        lines.append(f"- {room}: {', '.join(names)}")
    return [*lines, ""]


def message_names(notice: Any) -> Iterator[str]:
    """Yield the messages that a notice makes, in the order in which they are sent."""
    if notice.row:
        yield "session:updated"
    if notice.appended:
        yield "messages:appended"
    yield from (name for name, _ in notice.events)
    if notice.stats:
        yield "context:stats"


def message_rows() -> Iterator[str]:
    """Yield one row for each message: its payload besides `room` and `revision`."""
    yield "| `session:updated` | the session's row of the overview ([Session](api.md#session)) |"
    yield "| `sessions:updated` | the rows of several sessions in one message: `sessions` |"
    yield "| `messages:appended` | `session_id`, `messages` (the newest 200 of them), `count` |"
    yield "| `context:stats` | `session_id` and [Stats](api.md#stats) |"
    shown = (*EXAMPLES, *MORE_EXAMPLES)
    payloads = {
        name: payload for one in shown for notice in notices_of(one) for name, payload in notice.events
    }
    read_later = {
        "settings:changed": "the settings ([SettingsDoc](api.md#settingsdoc))",
        "models:changed": "`models`",
        "webhooks:changed": "nothing: read `GET /api/webhooks` again",
        "memories:changed": "nothing: read `GET /api/memories`, `/api/learnings` and `/api/proposals` again",
    }
    for name, payload in payloads.items():
        yield f"| `{name}` | {read_later.get(name) or ', '.join(f'`{key}`' for key in payload)} |"


def cli_page() -> str:
    """Return the page on the command line: the help of every command."""
    lines = ["# The command line", "", MARK]
    lines += [
        "Exit codes: 0 success, 1 the work failed or faults were found, 2 bad arguments or unreadable input.",
        "",
    ]
    root = help_context(commands, "coppice")
    lines += ["```", commands.get_help(root), "```", "", *helps_below(root, "##")]
    return tidy(lines)


def helps_below(group: click.Context, heading: str) -> Iterator[str]:
    """Yield the lines with the help of each command of a group, and of those below it."""
    assert isinstance(group.command, click.Group)  # noqa: S101  # only called for groups
    for name in group.command.list_commands(group):
        command = group.command.get_command(group, name)
        assert command is not None  # noqa: S101  # listed above
        if not command.hidden:
            context = help_context(command, name, group)
            yield from (f"{heading} {context.command_path}", "", "```", command.get_help(context), "```", "")
            if isinstance(command, click.Group):
                yield from helps_below(context, heading + "#")


def help_context(command: click.Command, name: str, parent: click.Context | None = None) -> click.Context:
    """Return the context of a command in a terminal of fixed width."""
    return click.Context(
        command,
        info_name=name,
        parent=parent,
        terminal_width=HELP_WIDTH,
        max_content_width=HELP_WIDTH,
        help_option_names=["-h", "--help"],
    )


def described(thing: Any) -> str:
    """Return the docstring of a class or function, a line for each paragraph."""
    return paragraphs(inspect.cleandoc(thing.__doc__ or ""))


def paragraphs(text: str) -> str:
    """Return a text with one line for each paragraph."""
    return text.replace("\n\n", "\0").replace("\n", " ").replace("\0", "\n\n")


def tidy(lines: Iterable[str]) -> str:
    """Return the page as a file: no trailing blanks, one newline at the end."""
    text = "\n".join(lines)
    return "\n".join(line.rstrip() for line in text.splitlines()).rstrip() + "\n"


PAGES: dict[str, Callable[[], str]] = {
    "docs/api.md": api_page,
    "docs/events.md": events_page,
    "docs/cli.md": cli_page,
}


def main() -> int:
    """Write the pages and print those that changed."""
    assert set(NOTICES) == {type(one) for one in EXAMPLES}, "an event lacks its example"  # noqa: S101
    for name, make in PAGES.items():
        path, text = ROOT / name, make()
        if not path.is_file() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            print(f"{name} written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
