"""Tokens that Claude Code sends without writing them down, predicted by its own rules, and those it writes and keeps.

Versions that write `attachment` rows say what they add to a call. Older ones, and sub-agents of newer ones, add the
same and say nothing; the reminder of the task list can be followed all the same. It comes with the call behind the
tenth row of answers since the list was last written and since the last reminder (before 2.1: the sixth and the third),
thoughts not counted, and shows the list. Public analyses of the agent name these steps `TURNS_SINCE_WRITE` and
`TURNS_BETWEEN_REMINDERS`; in the sessions that `benchmarks.prediction` replays they hold from call to call.

The other way round, some arguments of calls are filled in for the screen and for hooks, and taken out before the
conversation is sent: the plan that `ExitPlanMode` shows is its file's, `SendMessage` says everything twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scoring.messages import Reasoning, ToolCall
from scoring.tokens import TokenCounter
from webapp.agents.reading.rows import dumps, list_of, object_of, parse, text_of
from webapp.agents.records import REMINDER, Entry
from webapp.agents.unwritten import Unwritten

# In tokens of o200k, times the model's factor: it reads up to five files again after a compaction. Older versions do
# not write that down (some 4,000 tokens in the one that was measured), newer ones do.
RESTORED = 2_000
# Tools that write the list of tasks; the older one has the whole list in its arguments.
TASKS, TODOS = frozenset({"TaskCreate", "TaskUpdate"}), "TodoWrite"
# Rows of answers since the list was written, and since the last reminder.
STEPS, OLDER_STEPS = (10, 10), (6, 3)
LONGER_FROM = (2, 1)
# The reminder's own words with the tags around them, in tokens of o200k.
WORDS, OLDER_WORDS = 115, 95
# Arguments that are never sent. A plan is the file's only where one was written to a file: the tool's first versions
# took it from the model.
EXIT_PLAN, PLANS = "ExitPlanMode", "/.claude/plans/"
UNSENT: Mapping[str, tuple[str, ...]] = {
    EXIT_PLAN: ("plan", "planFilePath"),
    "SendMessage": ("type", "recipient", "content"),
}


@dataclass(slots=True)
class TaskReminders(Unwritten):
    """Rows of answers since the list was written and since the last reminder, and the tokens of the list.

    `told`: this transcript says by itself what is added. `plans`: a plan was written to a file. `unsent`: tokens
    written since the last call that are not sent. `older`: the steps of versions before 2.1 hold.
    """

    since_list: int = 0
    since_reminder: int = 0
    listed: int = 0
    told: bool = False
    plans: bool = False
    unsent: int = 0
    older: bool = False

    def version(self, version: str) -> None:
        """Note the version of the agent that writes."""
        numbers = tuple(int(n) for n in version.split(".")[:2] if n.isdigit())
        self.older = len(numbers) == len(LONGER_FROM) and numbers < LONGER_FROM

    def take(self, entry: Entry, counter: TokenCounter, factor: float) -> None:
        """Take one more row, in order of arrival. `counter` counts as the session's model does, by `factor`."""
        if entry.message.role != "assistant":
            added = entry.message.name == REMINDER and b'"type":"attachment"' in (entry.raw or b"")
            self.told = self.told or added
            return
        call = entry.call_key or entry.group or entry.source_id or ""
        if call != self.call:
            self.asked = self.waiting(factor)
            self.since_reminder = 0 if self.due else self.since_reminder
            self.call, self.unsent = call, 0
        if all(isinstance(part, Reasoning) for part in entry.message.parts):
            return
        self.since_list += 1
        self.since_reminder += 1
        for part in entry.message.parts:
            if isinstance(part, ToolCall):
                self._called(part, counter)

    def _called(self, call: ToolCall, counter: TokenCounter) -> None:
        if call.name in TASKS or call.name == TODOS:
            self.since_list = 0
        if call.name == TODOS:
            self.listed = counter.count(_list_of(call.arguments))
        elif call.name == "Write":
            self.plans = self.plans or PLANS in call.arguments
        elif call.name in UNSENT and (self.plans or call.name != EXIT_PLAN):
            given = object_of(parse(call.arguments.encode()))
            kept = {k: v for k, v in given.items() if k not in UNSENT[call.name]}
            self.unsent += counter.count(call.arguments) - counter.count(dumps(kept))

    @property
    def due(self) -> bool:
        """Return True if the next call brings the reminder."""
        since_list, between = OLDER_STEPS if self.older else STEPS
        return not self.told and self.since_list >= since_list and self.since_reminder >= between

    def waiting(self, factor: float) -> int:
        """Return the tokens that come with the next call and are in no row, less those in a row that do not come."""
        words = round(factor * (OLDER_WORDS if self.older else WORDS))
        return (words + self.listed if self.due else 0) - self.unsent

    def compacted(self) -> None:
        """Start counting again: the agent replaced its context."""
        self.since_list = self.since_reminder = self.unsent = self.unreported = 0


def _list_of(arguments: str) -> str:
    """Return the list as the reminder shows it; one that is done is forgotten."""
    todos = list(map(object_of, list_of(object_of(parse(arguments.encode())).get("todos"))))
    if all(todo.get("status") == "completed" for todo in todos):
        return ""
    lines = (f"{n}. [{text_of(t.get('status'))}] {text_of(t.get('content'))}" for n, t in enumerate(todos, 1))
    return "\n".join(lines)
