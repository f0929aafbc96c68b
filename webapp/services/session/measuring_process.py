"""A process beside the server that measures large messages, so that the server's own threads are not held up.

Counting and analysing 5 MB takes one to two seconds of a processor, in steps that no other thread can
interrupt, long enough to delay every page. The process starts with the first large message. It ends after a
while without one, and with its parent: it reads until the other end of its pipe is closed.
"""

from __future__ import annotations

import os
import pickle
import select
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from scoring.messages import Message
from scoring.settings import Lexicon
from scoring.tokens import TokenCounter
from webapp.errors import ClosedStore
from webapp.services.session.measuring import Measured, measure

# Shorter messages are measured here: that takes less than 80 ms, in steps of a few.
LARGE_CHARS = 200_000
IDLE_SECONDS = 60.0
ATTEMPTS = 2

_RUN = "import sys; sys.path.insert(0, {!r}); from {} import answer; answer()"


class MeasuringProcess:
    """Measures like `measure`; large messages in the separate process, one after the other.

    In this process one thread measures at a time. Several would only compete for the interpreter with each
    other and with the thread that notifies pages: with 200 sessions appending, throughput was half as high
    and pages were notified four times as late.
    """

    def __init__(self) -> None:
        self._turn, self._here = threading.Lock(), threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    def __call__(
        self, message: Message, counter: TokenCounter, lexicon: Lexicon, tool_names: Mapping[str, str]
    ) -> Measured:
        """Return the facts of a message.

        Raises:
            ClosedStore: the server is ending.
        """
        if _size(message) >= LARGE_CHARS:
            with self._turn:
                for _ in range(ATTEMPTS):  # it may have ended since it was last used
                    if self._closed:
                        raise ClosedStore("the server is ending; try again once it runs")
                    try:
                        return self._ask((message, counter, lexicon, dict(tool_names)))
                    except (OSError, EOFError, pickle.UnpicklingError):
                        self._end()
        with self._here:
            return measure(message, counter, lexicon, tool_names)

    def _ask(self, asked: tuple[Message, TokenCounter, Lexicon, dict[str, str]]) -> Measured:
        process = self._process or self._start()
        if process.stdin is None or process.stdout is None:
            raise OSError("the process for large messages has no pipes")
        pickle.dump(asked, process.stdin, pickle.HIGHEST_PROTOCOL)
        process.stdin.flush()
        measured: Measured = pickle.load(process.stdout)  # noqa: S301  # our own process wrote it
        return measured

    def _start(self) -> subprocess.Popen[bytes]:
        """Start the process with the code that runs here, whatever lies in the working directory."""
        code = _RUN.format(str(Path(__file__).parents[3]), __name__)
        self._process = subprocess.Popen(  # noqa: S603  # our own code
            [sys.executable, "-P", "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the server, which ends it
        )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def close(self) -> None:
        """End the process, and what it is measuring."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()
        with self._turn:
            self._end()


def _size(message: Message) -> int:
    """Return the length of the text that is counted and analysed, in characters."""
    return sum(len(getattr(part, "text", "") or getattr(part, "arguments", "")) for part in message.parts)


def answer() -> None:
    """Measure each message read from stdin and write the result to stdout, until no more come."""
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    while _is_asked(asked):
        try:
            message, counter, lexicon, tool_names = pickle.load(asked)  # noqa: S301  # the server wrote it
        except EOFError:
            return
        # Nobody waits here, so contents are computed too.
        measured = measure(message, counter, lexicon, tool_names, in_full=True)
        pickle.dump(measured, answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()


def _is_asked(asked: IO[bytes]) -> bool:
    """Wait for a request; return False if none comes for IDLE_SECONDS (on systems that can wait on a pipe)."""
    return os.name != "posix" or bool(select.select([asked], [], [], IDLE_SECONDS)[0])
