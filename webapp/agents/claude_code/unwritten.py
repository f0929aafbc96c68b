"""Tokens that Claude Code sends without writing them, predicted by its own rules, and those it writes without sending.

Versions that write `attachment` rows record what they add to a call. Older ones, and sub-agents of newer ones, add the
same without recording it. Four of these can be predicted, by rules that public analyses of the agent's code describe:

- The reminder of the task list comes with the call after the tenth row of answers since the list was last written and
  since the last reminder (`TURNS_SINCE_WRITE`, `TURNS_BETWEEN_REMINDERS`), not counting thoughts, and shows the list.
  Versions 2.0 use seven and three, and count the row that writes the list. In the sessions that
  `benchmarks.prediction` replays these steps are right from call to call.
- Versions before 2.0 show the list after each change of it instead.
- After a compaction the files read last are sent again, at most five of at most 5,000 tokens each
  (`POST_COMPACT_MAX_FILES_TO_RESTORE`, `POST_COMPACT_MAX_TOKENS_PER_FILE`).
- The message of a hook that blocks a call is sent twice: as the call's result, and as a reminder.

Conversely, some arguments of calls are filled in for the screen and for hooks, and removed before the conversation is
sent: `ExitPlanMode` shows the plan from its file, and `SendMessage` has its text twice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scoring.messages import REMINDER, Reasoning, ToolCall, ToolResult
from scoring.tokens import TokenCounter
from webapp.agents.reading.rows import dumps, list_of, object_of, parse, text_of
from webapp.agents.records import Entry
from webapp.agents.unwritten import Unwritten

# The files that are sent again after a compaction, and the most tokens of each.
FILES, FILE_TOKENS = 5, 5_000
# The largest average of characters per token in any text: a longer text need not be counted to its end.
_MOST_CHARS = 8 * FILE_TOKENS
_OPEN_READS = 16  # reads whose results are still expected
# In a row's own bytes; other programs write rows again with spaces.
_ATTACHMENT = re.compile(rb'"type"\s*:\s*"attachment"')
_BLOCKED = re.compile(r"(Pre|Post)ToolUse(:\S+)? hook (blocking )?error")
# Tools that write the list of tasks; the older one has the whole list in its arguments.
TASKS, TODOS = frozenset({"TaskCreate", "TaskUpdate"}), "TodoWrite"
READ = "Read"
# Rows of answers since the list was written, and since the last reminder.
STEPS, OLDER_STEPS = (10, 10), (7, 3)
SHOWN_BEFORE, LONGER_FROM = (2, 0), (2, 1)
# The words of the reminder, and of the note that the list has changed, with the tags around them, in tokens of o200k.
WORDS, OLDER_WORDS, CHANGED_WORDS = 115, 95, 45
# Arguments that are never sent. This applies to a plan only if it was written to a file: in the tool's first versions
# it came from the model.
EXIT_PLAN, PLANS = "ExitPlanMode", "/.claude/plans/"
UNSENT: Mapping[str, tuple[str, ...]] = {
    EXIT_PLAN: ("plan", "planFilePath"),
    "SendMessage": ("type", "recipient", "content"),
}


@dataclass(slots=True)
class TaskReminders(Unwritten):
    """Rows of answers since the list was written and since the last reminder, and the tokens of the list.

    `recorded`: the transcript records what is added. `plans`: a plan was written to a file. `unsent`: tokens
    written since the last call that are not sent, `once`: tokens without a row that come with the next call.
    `older`: the steps of versions before 2.1 apply; `oldest`: the list is shown when it changes. `files` are the
    tokens of the files read last by path, newest last, `reading` the paths of the reads whose results are still
    expected.
    """

    since_list: int = 0
    since_reminder: int = 0
    listed: int = 0
    recorded: bool = False
    plans: bool = False
    unsent: int = 0
    older: bool = False
    oldest: bool = False
    once: int = 0
    files: dict[str, int] = field(default_factory=dict)
    reading: dict[str, str] = field(default_factory=dict)

    def version(self, version: str) -> None:
        """Note the version of the agent that writes."""
        numbers = tuple(int(n) for n in version.split(".")[:2] if n.isdigit())
        known = len(numbers) == len(LONGER_FROM)
        self.older, self.oldest = known and numbers < LONGER_FROM, known and numbers < SHOWN_BEFORE

    def take(self, entry: Entry, counter: TokenCounter, factor: float) -> None:
        """Take one more row, in order of arrival. `counter` counts as the session's model does, by `factor`."""
        if entry.message.role != "assistant" or entry.message.name == REMINDER:
            if entry.message.name == REMINDER and _ATTACHMENT.search(entry.raw or b""):
                self.recorded, self.once = True, 0
            for result in entry.message.results:
                self._take_result(result, counter)
            return
        call = entry.call_key or entry.group or entry.source_id or ""
        if call != self.call:
            self.asked = self.waiting(factor)
            self.since_reminder = 0 if self.due else self.since_reminder
            self.call, self.unsent, self.once = call, 0, 0
        if all(isinstance(part, Reasoning) for part in entry.message.parts):
            return
        self.since_list += 1
        self.since_reminder += 1
        for part in entry.message.parts:
            if isinstance(part, ToolCall):
                self._take_call(part, counter, factor)

    def _take_result(self, result: ToolResult, counter: TokenCounter) -> None:
        path = self.reading.pop(result.call_id, None)
        if path is not None and not result.is_error:
            self.files.pop(path, None)
            self.files[path] = min(FILE_TOKENS, counter.count(result.text[:_MOST_CHARS]))
            while len(self.files) > FILES:
                del self.files[next(iter(self.files))]
        if not self.recorded and result.is_error and _BLOCKED.match(result.text):
            self.once += counter.count(result.text)

    def _take_call(self, call: ToolCall, counter: TokenCounter, factor: float) -> None:
        if call.name in TASKS or call.name == TODOS:
            self.since_list = int(self.older)
        if call.name == TODOS:
            todos = _todos_of(call.arguments)
            self.listed = counter.count(_list_of(todos))
            if self.oldest and not self.recorded:
                self.once += round(factor * CHANGED_WORDS) + counter.count(dumps(todos))
        elif call.name == READ and (path := text_of(_arguments_of(call.arguments).get("file_path"))):
            self.reading[call.id] = path
            if len(self.reading) > _OPEN_READS:
                del self.reading[next(iter(self.reading))]
        elif call.name == "Write":
            self.plans = self.plans or PLANS in call.arguments
        elif call.name in UNSENT and (self.plans or call.name != EXIT_PLAN):
            given = _arguments_of(call.arguments)
            kept = {k: v for k, v in given.items() if k not in UNSENT[call.name]}
            self.unsent += counter.count(call.arguments) - counter.count(dumps(kept))

    @property
    def due(self) -> bool:
        """Return True if the next call brings the reminder."""
        since_list, between = OLDER_STEPS if self.older else STEPS
        quiet = self.recorded or self.oldest
        return not quiet and self.since_list >= since_list and self.since_reminder >= between

    def waiting(self, factor: float) -> int:
        """Return the tokens of the next call that are in no row, less those in rows that are not sent."""
        words = round(factor * (OLDER_WORDS if self.older else WORDS))
        return (words + self.listed if self.due else 0) + self.once - self.unsent

    def compacted(self) -> None:
        """Start counting again: the agent replaced its context."""
        self.since_list = self.since_reminder = self.unsent = self.unreported = 0
        self.once = 0 if self.recorded else sum(self.files.values())


def _arguments_of(arguments: str) -> dict[str, Any]:
    return object_of(parse(arguments.encode()))


def _todos_of(arguments: str) -> list[dict[str, Any]]:
    return list(map(object_of, list_of(_arguments_of(arguments).get("todos"))))


def _list_of(todos: list[dict[str, Any]]) -> str:
    """Return the list as the reminder shows it; "" if everything is completed."""
    if all(todo.get("status") == "completed" for todo in todos):
        return ""
    lines = (f"{n}. [{text_of(t.get('status'))}] {text_of(t.get('content'))}" for n, t in enumerate(todos, 1))
    return "\n".join(lines)
