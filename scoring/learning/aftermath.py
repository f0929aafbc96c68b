"""The aftermath of losing context: the reads, commands, errors and statements that the next model calls repeat.

A window is the first `STEPS` steps after an event, or those up to the next event. A step is an answer of the model with
the outputs of its calls. Baseline windows, of the same length and without an event, are counted in the same way, each
against what stood before it; they begin once there was one window's length to repeat. Nothing here says why something
is repeated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scoring.learning.repetition import Repeats, RepetitionFinder
from scoring.messages import Message

# Decision 27 compares other lengths on real sessions.
STEPS = 20


@dataclass(frozen=True, slots=True)
class Aftermath:
    """The repetitions after one event, within `steps` steps.

    `files`, `commands`, `errors` and `said` are counted once each. `tokens` is what was appended before the first call
    that does new work; None if there was none. The window of a `complete` one has ended.
    """

    files: int
    commands: int
    errors: int
    said: int
    tokens: int | None
    steps: int
    complete: bool


@dataclass(frozen=True, slots=True)
class Baseline:
    """Sums over the baseline windows of a session. `worked` counts those with new work after `tokens`."""

    windows: int = 0
    files: int = 0
    commands: int = 0
    errors: int = 0
    said: int = 0
    worked: int = 0
    tokens: int = 0

    def plus(self, one: Aftermath) -> Baseline:
        """Return the sums with another window."""
        return Baseline(
            self.windows + 1, self.files + one.files, self.commands + one.commands, self.errors + one.errors,
            self.said + one.said, self.worked + (one.tokens is not None), self.tokens + (one.tokens or 0),
        )  # fmt: skip


@dataclass(slots=True)
class _Window:
    """A window as it grows; it began with the message `first`."""

    first: int
    files: set[str] = field(default_factory=set)
    commands: set[str] = field(default_factory=set)
    met: set[str] = field(default_factory=set)
    errors: int = 0
    said: int = 0
    tokens: int = 0
    works: bool = False
    steps: int = 0

    def add(self, repeats: Repeats, tokens: int) -> None:
        self.files |= repeats.files
        self.commands |= repeats.commands
        for lines in repeats.errors:
            self.errors += self.met.isdisjoint(lines)
            self.met |= lines
        self.said += repeats.said
        self.works = self.works or repeats.works
        self.tokens += 0 if self.works else tokens

    def found(self, complete: bool) -> Aftermath:
        return Aftermath(
            files=len(self.files), commands=len(self.commands), errors=self.errors, said=self.said,
            tokens=self.tokens if self.works else None, steps=self.steps, complete=complete,
        )  # fmt: skip


class AftermathCounter:
    """Counts the windows of one session, whose messages and events it takes in the order of the log.

    `steps` is the number of steps so far, `baseline` the sums over complete baseline windows.
    """

    def __init__(self, folder: str = "", steps: int = STEPS) -> None:
        """Start before the first message of a session in the working directory `folder`."""
        self._finder, self._length = RepetitionFinder(folder), steps
        self._number = 0
        self.steps = 0
        self._answering = False  # the last message was the model's
        self._event: str | None = None
        self._window: _Window | None = None
        self._found: dict[str, Aftermath] = {}
        self.baseline = Baseline()

    @property
    def aftermaths(self) -> Mapping[str, Aftermath]:
        """Return the aftermath of each event by its name, without those that no step followed."""
        open_one = {self._event: self._window.found(False)} if self._event and self._window else {}
        return {name: one for name, one in {**self._found, **open_one}.items() if one.steps}

    def begin(self, event: str) -> None:
        """Begin the window of an event, which ends any other."""
        if self._event is not None:
            self._close()
        self._event, self._window = event, _Window(self._number)
        self._answering = False

    def end(self, event: str) -> None:
        """End the window of an event that is taken back, if it is the one that is open."""
        if self._event == event:
            self._close()

    def add_given(self, message: Message) -> None:
        """Take a message that is in no window: the agent was given it."""
        self._finder.add(self._number, message, 0)
        self._number += 1

    def add(self, message: Message, tokens: int) -> None:
        """Take the next message, which costs `tokens`."""
        answers = message.role == "assistant"
        if answers and not self._answering:
            self._step()
        self._answering = answers
        before = self._number if self._window is None else self._window.first
        repeats = self._finder.add(self._number, message, before)
        if self._window is not None:
            self._window.add(repeats, tokens)
        self._number += 1

    def _step(self) -> None:
        """Begin a step, and before it end a window that has all of its own."""
        if self._window is not None and self._window.steps >= self._length:
            self._close()
        if self._window is None and self.steps >= self._length:
            self._window = _Window(self._number)
        self.steps += 1
        if self._window is not None:
            self._window.steps += 1

    def _close(self) -> None:
        if self._window is not None:
            found = self._window.found(True)
            if self._event is not None:
                self._found[self._event] = found
            elif self._window.steps >= self._length:
                self.baseline = self.baseline.plus(found)
        self._event = self._window = None
