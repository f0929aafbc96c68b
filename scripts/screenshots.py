"""Takes the pictures in the documentation from the real pages, with made-up sessions that are followed like real ones.

Writes transcripts of an invented project into a folder of its own, serves them, and photographs overview, session,
plan and settings in both themes. No file of the user is read or shown. Pictures go to `docs/pictures/`.
"""

from __future__ import annotations

import json
import sys
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from scoring.messages import Message, Text, ToolCall, ToolResult
from scripts import browser
from tests.servers import running_server
from webapp.services.catalog.demo_script import steps

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
# The part of each call that an agent writes to no transcript: its system prompt and tools.
UNSEEN_TOKENS = 12_400
CHARS_PER_TOKEN = 3.4
SECONDS_PER_STEP = 41
CUT_TO = "20"
SIZE: Any = {"width": 1280, "height": 1000}
# High enough that the plan is seen down to its button.
PLAN_SIZE: Any = {"width": 1280, "height": 1380}


@dataclass(frozen=True)
class Story:
    """One made-up session: the user's request, its progress, and its last activity."""

    title: str
    model: str
    seed: int
    length: int
    minutes_ago: int
    parent: str | None = None
    id: str = ""


PARENT = "5c1f0a52-6f0e-4a55-9f27-0c6d8f6f6a11"
STORIES = (
    Story("Move billing to the new payments API", "claude-sonnet-4-5", 7, 141, 0, id=PARENT),
    Story("Where are tokens refreshed?", "claude-haiku-4-5", 3, 18, 2, parent=PARENT),
    Story("Fix the login race after a refresh", "claude-opus-4-5", 11, 72, 1),
    Story("Plan routes in a stable order", "claude-sonnet-4-5", 23, 41, 95),
    Story("List depots with free slots", "claude-sonnet-4-5", 31, 15, 60 * 26),
)


def write_story(root: Path, story: Story) -> None:
    """Write one session as Claude Code would have."""
    session = story.id or str(uuid.uuid5(uuid.NAMESPACE_URL, story.title))
    project = root / "projects" / "-home-me-orchard"
    if story.parent:
        agent = uuid.uuid5(uuid.NAMESPACE_URL, story.title).hex[:16]
        path = project / story.parent / "subagents" / f"agent-{agent}.jsonl"
        more = {"sessionId": story.parent, "isSidechain": True, "agentId": agent}
        path.parent.mkdir(parents=True, exist_ok=True)
        meta = {"agentType": "explore", "description": story.title}
        path.with_suffix(".meta.json").write_text(json.dumps(meta), encoding="utf-8")
    else:
        path, more = project / f"{session}.jsonl", {"sessionId": session, "isSidechain": False}
        path.parent.mkdir(parents=True, exist_ok=True)
    rows = rows_of(story)
    path.write_text("".join(json.dumps({**row, **more}) + "\n" for row in rows), encoding="utf-8")


def rows_of(story: Story) -> Iterator[dict[str, Any]]:
    """Return the rows of a transcript, ending at the story's last moment."""
    last = datetime.now(UTC) - timedelta(minutes=story.minutes_ago, seconds=4)
    batches = list(islice(steps(story.seed), story.length))
    batches[0] = [Message("user", (Text(story.title),))]
    at = last - timedelta(seconds=SECONDS_PER_STEP * len(batches))
    chars, cached, parent = 0, 0, None
    for step in batches:
        at += timedelta(seconds=SECONDS_PER_STEP)
        for message in step:
            name = str(uuid.uuid4())
            total = UNSEEN_TOKENS + int(chars / CHARS_PER_TOKEN)
            usage = {
                "input_tokens": 0, "cache_read_input_tokens": cached,
                "cache_creation_input_tokens": total - cached, "output_tokens": 120,
            }  # fmt: skip
            cached = total if message.role == "assistant" else cached
            yield {
                "type": "assistant" if message.role == "assistant" else "user",
                "uuid": name, "parentUuid": parent, "cwd": "/home/me/orchard", "version": "2.1.0",
                "timestamp": at.isoformat().replace("+00:00", "Z"), "userType": "external",
                "message": wire(message, story.model, usage),
            }  # fmt: skip
            parent = name
            chars += sum(
                len(getattr(part, "text", "") or getattr(part, "arguments", "")) for part in message.parts
            )


def wire(message: Message, model: str, usage: dict[str, int]) -> dict[str, Any]:
    """Return a message in the format of the agent."""
    if message.role == "user":
        return {"role": "user", "content": message.text}
    content: list[dict[str, Any]] = []
    for part in message.parts:
        if isinstance(part, Text):
            content.append({"type": "text", "text": part.text})
        elif isinstance(part, ToolCall):
            arguments = json.loads(part.arguments)
            content.append({"type": "tool_use", "id": part.id, "name": part.name, "input": arguments})
        elif isinstance(part, ToolResult):
            result = {"type": "tool_result", "tool_use_id": part.call_id, "content": part.text}
            content.append({**result, "is_error": part.is_error})
    if message.role == "tool":
        return {"role": "user", "content": content}
    whole = {"id": f"msg_{uuid.uuid4().hex[:16]}", "type": "message", "role": "assistant"}
    return {**whole, "model": model, "content": content, "usage": usage}


def photograph(page: Page, url: str, theme: str) -> None:
    """Take every picture in one theme."""
    page.goto(url)
    page.locator("tr.session-row").nth(len(STORIES) - 1).wait_for()
    page.locator(".c-full b", has_text="%").first.wait_for()
    page.locator("tr.session-row", has_text="tokens pays back").wait_for()
    page.wait_for_timeout(1500)
    page.screenshot(
        path=PICTURES / f"overview-{theme}.png", clip={"x": 0, "y": 0, "width": 1280, "height": 500}
    )
    page.goto(f"{url}/sessions/{PARENT}#plan")
    page.locator(".panel-foot button.primary").wait_for()
    page.locator("token-chart canvas").wait_for()
    # Further than the clearing of outputs alone gets, so that the plan shows what it drops as well.
    page.locator("#plan-aim").fill(CUT_TO)
    page.locator("button.group").nth(1).wait_for()
    page.set_viewport_size(PLAN_SIZE)
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    page.locator(".chip", has_text="Goes").wait_for()
    page.locator("coppice-session", has_text="tokens pays back").wait_for()
    page.screenshot(path=PICTURES / f"session-{theme}.png")
    page.set_viewport_size(SIZE)
    page.goto(f"{url}/settings")
    page.locator('input[type=range][name="weights.keywords"]').fill("60")
    page.locator('input[name="aim_percent"]').fill(CUT_TO)
    page.get_by_text("tokens less").wait_for()
    page.locator(".depths dd", has_text="…").first.wait_for(state="detached")
    page.screenshot(path=PICTURES / f"settings-{theme}.png")
    page.get_by_role("button", name="Discard").click()


def main() -> int:
    """Write docs/pictures/*.png; return 1 if there is no browser."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for story in STORIES:
            write_story(folder / "claude", story)
        env = {"CLAUDE_CONFIG_DIR": str(folder / "claude")}
        try:
            with browser.launched() as chromium, running_server(folder, env) as server:
                for theme in ("light", "dark"):
                    context = chromium.new_context(
                        viewport=SIZE, color_scheme=theme, locale="en-US", device_scale_factor=1
                    )
                    photograph(context.new_page(), server.url, theme)
                    context.close()
        except browser.NoBrowserError as error:
            print(error, file=sys.stderr)
            return 1
    print(f"{PICTURES.relative_to(ROOT)}: " + ", ".join(sorted(path.name for path in PICTURES.glob("*.png"))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
