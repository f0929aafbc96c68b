"""OpenCode 2: its tables, read in the form of the first generation's messages and parts.

Sessions are in `session_v2` (in some builds in `session`), messages in `session_message` by their `seq`, each with
all its content as JSON; there are no parts. Rows change in place. A compaction is a row with the summary, and
everything before it leaves the context.
"""

from __future__ import annotations

from typing import Any

from webapp.agents.reading.databases import ForeignTables
from webapp.agents.reading.rows import count_of, dumps, list_of, object_of, text_of

SESSIONS, MESSAGES = "session_v2", "session_message"
# Rows for the client that are not sent to the model.
_UNSENT = frozenset({"model-switched", "agent-switched", "location-switched", "idle"})

Row = dict[str, Any]


def rows_of(tables: ForeignTables, session: str) -> list[Row]:
    """Return the messages of a session in order; none for a session of the first generation."""
    rows = tables.rows(MESSAGES, {"session_id": session})
    return sorted(rows, key=lambda row: (count_of(row.get("seq")), text_of(row.get("id"))))


def mark_of(row: Row) -> list[int]:
    """Return a value that changes whenever the row does."""
    return [count_of(row.get("time_updated")), count_of(row.get("seq"))]


def as_first(row: Row, data: Row) -> tuple[Row, list[Row]]:
    """Return a row with its content as a message with parts."""
    kind = text_of(row.get("type")) or text_of(data.get("type"))
    time = object_of(data.get("time")) or {"created": row.get("time_created")}
    message: Row = {"id": row.get("id"), "role": "user", "time": time}
    if kind == "assistant":
        model = object_of(data.get("model"))
        tokens = _with_total(object_of(data.get("tokens")))
        message |= {"role": "assistant", "modelID": model.get("id"), "tokens": tokens}
        return message, [_part(object_of(one)) for one in list_of(data.get("content"))]
    if kind == "compaction":
        message |= {"role": "assistant", "summary": True, "auto": data.get("reason") == "auto"}
        said = [text_of(data.get("summary")), text_of(data.get("recent"))]
        return message, [_text("\n\n".join(filter(None, said)))] if said[0] else []
    if kind == "user":
        return message, [_text(text_of(data.get("text"))), *map(_file, list_of(data.get("files")))]
    if kind == "shell":
        return message, [
            _text(f"{text_of(data.get('command'))}\n{text_of(data.get('output'))}", synthetic=True)
        ]
    if kind in ("system", "synthetic"):
        return message, [_text(text_of(data.get("text")), synthetic=True)]
    return message, [{"type": "step-start" if kind in _UNSENT else f"of type {kind or 'none'}"}]


def _with_total(tokens: Row) -> Row:
    """Return the tokens of a call with their total; in these tables the output never includes the reasoning."""
    cache = object_of(tokens.get("cache"))
    parts = [tokens.get(name) for name in ("input", "output", "reasoning")]
    return {**tokens, "total": sum(map(count_of, [*parts, cache.get("read"), cache.get("write")]))}


def _text(text: str, *, synthetic: bool = False) -> Row:
    return {"type": "text", "text": text, "synthetic": synthetic}


def _file(file: Any) -> Row:
    about = object_of(file)
    name = text_of(about.get("name")) or text_of(about.get("filename"))
    url, mime = text_of(about.get("uri")) or text_of(about.get("url")), text_of(about.get("mime"))
    return {"type": "file", "url": url, "filename": name, "mime": mime}


def _part(content: Row) -> Row:
    """Return a block of an answer as a part; a tool's results can be text, blocks, or neither."""
    if content.get("type") != "tool":
        return content
    state = object_of(content.get("state"))
    texts = [text_of(object_of(one).get("text")) for one in list_of(state.get("content"))]
    output = state.get("output")
    if not isinstance(output, str):
        output = "\n".join(filter(None, texts)) or ("" if output is None else dumps(output))
    error = state.get("error")
    said = error if isinstance(error, str) else text_of(object_of(error).get("message")) or output
    given = state.get("input")
    final_state = {**state, "output": output, "error": said, "input": {} if given is None else given}
    name = content.get("name") or content.get("tool")
    return {
        "type": "tool",
        "tool": name,
        "callID": content.get("callID") or content.get("id"),
        "state": final_state,
    }
