"""Overheads of an agent, learned from its sessions."""

from __future__ import annotations

from typing import Any

from webapp.store import Store
from webapp.store.sessions import MOST_OBSERVED, ObservedOverheads


def session(
    store: Store, name: str, at: int = 1, state: dict[str, Any] | None = None, **columns: Any
) -> None:
    """Create a session of Claude Code that was last active at `at`."""
    given = {"source": "claude-code", "kind": "followed", "created_at": 1, "last_activity_at": at, **columns}
    with store.write():
        store.sessions.create(id=name, state=state or {}, **given)


def known(unseen: int, **more: int) -> dict[str, Any]:
    """Return the state of a session with a reported call."""
    return {"calibration": {"known": True, "unseen": unseen, "calls": 1, **more}}


class TestTaught:
    """The newest sessions' overheads."""

    def test_comes_newest_first_with_what_each_was_like(self, store: Store) -> None:  # X11
        """Folder, model, type, version, and whether another session started it."""
        session(
            store, "a", 5, known(20_000, calls=9, second=50, compactions=1, restored=7), cwd="/x", model="m"
        )
        session(
            store,
            "b",
            9,
            {**known(4_000), "opening": "Warmup", "agent_version": "2.0.44"},
            parent_id="a",
            agent_type="Explore",
        )
        assert store.sessions.observed_overheads("claude-code") == [
            ObservedOverheads(
                store.sessions.get("b").key,
                True,
                "Explore",
                None,
                None,
                4_000,
                0,
                0,
                1,
                0,
                "Warmup",
                "2.0.44",
            ),
            ObservedOverheads(
                store.sessions.get("a").key, False, None, "/x", "m", 20_000, 50, 7, 9, 1, "", ""
            ),
        ]

    def test_leaves_out_other_agents_deleted_sessions_and_those_without_a_call(self, store: Store) -> None:
        """They have nothing to say here."""
        session(store, "a", 1, known(1), source="codex")
        session(store, "b", 1, {"calibration": {"known": False, "unseen": 9}})
        session(store, "c", 1)
        session(store, "d", 1, known(2))
        with store.write():
            store.sessions.update(store.sessions.get("d").key, deleted_at=5)
        assert store.sessions.observed_overheads("claude-code") == []

    def test_leaves_out_sessions_that_began_with_their_parents_context(self, store: Store) -> None:  # X11
        """The messages of one parent would count as an overhead of sessions that do not have that parent."""
        session(store, "a", 1, known(4_000))
        session(store, "b", 2, known(90_000), parent_id="a", agent_type="fork")
        session(store, "c", 3, {**known(80_000), "inherits": True}, parent_id="a", agent_type="worker")
        assert [one.unseen for one in store.sessions.observed_overheads("claude-code")] == [4_000]

    def test_is_bounded(self, store: Store) -> None:
        """The number of sessions does not matter."""
        for n in range(MOST_OBSERVED + 5):
            session(store, f"s{n}", n, known(n))
        assert len(store.sessions.observed_overheads("claude-code")) == MOST_OBSERVED
