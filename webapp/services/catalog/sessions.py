"""Sessions: made, listed, changed, deleted, and their figures over time."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from scoring.budget import usable_tokens
from scoring.messages import Message, Text
from scoring.models import CURRENCY, CallTokens, context_cost, spent
from scoring.settings import Settings
from scoring.tokens import estimate_tool_tokens
from webapp.agents.records import Entry
from webapp.errors import Invalid
from webapp.events import SessionCreated, SessionDeleted, SessionUpdated
from webapp.services.context.assembling import usable_of, usable_shown
from webapp.services.ingest.append_batch import AppendBatch
from webapp.services.session.environment import Environment
from webapp.services.session.gauges import session_json, shown_title
from webapp.services.session.histories import Histories
from webapp.services.session.times import iso
from webapp.store import Store
from webapp.store.context import PRUNED
from webapp.store.indexed_text import indexed
from webapp.store.sessions import SessionRow

SORTS = {
    "activity": lambda s: s["last_activity"] or "",
    "title": lambda s: (s["title"] or "").lower(),
    "tokens": lambda s: (s["agent"] or s["pruned"])["tokens"],
    "utilization": lambda s: (s["agent"] or s["pruned"])["utilization"],
    "created": lambda s: s["created_at"] or "",
    "prunes": lambda s: s["prunes"],
    "messages": lambda s: s["messages"],
}
DELETE_BATCH = 500


class Sessions:
    """The use cases around a session as a whole."""

    def __init__(self, environment: Environment, histories: Histories) -> None:
        self._environment, self._store, self._histories = environment, environment.store, histories

    def create(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Makes a managed session of `{id?, title?, model, system?, tools?, settings?}`.

        Raises:
            Conflict: the id exists.
            InvalidSettings: an override is unknown or out of range, or nothing of the model's window is usable.
        """
        overrides = dict(data.get("settings") or {})
        settings = Settings.from_dict(overrides, base=self._environment.settings())
        if data.get("source", "api") == "api":  # what is followed or imported is there already
            usable_tokens(self._environment.model(data.get("model")), settings)
        session_id = data.get("id") or f"s-{secrets.token_hex(6)}"
        tools, system = data.get("tools"), data.get("system")
        now = self._environment.clock()
        with self._store.write():
            row = self._store.sessions.create(
                id=session_id, title=data.get("title"), source=data.get("source", "api"), kind="managed",
                model=data.get("model"), created_at=now, last_activity_at=now, settings=overrides,
                envelope={"tools": tools} if tools else None, wire_format=data.get("wire_format"),
            )  # fmt: skip
            if tools or system:
                self._begin(row, system, tools or [], now)
        self._environment.bus.publish(SessionCreated(session_id))
        return self.get(session_id)

    def _begin(self, row: SessionRow, system: Any, tools: list[Any], now: int) -> None:
        """The system prompt as the first message, the tool definitions as a region."""
        draft = AppendBatch(
            self._store, row, self._store.contexts.totals(row.key), self._environment.measure(row), now
        )
        if tools:
            tokens = estimate_tool_tokens(tools, self._environment.measure(row).counter)
            draft.totals[PRUNED]["tools"] = (tokens, 0)
        if system:
            draft.add([Entry(Message("system", (Text(system_words(system)),)), None)]).close_all()
        draft.write()

    def list(
        self,
        state: str | None = None,
        source: str | None = None,
        q: str | None = None,
        sort: str | None = None,
    ) -> list[dict[str, Any]]:
        """Sessions that meet the conditions; latest activity first, or by `sort` (a `-` turns it round).

        Raises:
            Invalid: there is no such order.
        """
        with self._store.read():
            rows = [row for row in self._store.sessions.all() if not silent(row)]
            totals = self._store.contexts.all_totals()
        empty: dict[int, dict[str, tuple[int, int]]] = {0: {}, 1: {}}
        found = [session_json(self._environment, row, totals.get(row.key, empty)) for row in rows]
        if state:
            found = [s for s in found if s["state"] == state]
        if source:
            found = [s for s in found if s["source"] == source]
        if q:
            words = q.lower().split()
            found = [s for s in found if _mentions(s, words)]
        name, down = (sort or "activity").lstrip("-"), not (sort or "").startswith("-")
        if name not in SORTS:
            raise Invalid(f"bad value for sort; expected one of {', '.join(SORTS)}, got {sort}", "sort")
        return sorted(found, key=SORTS[name], reverse=down if name != "title" else not down)

    def get(self, session_id: str) -> dict[str, Any]:
        """One session.

        Raises:
            NotFound: there is none.
        """
        with self._store.read():
            row = self._store.sessions.get(session_id)
            return session_json(self._environment, row, self._store.contexts.totals(row.key))

    def patch(self, session_id: str, data: Mapping[str, Any]) -> dict[str, Any]:
        """Changes title, model, automatic pruning or overrides; null values in `settings` give a field back.

        Raises:
            InvalidSettings: an override is unknown or out of range, or nothing of the window would be usable any
                more; nothing is changed.
        """
        with self._environment.lock(session_id), self._store.write():
            row = self._store.sessions.get(session_id)
            changes: dict[str, Any] = {}
            for name in ("title", "model"):
                if name in data:
                    changes[name] = data[name]
            if "automatic" in data:
                changes["automatic"] = None if data["automatic"] is None else int(data["automatic"])
            if "settings" in data:
                merged = {**row.settings, **(data["settings"] or {})} if data["settings"] is not None else {}
                overrides = {k: v for k, v in merged.items() if v is not None or k == "cap_tokens"}
                Settings.from_dict(overrides, base=self._environment.settings())
                changes["settings"] = overrides
            if usable_shown(self._environment, row):
                usable_of(self._environment, replace(row, **changes))
            if changes:
                self._store.sessions.update(row.key, **changes)
        self._environment.bus.publish(SessionUpdated(session_id))
        return self.get(session_id)

    def delete(self, session_id: str) -> None:
        """Deletes a session, its log and its sub-agents; a followed one leaves a marker."""
        for one in reversed(with_all_below(self._store, session_id)):
            self._delete(one)

    def _delete(self, session_id: str) -> None:
        with self._environment.lock(session_id):
            row = self._store.sessions.get(session_id)
            with self._store.write():
                for start in range(0, row.next_seq, DELETE_BATCH):
                    some = self._store.log.entries(row.key, start, start + DELETE_BATCH - 1)
                    self._store.words.remove(
                        row.key, ((e.seq, indexed(e.message)) for e in some if e.message_no > 0)
                    )
                self._store.sessions.remove(row, self._environment.clock() if row.followed else None)
            self._histories.forget(row.key)
        self._environment.bus.publish(SessionDeleted(session_id))

    def stats(self, session_id: str) -> dict[str, Any]:
        """The figures of SPEC B11 with regions and the time they were taken."""
        session = self.get(session_id)
        main = session["agent"] or session["pruned"]
        return {
            "session": session,
            "items": main["messages"],
            "tokens": main["tokens"],
            "limit": session["limit"],
            "utilizationPercent": 100 * main["tokens"] / session["limit"] if session["limit"] else 0.0,
            "needsPruning": main["tokens"] > session["target_tokens"],
            "regions": main["regions"],
            "cost": self._cost(self._store.sessions.get(session_id), main["tokens"]),
            "parent": self._parent(session["parent_id"]),
            "as_of": iso(self._environment.clock()),
        }

    def _parent(self, parent_id: str | None) -> dict[str, Any] | None:
        """The session above a sub-agent's; None where there is nothing in it to look at."""
        row = self._store.sessions.find(parent_id) if parent_id is not None else None
        if row is None or row.deleted_at is not None or silent(row):
            return None
        return {"id": row.id, "title": shown_title(row)}

    def _cost(self, row: SessionRow, tokens: int) -> dict[str, Any] | None:
        """What a call with this context costs, new and cached, and what all calls have cost; None if not known."""
        model = self._environment.model(row.model)
        cost = context_cost(tokens, model)
        if cost is None:
            return None
        calls = [
            CallTokens(c.input_tokens, c.output_tokens, c.cached_tokens, c.cache_write_tokens)
            for c in self._store.figures.calls(row.key)
        ]
        return {
            "per_call": cost.fresh,
            "per_call_cached": cost.cached,
            "at_least": cost.at_least,
            "calls": len(calls),
            "spent": spent(calls, model),
            "currency": CURRENCY,
        }

    def timeline(self, session_id: str, points: int = 600) -> dict[str, Any]:
        """The chart: gauges over messages, and what was done to the context."""
        with self._store.read():
            row = self._store.sessions.get(session_id)
            samples = self._store.figures.samples(row.key, row.next_sample, points)
            operations = self._store.operations.all(row.key)
        limits = self._environment.limits(row)
        marks = [_mark(o) for o in reversed(operations) if o.kind in MARKED]
        undone = [
            {"at": iso(o.undone_at), "number": None, "kind": "undo", "before": o.tokens_after,
             "after": o.tokens_before, "label": f"{o.kind} {o.n} undone"}
            for o in operations if o.undone_at is not None and o.kind in MARKED
        ]  # fmt: skip
        return {
            "points": [
                {"at": iso(s.at), "number": s.no, "agent": s.agent_tokens, "pruned": s.view_tokens}
                for s in samples
            ],
            "marks": marks + undone,
            "limit": limits.limit,
            "target": limits.target_tokens,
        }


def with_all_below(store: Store, session_id: str) -> list[str]:
    """The session and its sub-agents, theirs included, each once whatever they say of each other; itself first."""
    found, waiting = {session_id: None}, [session_id]
    while waiting:
        new = [one for one in store.sessions.children(waiting.pop()) if one not in found]
        found.update(dict.fromkeys(new))
        waiting += new
    return [*found]


def silent(row: SessionRow) -> bool:
    """Whether it is a file in which nothing was said, and nothing broken either: no session until something is."""
    return row.followed and row.next_no == 1 and not row.malformed and not row.deleted_at


MARKED = ("prune", "summary", "compaction", "rewind")


def _mark(operation: Any) -> dict[str, Any]:
    before, after = operation.tokens_before, operation.tokens_after
    if operation.actor == "agent":
        before = operation.plan.get("agent_before", before)
        after = operation.plan.get("agent_after", after)
    return {
        "at": iso(operation.at),
        "number": operation.plan.get("number"),
        "kind": operation.kind,
        "before": before,
        "after": after,
        "label": operation.reason,
    }


def _mentions(session: Mapping[str, Any], words: list[str]) -> bool:
    fields = (session["title"], session["model"], session["cwd"], session["id"], session["source"])
    text = " ".join(str(field) for field in fields if field).lower()
    return all(word in text for word in words)


def system_words(system: Any) -> str:
    """The words of a system prompt: a string, or a list of blocks with text."""
    if isinstance(system, str):
        return system
    pieces = [block.get("text", "") if isinstance(block, Mapping) else str(block) for block in system]
    return "\n".join(piece for piece in pieces if isinstance(piece, str))
