"""New sessions for OpenCode: files in the format of `opencode export`, which `opencode import` reads.

Every id in them is new, so that an import adds a session and changes none. Messages are based on the agent's own, read
from its database or tree, with the contents and the order of the pruned view; each call of the model becomes a separate
message. Usage and cost belong to other calls and are written as zero. OpenCode sorts messages by their time, so a
message is never earlier than the one before it.

A summary of the agent that comes first, or that kept the messages before it, is written in the agent's own form, after
a message that requests the compaction. Any other summary is written as a user message that no human wrote, because a
compaction would remove everything before it.
"""

from __future__ import annotations

import secrets
import string
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from scoring.messages import Text, ToolCall, ToolResult
from webapp.agents.opencode.decoder import Original, original
from webapp.agents.opencode.items import call_id_of, is_summary, steps
from webapp.agents.reading.rows import count_of, list_of, object_of, optional, parse, text_of
from webapp.agents.view import PRUNED_NOTE, Transcript, View, ViewMessage, ViewSummary
from webapp.errors import Conflict

Row = dict[str, Any]
Record = tuple[Row, list[Row]]  # a message and its parts

_ALPHABET = string.digits + string.ascii_letters
_NO_USAGE = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
# New ids begin with the time of a minute ago, so that those of the next turn are greater in any case.
_EARLIER_MS = 60_000
# The agent's own text for a call that was cut off.
_ABORTED = "Tool execution aborted"


def write(view: View) -> Transcript:
    """Return a file for `opencode import`, under a new session id.

    Raises:
        Conflict: OpenCode does not have the session on this machine, or it is one of OpenCode 2.
    """
    found = original(view.file, view.session_id) if view.file is not None else None
    if found is None:
        raise Conflict(
            "a copy for OpenCode is made of its own messages, and its database on this machine does not have "
            f"session {view.session_id}"
        )
    if found.is_second:
        raise Conflict(
            "this is a session of OpenCode 2, which keeps its sessions in other tables; copies are written for "
            "OpenCode 1, and its files were never tried with OpenCode 2. The plugin of "
            "`coppice hooks install --agent opencode` prunes its sessions as they run"
        )
    model = next(filter(None, (_model(info) for info, _ in reversed(found.messages))), None)
    if model is None:
        raise Conflict(
            "no message of this session names its provider and model, and OpenCode needs both; export the session"
        )
    writer = _Writer(view, found, model)
    return Transcript(writer.session, f"{writer.session}.json", writer.lines())


class _Ids:
    """Ids in OpenCode's format: sorted by their time, of which 48 bits are kept, with a random end."""

    def __init__(self, now: int) -> None:
        self.session = self._id("ses", ~(now << 12))  # the newest session sorts first
        self._last = (now - _EARLIER_MS) << 12

    def new(self, prefix: str) -> str:
        """Return the next id, which is greater than the one before."""
        self._last += 1
        return self._id(prefix, self._last)

    @staticmethod
    def _id(prefix: str, time: int) -> str:
        end = "".join(secrets.choice(_ALPHABET) for _ in range(14))
        return f"{prefix}_{time & 0xFFFF_FFFF_FFFF:012x}{end}"


@dataclass(slots=True)
class _Answer:
    """A message of the model with the results of its calls. `info` and `parts` are the agent's own."""

    place: ViewMessage
    info: Row
    parts: list[Row]
    results: list[ViewMessage]

    def _result(self, call_id: str) -> tuple[ToolResult | None, str]:
        """Return the result of a call, None if it was cut off, and its output in the view."""
        messages = (message for one in self.results for message in one.messages)
        result = {r.call_id: r for message in messages for r in message.results}.get(call_id)
        text = result.text if result is not None else _ABORTED
        for one in self.results:
            text = one.results.get(call_id, text)
        return result, text

    def content(self, at: int, *, drops_thinking: bool) -> list[Row]:
        """Return the parts without their ids: the agent's own, or made from the message's replacement."""
        said = self.place.message
        if self.place.replacement is not None or not self.parts:
            return [
                _text(part.text) if isinstance(part, Text) else self._call(part, at)
                for part in said.parts
                if isinstance(part, Text | ToolCall)
            ]
        calls = {call.id: call for call in said.calls}
        found: list[Row] = []
        for part in self.parts:
            call = calls.get(call_id_of(part)) if part.get("type") == "tool" else None
            if call is not None:
                found.append(self._call(call, at))
            elif part.get("type") == "reasoning" and not drops_thinking:
                found.append(_thought(part, at))
            elif part.get("type") == "text":
                found += _spoken(part)
        return found

    def _call(self, call: ToolCall, at: int) -> Row:
        """Return a call with its result; a call without one was cut off."""
        own = next((p for p in self.parts if p.get("type") == "tool" and call_id_of(p) == call.id), {})
        state, (result, text) = object_of(own.get("state")), self._result(call.id)
        times = object_of(state.get("time"))
        time = {name: count_of(times.get(name)) or at for name in ("start", "end")}
        made: Row = {"input": object_of(parse(call.arguments.encode())), "time": time}
        if result is None or result.is_error:
            made |= {"status": "error", "error": text}
        else:
            title = text_of(state.get("title"))
            made |= {"status": "completed", "output": text, "title": title, "metadata": {}}
            if text == state.get("output"):
                made |= {name: state[name] for name in ("metadata", "attachments") if state.get(name)}
        return {"type": "tool", "callID": call.id, "tool": call.name, "state": made}


class _Writer:
    """The writing of one copy: the time of the last message in ms, and the id of the user's last one."""

    def __init__(self, view: View, found: Original, model: Row) -> None:
        self._view, self._info, self._model = view, found.info, model
        self._messages = {text_of(info.get("id")): (info, parts) for info, parts in found.messages}
        agents = (text_of(info.get("agent")) for info, _ in reversed(found.messages))
        self._agent = next(filter(None, agents), "build")
        self._now = _milliseconds(view.now)
        self._ids = _Ids(self._now)
        self._at, self._asked, self._first = 0, "", ""
        self.session = self._ids.session

    def lines(self) -> Iterator[bytes]:
        """Yield the file, a line for each message."""
        info = {
            "id": self.session,
            "slug": self.session[-14:].lower(),
            "projectID": optional(self._info.get("projectID")) or "global",
            "directory": self._view.cwd,
            "title": self._view.title,
            "version": text_of(self._info.get("version")),
            "time": {"created": self._now, "updated": self._now},
        }
        # Without its rules the session could do more than the original, and would be offered other tools.
        if rules := list_of(self._info.get("permission")):
            info["permission"] = rules
        yield b'{"info":' + orjson.dumps(info) + b',"messages":[\n'
        between = b""
        for message, parts in self._records():
            yield between + orjson.dumps({"info": message, "parts": parts}) + b"\n"
            between = b","
        yield b"]}\n"

    def _records(self) -> Iterator[Record]:
        """Yield the messages; those of the model have the results that follow them."""
        for number, (place, results) in enumerate(self._view.with_results()):
            if isinstance(place, ViewSummary):
                yield self._of_user(place.at, [_text(place.text, synthetic=True)])
            elif place.message.role != "tool":
                yield from self._message(place, results, is_first=number == 0)

    def _message(self, place: ViewMessage, results: list[ViewMessage], *, is_first: bool) -> Iterator[Record]:
        """Yield a message of the view, after one of the user if the view begins with the model."""
        at, (info, parts) = place.rows[0].at, self._original(place)
        asked = {"type": "compaction", "auto": True}
        if is_summary(info) and not is_first and not self._keeps_messages(info):
            yield self._of_user(at, [_text(place.message.text, synthetic=True)])
        elif is_summary(info) or place.message.role == "assistant":
            if is_summary(info):
                tail = {} if is_first else {"tail_start_id": self._first}
                yield self._of_user(at, [asked | tail])
            elif is_first:
                yield self._of_user(None, [_text(PRUNED_NOTE, synthetic=True)])
            yield from self._answer(_Answer(place, info, parts, results))
        else:
            own = [made for part in parts for made in _spoken(part)] if place.replacement is None else []
            yield self._of_user(at, own or [_text(place.message.text)], info)

    def _keeps_messages(self, summary: Row) -> bool:
        """Return whether the agent's own compaction kept messages, which are before it here too."""
        _, parts = self._messages.get(text_of(summary.get("parentID")), ({}, []))
        return any(part.get("tail_start_id") for part in parts)

    def _original(self, place: ViewMessage) -> Record:
        """Return the agent's own message, and those of its parts that belong to a message of the view."""
        name, _, rest = place.rows[0].id.partition("@")[0].partition(":")
        info, parts = self._messages.get(name, ({}, []))
        if info.get("role") != "assistant":
            return info, parts
        step = int(rest.partition(":")[0]) if rest[:1].isdigit() else 1
        return info, next((own for number, own in enumerate(steps(parts), 1) if number == step), [])

    def _of_user(self, at: str | None, parts: list[Row], info: Row | None = None) -> Record:
        own = info or {}
        self._asked = self._ids.new("msg")
        self._first = self._first or self._asked
        made: Row = {name: value for name, value in own.items() if name in ("system", "tools", "format")}
        made |= {
            "id": self._asked,
            "sessionID": self.session,
            "role": "user",
            "time": {"created": self._time(at)},
            "agent": optional(own.get("agent")) or self._agent,
            "model": _model(own) or self._model,
        }
        return made, self._owned(self._asked, parts)

    def _answer(self, answer: _Answer) -> Iterator[Record]:
        """Yield a message of the model, unless it is empty because its only content was a thought."""
        info, at = answer.info, self._time(answer.place.rows[0].at)
        content = answer.content(at, drops_thinking=self._view.drops_thinking)
        if not content:
            return
        own = self._ids.new("msg")
        agent = optional(info.get("agent")) or optional(info.get("mode")) or self._agent
        made: Row = {
            "id": own,
            "sessionID": self.session,
            "role": "assistant",
            "parentID": self._asked,
            **(_model(info) or self._model),
            "mode": optional(info.get("mode")) or agent,
            "agent": agent,
            "path": {
                "cwd": self._view.cwd,
                "root": optional(object_of(info.get("path")).get("root")) or self._view.cwd,
            },
            "cost": 0,
            "tokens": _NO_USAGE,
            "time": {"created": at, "completed": at},
            "finish": "tool-calls" if answer.place.message.calls else "stop",
        }
        if is_summary(info):
            made["summary"] = True
        yield made, self._owned(own, [{"type": "step-start"}, *content])

    def _owned(self, message: str, parts: list[Row]) -> list[Row]:
        """Return parts, and the files in their outputs, with new ids."""
        found: list[Row] = []
        for part in parts:
            own: Row = {"id": self._ids.new("prt"), "sessionID": self.session, "messageID": message}
            state = object_of(part.get("state"))
            files = [object_of(one) for one in list_of(state.get("attachments"))]
            held: Row = {"state": {**state, "attachments": self._owned(message, files)}} if files else {}
            found.append({**part, **held, **own})
        return found

    def _time(self, at: str | None) -> int:
        """Return the time of the next message in milliseconds: its own, never before the last or after now."""
        self._at = min(max(_milliseconds(at) if at else 0, self._at), self._now)
        return self._at


def _milliseconds(at: str) -> int:
    return round(datetime.fromisoformat(at).timestamp() * 1000)


def _model(info: Row) -> Row:
    """Return the ids of the provider and the model of a message; empty if it does not name both."""
    of = object_of(info.get("model")) or info
    found = {name: text_of(of.get(name)) for name in ("providerID", "modelID")}
    return found if all(found.values()) else {}


def _text(text: str, *, synthetic: bool = False) -> Row:
    return {"type": "text", "text": text, **({"synthetic": True} if synthetic else {})}


def _thought(part: Row, at: int) -> Row:
    """Return a thought with its signature."""
    metadata = object_of(part.get("metadata"))
    made = {"type": "reasoning", "text": text_of(part.get("text")), "time": {"start": at, "end": at}}
    return {**made, "metadata": metadata} if metadata else made


# Types of parts that are sent, besides texts -> the fields that a copy keeps.
_KEPT = {"file": ("mime", "filename", "url"), "subtask": ("prompt", "description", "agent", "command")}


def _spoken(part: Row) -> list[Row]:
    """Return a part of a message as it is in the copy; [] for one that is not sent."""
    kind = text_of(part.get("type"))
    if kind == "text":
        text, is_sent = text_of(part.get("text")), part.get("ignored") is not True
        return [_text(text, synthetic=part.get("synthetic") is True)] if text and is_sent else []
    if kind not in _KEPT:
        return []
    return [{"type": kind, **{name: part[name] for name in _KEPT[kind] if isinstance(part.get(name), str)}}]
