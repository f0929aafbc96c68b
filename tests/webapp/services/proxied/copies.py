"""Copies of calls as the proxy sends them to the server."""

from __future__ import annotations

import json
from typing import Any

from tests.webapp.promises import Client


def user(text: str) -> Any:
    """Return a message of the user."""
    return {"role": "user", "content": text}


def said(text: str) -> Any:
    """Return an answer."""
    return {"role": "assistant", "content": text}


def hand_over(client: Client, path: str, asked: Any, answer: Any, session: str, **more: Any) -> Any:
    """Send the copy of a call; return the server's answer."""
    call = {
        "provider": "openai", "path": path, "session": session, "parent": None, "status": 200,
        "request": json.dumps(asked), "answer": answer if isinstance(answer, str) else json.dumps(answer),
        "whole": True, "at": 1_780_000_000_000, "applied": "", "reason": "", "subscription": False, **more,
    }  # fmt: skip
    return client.post("/api/proxy/calls", json=call)


def take(
    client: Client, messages: list[Any], answer: str = "Yes.", session: str = "proxy-s", **more: Any
) -> Any:
    """Send the copy of a chat-completions call; return the server's answer."""
    fields: dict[str, Any] = {name: more.pop(name) for name in ("tools", "model") if name in more}
    usage = more.pop("usage", {"prompt_tokens": 100, "completion_tokens": 10})
    name = more.pop("id", f"c{len(messages)}{answer}")
    document: dict[str, Any] = {"id": name, "model": "gpt-5.1", "usage": usage}
    document["choices"] = [{"message": said(answer), "finish_reason": "stop"}]
    asked: dict[str, Any] = {"model": "gpt-5.1", "messages": messages, **fields}
    return hand_over(client, "/v1/chat/completions", asked, document, session, **more)
