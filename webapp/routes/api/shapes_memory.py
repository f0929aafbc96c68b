"""The shapes of what we answer about memory and summaries; see `shapes`."""

from __future__ import annotations

from typing import Literal

from webapp.routes.api.shapes import Json, Shape


class Summary(Shape):
    """What stands, or stood, for messages. `level` says who wrote it, `cost` is in US dollars."""

    id: int
    text: str
    note: str
    depth: int
    messages: int
    tokens: int
    replaced_tokens: int
    level: Literal["structured", "terser", "deterministic"]
    model: str | None
    cost: float | None
    covers: Json
    standing: bool
    at: str


class SummaryFull(Summary):
    """One summary with the messages it stands for."""

    message_ids: list[str]


class Summaries(Shape):
    """The summaries of a session."""

    summaries: list[Summary]


class Summarised(Shape):
    """A summary that was made, with `summary`, `operation` and `session`; or `running`, where it is being made."""

    message: str


class Status(Shape):
    """How far a session is from its next summary, and how full it is in one line."""

    triggers: list[Json]
    due: Json
    running: bool
    made: str
    last_summary: Json | None
    tool_tokens: int
    available: int
    line: str
