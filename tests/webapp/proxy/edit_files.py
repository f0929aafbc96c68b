"""Edit scripts in the proxy's folder, and a list that they shorten."""

from __future__ import annotations

from typing import Any

from webapp.agents.hook_runtime import hints
from webapp.services.proxied.keys import keys_of


def user(text: str) -> Any:
    """Return a message of the user."""
    return {"role": "user", "content": text}


LONG = [
    user("a"),
    {"role": "assistant", "content": "b"},
    user("c" * 500),
    {"role": "assistant", "content": "d"},
]


def script(name: str, messages: list[Any], *dropped: int, prunes: bool = True, version: str = "1") -> None:
    """Write an edit script that drops messages."""
    keys = keys_of(messages)
    edits = {keys[i]: {"drop": True} for i in dropped}
    said = {
        "version": version,
        "edits": edits,
        "prunes": prunes,
        "session": f"proxy-{name}",
        "tail": keys[-1],
    }
    hints.write(f"proxy-{name}", hints.EDITS, said, hints.proxy_folder())
