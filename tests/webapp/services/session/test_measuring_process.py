"""Measuring in another process, which gives the same result even if that process ends."""

from __future__ import annotations

import pickle
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from scoring.messages import Media, Message, Text
from scoring.models import family_of
from scoring.settings import lexicon_of
from scoring.tokens import ModelCounter, TokenCounter, estimate_message_tokens
from scoring.tokens.families import FAMILIES
from tests.scoring.builders import BALANCED
from webapp.errors import ClosedStore
from webapp.services.session import measuring_process
from webapp.services.session.measuring import Measured, measure
from webapp.services.session.measuring_process import LARGE_CHARS, MeasuringProcess
from webapp.tokenizers import Tokenizers

LEXICON = lexicon_of(BALANCED.keywords)
LARGE = Message("user", (Text("ERROR in src/parser.py: cannot read line 120\n" * (LARGE_CHARS // 40)),))


@pytest.fixture(scope="module")
def counter() -> TokenCounter:
    """The tokenizer of most models."""
    return Tokenizers().counter()


@pytest.fixture(scope="module")
def expected(counter: TokenCounter) -> Measured:
    """The result of measuring in this process, in full."""
    return measure(LARGE, counter, LEXICON, {}, in_full=True)


@pytest.fixture(scope="module")
def beside() -> Iterator[MeasuringProcess]:
    """A measuring process that the tests share."""
    made = MeasuringProcess()
    yield made
    made.close()


def process_of(beside: MeasuringProcess) -> subprocess.Popen[bytes] | None:
    """Return the measuring process, or None."""
    return beside._process


class TestPickling:
    """Counters and keywords, sent to the other process."""

    @pytest.mark.parametrize("name", sorted(FAMILIES))
    def test_keeps_the_counts(self, counter: TokenCounter, name: str) -> None:
        """The counts agree for every family of models, with images."""
        message = Message("user", (Text("hello, parser"), Media("image", width=2_000, height=1_000)))
        made = ModelCounter(counter, family_of(name), 1.2)
        sent = pickle.loads(pickle.dumps(made))
        assert estimate_message_tokens(message, sent) == estimate_message_tokens(message, made)

    def test_keeps_compiled_keywords(self) -> None:
        """Equal keywords are compiled once."""
        assert pickle.loads(pickle.dumps(LEXICON)) is LEXICON


class TestMeasuringProcess:
    """The measuring process."""

    def test_leaves_short_messages_to_this_process(self, counter: TokenCounter) -> None:
        """No process is started for short messages."""
        beside = MeasuringProcess()
        assert beside(Message("user", (Text("hello"),)), counter, LEXICON, {}).features.tokens > 0
        assert process_of(beside) is None

    def test_measures_short_messages_one_at_a_time(
        self, counter: TokenCounter, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Concurrent requests are measured one after the other."""
        beside, at_once, most = MeasuringProcess(), [0], [0]

        def noted(*asked: Any) -> Measured:
            at_once[0] += 1
            most[0] = max(most[0], at_once[0])
            time.sleep(0.001)  # others get their turn
            at_once[0] -= 1
            return measure(*asked)

        monkeypatch.setattr(measuring_process, "measure", noted)
        short = Message("user", (Text("hello"),))
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: beside(short, counter, LEXICON, {}), range(20)))
        assert most == [1]

    def test_gives_the_same_result(
        self, beside: MeasuringProcess, counter: TokenCounter, expected: Measured
    ) -> None:
        """The other process uses the same tokenizer and keywords."""
        found = beside(LARGE, counter, LEXICON, {})
        assert process_of(beside) is not None
        assert found.features_text == expected.features_text
        assert (found.card, found.is_error) == (expected.card, expected.is_error)

    def test_starts_again_after_its_end(
        self, beside: MeasuringProcess, counter: TokenCounter, expected: Measured
    ) -> None:
        """The process ends when it is idle for long, or when the system is short of memory."""
        beside(LARGE, counter, LEXICON, {})
        first = process_of(beside)
        assert first is not None
        first.kill()
        first.wait()
        assert beside(LARGE, counter, LEXICON, {}).features_text == expected.features_text
        assert process_of(beside) is not first

    def test_falls_back_to_this_process(self, counter: TokenCounter, monkeypatch: pytest.MonkeyPatch) -> None:
        """If no process can be started, this process measures."""

        def refuse(*_: object, **__: object) -> None:
            raise OSError("no more processes")

        monkeypatch.setattr(subprocess, "Popen", refuse)
        assert MeasuringProcess()(LARGE, counter, LEXICON, {}) == measure(LARGE, counter, LEXICON, {})

    def test_ends_with_the_server(self, counter: TokenCounter) -> None:
        """A request after the end is an error."""
        beside = MeasuringProcess()
        beside(LARGE, counter, LEXICON, {})
        process = process_of(beside)
        beside.close()
        assert process is not None
        assert process.poll() is not None
        with pytest.raises(ClosedStore):
            beside(LARGE, counter, LEXICON, {})
