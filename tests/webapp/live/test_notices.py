"""The messages of each event."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

import pytest

from webapp import events
from webapp.events import (
    ContextPruned,
    ContextRestored,
    ContextSummarized,
    Event,
    ImportProgressed,
    MemoriesChanged,
    MessagesAppended,
    ModelsChanged,
    ProblemReported,
    SessionCreated,
    SessionDeleted,
    SessionJudged,
    SessionUpdated,
    SettingsChanged,
)
from webapp.live.notices import NOTICES, notices_of

PRUNED = ContextPruned("a", 7, "manual", 100_000, 60_000, 42, ("m1", "m2"), 30.0)


def sent(event: Event) -> dict[str, dict[str, object]]:
    """Return the messages of an event in its session's room: name -> payload."""
    return {name: payload for notice in notices_of(event) for name, payload in notice.events}


class TestTheTable:
    """The table of events."""

    @pytest.mark.parametrize(
        "kind",
        [
            cls
            for _, cls in inspect.getmembers(events, inspect.isclass)
            if issubclass(cls, Event) and cls is not Event
        ],
    )
    def test_knows_every_event(self, kind: type[Event]) -> None:
        """A new event needs a row."""
        assert kind in NOTICES

    def test_ignores_an_unknown_event(self) -> None:
        """An event without a row causes no message."""
        assert notices_of(Event()) == ()


class TestMessages:
    """The names and payloads of messages."""

    def test_of_a_prune_have_its_numbers(self) -> None:  # B14
        """They have the tokens before and after, the dropped messages and the gain."""
        assert sent(PRUNED)["context:pruned"] == {
            "session_id": "a", "prune_id": 7, "kind": "prune", "reason": "manual", "original": 100_000, "final": 60_000,
            "removed": 42, "removed_ids": ["m1", "m2"], "shortened": 0, "summarised": 0,
            "tokenReduction": 40_000, "utilization": 30.0,
        }  # fmt: skip

    def test_of_a_summary_have_its_text(self) -> None:  # B14
        """They have the number of messages before and after."""
        payload = sent(ContextSummarized("a", "s1", 20, 10, "Previous 20 turns"))["context:summarized"]
        assert payload == {
            "session_id": "a", "summary_id": "s1", "summarized": 20, "kept": 10, "summary": "Previous 20 turns"
        }  # fmt: skip

    def test_of_a_restore_name_the_messages(self) -> None:
        """They also name the operation if one was undone."""
        assert sent(ContextRestored("a", 3, ("m1",)))["context:restored"] == {
            "session_id": "a", "prune_id": 3, "message_ids": ["m1"]
        }  # fmt: skip

    def test_are_toasts_only_for_automatic_changes(self) -> None:
        """A click gets its own answer."""
        assert "toast:success" not in sent(PRUNED)
        assert "toast:success" in sent(replace(PRUNED, reason="automatic"))

    @pytest.mark.parametrize(
        ("given", "text"),
        [
            ({}, "Pruned automatically: 42 removed, 40,000 tokens freed"),
            ({"estimated": True}, "Pruned automatically: 42 removed, ~40,000 tokens freed"),
            ({"reason": "emergency", "removed": 0, "shortened": 1},
             "Pruned in an emergency: 1 shortened, 40,000 tokens freed"),
            ({"removed": 12, "summarised": 10},
             "Pruned automatically: 10 summarised, 2 removed, 40,000 tokens freed"),
        ],
    )  # fmt: skip
    def test_of_an_automatic_prune_use_the_words_of_the_history(
        self, given: dict[str, Any], text: str
    ) -> None:
        """They mark estimates, as pages do."""
        toast = sent(replace(PRUNED, **{"reason": "automatic", **given}))["toast:success"]
        assert toast["message"] == text

    def test_of_a_problem_go_to_its_room(self) -> None:
        """The room is that of the session, or the overview."""
        assert sent(ProblemReported("a", "x"))["toast:warning"]["message"] == "x"
        assert sent(ProblemReported("a", "x", failed=True))["toast:error"]["message"] == "x"
        assert [n.room for n in notices_of(ProblemReported("a", "x"))] == ["session:a"]
        assert [n.room for n in notices_of(ProblemReported(None, "x"))] == ["overview"]

    def test_of_an_import_have_its_progress(self) -> None:
        """They go to the overview, where files are imported."""
        [notice] = notices_of(ImportProgressed("a.jsonl", 3, 10))
        assert notice.room == "overview"
        assert notice.events == (("import:progress", {"name": "a.jsonl", "done": 3, "size": 10}),)

    def test_of_an_append_change_row_statistics_and_list(self) -> None:
        """The overview gets the row, and the room of the session the messages and statistics."""
        overview, own = notices_of(MessagesAppended("a", (4, 5), 2))
        assert (overview.room, overview.row) == ("overview", True)
        assert (own.room, own.numbers, own.appended, own.stats) == ("session:a", (4, 5), 2, True)

    def test_of_a_change_contain_the_session_once(self) -> None:
        """The statistics for the session's room include the row."""
        overview, own = notices_of(SessionUpdated("a"))
        assert (overview.room, overview.row, overview.stats) == ("overview", True, False)
        assert (own.room, own.row, own.stats) == ("session:a", False, True)

    def test_of_a_verdict_change_only_the_row(self) -> None:  # X18
        """A page of the session requests the verdict itself."""
        [notice] = notices_of(SessionJudged("a"))
        assert (notice.room, notice.row, notice.stats) == ("overview", True, False)

    def test_of_a_deletion_reach_both_rooms(self) -> None:
        """The overview and the session's page learn of it."""
        assert {notice.room for notice in notices_of(SessionDeleted("a"))} == {"overview", "session:a"}

    @pytest.mark.parametrize("event", [SettingsChanged(), ModelsChanged(), MemoriesChanged()])
    def test_of_what_all_sessions_share_reach_every_room(self, event: Event) -> None:
        """Settings, limits and memories apply to all sessions."""
        assert [notice.room for notice in notices_of(event)] == [None]

    def test_of_a_new_session_reach_the_overview(self) -> None:
        """The overview gets its row."""
        assert [(n.room, n.row) for n in notices_of(SessionCreated("a"))] == [("overview", True)]
