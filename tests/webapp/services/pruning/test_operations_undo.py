"""Undo, compared with a model: the context before the operation plus all messages appended since."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.webapp.building import context_numbers, conversation, entries, mid, user
from webapp.app import App
from webapp.bodies import PruneBody
from webapp.config import Config
from webapp.errors import Conflict
from webapp.wiring import build


@dataclass
class Done:
    """An operation of the model that can be undone, with the context before it."""

    n: int
    context: set[int]
    pinned: set[int]
    length: int


@dataclass
class Model:
    """A model of a context, made of sets."""

    context: set[int] = field(default_factory=set)
    pinned: set[int] = field(default_factory=set)
    length: int = 0
    done: list[Done] = field(default_factory=list)

    def note(self, n: int) -> None:
        """Record the context before operation `n`."""
        self.done.append(Done(n, set(self.context), set(self.pinned), self.length))

    def append(self, count: int) -> None:
        """Append some messages to the log and the context."""
        self.context |= set(range(self.length + 1, self.length + count + 1))
        self.length += count

    def undo(self, n: int) -> list[int]:
        """Restore the context before operation `n`, with the messages that were appended since."""
        at = next(i for i, done in enumerate(self.done) if done.n == n)
        before = self.done[at]
        self.context = before.context | set(range(before.length + 1, self.length + 1))
        self.pinned = before.pinned
        taken = [done.n for done in self.done[at:]]
        del self.done[at:]
        return taken[::-1]


class UndoMachine(RuleBasedStateMachine):
    """Random appends, operations, undos and restarts on one session, with a clock that also goes back."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.now = 1_700_000_000_000
        self.app = self._opened()
        self.model = Model()
        self.made = 0

    def _opened(self) -> App:
        app = build(Config(db=Path(self.folder.name) / "a.db", tokenizer=False, env={}))
        app.environment.clock = lambda: self.now
        return app

    @rule(seconds=st.integers(-1_000_000, 1_000_000))
    def clock(self, seconds: int) -> None:
        """Set the clock forward or back."""
        self.now += 1_000 * seconds

    @rule()
    def restart(self) -> None:
        """Close the application and open it again."""
        self.app.close()
        self.app = self._opened()

    def teardown(self) -> None:
        """Close the store."""
        self.app.close()
        self.folder.cleanup()

    @initialize(followed=st.booleans())
    def begin(self, followed: bool) -> None:
        """Create a session of either kind with a few turns."""
        self.app.ingest.ensure("s", "claude-code", "followed" if followed else "managed")
        self._append(3)

    def _append(self, turns: int) -> None:
        messages = list(conversation(turns, words=30))
        # Call ids repeat in every batch, as in a program that numbers its calls from 0.
        self.app.ingest.append_records("s", entries(*messages, user("and now?"), start=self.made))
        self.made += len(messages) + 1
        self.model.append(len(messages) + 1)

    @rule(turns=st.integers(1, 3))
    def append(self, turns: int) -> None:
        """Append some messages."""
        self._append(turns)

    @rule(share=st.floats(0.2, 0.9))
    def prune(self, share: float) -> None:
        """Prune to some share of the context."""
        tokens = self.app.sessions.get("s").pruned.tokens
        try:
            applied = self.app.prunes.apply("s", PruneBody(max_tokens=int(tokens * share)))
        except Conflict:
            return
        self.model.note(applied.operation.n)
        assert applied.event is not None
        gone = {int(one.split("-")[0]) for one in applied.event.removed_ids}
        assert gone <= self.model.context
        self.model.context -= gone

    @rule(data=st.data(), what=st.sampled_from(["pin", "unpin", "drop", "restore", "drop_first"]))
    def by_hand(self, data: st.DataObject, what: str) -> None:
        """Apply an operation by hand to one message and its unit."""
        no = data.draw(st.integers(1, self.model.length))
        before = set(context_numbers(self.app, "s"))
        try:
            done = getattr(self.app.by_hand, what)("s", mid(self.app, "s", no))
        except Conflict:
            assert set(context_numbers(self.app, "s")) == before
            return
        self.model.note(done.operation.n)
        after = set(context_numbers(self.app, "s"))
        if what == "drop":
            assert no in before - after
        elif what == "restore":
            assert no in after - before
        else:
            assert after == before
        self.model.context = after
        self.model.pinned = self._pinned()

    @rule(data=st.data())
    def undo(self, data: st.DataObject) -> None:
        """Undo an operation together with those after it."""
        if not self.model.done:
            return
        n = data.draw(st.sampled_from([done.n for done in self.model.done]))
        assert self.app.operations.undo("s", n).undone == self.model.undo(n)

    def _pinned(self) -> set[int]:
        row = self.app.store.sessions.get("s")
        rows = self.app.store.log.messages(row.key, range(1, self.model.length + 1))
        return {no for no, message in rows.items() if message.pinned}

    @invariant()
    def equals_the_model(self) -> None:
        """The context is that of the model, in log order, and the store has no fault."""
        if not self.model.length:
            return
        numbers = context_numbers(self.app, "s")
        assert numbers == sorted(self.model.context)
        assert self._pinned() == self.model.pinned
        assert list(self.app.verify()) == []
        session = self.app.sessions.get("s")
        assert session.pruned.messages == len(numbers)
        assert self.app.messages.page("s").counts["out"] == self.model.length - len(numbers)


TestUndo = UndoMachine.TestCase  # X2
TestUndo.settings = settings(max_examples=settings.default.max_examples // 4, stateful_step_count=14)
