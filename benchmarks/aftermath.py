"""The aftermath of real compactions beside other calls of the same sessions. `python -m benchmarks.aftermath [FOLDER]`.

Prints tables in Markdown: by agent and kind of event, and what windows of other lengths find. Read are the transcripts
of the shared material, and its labelled coding sessions, which were split where their agent compacted: the parts of
one session are joined again. FOLDER is the shared data by default; without it nothing is measured. Of the latter
sessions the last messages before a compaction are missing, so that they find too little rather than too much.
"""

from __future__ import annotations

import gzip
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import orjson

from benchmarks.sessions import app
from scoring.formats import decode
from scoring.learning import STEPS, Aftermath, AftermathCounter, Baseline
from scoring.messages import Message
from scoring.tokens import estimate_message_tokens
from webapp.app import App
from webapp.errors import CoppiceError
from webapp.services.catalog.aftermath_walk import follow, logged, places_of
from webapp.services.session.session import Session

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
LENGTHS = (5, 10, STEPS, 40)
# The beginning of the summary that stands first in the part behind a compaction.
CONTINUED = "This session is being continued"

Part = list[tuple[Message, int]]


class Found(NamedTuple):
    """The events of one session by their kind, and its baseline windows."""

    agent: str
    events: list[tuple[str, Aftermath]]
    baseline: Baseline


def of_transcripts(made: App, steps: int) -> Iterator[Found]:
    """Yield every session of a store that has an event."""
    for row in made.store.sessions.all():
        session = Session.of(made.environment, row)
        places = places_of(session, made.store.operations.all(row.key), None, {})
        counter = AftermathCounter(row.cwd or "", steps)
        follow(counter, logged(made.store, row), places)
        events = [
            (place.event, counter.aftermaths[place.name])
            for place in places
            if place.name in counter.aftermaths
        ]
        if events:
            yield Found(row.source, events, counter.baseline)


def read_parts(path: Path) -> list[list[Part]]:
    """Return the labelled sessions, each as its parts of messages with their tokens."""
    parts: dict[str, list[Part]] = defaultdict(list)
    with gzip.open(path) as file:
        for line in file:
            session = orjson.loads(line)
            decoded = decode(session["messages"], "openai").messages
            own = [
                (one, estimate_message_tokens(one)) for one in decoded if not one.text.startswith(CONTINUED)
            ]
            parts[session["id"].rpartition("-")[0]].append(own)
    return list(parts.values())


def of_parts(sessions: Iterable[list[Part]], steps: int) -> Iterator[Found]:
    """Yield the labelled sessions of which several parts are there."""
    for parts in sessions:
        counter = AftermathCounter("", steps)
        for number, part in enumerate(parts):
            if number:
                counter.begin(f"compaction {number}")
            for message, tokens in part:
                counter.add(message, tokens)
        if counter.aftermaths:
            events = [("compaction", one) for one in counter.aftermaths.values()]
            yield Found("claude-code, labelled", events, counter.baseline)


def table(title: str, groups: Iterable[tuple[str, list[Found]]]) -> str:
    """Return a table: for each group the means after complete events, each beside that expected of as many calls."""
    lines = [f"| {title} | events | compared | files | commands | errors | said | tokens until new work |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for name, found in groups:
        events = [(one, each.baseline) for each in found for _, one in each.events if one.complete]
        compared = [(one, beside) for one, beside in events if beside.windows]
        if events:
            cells = [_cell(events, compared, what) for what in ("files", "commands", "errors", "said")]
            lines.append(
                " | ".join([f"| {name}", str(len(events)), str(len(compared)), *cells, _tokens(events)])
                + " |"
            )
    return "\n".join(lines)


def _cell(
    events: list[tuple[Aftermath, Baseline]], compared: list[tuple[Aftermath, Baseline]], what: str
) -> str:
    if not compared:
        return f"{sum(getattr(one, what) for one, _ in events) / len(events):.2f} (–)"
    after = sum(getattr(one, what) for one, _ in compared) / len(compared)
    steps = max(one.steps for one, _ in compared)
    usual = sum(getattr(beside, what) / beside.windows * one.steps / steps for one, beside in compared)
    return f"{after:.2f} ({usual / len(compared):.2f})"


def _tokens(events: list[tuple[Aftermath, Baseline]]) -> str:
    worked = [one.tokens for one, _ in events if one.tokens is not None]
    return f"~{sum(worked) / len(worked):,.0f}" if worked else "–"


def by_agent_and_kind(found: list[Found]) -> Iterator[tuple[str, list[Found]]]:
    """Yield the events of each agent and kind."""
    groups = sorted({(each.agent, kind) for each in found for kind, _ in each.events})
    for agent, kind in groups:
        own = [each for each in found if each.agent == agent]
        yield (
            f"{agent}: {kind}",
            [each._replace(events=[one for one in each.events if one[0] == kind]) for each in own],
        )


def imported(made: App, folder: Path) -> None:
    """Import every transcript below a folder; files that are none are left out."""
    for path in sorted(folder.rglob("*.json*")):
        try:
            made.importing.import_file(path.name, path.read_bytes(), place=path)
        except CoppiceError:
            continue


def main(argument: str | None = None) -> str:
    """Return the tables; a sentence without the shared data."""
    folder = Path(argument or os.environ.get("COPPICE_SHARED_DATA") or SHARED)
    if not (folder / "transcripts").is_dir():
        return f"skipped: {folder} has no transcripts"
    labelled = folder / "retention" / "coding.jsonl.gz"
    with app() as made:
        imported(made, folder / "transcripts")
        parts = read_parts(labelled) if labelled.exists() else []
        found = {n: [*of_transcripts(made, n), *of_parts(parts, n)] for n in LENGTHS}
    real = {n: [each for each in found[n] if each.baseline.windows] for n in LENGTHS}
    return "\n\n".join(
        [
            table("agent and event", by_agent_and_kind(found[STEPS])),
            table("calls in a window", ((str(n), real[n]) for n in LENGTHS)),
        ]
    )


if __name__ == "__main__":
    print(main(*sys.argv[1:2]))
