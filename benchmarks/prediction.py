"""The error of our estimate just before each real call. `python -m benchmarks.prediction` shows each session too.

Real transcripts are replayed record by record through `scoring.tokens.calibration`, with the real tokenizer.
Just before a call that reports its input, the total is predicted; then it is compared with the report, and only then
the report is used for calibration. The first call of a session uses the overheads of earlier sessions (by the time of
their first row). The simplest predictor is shown too: the last real total and a token for each 2.8 new characters.

A folder with `claude-code/projects` and `codex/sessions` in it may be named as argument or in
`COPPICE_TRANSCRIPTS`; without, the shared transcripts are taken.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.rows import Row, percentile
from scoring import models
from scoring.messages import Message, Reasoning, Text, ToolCall, ToolResult
from scoring.tokens import (
    Calibration,
    ModelCounter,
    Overheads,
    TokenCounter,
    Traits,
    calibration,
    estimate_message_tokens,
    expected,
)
from webapp.agents import AGENTS
from webapp.agents.claude_code import decoder as claude_code
from webapp.agents.codex import decoder as codex
from webapp.agents.reading.tail import Line
from webapp.agents.records import Compaction, Entry, Meta, Record, Rewind, TranscriptFile, Usage, UsageReport
from webapp.services.ingest.append_batch import opening_of
from webapp.tokenizers import Tokenizers

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "transcripts"
CHARS_PER_TOKEN = 2.8
GROWTH_FROM = 200
Lesson = tuple[Traits, Overheads]  # of one session
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Prediction:
    """One call: its real input, and what we and the simple predictor expected just before it.

    `kind` is "first", "compacted" (the first call after a compaction), "cut" (after a rewind) or "next". `by_factors`
    is the growth of the context as predicted without any reported usage, `unwritten` the part of it that the agent adds
    by its own rules. `agent`, its `version` and `project` are those of the session.
    """

    session: str
    agent: str
    version: str
    project: str
    model: str
    kind: str
    real: int
    predicted: int
    simple: int
    last_real: int
    by_factors: int
    unwritten: int


@dataclass(slots=True)
class Held:
    """A message in the replayed context."""

    parts: dict[str, Message] = field(default_factory=dict)
    tokens: int = 0
    chars: int = 0


class Replay:
    """One conversation, record by record; `calls` holds the prediction of each call."""

    def __init__(
        self, name: str, project: str, traits: Traits, tokenizers: Tokenizers, lessons: Sequence[Lesson]
    ) -> None:
        self.name, self.project, self.traits, self.calls = name, project, traits, list[Prediction]()
        self._tokenizers, self._lessons = tokenizers, lessons
        self._log: dict[str, Held] = {}
        self._context: dict[str, Held] = {}
        self._groups: dict[str, Held] = {}
        self._ends: dict[str, tuple[int, int, int]] = {}
        self._answered = 0
        self._known: Calibration | None = None
        self._last: tuple[int, int, int] | None = None  # real input, estimate and characters of the last call
        self._absorbing = self._cut = False
        self._model: str | None = None
        self._counter = self._counter_for(AGENTS[traits.source].usual_model)
        self._unwritten = AGENTS[traits.source].unwritten()

    def _counter_for(self, model: str | None) -> TokenCounter:
        limits = models.find_model(model)
        self.traits = replace(self.traits, model=model, factor=limits.token_factor)
        return ModelCounter(
            self._tokenizers.counter(limits.encoding), models.family_of(model), limits.token_factor
        )

    # -- records

    def take(self, record: Record) -> None:
        """Take one more record."""
        if isinstance(record, Meta):
            self._meta(record)
        elif isinstance(record, Entry):
            self._entry(record)
        elif isinstance(record, UsageReport):
            self._report(record)
        elif isinstance(record, Compaction):
            self._compacted(record)
        elif isinstance(record, Rewind):
            self._context = {i: self._log[i] for i in record.live if i in self._log}
            self._known = calibration.after_rewind(self._calibration())
            self._cut = True

    def _meta(self, meta: Meta) -> None:
        if meta.model and meta.model != self._model:
            first, self._model = self._model is None, meta.model
            self._counter = self._counter_for(meta.model)
            for held in self._log.values() if first else ():
                self._count(held)
        if meta.version:
            self._unwritten.version(meta.version)
        self.traits = replace(
            self.traits,
            agent_type=meta.agent_type or self.traits.agent_type,
            cwd=meta.cwd or self.traits.cwd,
            version=self.traits.version or meta.version or "",
        )

    def _entry(self, entry: Entry) -> None:
        first = entry.usage is not None and entry.call_key != self._calibration().call
        if not self._log:
            self.traits = replace(self.traits, opening=opening_of(entry.message))
        key = entry.source_id or str(len(self._log))
        held = self._groups.get(entry.group or "")
        before, chars = self._size()
        self._unwritten.take(entry, self._counter, self.traits.factor)
        if first and entry.usage:
            self._expect(self._unwritten.asked)
            self._predict(entry.usage, entry.model, before, chars)
        if held is None:
            held = Held()
            if entry.group:
                self._groups[entry.group] = held
        old = held.tokens
        held.parts[key] = entry.message
        self._count(held)
        self._log[key] = self._context[key] = held
        if entry.usage and entry.call_key:
            self._known = calibration.observe(
                self._calibration(), entry.usage.sent_tokens, entry.usage.answer_tokens,
                before if first else before - old, held.tokens, call=entry.call_key, model=entry.model or "",
            )  # fmt: skip
            self._absorbing = False
        elif entry.message.role != "assistant":
            self._absorbing = False
        elif self._absorbing:
            self._known = calibration.absorbed(self._calibration(), held.tokens - old)
        if entry.message.role == "assistant":
            self._answered += held.tokens - old
        self._ends[key] = (*self._size(), self._answered)
        self._expect(self._unwritten.waiting(self.traits.factor))

    def _expect(self, tokens: int) -> None:
        if self._known is not None:
            self._known = calibration.expecting(self._known, tokens)

    def _count(self, held: Held) -> None:
        message = next(iter(held.parts.values()))
        whole = Message(message.role, tuple(p for m in held.parts.values() for p in m.parts), message.name)
        held.tokens = estimate_message_tokens(whole, self._counter)
        held.chars = sum(_chars(m) for m in held.parts.values())

    def _report(self, report: UsageReport) -> None:
        if report.call_key == self._calibration().call:
            return
        before, chars, answered = self._ends.get(report.input_end or "", (*self._size(), self._answered))
        self._predict(report.usage, report.model, before, chars)
        self._known = calibration.observe(
            self._calibration(), report.usage.sent_tokens, report.usage.answer_tokens, before,
            self._answered - answered, call=report.call_key, model=report.model or "",
        )  # fmt: skip
        self._absorbing = True

    def _compacted(self, record: Compaction) -> None:
        kept = record.kept
        self._unwritten.compacted()
        self._context = {i: self._log[i] for i in kept if i in self._log}
        self._known = calibration.after_compaction(self._calibration())
        for entry in record.replacement or ():
            if entry.source_id in self._log:
                self._context[entry.source_id] = self._log[entry.source_id]
            else:
                self._entry(entry)

    # -- figures

    def _size(self) -> tuple[int, int]:
        """Return estimated tokens and characters of the context."""
        held = {id(h): h for h in self._context.values()}.values()
        return sum(h.tokens for h in held), sum(h.chars for h in held)

    def _calibration(self) -> Calibration:
        """Return the calibration; before the first call, that from other sessions."""
        if self._known is not None:
            return self._known
        learned = expected(self.traits, self._lessons)
        return Calibration(unseen=learned.unseen, second=learned.second or 0, restored=learned.restored or 0)

    def _predict(self, usage: Usage, model: str | None, before: int, chars: int) -> None:
        known, real = self._calibration(), usage.sent_tokens
        predicted, _ = calibration.total(known, before)
        last = self._last
        kind = "next" if last else "first"
        if last and (known.compacted or self._cut):
            kind = "compacted" if known.compacted else "cut"
        carried = self.calls[0].real if known.compacted and self.calls else 0
        simple = carried + chars / CHARS_PER_TOKEN
        if last and not known.compacted:
            simple = last[0] + (chars - last[2]) / CHARS_PER_TOKEN
        before_it, more = (last[0], before - last[1]) if last else (0, before)
        self.calls.append(Prediction(
            self.name, self.traits.source, self.traits.version, self.project, model or "", kind, real, predicted,
            round(simple), before_it, more + known.waiting, known.waiting,
        ))  # fmt: skip
        self._last, self._cut = (real, before, chars), False

    @property
    def lessons(self) -> list[Lesson]:
        """Return what this session teaches others; nothing if it had no call."""
        known = self._known
        if known is None or not known.known:
            return []
        second = known.second if known.calls > 1 else None
        restored = known.restored if known.compactions else None
        return [(self.traits, Overheads(known.unseen, second, restored, known.calls))]


def _chars(message: Message) -> int:
    total = 0
    for part in message.parts:
        if isinstance(part, Text | Reasoning | ToolResult):
            total += len(part.text)
        elif isinstance(part, ToolCall):
            total += len(part.name) + len(part.arguments)
    return total


# -- the transcripts


def sessions(root: Path) -> list[Read]:
    """Return (file, stream, records) of every conversation under a folder, by the time of its first row."""
    found: list[tuple[datetime, TranscriptFile, str, list[Record]]] = []
    for file, records in _files(root):
        streams: dict[str, list[Record]] = {}
        for record in records:
            streams.setdefault(getattr(record, "stream", ""), []).append(record)
        for stream, own in streams.items():
            start = min((r.at for r in own if isinstance(r, Entry) and r.at), default=BEGINNING)
            found.append((start, file, stream, own))
    found.sort(key=lambda item: (item[0], item[1].session_id, item[2]))
    return [(file, stream, records) for _, file, stream, records in found]


def _files(root: Path) -> Iterator[tuple[TranscriptFile, list[Record]]]:
    for agent, decoder, where in (
        (AGENTS["claude-code"], claude_code.Decoder, {"CLAUDE_CONFIG_DIR": str(root / "claude-code")}),
        (AGENTS["codex"], codex.Decoder, {"CODEX_HOME": str(root / "codex")}),
    ):
        for file in (file for folder in agent.roots(where) for file in agent.discover(folder)):
            yield file, list(_records(decoder(file), file))


def _records(decoder: claude_code.Decoder | codex.Decoder, file: TranscriptFile) -> Iterator[Record]:
    for number, line in enumerate(file.path.read_bytes().split(b"\n"), 1):
        if line.strip():
            yield from decoder.feed(Line(number, line))


Read = tuple[TranscriptFile, str, list[Record]]


def replay(read: Iterable[Read], tokenizers: Tokenizers) -> list[Replay]:
    """Return these conversations replayed one after the other, each with the lessons of those before it."""
    lessons, replays = list[Lesson](), list[Replay]()
    for conversation in read:
        replays.append(replay_one(conversation, tokenizers, lessons))
        lessons[:0] = replays[-1].lessons
    return replays


def replay_one(conversation: Read, tokenizers: Tokenizers, lessons: Sequence[Lesson]) -> Replay:
    """Return one conversation, replayed with these lessons of others, newest first."""
    file, stream, records = conversation
    child = file.parent_id is not None or bool(stream)
    name = f"{file.path.stem}{stream and ' ' + stream}"
    one = Replay(name, _project(file), Traits(file.source, child, file.agent_type), tokenizers, lessons)
    for record in records:
        one.take(record)
    return one


def _project(file: TranscriptFile) -> str:
    """Return Claude Code's folder of the project; Codex has no folder for each."""
    parts = file.path.parts
    return parts[parts.index("projects") + 1] if "projects" in parts else file.source


@lru_cache(maxsize=2)
def replayed(root: Path) -> tuple[Prediction, ...]:
    """Return the prediction of every call of every session under a folder."""
    tokenizers = Tokenizers()
    tokenizers.counter()
    return tuple(call for one in replay(sessions(root), tokenizers) for call in one.calls)


# -- figures


def _total(call: Prediction, predicted: int) -> float:
    return abs(predicted - call.real) / call.real


def grown(calls: Iterable[Prediction]) -> list[Prediction]:
    """Return the calls by which a context grew by at least GROWTH_FROM tokens."""
    return [c for c in calls if c.kind == "next" and c.real - c.last_real >= GROWTH_FROM]


def growth_error(call: Prediction, predicted: int) -> float:
    """Return the error of a prediction, as a share of the real growth of the context."""
    return abs(predicted - call.real) / (call.real - call.last_real)


def figures(calls: Sequence[Prediction], simple: bool = False) -> list[tuple[str, float, float | None]]:
    """Return (name, percent, goal) of every figure; with `simple` those of the simple predictor."""
    following = [c for c in calls if c.kind in ("next", "cut")]
    steps = grown(calls)

    def value(call: Prediction) -> int:
        return call.simple if simple else call.predicted

    totals = [_total(c, value(c)) for c in following]
    growths = [growth_error(c, value(c)) for c in steps]
    firsts = [_total(c, value(c)) for c in calls if c.kind == "first"]
    compacted = [_total(c, value(c)) for c in calls if c.kind == "compacted"]
    bare = [growth_error(c, c.simple if simple else c.last_real + c.by_factors) for c in steps]
    rows = (
        ("total, median", totals, 50, 0.15),
        ("total, p90", totals, 90, 1),
        ("growth from 200 tokens, median", growths, 50, 6),
        ("growth from 200 tokens, p90", growths, 90, 30),
        ("first call of a session, median", firsts, 50, 20),
        ("first call after a compaction, median", compacted, 50, 12),
        ("growth by factors alone, median", bare, 50, 10),
        ("growth by factors alone, p90", bare, 90, 35),
    )
    return [(n, 100 * percentile(e, p), None if simple else g) for n, e, p, g in rows if e]


def root_of(argument: str | None = None) -> Path:
    """Return the folder with the transcripts."""
    return Path(argument or os.environ.get("COPPICE_TRANSCRIPTS") or SHARED)


def run() -> list[Row]:
    """Return the errors in percent; nothing where there are no transcripts."""
    root = root_of()
    if not root.is_dir():
        return []
    calls = replayed(root)
    plain = {name: value for name, value, _ in figures(calls, simple=True)}
    rows = [Row(f"prediction: {name}", value, "%", goal) for name, value, goal in figures(calls)]
    return rows + [
        Row(f"prediction, simplest predictor: {name}", value, "%") for name, value in plain.items()
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Print our figures beside those of the simple predictor, and those of each session."""
    arguments = sys.argv[1:] if argv is None else argv
    calls = replayed(root_of(arguments[0] if arguments else None))
    plain = {name: value for name, value, _ in figures(calls, simple=True)}
    table = Table("figure", "ours %", "simplest %", "goal %", box=None)
    for name, value, goal in figures(calls):
        table.add_row(name, f"{value:.2f}", f"{plain[name]:.2f}", f"{goal}")
    console = Console(width=130)
    console.print(table)
    detail = Table(
        "session", "model", "calls", "total p50", "p90", "growth n", "p50", "p90", "factors p50", "p90", "first",
        "compacted", box=None,
    )  # fmt: skip
    for name in dict.fromkeys(call.session for call in calls):
        detail.add_row(*_line(name, [c for c in calls if c.session == name]))
    console.print(detail)
    return 0


def _line(name: str, calls: Sequence[Prediction]) -> list[str]:
    def show(errors: list[float], percent: float, digits: int = 0) -> str:
        return f"{100 * percentile(errors, percent):.{digits}f}" if errors else ""

    totals = [_total(c, c.predicted) for c in calls if c.kind in ("next", "cut")]
    steps = grown(calls)
    growths = [growth_error(c, c.predicted) for c in steps]
    bare = [growth_error(c, c.last_real + c.by_factors) for c in steps]
    firsts, compacted = (
        [_total(c, c.predicted) for c in calls if c.kind == k] for k in ("first", "compacted")
    )
    return [
        name[:28], calls[0].model[:24], str(len(calls)), show(totals, 50, 2), show(totals, 90, 2), str(len(steps)),
        show(growths, 50), show(growths, 90), show(bare, 50), show(bare, 90), show(firsts, 50), show(compacted, 50),
    ]  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main())
