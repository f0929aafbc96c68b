"""Rows, fields and blocks that no version has written yet: each is named, and all else is read as before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.webapp.agents.samples import SAMPLES, fed, said
from webapp.agents import AGENTS, FOLDERS
from webapp.agents.claude_code.decoder import Decoder as ClaudeCode
from webapp.agents.codex.decoder import Decoder as Codex
from webapp.agents.gemini_cli.decoder import Decoder as Gemini
from webapp.agents.pi.decoder import Decoder as Pi
from webapp.agents.reading.tail import LineDecoder
from webapp.agents.records import Record, Rewind, Unknown

Row = dict[str, Any]

NOVELTY = {"type": "novelty", "of": ["a later version"]}
# The keys of lists of blocks, in a row or in what it holds.
BLOCKS = ("content", "parts")
# Decoder, sample, a row of an unknown type, the keys of what a row holds.
CASES: list[tuple[type[LineDecoder], str, Row, tuple[str, ...]]] = [
    (ClaudeCode, "claude-code/projects/-home-ada-garden/11111111-*.jsonl", NOVELTY, ("message",)),
    (ClaudeCode, "claude-code/projects/-home-ada-garden/22222222-*.jsonl", NOVELTY, ("message",)),
    (Codex, "codex/sessions/2026/01/02/*0001.jsonl", {"type": "novelty", "payload": NOVELTY}, ("payload",)),
    (
        Codex,
        "codex/sessions/2026/01/02/*0001.jsonl",
        {"type": "response_item", "payload": NOVELTY},
        ("payload",),
    ),
    (Codex, "codex/sessions/2026/01/02/*0001.jsonl", {"type": "event_msg", "payload": NOVELTY}, ("payload",)),
    (Gemini, "gemini-cli/.gemini/tmp/garden/chats/*aaaaaaaa.jsonl", {**NOVELTY, "id": "novel"}, ()),
    (Pi, "pi/sessions/--home-ada-garden--/*0a.jsonl", {**NOVELTY, "id": "novel"}, ("message",)),
]


def rows_of(sample: str) -> list[Row]:
    """Return the rows of a sample that can be parsed."""
    [path] = SAMPLES.glob(sample)
    return [row for line in Path(path).read_bytes().splitlines() if (row := parsed(line))]


def parsed(line: bytes) -> Row | None:
    """Return the object of a line, or None."""
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return row if isinstance(row, dict) else None


def changed(row: Row, keys: tuple[str, ...], change: Callable[[Row], Row]) -> Row:
    """Return a row with a change of it and of what it holds."""
    held = {key: change(row[key]) for key in keys if isinstance(row.get(key), dict)}
    return change({**row, **held})


def context(records: list[Record]) -> list[Any]:
    """Return what was said, and how much of it is live after each turn of the conversation."""
    return [*said(records, None), *(len(r.live) for r in records if isinstance(r, Rewind))]


def unknown(records: list[Record]) -> list[str]:
    """Return the names of what was not read."""
    return [r.type for r in records if isinstance(r, Unknown)]


@pytest.mark.parametrize(("decoder", "sample", "novel", "keys"), CASES)
class TestSomethingUnknown:
    """A sample with one thing in it that no version has written yet."""

    def test_as_a_row_is_named_wherever_it_is(
        self, decoder: type[LineDecoder], sample: str, novel: Row, keys: tuple[str, ...]
    ) -> None:  # X12
        """The rest has the same messages and turns."""
        rows = rows_of(sample)
        plain = context(fed(decoder(), rows))
        for place in range(1, len(rows) + 1):
            records = fed(decoder(), [*rows[:place], novel, *rows[place:]])
            assert context(records) == plain
            assert any("novelty" in name for name in unknown(records))

    def test_as_a_field_changes_nothing(
        self, decoder: type[LineDecoder], sample: str, novel: Row, keys: tuple[str, ...]
    ) -> None:  # X12
        """New fields of a row, or of what it holds, are passed over."""
        rows = rows_of(sample)
        more = [changed(row, keys, lambda one: {**one, "novelty": {"of": [1]}}) for row in rows]
        assert context(fed(decoder(), more)) == context(fed(decoder(), rows))

    def test_as_a_block_is_named(
        self, decoder: type[LineDecoder], sample: str, novel: Row, keys: tuple[str, ...]
    ) -> None:  # X12
        """The other blocks of the message are read."""

        def with_block(one: Row) -> Row:
            more = {
                key: [*one[key], NOVELTY] for key in BLOCKS if isinstance(one.get(key), list) and one[key]
            }
            return {**one, **more}

        rows = rows_of(sample)
        records = fed(decoder(), [changed(row, keys, with_block) for row in rows])
        assert context(records) == context(fed(decoder(), rows))
        assert any(name.startswith(("block novelty", "part with type")) for name in unknown(records))


def test_every_agent_that_is_read_by_lines_has_a_sample_here() -> None:
    """An agent without a case could lose rows of a later version silently."""
    by_lines = {
        folder for folder, agent in zip(FOLDERS, AGENTS.values(), strict=True) if ".jsonl" in agent.endings
    }
    assert {decoder.__module__.split(".")[-2] for decoder, *_ in CASES} == by_lines, "add the agent to CASES"
