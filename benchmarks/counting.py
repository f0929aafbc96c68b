"""Counting tokens: speed beside the bare tokenizer, time for extreme texts, and the error of the estimator.

Texts are those of the shared transcripts where they are there, and this project's own sources. The raw tokenizer is
tiktoken's `encode_ordinary` on each text as a whole.
"""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from pathlib import Path

from benchmarks.prediction import root_of, sessions
from benchmarks.rows import Row, best_of, percentile
from scoring.messages import Reasoning, Text, ToolCall, ToolResult
from scoring.tokens import estimate_tokens
from webapp.agents.records import Entry
from webapp.tokenizers import TiktokenCounter, Tokenizers

SOURCES = Path(__file__).resolve().parent.parent
MEGABYTE = 1_000_000
# Words of several scripts, signs and code, as they mix in chats; each line is a text for the estimator.
MIXED = (
    "The build failed again: `TypeError: unsupported operand type(s) for +: 'int' and 'str'` in app/main.py, line 42.",
    "请帮我修复这个错误，并在提交之前运行所有的测试。谢谢你的帮助！",
    "このファイルを読んで、変更点を日本語で説明してください。テストも追加してくださいね。",
    "테스트가 실패하는 이유를 설명하고 코드를 수정해 주세요. 고맙습니다.",
    "Пожалуйста, исправьте ошибку и запустите тесты ещё раз, а потом опишите изменения.",
    "Bitte prüfe, warum die Größe der Datei überschritten wird, und schlage eine Lösung vor.",
    "🎉 Deployed! ✅ 128 passed, ❌ 2 failed 😢 — see 👉 https://example.com/runs/4711?tab=logs",
    "def total(values: list[float]) -> float:\n    return sum(v for v in values if v is not None)\n",
    "SELECT s.id, count(*) FROM sessions s JOIN messages m ON m.session_id = s.id GROUP BY 1 ORDER BY 2 DESC;",
    '{"path": "src/index.ts", "old": "const a = 1;", "new": "const a = 2;", "replace_all": false}',
    "2026-01-17T09:12:44.120Z INFO worker[3] took 1532ms for job 8f14e45fceea167a (retries=0)",
    "अगर परीक्षण विफल हो तो कृपया मुझे बताएं और लॉग भेजें।",
)


def run() -> list[Row]:
    """Return throughput relative to the raw tokenizer, time on extreme texts, and the estimator's error."""
    counter = Tokenizers().counter()
    if not isinstance(counter, TiktokenCounter):
        return []
    return [*_throughput(counter), *_absurd(counter), *_estimator(counter)]


def _throughput(counter: TiktokenCounter) -> Iterator[Row]:
    texts = real_texts()
    size = sum(map(len, texts))
    encode = counter._encode  # noqa: SLF001 - the raw tokenizer, to compare with
    raw = best_of(3, lambda: [encode(text) for text in texts])
    ours = best_of(3, lambda: [counter.count(text) for text in texts])
    yield Row("counting: characters a second", size / ours * 1_000, "/s")
    yield Row(
        "counting: share of the raw tokenizer's speed", 100 * raw / ours, "%", 80, higher_is_better=True
    )
    exact = sum(len(encode(text)) for text in texts)
    off = sum(counter.count(text) for text in texts) - exact
    yield Row("counting: error by cutting long texts", 100 * abs(off) / exact, "%", 0.1)


def _absurd(counter: TiktokenCounter) -> Iterator[Row]:
    for what, count in (("counting", counter.count), ("estimator", estimate_tokens)):
        for name, text in absurd_texts().items():
            one, half = (best_of(2, partial(count, t)) for t in (text, text[: len(text) // 2]))
            yield Row(f"{what}: {name}", one * MEGABYTE / len(text), "ms/MB", 1_000)
            yield Row(f"{what}: {name}, twice the length", one / max(half, 0.01), "times", 2.5)


def _estimator(counter: TiktokenCounter) -> Iterator[Row]:
    errors = [abs(estimate_tokens(t) - (n := counter.count(t))) / n for t in MIXED]
    real = [t for t in real_texts() if len(t) >= 200]
    errors_real = [abs(estimate_tokens(t) - (n := counter.count(t))) / n for t in real]
    yield Row("estimator: error on mixed scripts, mean", 100 * sum(errors) / len(errors), "%", 15)
    yield Row("estimator: error on mixed scripts, worst", 100 * max(errors), "%")
    yield Row("estimator: error on real texts, median", 100 * percentile(errors_real, 50), "%", 15)
    yield Row("estimator: error on real texts, p90", 100 * percentile(errors_real, 90), "%")


def absurd_texts() -> Mapping[str, str]:
    """Return texts that break tokenizers."""
    noise = random.Random(7).randbytes(750_000)
    return {
        "a megabyte of one letter": "a" * MEGABYTE,
        "five megabytes of blanks": " " * (5 * MEGABYTE),
        "a megabyte of base64": base64.b64encode(noise).decode(),
        "special tokens": "<|endoftext|>" * 77_000,
        "a megabyte of letters of both cases": "aB" * (MEGABYTE // 2),
        "a megabyte of digits": "1234567890" * (MEGABYTE // 10),
    }


@lru_cache(maxsize=1)
def real_texts() -> tuple[str, ...]:
    """Return texts by agents and people: parts of the shared transcripts, and this project's sources."""
    texts = [
        p.read_text() for folder in ("scoring", "webapp") for p in sorted((SOURCES / folder).rglob("*.py"))
    ]
    root = root_of()
    for _, _, records in sessions(root) if root.is_dir() else ():
        for record in records:
            for part in record.message.parts if isinstance(record, Entry) else ():
                if isinstance(part, Text | ToolResult | Reasoning):
                    texts.append(part.text)
                elif isinstance(part, ToolCall):
                    texts.append(part.arguments)
    return tuple(text for text in texts if text)
