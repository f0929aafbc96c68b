"""Sessions for browser tests: transcripts written line by line as Claude Code does, and message lists over the API."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from tests.servers import Server
from tests.webapp.building import START, call, entries, followed, result, user
from webapp.agents.records import Compaction
from webapp.bodies import ProxiedCall
from webapp.services.session.times import now_ms

MODEL = "claude-sonnet-4-5"


class ClaudeFolder:
    """A folder with transcripts as CLAUDE_CONFIG_DIR names it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "projects" / "-home-me-app").mkdir(parents=True)

    def transcript(self, cwd: str = "/home/me/app", model: str = MODEL) -> Transcript:
        """Return the transcript of a new session; its file appears with the first line."""
        session = str(uuid.uuid4())
        return Transcript(self.root / "projects" / "-home-me-app" / f"{session}.jsonl", session, cwd, model)


class Transcript:
    """The transcript file of one session, written line by line."""

    def __init__(self, path: Path, session: str, cwd: str, model: str = MODEL) -> None:
        self.path, self.session, self.cwd, self.model = path, session, cwd, model
        self._parent: str | None = None

    def _write(self, kind: str, message: dict[str, Any], **more: Any) -> None:
        row = {
            "type": kind, "uuid": str(uuid.uuid4()), "parentUuid": self._parent, "sessionId": self.session,
            "isSidechain": False, "userType": "external", "cwd": self.cwd, "version": "2.1.0",
            "timestamp": datetime.now(UTC).isoformat().replace("+00:00", "Z"), "message": message, **more,
        }  # fmt: skip
        self._parent = row["uuid"]
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def user(self, text: str) -> None:
        """Append a message of the user."""
        self._write("user", {"role": "user", "content": text})

    def assistant(self, text: str, tokens: int = 0) -> None:
        """Append an answer; `tokens` is the provider's report of the call's input."""
        self._say([{"type": "text", "text": text}], tokens)

    def think(self, text: str, tokens: int = 0) -> None:
        """Append a signed thought."""
        self._say([{"type": "thinking", "thinking": text, "signature": "c2lnbmVk"}], tokens)

    def call(self, tool: str, arguments: dict[str, Any], result: str, tokens: int = 0) -> str:
        """Append a tool call and its result; return the call's id."""
        name = f"toolu_{uuid.uuid4().hex[:20]}"
        self._say([{"type": "tool_use", "id": name, "name": tool, "input": arguments}], tokens)
        self._write(
            "user",
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": name, "content": result}]},
        )
        return name

    def clear(self, *calls: str) -> None:
        """Record that the outputs of these calls are no longer sent, as newer versions do."""
        gone = "[Old tool result content cleared]"
        cut = {"type": "tool_results_cut", "callIds": calls, "standIn": gone, "roughTokens": 900 * len(calls)}
        self._write("attachment", {}, attachment=cut)

    @property
    def last(self) -> str | None:
        """The name of the last row, to go back to later."""
        return self._parent

    def go_back(self, row: str | None) -> None:
        """Let the next row follow `row`, as a rewind and a fork of the conversation do."""
        self._parent = row

    def compact(self, summary: str, tokens: int) -> None:
        """Replace the context of `tokens` by a summary, as the agent's own compaction does."""
        metadata = {"trigger": "auto", "preTokens": tokens}
        self._write("system", {}, subtype="compact_boundary", compactMetadata=metadata)
        self._write("user", {"role": "user", "content": summary}, isCompactSummary=True)

    def sub_agent(self, text: str) -> None:
        """Write the file of a sub-agent, idle for a year: its task and its answer."""
        agent, folder = uuid.uuid4().hex[:8], self.path.with_suffix("") / "subagents"
        folder.mkdir(parents=True, exist_ok=True)
        rows = [
            {
                "type": kind, "uuid": str(uuid.uuid4()), "parentUuid": None, "sessionId": self.session,
                "isSidechain": True, "agentId": agent, "timestamp": f"2025-01-01T00:00:0{i}Z",
                "message": {"role": kind, "content": said, **({"model": MODEL} if i else {})},
            }
            for i, (kind, said) in enumerate((("user", text), ("assistant", "Nothing there.")))
        ]  # fmt: skip
        (folder / f"agent-{agent}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def _say(self, content: list[dict[str, Any]], tokens: int) -> None:
        usage = {"input_tokens": tokens, "output_tokens": 20} if tokens else None
        message = {
            "id": f"msg_{uuid.uuid4().hex[:20]}", "type": "message", "role": "assistant", "model": self.model,
            "content": content, **({"usage": usage} if usage else {}),
        }  # fmt: skip
        self._write("assistant", message, requestId=f"req_{uuid.uuid4().hex[:12]}")


@cache
def words(count: int, seed: str = "word") -> str:
    """Return text of about `count` tokens."""
    return " ".join(f"{seed} {i % 97}" for i in range(count // 3))


def managed(server: Server, messages: int, tokens: int = 1_500, **given: Any) -> str:
    """Create a session with alternating messages of about `tokens` each and a window of 100,000; return its id.

    One message in three holds an error, so that scores differ.
    """
    session = server.app.new_sessions.create(
        **{"title": "A managed session", "model": "nobody-knows-this", **given}
    )
    feed(server, session.id, messages, tokens)
    found: str = session.id
    return found


def feed(server: Server, session: str, messages: int, tokens: int = 1_500, start: int = 0) -> None:
    """Append messages to a session."""
    rows = [
        {
            "role": ("user", "assistant")[i % 2],
            "content": f"message {i}" + (" ERROR: failed" if i % 3 == 0 else "") + " " + words(tokens),
        }
        for i in range(start, start + messages)
    ]
    server.app.ingest.append_messages(session, rows)


def proxied(server: Server, messages: int) -> str:
    """Create a session from calls through the proxy; return its id."""
    said: list[Any] = []
    for number in range(messages // 2):
        said.append({"role": "user", "content": f"Question {number}. {words(60)}"})
        answer = {"role": "assistant", "content": f"Answer {number}. {words(90)}"}
        document = {"choices": [{"message": answer, "finish_reason": "stop"}], "model": "gpt-5.1"}
        usage = {"prompt_tokens": 2_000 + 400 * number, "completion_tokens": 150}
        call = ProxiedCall(
            provider="openai", path="/v1/chat/completions", session="proxy-shop", parent=None, status=200,
            request=json.dumps({"model": "gpt-5.1", "messages": said}),
            answer=json.dumps({**document, "usage": usage, "id": f"c{number}"}), whole=True,
            at=now_ms(), applied="", reason="", subscription=False,
        )  # fmt: skip
        server.app.calls.receive(call)
        said.append(answer)
    return "proxy-shop"


def reading(server: Server, reads: int, start: int = 0, session: str = "reader") -> None:
    """Append turns that read the same file again."""
    for n in range(start, start + reads):
        asked = {"name": "read_file", "arguments": json.dumps({"path": "docs/spec.md"})}
        call = {"id": f"c{n}", "type": "function", "function": asked}
        rows = [
            {"role": "user", "content": f"question {n}"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": f"version {n} " + words(9_000)},
            {"role": "assistant", "content": f"answer {n}"},
        ]
        server.app.ingest.append_messages(session, rows)


def compacted(server: Server) -> str:
    """Create a session of an agent that reads a file again after a compaction; return its id."""
    read = '{"file_path": "src/login.py"}'
    followed(server.app, user("Fix the login race"), call("a", "Read", read), result("a", words(20)))
    server.app.ingest.append_records("s", [Compaction(START + timedelta(seconds=5), "auto", 50_000, "c")])
    steps = [call("b", "Read", read), result("b", words(20))]
    for step in range(20):
        made = call(f"c{step}", arguments=json.dumps({"command": f"make part-{step}"}))
        steps += [made, result(f"c{step}", "done")]
    server.app.ingest.append_records("s", entries(*steps, start=10))
    server.app.aftermaths.count("s")
    return "s"
