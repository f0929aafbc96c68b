"""Content of Claude Code's rows as parts of messages.

Only what is sent to the model is a message. Sent: user rows (also those marked isMeta, which are hidden only from the
user), assistant rows, `system` rows of subtype local_command, and attachments, which are sent as reminders. An
attachment of any type is sent if its row has the sent text, as newer versions write it (`rendered`); without that, if
its type is in `SENT_ATTACHMENTS`. Not sent: all other `system` rows (away_summary, turn_duration …), results of hooks
other than SessionStart and UserPromptSubmit, and every other type of row. `toolUseResult` repeats the content for the
screen and is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from scoring.formats import media_of, parts_in, said_and_shown, source_of
from scoring.messages import Media, Part, Reasoning, Text, ToolCall, ToolResult
from webapp.agents.reading.rows import dumps, lacking, list_of, media_from_base64, object_of, text_of

SENT_ATTACHMENTS = frozenset({
    "agent_listing_delta", "agent_mention", "async_hook_response", "auto_mode", "budget_usd",
    "compact_file_reference", "critical_system_reminder", "date_change", "deferred_tools_delta", "diagnostics",
    "directory", "edited_text_file", "file", "hook_additional_context", "hook_blocking_error",
    "hook_stopped_continuation", "hook_success", "invoked_skills", "mcp_instructions_delta", "mcp_resource",
    "nested_memory", "opened_file_in_ide", "output_style", "pdf_reference", "plan_file_reference", "plan_mode",
    "plan_mode_exit", "plan_mode_reentry", "queued_command", "read_truncation_notice", "relevant_memories",
    "selected_lines_in_ide", "silent_turn_reminder", "skill_listing", "task_reminder", "task_status",
    "team_context", "teammate_mailbox", "todo_reminder", "token_usage", "total_tokens_reminder",
    "ultra_effort_enter", "verify_plan_reminder",
})  # fmt: skip
# Attachments whose text is always in the file.
_WITH_TEXT = frozenset({
    "agent_listing_delta", "compact_file_reference", "date_change", "deferred_tools_delta", "edited_text_file", "file",
    "hook_additional_context", "hook_blocking_error", "hook_success", "invoked_skills", "mcp_instructions_delta",
    "nested_memory", "queued_command", "read_truncation_notice", "skill_listing", "task_reminder", "task_status",
    "todo_reminder",
})  # fmt: skip
UNSENT_ATTACHMENTS = frozenset({
    "advisor_stripped", "already_read_file", "async_hook_response_batch", "batching_reminder_sent",
    "command_permissions", "credential_org", "deferred_tools_record", "dynamic_skill", "edited_image_file",
    "goal_status", "goals", "hook_cancelled", "hook_deferred_tool", "hook_error_during_execution",
    "hook_non_blocking_error", "hook_permission_decision", "hook_system_message", "max_turns_reached",
    "progress_reminder_sent", "projects_thread_ask", "prompt_as_file", "prompt_render_point", "prompt_snapshot",
    "secondary_reminder_sent", "session_context", "session_cron_carry", "structured_output",
    "teammate_shutdown_batch", "thinking_drop", "thinking_stripped", "tool_host_result_lines", "tool_offer_record",
    "ultra_effort_exit", "whole_texts_withdrawn", "withheld_memory",
})  # fmt: skip
# The field of a row with the text of its attachment as it was sent.
RENDERED = "rendered"
_TEXT_KEYS = (
    "text", "content", "prompt", "snippet", "addedLines", "addedBlocks", "skills", "memories", "blockingError",
    "banner", "message", "description", "deltaSummary", "systemMessage", "newDate", "subject", "activeForm",
    "status", "filename", "path", "file", "files", "additionalContext", "response",
)  # fmt: skip
_NOT_OWN = re.compile(
    r"<(local-command-|bash-|task-notification|system-reminder|user-prompt-submit-hook|ide_|teammate-message)"
    r"|Caveat: The messages below|\[Request interrupted"
)
# The rules for a forked sub-agent, and the words before what it is to do.
_FORK_RULES, _FORK_DIRECTIVE = "fork-boilerplate", "Your directive: "
_UNSENT_MARKS = ("isVirtual", "isDisplayOnly", "isApiErrorMessage")
_DRAWN_WITHIN = 400  # at most this many characters of terminal control precede the heading
_RESULT_TYPES = ("tool_result", "mcp_tool_result")
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "text": ("text",), "thinking": ("thinking",), "redacted_thinking": ("data",), "image": ("source",),
    "document": ("source",),
}  # fmt: skip
_IN_RESULTS = frozenset({"text", "image", "document", "tool_reference", "search_result"})
_EMPTY_RESULT = frozenset({"type", "tool_use_id", "is_error", "cache_control"})


class Content:
    """The parts of one row: `parts`, and the unknown block types and blocks without their field in `unknown`."""

    def __init__(self, row_id: str, content: Any) -> None:
        self.parts: list[Part] = []
        self.unknown: list[str] = []
        self._row_id = row_id
        if isinstance(content, str):
            self._say(content)
        for number, block in enumerate(content if isinstance(content, list) else ()):
            if isinstance(block, str):
                self._say(block)
            elif isinstance(block, dict):
                self._block(number, block)
            else:
                self.unknown.append("block without type")

    def _say(self, text: str) -> None:
        if text:
            self.parts.append(Text(text))

    def _block(self, number: int, block: dict[str, Any]) -> None:
        kind = text_of(block.get("type"))
        self.unknown.extend(lacking(block, *_FIELDS.get(kind, ()), kind=f"block {kind}"))
        if kind == "text":
            self._say(text_of(block.get("text")))
        elif kind == "thinking":
            signature = len(text_of(block.get("signature")))
            self.parts.append(Reasoning(text_of(block.get("thinking")), signature))
        elif kind == "redacted_thinking":
            self.parts.append(Reasoning("", len(text_of(block.get("data")))))
        elif kind.endswith("tool_use"):
            self.unknown.extend(lacking(block, "name", "input", kind=f"block {kind}"))
            call_id = text_of(block.get("id")) or f"{self._row_id}:{number}"
            self.parts.append(ToolCall(call_id, text_of(block.get("name")), dumps(block.get("input", {}))))
        elif kind.endswith("tool_result"):
            if not block.keys() <= _EMPTY_RESULT:
                self.unknown.extend(lacking(block, "content", kind=f"block {kind}"))
            plain = kind in _RESULT_TYPES
            self.unknown.extend(_unknown_in(block.get("content")) if plain else ())
            self.parts.append(_result(block, plain))
        elif files := file_parts(block):
            self.parts.extend(files)
        elif kind != "fallback":  # a marker of the client: another model answered
            self.unknown.append(f"block {kind or 'without type'}")


def _result(block: dict[str, Any], plain: bool) -> ToolResult:
    content = block.get("content")
    parts = list(_result_parts(content)) if plain and isinstance(content, list) else parts_in(content)
    text, media = said_and_shown(parts)
    return ToolResult(text_of(block.get("tool_use_id")), text, "", block.get("is_error") is True, media)


def _result_parts(blocks: list[Any]) -> Iterator[Part]:
    for block in blocks:
        if not isinstance(block, dict):
            if block is not None:
                yield Text(block if isinstance(block, str) else dumps(block))
        elif block.get("type") == "text" and "text" in block:
            yield Text(text_of(block["text"]))
        elif files := file_parts(block):
            yield from files
        else:
            yield from parts_in(block)


def _unknown_in(content: Any) -> Iterator[str]:
    """Yield the unknown types of blocks in a result, as text for the user."""
    kinds = (text_of(block.get("type")) for block in list_of(content) if isinstance(block, dict))
    yield from (f"block {kind or 'without type'} in a result" for kind in kinds if kind not in _IN_RESULTS)


def file_parts(block: dict[str, Any]) -> list[Part]:
    """Return the file of an image or document block, as text if it contains text; empty for other blocks."""
    if block.get("type") not in ("image", "document"):
        return []
    source = source_of(block)
    return parts_in(block) if source is None else [media_of(source)]


def attachment_parts(row: dict[str, Any]) -> list[Part]:
    """Return the parts of a row's attachment that are sent; empty if there are none, or the file has no text."""
    attachment = object_of(row.get("attachment"))
    kind = text_of(attachment.get("type"))
    if is_users_own(attachment):
        return Content("", attachment.get("prompt")).parts
    if RENDERED in row:
        sent = list_of(row[RENDERED])
        return [part for one in sent for part in Content("", object_of(one).get("content")).parts]
    if kind not in SENT_ATTACHMENTS:
        return []
    if kind == "hook_success" and attachment.get("hookEvent") not in ("SessionStart", "UserPromptSubmit"):
        return []
    if kind == "queued_command":
        return Content("", attachment.get("prompt")).parts
    if kind == "hook_success":
        return [Text(text)] if (text := text_of(attachment.get("content"))) else []
    text = "\n".join(t for t in _texts({k: attachment.get(k) for k in _TEXT_KEYS}) if t)
    return [*([Text(text)] if text else []), *_picture(attachment)]


def _picture(attachment: Mapping[str, Any]) -> Iterator[Media]:
    """Yield the picture of a file that the user named."""
    content = object_of(attachment.get("content"))
    file = object_of(content.get("file"))
    if content.get("type") == "image" and (data := text_of(file.get("base64"))):
        yield media_from_base64(data, text_of(file.get("type")), "image")


def unread_attachment(row: dict[str, Any]) -> str | None:
    """Return the name of an attachment of an unknown type, or of one that lacks its text; else None.

    The type of a row that contains the sent text does not matter.
    """
    attachment = object_of(row.get("attachment"))
    kind = text_of(attachment.get("type"))
    if isinstance(row.get(RENDERED), list):
        return None
    if kind not in SENT_ATTACHMENTS and kind not in UNSENT_ATTACHMENTS:
        return f"attachment {kind or 'without type'}"
    if kind in _WITH_TEXT and attachment.keys().isdisjoint(_TEXT_KEYS):
        return f"attachment {kind} without text"
    return None


def is_users_own(attachment: dict[str, Any]) -> bool:
    """Return whether the user typed it while the agent was at work."""
    origin = object_of(attachment.get("origin")).get("kind")
    return (
        attachment.get("type") == "queued_command"
        and attachment.get("commandMode", "prompt") == "prompt"
        and attachment.get("isMeta") is not True
        and origin in (None, "human")
    )


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth < 6:
        for item in value:
            yield from _texts(item, depth + 1)
    elif isinstance(value, dict) and depth < 6:
        for key in _TEXT_KEYS:
            if key in value:
                yield from _texts(value[key], depth + 1)


def is_unsent(row: dict[str, Any]) -> bool:
    """Return whether a row of a kind that is sent is only for the screen.

    These are rows marked so, errors of the API, and the output of `/context`.
    """
    if any(row.get(mark) is True for mark in _UNSENT_MARKS):
        return True
    text = text_of(row.get("content")) or text_of(object_of(row.get("message")).get("content"))
    return text.startswith("<local-command-stdout>") and "Context Usage" in text[:_DRAWN_WITHIN]


def own_words(message: Any) -> str | None:
    """Return the user's own words in a row's content; None for bare commands, outputs and reminders.

    Of a forked sub-agent's first message they are what it is to do.
    """
    texts = [message] if isinstance(message, str) else [
        text_of(b.get("text")) for b in list_of(message) if isinstance(b, dict) and b.get("type") == "text"
    ]  # fmt: skip
    for text in map(str.strip, texts):
        if text.startswith("<command-"):
            name, args = _tag(text, "command-name"), _tag(text, "command-args")
            if args and name not in ("/clear", "/model", "/exit"):
                return f"{name} {args}"
        elif text.startswith(f"<{_FORK_RULES}>"):
            return text.rpartition(f"</{_FORK_RULES}>")[2].strip().removeprefix(_FORK_DIRECTIVE) or None
        elif text and not _NOT_OWN.match(text):
            return text
    return None


def _tag(text: str, name: str) -> str:
    return text.partition(f"<{name}>")[2].partition(f"</{name}>")[0].strip()
