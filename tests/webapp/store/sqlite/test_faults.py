"""A disk that fails at any access: what was not done did not happen, and the store goes on."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.disks import AVAILABLE, FAULTS, disk
from tests.webapp.building import context_numbers, managed, mid, wire
from webapp.bodies import PruneBody
from webapp.config import Config
from webapp.errors import Conflict, StoreError
from webapp.services.session.answers import Applied
from webapp.services.summaries.answers import Summarised
from webapp.wiring import build

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="SQLite's functions cannot be reached in this Python")

# The kind of access that fails, and how many are done before.
Fault = tuple[str, int] | None
FAULT = st.none() | st.tuples(st.sampled_from(sorted(FAULTS)), st.integers(0, 8))


class FaultMachine(RuleBasedStateMachine):
    """Random writes on a disk that fails at random, beside a model made of lists and sets."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = ExitStack()
        folder = Path(self.opened.enter_context(tempfile.TemporaryDirectory()))
        self.disk = self.opened.enter_context(disk(folder))
        self.config = Config(db=folder / "a.db", follow=False, tokenizer=False, env={}, busy_seconds=0)
        self.app = build(self.config)
        self.texts: list[str] = []
        self.context: set[int] = set()
        self.pinned: set[int] = set()
        self.notes: list[str] = []
        self.before: list[tuple[int, set[int], set[int], int]] = []

    def teardown(self) -> None:
        """Check every table, and close."""
        try:
            assert list(self.app.verify()) == []
        finally:
            self.app.close()
            self.opened.close()

    @initialize()
    def begin(self) -> None:
        """Make the session."""
        managed(self.app, id="m")
        for n in range(6):
            self.append(None, n)

    def attempt(self, fault: Fault, action: Callable[[], Any]) -> Any:
        """Return what an action returns; None where the store failed, or it was refused."""
        with ExitStack() as stack:
            if fault is not None:
                stack.enter_context(self.disk.failing(*fault))
            try:
                return action()
            except (StoreError, Conflict):
                return None

    def note_operation(self, done: Applied | Summarised) -> None:
        """Remember the context and the pins as the model had them before an operation."""
        self.before.append((done.operation.n, set(self.context), set(self.pinned), len(self.texts)))

    @rule(fault=FAULT, n=st.integers(0, 40))
    def append(self, fault: Fault, n: int) -> None:
        """Append a message, known by its text."""
        text = f"{len(self.texts)} " + "word " * n
        message = wire("user" if len(self.texts) % 2 == 0 else "assistant", text)
        if self.attempt(fault, lambda: self.app.ingest.append_messages("m", [message])) is not None:
            self.texts.append(text)
            self.context.add(len(self.texts))

    @rule(fault=FAULT, at=st.integers(0, 100), pin=st.booleans())
    def pin(self, fault: Fault, at: int, pin: bool) -> None:
        """Pin a message, or unpin it."""
        no = 1 + at % len(self.texts)
        name = mid(self.app, "m", no)
        do = self.app.by_hand.pin if pin else self.app.by_hand.unpin
        done = self.attempt(fault, lambda: do("m", name))
        if done is not None:
            self.note_operation(done)
            self.pinned = self.pinned | {no} if pin else self.pinned - {no}

    @rule(fault=FAULT, share=st.floats(0.2, 0.9))
    def prune(self, fault: Fault, share: float) -> None:
        """Prune the context to a share of its size."""
        size = int(self.app.sessions.get("m").pruned.tokens * share)
        done = self.attempt(fault, lambda: self.app.prunes.apply("m", PruneBody(max_tokens=size)))
        if done is not None:
            self.note_operation(done)
            self.context -= {int(one.split("-")[0]) for one in done.event.removed_ids}

    @rule(fault=FAULT)
    def undo(self, fault: Fault) -> None:
        """Undo the last operation; what came since stays."""
        if self.before and self.attempt(fault, lambda: self.app.operations.undo("m")) is not None:
            _, context, self.pinned, length = self.before.pop()
            self.context = context | set(range(length + 1, len(self.texts) + 1))

    @rule(fault=FAULT)
    def remember(self, fault: Fault) -> None:
        """Add a memory."""
        text = f"note {len(self.notes)}"
        if self.attempt(fault, lambda: self.app.memory.add("memory", text)) is not None:
            self.notes.append(text)

    @rule()
    def restart(self) -> None:
        """Start the program again, so that the next action reads the disk."""
        self.app.close()
        self.app = build(self.config)

    @rule(fault=FAULT)
    def checkpoint(self, fault: Fault) -> None:
        """Move the write-ahead log into the database, which may fail."""
        self.attempt(fault, self.app.store.db.checkpoint)

    @invariant()
    def is_what_the_model_says(self) -> None:
        """Compare the store with the model, through the services."""
        row = self.app.store.sessions.get("m")
        said = [entry.message.text for entry in self.app.store.log.entries(row.key, 0, row.next_seq)]
        numbers = range(1, len(self.texts) + 1)
        messages = self.app.store.log.messages(row.key, numbers)
        assert said == self.texts
        assert set(context_numbers(self.app, "m")) == self.context
        assert {no for no in numbers if messages[no].pinned} == self.pinned
        assert sorted(memory.text for memory in self.app.store.memories.all("memory")) == sorted(self.notes)


TestFaults = FaultMachine.TestCase
TestFaults.settings = settings(max_examples=settings.default.max_examples // 4, stateful_step_count=20)
