"""The MCP server on stdio: an agent looks at its own context, and gets back what was pruned or compacted (X21).

It reads the database, so it works while the server is down. The tools are listed before the application is loaded: a
tool that appears later would break the agent's prompt cache. It offers only tools; resources would add tools of their
own to the agent's prompt.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import ExitStack
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, cast

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

if TYPE_CHECKING:
    from scoring.messages import Message
    from webapp.app import App

INSTRUCTIONS = (
    "Coppice keeps every message of this session in full, pruned and compacted ones too. Where something you read "
    "or did earlier is no longer in your context, search for it and get it back instead of doing it again."
)
HITS, SHOWN_CHARS = 20, 60_000
_NOTHING = "nothing"  # in an error, in place of an argument that is missing

_MESSAGE = {
    "type": "integer",
    "minimum": 1,
    "description": "The message's number, as context_search gives it.",
}
_SESSION = {"type": "string", "description": "A session's id; by default the one this server runs in."}


def _tool(name: str, description: str, **properties: Any) -> types.Tool:
    required = list(properties)
    schema = {"type": "object", "properties": {**properties, "session": _SESSION}, "required": required}
    return types.Tool(name=name, description=description, input_schema=schema)


TOOLS = [
    _tool(
        "context_stats", "How full the context of this session is, by region, and what a prune would free."
    ),
    _tool(
        "context_search",
        "Search everything that was said and read in this session, pruned and compacted messages too.",
        query={"type": "string", "minLength": 1, "description": "Words to look for."},
    ),
    _tool(
        "context_restore",
        "Get a message of this session back in full; where it was pruned, it also returns to the pruned view.",
        number=_MESSAGE,
    ),
    _tool(
        "context_pin",
        "Pin a message of this session: no prune takes it.",
        number=_MESSAGE,
    ),
]


class ToolAnswers:
    """The answers to the tools. The application is opened by the first call."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables, self._held = variables, ExitStack()
        self._app: App | None = None
        self._opening = threading.Lock()  # an agent can call several tools at once

    def answer(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Return the answer of a tool as text.

        Raises:
            CoppiceError: there is no such tool, session or message, or an argument is bad or missing.
        """
        from webapp.errors import NotFound

        tools: dict[str, Callable[[App, str, Mapping[str, Any]], str]] = {
            "context_stats": _stats,
            "context_search": _search,
            "context_restore": _restore,
            "context_pin": _pin,
        }
        if name not in tools:
            raise NotFound("tool", name)
        app = self._opened()
        return tools[name](app, self._session(app, arguments), arguments)

    def close(self) -> None:
        """Close the application."""
        self._held.close()

    def _opened(self) -> App:
        from webapp.commands.common import opened

        with self._opening:
            if self._app is None:
                self._app = self._held.enter_context(opened(None, create=False))
            return self._app

    def _session(self, app: App, arguments: Mapping[str, Any]) -> str:
        """Return the session that is named, the one the agent says it runs, or the newest of the working directory."""
        from webapp.agents import AGENTS
        from webapp.commands.common import find_session
        from webapp.errors import NotFound

        ids = (
            self._variables.get(agent.session_variable) for agent in AGENTS.values() if agent.session_variable
        )
        named = _text_in(arguments, "session") if arguments.get("session") is not None else ""
        wanted = named or next(filter(None, ids), None)
        if wanted:
            return find_session(app, wanted)
        here = os.getcwd()  # noqa: PTH109
        found = next(
            (row for row in app.store.sessions.all() if row.cwd == here and row.parent_id is None), None
        )
        if found is None:
            raise NotFound("session of the folder", f"{here}; name another in `session`")
        return found.id


def serve() -> int:
    """Serve on stdin and stdout until the agent closes them. Return 1 if they fail before, such as on a full disk."""
    answers, code = ToolAnswers(os.environ), 0
    try:
        anyio.run(_serve, answers)
    except* OSError as failures:
        from webapp.commands.cli import complain

        code = complain(f"could not answer the agent: {_first_reason(failures)}", 1)
    finally:
        answers.close()
    return code


def _first_reason(failures: BaseExceptionGroup[OSError]) -> str:
    """Return why the first of the failures happened."""
    first = failures.exceptions[0]
    return _first_reason(first) if isinstance(first, BaseExceptionGroup) else first.strerror or str(first)


async def _serve(answers: ToolAnswers) -> None:
    server = server_of(answers)
    # Nothing else of this process reads from its input.
    with open(0, encoding="utf-8", errors="replace", closefd=False) as file:
        lines = cast("anyio.AsyncFile[str]", _Lines(anyio.wrap_file(file)))
        async with stdio_server(lines) as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())


class _Lines:
    """The lines of a file, with whole characters."""

    def __init__(self, file: anyio.AsyncFile[str]) -> None:
        self._file = file

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield the lines."""
        async for line in self._file:
            yield with_whole_characters(line)


def with_whole_characters(line: str) -> str:
    """Return a line of JSON with U+FFFD for each half of a surrogate pair; the library drops a line that has one.

    The agent would wait for the answer without end.
    """
    if "\\ud" not in line.lower():
        return line
    try:
        text = json.dumps(json.loads(line), ensure_ascii=False)
    except (ValueError, RecursionError):
        return line
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def server_of(answers: ToolAnswers) -> Server[Any]:
    """Return the MCP server over these answers."""

    async def list_tools(_: Any, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=TOOLS)

    async def call_tool(_: Any, call: types.CallToolRequestParams) -> types.CallToolResult:
        text, failed = await anyio.to_thread.run_sync(_tool_answer, answers, call.name, call.arguments or {})
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)

    return Server(
        "coppice",
        version=version("coppice"),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _tool_answer(answers: ToolAnswers, name: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
    """Return the answer of a tool, and whether it failed."""
    from webapp.errors import CoppiceError

    try:
        return answers.answer(name, arguments), False
    except CoppiceError as error:
        return str(error), True


def _stats(app: App, session: str, _: Mapping[str, Any]) -> str:
    from scoring.counted import counted
    from webapp.bodies import PlanBody
    from webapp.commands.common import percent_text
    from webapp.commands.sessions import REGIONS

    stats, plan = app.sessions.stats(session), app.prunes.plan(session, PlanBody())
    regions = ", ".join(f"{REGIONS.get(one.name, one.name)} {one.tokens:,}" for one in stats.regions)
    main, pruned = stats.session.main, stats.session.pruned
    smaller = (
        [f"Its pruned view takes {counted(pruned.tokens, 'token')}."] if pruned.tokens != main.tokens else []
    )
    share = percent_text(main.utilization)
    return "\n".join(
        [
            f"{stats.tokens:,} of {stats.limit:,} tokens ({share}), as of {stats.as_of}.",
            *([f"Regions: {regions}."] if regions else []),
            *smaller,
            f"A prune to the aim would free {counted(max(0, plan.freed), 'token')}.",
        ]
    )


def _search(app: App, session: str, arguments: Mapping[str, Any]) -> str:
    found = app.search.everywhere(_text_in(arguments, "query"), session).results[:HITS]
    if not found:
        return "Nothing in this session matches."
    lines = [
        f"{hit.number} ({hit.role}{'' if hit.in_context else ', not in context'}): {hit.snippet}"
        for hit in found
    ]
    return "\n".join([*lines, "context_restore gives a message in full."])


def _restore(app: App, session: str, arguments: Mapping[str, Any]) -> str:
    from scoring.messages import Message, part_from_dict
    from webapp.errors import Conflict

    mid = _mid(app, session, arguments)
    try:
        said = app.by_hand.restore(session, mid).message
    except Conflict:
        said = "it is in the pruned view"
    full = app.messages.one(session, mid)
    text = _words(Message(full.role, tuple(part_from_dict(part) for part in full.parts)))
    cut = f"\n[cut at {SHOWN_CHARS:,} of {len(text):,} characters]" if len(text) > SHOWN_CHARS else ""
    return f"Message {full.number} ({full.role}; {said}):\n{text[:SHOWN_CHARS]}{cut}"


def _words(message: Message) -> str:
    """Return what a message says, with its calls; its media are only named."""
    calls = [f"{call.name} {call.arguments}" for call in message.calls]
    media = [f"[{one.kind}, which cannot be shown here]" for one in message.media]
    return "\n".join(text for text in (message.text, *calls, *media) if text)


def _pin(app: App, session: str, arguments: Mapping[str, Any]) -> str:
    from webapp.errors import Conflict

    mid = _mid(app, session, arguments)
    try:
        return app.by_hand.pin(session, mid).message
    except Conflict as error:
        return str(error)


def number_in(arguments: Mapping[str, Any]) -> int:
    """Return the number of a message; a model can write it as a text. Raises Invalid."""
    from webapp.errors import Invalid
    from webapp.store.keys import MASK

    said = str(arguments.get("number"))
    if not said.isdecimal() or len(said) > len(str(MASK)) or not 1 <= int(said) <= MASK:
        message = f"bad value for number; expected a whole number from 1, got {_got(arguments, 'number')}"
        raise Invalid(message, "number")
    return int(said)


def _text_in(arguments: Mapping[str, Any], name: str) -> str:
    """Return a text. Raises Invalid."""
    from webapp.errors import Invalid

    said = arguments.get(name)
    if not isinstance(said, str):
        raise Invalid(f"bad value for {name}; expected a text, got {_got(arguments, name)}", name)
    return said


def _got(arguments: Mapping[str, Any], name: str) -> str:
    """Return a wrong argument as JSON, for an error."""
    from scoring.errors import shown

    return shown(arguments[name]) if name in arguments else _NOTHING


def _mid(app: App, session: str, arguments: Mapping[str, Any]) -> str:
    """Return the id of the message with a number."""
    from webapp.errors import NotFound

    number = number_in(arguments)
    found = app.messages.by_number(session, [number])
    if not found:
        raise NotFound("message", number)
    return found[0].id
