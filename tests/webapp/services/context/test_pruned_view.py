"""The pruned view as `scoring` needs it."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from sys import getsizeof
from typing import Any

import pytest

from scoring.messages import Text
from scoring.summary import Summary
from tests.webapp.building import call, conversation, followed, managed, mid, result, user, wire
from tests.webapp.store.queries import queries
from webapp.app import App
from webapp.bodies import PlanBody, PruneBody
from webapp.services.context.pruned_view import MessageCache, view_items
from webapp.services.session.replacements import Replacement
from webapp.store.context import PRUNED


def there(app: App, session: str) -> Any:
    """Return the items of a session's pruned view."""
    return view_items(app.store, app.store.sessions.get(session).key)


def memory_of(things: Sequence[object]) -> int:
    """Return the bytes of these objects and of everything that they refer to except types."""
    found: dict[int, object] = {}
    left = list(things)
    while left:
        thing = left.pop()
        if id(thing) not in found and not isinstance(thing, type):
            found[id(thing)] = thing
            left += gc.get_referents(thing)
    return sum(map(getsizeof, found.values()))


class TestViewItems:
    """The messages and summaries of the pruned view, in order."""

    def test_have_the_stored_tokens_of_messages(self, app: App) -> None:  # C6
        """Tokens are those of the log, and wire objects are unchanged."""
        session = managed(app, wire("user", "a"), wire("assistant", "b"))
        found = there(app, session)
        assert [s.message.wire.value for s in found] == [wire("user", "a"), wire("assistant", "b")]
        assert sum(s.tokens for s in found) == sum(
            tokens for tokens, _ in app.store.contexts.totals(found[0].row.no)[PRUNED].values()
        )

    def test_cost_what_is_in_the_context_and_not_in_the_log(self, app: App) -> None:  # C6
        """20 messages of a log of 400 take as many queries and rows as a log of 20; one query has the order."""
        talk = [wire("user" if n % 2 == 0 else "assistant", f"word {n}") for n in range(400)]
        short, long = managed(app, *talk[-20:]), managed(app, *talk)
        out = [mid(app, long, no) for no in range(1, 381)]
        plan = app.prunes.plan(long, PlanBody(max_tokens=100_000, drop=out))
        app.prunes.apply(long, PruneBody(plan_id=plan.plan_id))
        costs = []
        for session in (short, long):
            with queries(app.store) as made:
                assert len(there(app, session)) == 20
            costs.append(made)
        assert costs[0] == costs[1]
        assert [query.rows for query in costs[0] if "ORDER BY position" in query.sql] == [20]

    def test_have_summaries_in_place_of_their_messages(self, app: App) -> None:  # C2
        """A summary has its own tokens."""
        followed(app, *conversation(6), user("end"))
        app.summarising.summarise("s")
        first = there(app, "s")[0]
        assert isinstance(first.item, Summary)
        assert first.tokens == first.row.tokens
        assert first.message.role == "user"

    def test_have_messages_with_their_replacements(self, app: App) -> None:
        """A replaced output and replaced parts are used, with their tokens."""
        followed(app, user("go"), call("c"), result("c", "long " * 100))
        row = app.store.sessions.get("s")
        parts = (Text("other words"),)
        with app.store.write():
            texts = [(2, Replacement(3, {"c": "short"}).text), (0, Replacement(5, {}, parts).text)]
            app.store.contexts.set_replacements(row.key, PRUNED, texts)
        found = there(app, "s")
        assert (found[2].message.results[0].text, found[2].tokens) == ("short", 3)
        assert (found[0].message.text, found[0].tokens) == ("other words", 5)

    def test_mark_messages_equal_to_their_wire_objects(self, app: App) -> None:
        """A message without a replacement equals its decoded wire object."""
        session = managed(app, wire("user", "a"), wire("assistant", "b"), wire("user", "c"))
        row = app.store.sessions.get(session)
        texts = [(0, Replacement(3, {}, (Text("other words"),)).text)]
        said = MessageCache()
        assert [s.as_read for s in view_items(app.store, row.key, said)] == [True, True, True]
        with app.store.write():
            app.store.contexts.set_replacements(row.key, PRUNED, texts)
        assert [s.as_read for s in view_items(app.store, row.key, said)] == [False, True, True]

    def test_do_not_mark_objects_that_decode_differently(
        self, app: App, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A newer decoder may read something else in a stored object."""
        session = managed(app, wire("user", "a"))
        monkeypatch.setattr("webapp.services.context.pruned_view.matches_wire", lambda _: False)
        assert [s.as_read for s in there(app, session)] == [False]

    def test_are_compared_again_after_leaving_the_cache(self, app: App) -> None:
        """The cache of comparisons is bounded like that of messages."""
        session = managed(app, *[wire("user", f"word {n} " * 50) for n in range(4)])
        said = MessageCache(bytes_kept=1)
        view_items(app.store, app.store.sessions.get(session).key, said)
        assert len(said._as_read) == 1

    @pytest.mark.parametrize("text", ["plain words " * 500, "→ 字 " * 500, "short"])
    def test_take_no_more_memory_than_is_counted(self, app: App, text: str) -> None:
        """The size of the cache is that of its messages: their words, their wire objects, and what they consist of."""
        asked = {"id": "c", "type": "function", "function": {"name": "read", "arguments": '{"path": "a.py"}'}}
        rows = [
            wire("user", text), {"role": "assistant", "content": None, "tool_calls": [asked]},
            {"role": "tool", "tool_call_id": "c", "content": text},
        ]  # fmt: skip
        key = app.store.sessions.get(managed(app, *rows * 20)).key
        cache = MessageCache()
        view_items(app.store, key, cache)
        messages = [message for _, _, message, _ in cache._messages.values()]
        assert 0.4 * cache._bytes < memory_of(messages) < cache._bytes

    def test_of_a_deleted_session_leave_the_memory(self, app: App) -> None:
        """A server that has had thousands of sessions is as large as one that has the same sessions left."""
        kept, deleted = (managed(app, wire("user", word), wire("assistant", "b")) for word in ("a", "c"))
        for session in (kept, deleted):
            app.context.get(session)
        app.sessions.delete(deleted)
        cache = app.context._cache
        assert {session for session, _ in cache._messages} == {app.store.sessions.get(kept).key}
        assert len(cache._as_read) == len(cache._messages) == 2
        assert cache._bytes == sum(size for *_, size in cache._messages.values())
