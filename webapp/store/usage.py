"""Reported usage of each call, and the samples of the chart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from webapp.store.engine import Subject
from webapp.store.keys import bounds, key, number
from webapp.store.sql import insert, listed, upsert

INFERENCE = "inference"
# Figures that a later report of the same call can raise.
_GROWING = (
    "input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens",
    "cache_write_hour_tokens",
)  # fmt: skip


class CallRow(NamedTuple):
    """Reported usage of one call. `estimated` is our estimate just before it, in tokens.

    `cache_write_hour_tokens` is a part of `cache_write_tokens`. `answer_tokens` is the least that the text of the
    answer takes, if that is more than the reported output; else 0. `service_tier` is the service that the provider
    says it gave, empty if it says none.
    """

    call_key: str
    seq: int
    at: int | None
    model: str | None
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    estimated: int | None
    cache_write_hour_tokens: int = 0
    answer_tokens: int = 0
    service_tier: str = ""

    def merged(self, later: CallRow) -> CallRow:
        """Return the call after a later report of it, of which its larger figures and its answer count."""
        larger = {name: max(getattr(self, name), getattr(later, name)) for name in _GROWING}
        return self._replace(**larger, answer_tokens=later.answer_tokens)

    @property
    def is_inference(self) -> bool:
        """Return whether it is no call of the conversation: one of several inferences of a call, or a call apart."""
        return self.call_key.startswith(f"{INFERENCE} ")

    @property
    def is_for_compaction(self) -> bool:
        """Return whether it is a call for a compaction that the agent reports apart."""
        return self.call_key.startswith(f"{INFERENCE} of compaction ")


class Sample(NamedTuple):
    """The gauges after message `no`. `agent_tokens` is None for a managed session."""

    n: int
    at: int | None
    no: int
    agent_tokens: int | None
    view_tokens: int


SAMPLE_COLUMNS = ("key", *Sample._fields[1:])
_SAMPLES = f"SELECT {listed(SAMPLE_COLUMNS)} FROM samples"


class Usage(Subject):
    """Calls and samples of all sessions."""

    def put_calls(self, session: int, rows: Iterable[CallRow]) -> None:
        """Write calls; an existing one keeps its larger figures and its first estimate."""
        larger = ", ".join(
            f"{name} = CASE WHEN coalesce(excluded.{name}, 0) > coalesce(calls.{name}, 0) "
            f"THEN excluded.{name} ELSE calls.{name} END"
            for name in _GROWING
        )
        sql = (
            f"{insert('calls', ('session', *CallRow._fields))} ON CONFLICT (session, call_key) DO UPDATE SET "
            f"{larger}, answer_tokens = excluded.answer_tokens"
        )
        self._db.run_many(sql, ((session, *row) for row in rows))

    def reported_at(self, session: int, call_key: str) -> int | None:
        """Return the place in the log at which a call was reported, after its answer; None for an unknown call."""
        found = self._db.value(
            "SELECT seq FROM calls WHERE session = ? AND call_key = ?", (session, call_key)
        )
        return None if found is None else int(found)

    def correct(self, session: int, call: str, tokens: tuple[int, int, int, int, int]) -> bool:
        """Write the exact usage of a call that a transcript reported too; return whether anything changed.

        `call` is the provider's id of the answer, with which the key of the call begins. `tokens` are input, output,
        cached, written to the cache, and the part of those that stays for an hour.
        """
        sql = (
            "UPDATE calls SET input_tokens = ?, output_tokens = ?, cached_tokens = ?, cache_write_tokens = ?, "
            "cache_write_hour_tokens = ?, answer_tokens = 0 WHERE session = ? "
            "AND (call_key = ? OR substr(call_key, 1, length(?) + 1) = ? || ':') "
            "AND (input_tokens, output_tokens, cached_tokens, cache_write_tokens, "
            "coalesce(cache_write_hour_tokens, 0), coalesce(answer_tokens, 0)) <> (?, ?, ?, ?, ?, 0)"
        )
        return self._db.run(sql, (*tokens, session, call, call, call, *tokens)) > 0

    def calls(self, session: int) -> list[CallRow]:
        """Return all calls in log order."""
        sql = (
            "SELECT call_key, seq, at, model, input_tokens, output_tokens, cached_tokens, cache_write_tokens, "
            "reasoning_tokens, estimated, coalesce(cache_write_hour_tokens, 0), coalesce(answer_tokens, 0), "
            "coalesce(service_tier, '') FROM calls WHERE session = ? ORDER BY seq, call_key"
        )
        return [CallRow(*row) for row in self._db.rows(sql, (session,))]

    def first_input(self, session: int) -> int | None:
        """Return the input tokens of a session's first call; None if there was none."""
        found = self._db.value(
            "SELECT input_tokens FROM calls WHERE session = ? ORDER BY seq, call_key LIMIT 1", (session,)
        )
        return None if found is None else int(found)

    def add_samples(self, session: int, rows: Iterable[Sample]) -> None:
        """Append samples."""
        sql = upsert("samples", SAMPLE_COLUMNS, keys=1)
        self._db.run_many(sql, ((key(session, r.n), *r[1:]) for r in rows))

    def samples(self, session: int, count: int, points: int) -> list[Sample]:
        """Return about `points` samples spread evenly over the session's `count`, the last one included.

        Cost: one lookup for each point, whatever the length of the session.
        """
        if count <= points:
            rows = self._db.rows(f"{_SAMPLES} WHERE key BETWEEN ? AND ? ORDER BY key", bounds(session))
        else:
            wanted = sorted({round(i * (count - 1) / max(1, points - 1)) for i in range(points)})
            rows = self._db.rows_in(
                f"{_SAMPLES} WHERE key IN ({{}}) ORDER BY key", [key(session, n) for n in wanted]
            )
        return [Sample(number(k), *rest) for k, *rest in rows]
