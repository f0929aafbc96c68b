"""Claude Code's rows: recognised, dropped, and assigned to API calls with their usage."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

from webapp.agents.iterations import cache_writes, with_iterations
from webapp.agents.reading.rows import (
    count_of,
    lacking,
    list_of,
    object_of,
    optional,
    text_of,
    uncounted_cache,
    uncounted_input,
)
from webapp.agents.records import Usage, tier_of

# Rows for the agent's own use: known, never sent, not part of the tree.
OWN_ROWS = frozenset({
    "agent-color", "agent-name", "agent-setting", "api-request", "api-request-blob", "api-request-resumed",
    "api-request-shape", "artifact-autoreact-ledger", "artifact-comment-monitor", "atis-latch",
    "attribution-snapshot", "bridge-session", "context-collapse-snapshot",
    "continued-in", "cost-state", "data-flow-incomplete", "data-flow-records", "derived-from", "dev-mods",
    "ended-by-model", "file-history-delta", "file-history-snapshot", "frame-link", "history-suppression",
    "host-row", "hybrid-organization", "isolation-latch", "last-prompt", "marble-origami-snapshot", "memory-mode",
    "mode", "observer-ref",
    "permission-mode", "pr-link", "queue-operation", "relocated", "repl-mode", "result", "resume-head-vouch",
    "session-owner", "speculation-accept", "started", "tag", "task-summary", "tools-used", "worktree-state",
})  # fmt: skip

# Subtypes of `system` rows that are notes for the user; "" is that of early versions.
OWN_NOTES = frozenset({
    "", "agents_killed", "api_error", "api_metrics", "api_refusal", "away_summary", "bridge_status", "error",
    "file_snapshot", "informational", "init", "memory_saved", "model_consent_fallback", "model_fallback",
    "model_refusal_fallback", "model_refusal_no_fallback", "permission_retry", "read_divider", "rewind_stand_in",
    "scheduled_task_fire", "session_start", "stop_hook_summary", "thinking", "turn_duration",
})  # fmt: skip

# Keys of its rows. Another agent's sessions have ids too.
_OWN_KEYS = frozenset({"uuid", "parentUuid", "leafUuid", "isSidechain", "snapshot"})


def as_read_back(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as the agent reads it back.

    Newer versions write what is said in a voice call as a `system` row made of a message or an attachment, and write
    a message again, under another uuid, when the row of its own is lost (both seen in the program of 2.1.332).
    """
    if row.get("subtype") != "voice_call_talk" or not isinstance(row.get("content"), str):
        return row
    plain = {key: value for key, value in row.items() if key not in ("subtype", "content", "blocks", "fold")}
    said = row["blocks"] if isinstance(row.get("blocks"), list) else row["content"]
    fold = row.get("fold")
    if not isinstance(fold, dict):
        return {**plain, "type": "user", "message": {"role": "user", "content": said}}
    sent = {key: value for key, value in fold.items() if key != "command" and value is not None}
    command = {
        **object_of(fold.get("command")),
        "type": "queued_command",
        "prompt": said,
        "origin": row.get("origin"),
    }
    return {**sent, **plain, "type": "attachment", "attachment": command}


def unread_kind(kind: str, row: dict[str, Any]) -> str | None:
    """Return the name of an unknown type of row; None for rows that are known not to be messages."""
    if kind == "system":
        subtype = text_of(row.get("subtype"))
        if not subtype and "compactMetadata" in row:
            return "system row without subtype"
        return None if subtype in OWN_NOTES else f"system {subtype}"
    return None if kind == "progress" else kind or "row without type"


def unread_fields(row: dict[str, Any], message: dict[str, Any]) -> Iterator[str]:
    """Yield the required fields that a row with a message lacks."""
    kind = text_of(row.get("type"))
    yield from lacking(message, "content", kind=f"{kind} row")
    usage = message.get("usage")
    if isinstance(usage, dict) and usage:
        yield from uncounted_input(usage, "input_tokens")
        yield from uncounted_cache(usage, "cache_read_input_tokens", "cache_creation_input_tokens")
    elif any("input_tokens" in value for value in message.values() if isinstance(value, dict)):
        yield f"{kind} row without usage"


def match_score(row: dict[str, Any]) -> int:
    """Return how surely a row is this agent's: 2 by a field of it alone, 1 by a shared one, 0 without any."""
    return 2 if _OWN_KEYS & row.keys() else int("sessionId" in row)


def dropped(row: dict[str, Any], message: dict[str, Any], calls: Container[str]) -> str | None:
    """Return why an assistant's row is not a message; None if it is one. `calls` had a message before."""
    usage = message.get("usage")
    if not isinstance(usage, dict) or usage_of(usage) is not None:
        return None
    blocks = [b for b in list_of(message.get("content")) if isinstance(b, dict)]
    has_call = any(text_of(b.get("type")).endswith("tool_use") for b in blocks)
    is_sent = row.get("isApiErrorMessage") is False  # on the client's own words
    known = has_call or is_sent or model_of(message) is not None or call_key(row, message) in calls
    return None if known else "assistant row without usage"


def model_of(message: dict[str, Any]) -> str | None:
    """Return the model that wrote a message; None if it is not named, or the client wrote it (as "<synthetic>")."""
    return None if is_clients_own(message) else optional(message.get("model"))


def is_clients_own(message: dict[str, Any]) -> bool:
    """Return whether the client wrote an assistant's message itself."""
    return text_of(message.get("model")).startswith("<")


def is_notification(row: dict[str, Any]) -> bool:
    """Return whether a user row is the client's own notice that a task ended."""
    return object_of(row.get("origin")).get("kind") == "task-notification"


def call_key(row: dict[str, Any], message: dict[str, Any]) -> str:
    """Return the key of an API call: message.id and requestId. A row without either is a separate call."""
    ids = [optional(message.get("id")), optional(row.get("requestId"))]
    if ids[0] is None:
        return text_of(row.get("uuid"))
    return ":".join(i for i in ids if i)


def forked_from(row: dict[str, Any]) -> str | None:
    """Return the session that a fork's row is a copy from, as far as the row says so; None for the fork's own rows.

    Of rows that `--fork-session` copies, only answers say who asked, in newer versions alone (in 2.1.332, not in
    2.1.197).
    """
    asked = optional(row.get("requestSessionId"))
    copied = asked if asked != row.get("sessionId") else None
    return optional(object_of(row.get("forkedFrom")).get("sessionId")) or copied


def usage_of(usage: dict[str, Any], model: str | None = None) -> Usage | None:
    """Return the usage of a call by `model`; None if nothing was used."""
    read = count_of(usage.get("cache_read_input_tokens"))
    written, hour = cache_writes(usage)
    total = count_of(usage.get("input_tokens")) + read + written
    output = count_of(usage.get("output_tokens"))
    thought = count_of(object_of(usage.get("output_tokens_details")).get("thinking_tokens"))
    if not total and not output:
        return None
    found = Usage(total, output, read, written, thought, cache_write_hour_tokens=hour, tier=tier_of(usage))
    return with_iterations(found, usage, model)
