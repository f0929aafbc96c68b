"""Counting with tiktoken, offline, whatever the text."""

from __future__ import annotations

from pathlib import Path

import pytest

from scoring.tokens import ESTIMATOR
from webapp import tokenizers
from webapp.tokenizers import RANKS, SLICE_CHARS, TiktokenCounter, Tokenizers


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Tokenizers:
    """Tokenizers with a cache of their own."""
    return Tokenizers(tmp_path_factory.mktemp("ranks"))


class TestTokenizers:
    """Encodings by name."""

    @pytest.mark.parametrize(("encoding", "tokens"), [("o200k_base", 4), ("cl100k_base", 4)])
    def test_count_as_tiktoken_does(self, made: Tokenizers, encoding: str, tokens: int) -> None:  # S11
        """Both encodings load without a network."""
        counter = made.counter(encoding)
        assert isinstance(counter, TiktokenCounter)
        assert counter.count("The parser fails.") == tokens

    def test_give_the_same_counter_again(self, made: Tokenizers) -> None:
        """Loading is done once; an encoding without ranks counts like the newest."""
        assert made.counter("o200k_base") is made.counter("unheard_of")

    def test_mend_a_broken_cache(self, tmp_path: Path) -> None:
        """A file that is not the official one is replaced, not fetched."""
        (tmp_path / RANKS["cl100k_base"][0]).write_bytes(b"broken")
        assert isinstance(Tokenizers(tmp_path).counter("cl100k_base"), TiktokenCounter)

    def test_estimate_where_nothing_can_be_loaded(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Counting never fails."""

        def refuse(name: str, cache: Path) -> None:
            raise OSError(name, cache)

        monkeypatch.setattr(tokenizers, "_unpack", refuse)
        counter = Tokenizers(tmp_path).counter()
        assert counter is ESTIMATOR
        assert counter.count("some words here") > 0


class TestTiktokenCounter:
    """Texts that break tokenizers."""

    @pytest.mark.parametrize(
        "text",
        [
            "a" * 1_000_000,
            " " * 2_000_000,
            "QUJD" * 250_000,
            "<|endoftext|>" * 10,
            "\ud800 half",
            "",
            "\0",
            "汉字" * 50_000,
        ],
    )
    def test_counts_anything(self, made: Tokenizers, text: str) -> None:
        """Long runs, base64, special tokens and half surrogates are plain text."""
        tokens = made.counter().count(text)
        assert (tokens > 0) == bool(text)

    def test_encodes_a_text_once_that_is_counted_again(self, made: Tokenizers) -> None:
        """A file that was read is counted for itself and in the message that brings it."""
        counter = made.counter()
        assert isinstance(counter, TiktokenCounter)
        asked: list[str] = []
        encode = counter._encode
        counter._encode = lambda text: asked.append(text) or encode(text)
        try:
            again = counter.count("a text that nobody counted before")
            assert counter.count("a text that nobody counted before") == again
        finally:
            counter._encode = encode
        assert len(asked) == 1

    def test_loses_next_to_nothing_by_slicing(self, made: Tokenizers) -> None:
        """A cut costs at most a token or two."""
        text = "The quick brown fox jumps over the lazy dog. " * (3 * SLICE_CHARS // 45)
        counter = made.counter()
        assert isinstance(counter, TiktokenCounter)
        assert abs(counter.count(text) - counter._count(text)) <= len(text) // SLICE_CHARS + 1
