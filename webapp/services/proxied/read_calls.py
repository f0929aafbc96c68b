"""A copy of a call as it is read: its session's name, its messages with their keys, its answer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import orjson

from scoring.errors import MalformedMessage, UnknownFormat
from scoring.formats import decode
from scoring.messages import Message
from webapp.agents.records import Usage
from webapp.bodies import ProxiedCall
from webapp.errors import Invalid, Malformed
from webapp.services.ingest.usage_reports import read_usage
from webapp.services.proxied.keys import (
    TRIGGER,
    Protocol,
    followed_answer,
    keys_of,
    prompts_of,
    protocol_of,
)
from webapp.services.proxied.replies import Reply, reply_of
from webapp.services.session.codec import json_bytes, read_json

SUCCESS = range(200, 300)


@dataclass(frozen=True)
class ReadCall:
    """A call as it was read: its messages with their keys, the other fields of its body, and its answer.

    `prompts` are the system messages before them.

    It reaches the sessions of `user` alone, "" for every session. `follows` names what it continues without repeating
    it: the id of an answer, or a conversation with the time of the call; "" where it holds the whole conversation.
    """

    call: ProxiedCall
    protocol: Protocol
    body: Mapping[str, Any]
    prompts: Sequence[Any]
    items: Sequence[Any]
    keys: Sequence[str]
    reply: Reply | None
    user: str
    follows: str

    @property
    def conversation(self) -> str:
        """Return the id of the conversation that the provider keeps, to which the call adds; "" for none."""
        return _conversation(self.protocol, self.body)

    def after(self, followed: str) -> ReadCall:
        """Return the same call as one that follows `followed`, on which its keys depend."""
        return replace(self, follows=followed, keys=_keys_after(followed, self.items))

    @property
    def succeeded(self) -> bool:
        """Return whether the provider answered without an error, so that the call is part of the conversation."""
        return self.call.status in SUCCESS

    @property
    def exchanged(self) -> Sequence[Any]:
        """Return what was sent and answered, as the items of the next call would have it."""
        return [*self.items, *(self.reply.messages if self.reply is not None else ())]

    @property
    def model(self) -> str | None:
        """Return the model that answered, else the requested one."""
        asked = self.body.get("model")
        return (self.reply.model if self.reply else None) or (asked if isinstance(asked, str) else None)

    @property
    def tools(self) -> list[Any]:
        """Return the tool definitions."""
        found = self.body.get("tools")
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []

    @property
    def inherits(self) -> bool:
        """Return whether the call can leave out prompt and tools: one of Anthropic's threads, or one that compacts."""
        return self.protocol.compacts or (self.protocol.format == "anthropic" and bool(self.follows))

    @cached_property
    def tools_digest(self) -> str:
        """Return what identifies the tool definitions; "" for none."""
        return hashlib.blake2b(json_bytes(self.tools), digest_size=8).hexdigest() if self.tools else ""

    @cached_property
    def copy(self) -> str:
        """Return what identifies this copy: the time of the call, its last message, and its answer."""
        call = self.call
        said = f"{call.at} {call.whole} {self.keys[-1]} {call.answer}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(said, digest_size=8).hexdigest()

    @cached_property
    def reply_keys(self) -> list[str]:
        """Return the keys of the answer's messages."""
        if self.reply is None:
            return []
        if self.protocol.compacts:
            return keys_of(self.reply.messages)
        if self.follows:
            return _keys_after(self.follows, [*self.items, *self.reply.messages])[len(self.items) :]
        return keys_of([*self.items, *self.reply.messages], self.keys)[len(self.items) :]


def read_call(call: ProxiedCall, user: str = "") -> ReadCall:
    """Return what a call of a user and its answer say.

    Raises:
        Invalid: such a call holds no conversation.
        Malformed: its request cannot be read.
    """
    protocol = protocol_of(call.provider, call.path)
    if protocol is None:
        raise Invalid(f"a call of {call.provider}{call.path} holds no conversation", "path")
    try:
        body = read_json(call.request.encode("utf-8", "surrogatepass"))
    except orjson.JSONDecodeError as error:
        raise Malformed(f"the request of a call is not JSON: {error}") from None
    items = body.get(protocol.list_name) if isinstance(body, dict) else None
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    if protocol.compacts and isinstance(body, dict) and isinstance(items, list | None):
        items = [*(items or ()), TRIGGER]  # alone for a history at the provider
    if not isinstance(items, list) or not items:
        raise Malformed(f"the request of a call has no list {protocol.list_name}")
    reply = reply_of(protocol.format, call.answer, whole=call.whole) if call.status in SUCCESS else None
    follows = followed_answer(protocol.format, body)
    prompts = 0 if follows or _conversation(protocol, body) else prompts_of(items)
    items, before = items[prompts:], items[:prompts]
    try:
        return ReadCall(
            call=call,
            protocol=protocol,
            body=body,
            prompts=before,
            items=items,
            keys=_keys_after(follows, items),
            reply=reply,
            user=user,
            follows=follows,
        )
    except ValueError as error:
        raise Malformed(f"the request of a call cannot be read: {error}") from None


def _conversation(protocol: Protocol, body: Mapping[str, Any]) -> str:
    found = body.get("conversation") if protocol.format == "responses" else None
    found = found.get("id") if isinstance(found, Mapping) else found
    return found if isinstance(found, str) else ""


def _keys_after(followed: str, items: Sequence[Any]) -> list[str]:
    """Return the keys of a request's items. After a history that the provider keeps, its last answer is a part of them.

    Raises:
        ValueError: an item is nested too deeply.
    """
    before = [{"previous_response_id": followed}] if followed else []
    return keys_of([*before, *items])[len(before) :]


def message_of(item: Any, wire_format: str) -> Message | None:
    """Return the message of a wire message; None if it cannot be read."""
    try:
        return next(iter(decode([item], wire_format).messages), None)
    except (MalformedMessage, UnknownFormat):
        return None


def words_of(message: Message) -> tuple[str, tuple[str, ...]]:
    """Return the lines of an answer, sorted, and the ids of its calls, independent of its encoding.

    An SDK sends the result of a provider's tool back with its fields in another order.
    """
    lines = sorted(message.text.strip().split("\n"))
    return "\n".join(lines), tuple(call.id for call in message.calls)


def usage_of(reply: Reply | None, answer: Iterable[Message] = ()) -> Usage | None:
    """Return the real usage of a call, None if the provider reports none."""
    try:
        return read_usage(reply.usage, answer) if reply is not None else None
    except Invalid:
        return None
