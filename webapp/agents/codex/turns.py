"""The user's words among those of Codex, and the turns that a rollback removes.

Codex writes messages of role user of its own: the environment, AGENTS.md, skills, notices. Newer versions name the kind
of each content block (`content_item_kinds`); older ones, and blocks of kind "unknown", are known by their tags.

A rollback removes the last turns. As in Codex, a turn begins with a message of role user that has none of those tags
(also a picture alone, or a compaction's summary) or with a message of another agent, and the changes of context that
were written directly before it belong to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from webapp.agents.reading.rows import list_of, object_of, parse, text_of

# The beginning of Codex's introduction to the summary of a compaction.
SUMMARY_START = "Another language model started to solve this problem"
# The beginnings of what Codex writes as turns of their own: a summary, the results of a review.
_OWN_TURNS = (SUMMARY_START, "<user_action>")

_TAGGED = re.compile(
    r"\s*(<(environment_context|user_instructions|turn_aborted|skill|permissions|user_shell_command|apps_instructions"
    r"|collaboration_mode|subagent_notification|personality|plugins_instructions|model_switch|environments|memor"
    r"|codex_internal_context|goal_context|hook_prompt|extension_context|external_|application_context|subagents"
    r"|recommended_plugins)|# AGENTS\.md instructions"
    r"|Warning: (The maximum number of unified exec processes you can keep open is|apply_patch was requested via "
    r"|Your account was flagged for potentially high-risk cyber activity))",
    re.IGNORECASE,
)
_DEVELOPERS = re.compile(
    r"\s*<(permissions instructions|model_switch|managed_developer_instructions|apps_instructions|collaboration_mode"
    r"|multi_agent_mode|environments_instructions|git_attribution|plugins_instructions|realtime_conversation"
    r"|skills_instructions|tools|personality_spec|token_budget|context_window|context_window_guidance"
    r"|rollout_budget)>",
    re.IGNORECASE,
)
_REQUEST = re.compile(r"^## My request for Codex:\s*", re.MULTILINE)
_UNNAMED = frozenset({"", "unknown"})
# Notices in place of a picture or sound of the user.
_IN_PLACE = frozenset({"images.preparation_error", "images.unsupported", "audio.unsupported"})


class Turns(NamedTuple):
    """The place of an item in the turns, and the user's own words in it, for a title.

    It `begins` a turn, or `prepares` one: written for the turn after it, it leaves the context with it.
    """

    words: str | None = None
    begins: bool = False
    prepares: bool = False


def turns_of(item: dict[str, Any]) -> Turns:
    """Return the place of an item of the history in the turns."""
    if text_of(item.get("type")) == "agent_message":
        return Turns(begins=True)
    blocks, role = list(_blocks(item)), text_of(item.get("role"))
    if role == "user":
        tagged = any(_TAGGED.match(block.text) for block in blocks)
        context = tagged and not any(block.kind.startswith("user.") for block in blocks)
        return Turns(_words(blocks), begins=not context, prepares=context)
    if role == "assistant":
        return Turns(begins=_is_instruction(blocks))
    return Turns(prepares=role == "developer" and any(_DEVELOPERS.match(block.text) for block in blocks))


def content_of(item: dict[str, Any]) -> Any:
    """Return the content of a message, under either of its names."""
    return item.get("content") if item.get("content") is not None else item.get("message")


def is_injected(item: dict[str, Any]) -> bool:
    """Return whether Codex wrote all texts of a message of role user."""
    texts = [block for block in _blocks(item) if block.text]
    return bool(texts) and text_of(item.get("role")) == "user" and all(map(_is_codex, texts))


def rolled_back(history: Sequence[Turns], turns: int) -> int | None:
    """Return the number of items that are left without the last turns; None if there are no turns to remove."""
    starts = [number for number, item in enumerate(history) if item.begins]
    if not turns or not starts:
        return None
    cut = starts[max(0, len(starts) - turns)]
    while cut > starts[0] and history[cut - 1].prepares:
        cut -= 1
    return cut


class _Block(NamedTuple):
    text: str  # "" for a picture or sound
    kind: str  # "" if the item does not name it


def _blocks(item: dict[str, Any]) -> Iterator[_Block]:
    """Yield the content blocks of a message; an item of another type has none."""
    if text_of(item.get("type")) not in ("", "message"):
        return
    content = content_of(item)
    blocks = [{"text": content}] if isinstance(content, str) else [object_of(b) for b in list_of(content)]
    passed_on = object_of(item.get("internal_chat_message_metadata_passthrough"))
    kinds = [text_of(kind) for kind in list_of(passed_on.get("content_item_kinds"))]
    if len(kinds) != len(blocks):
        kinds = [""] * len(blocks)
    for block, kind in zip(blocks, kinds, strict=True):
        yield _Block(text_of(block.get("text")), kind)


def _is_codex(block: _Block) -> bool:
    if block.kind in _UNNAMED:
        return bool(_TAGGED.match(block.text)) or block.text.lstrip().startswith(_OWN_TURNS)
    return not (block.kind.startswith("user.") or block.kind in _IN_PLACE)


def _words(blocks: list[_Block]) -> str | None:
    said = (block.text for block in blocks if block.text.strip() and not _is_codex(block))
    first = next(said, None)
    return None if first is None else _REQUEST.split(first)[-1]


def _is_instruction(blocks: list[_Block]) -> bool:
    """Return whether an assistant's message is one to another agent, which older versions wrote as JSON."""
    if len(blocks) != 1 or not blocks[0].text.startswith("{"):
        return False
    said = object_of(parse(blocks[0].text.encode()))
    names = ("author", "recipient", "content")
    return isinstance(said.get("trigger_turn"), bool) and all(isinstance(said.get(k), str) for k in names)
