"""The messages that each event becomes."""

from __future__ import annotations

import inspect

import pytest

from webapp import events
from webapp.events import (
    ContextPruned,
    ContextRestored,
    ContextSummarized,
    Event,
    ImportProgressed,
    MessagesAppended,
    ModelsChanged,
    ProblemReported,
    SessionCreated,
    SessionDeleted,
    SessionJudged,
    SessionUpdated,
    SettingsChanged,
)
from webapp.live.notices import NOTES, notes_of

PRUNED = ContextPruned("a", 7, "manual", 100_000, 60_000, 42, ("m1", "m2"), 30.0)


def told(event: Event) -> dict[str, dict[str, object]]:
    """The ready messages that an event makes in its session's room: name -> payload."""
    return {name: payload for note in notes_of(event) for name, payload in note.events}


class TestTheTable:
    """Every event has its row."""

    @pytest.mark.parametrize(
        "kind",
        [
            cls
            for _, cls in inspect.getmembers(events, inspect.isclass)
            if issubclass(cls, Event) and cls is not Event
        ],
    )
    def test_knows_every_event(self, kind: type[Event]) -> None:
        """A new event is placed on purpose."""
        assert kind in NOTES

    def test_makes_nothing_of_an_unknown_event(self) -> None:
        """A page hears only of what it can show."""
        assert notes_of(Event()) == ()


class TestMessages:
    """Names and payloads as the interface promises them."""

    def test_of_a_prune_carry_its_figures(self) -> None:  # B14
        """Tokens before and after, the number of messages and their ids, and what was gained."""
        assert told(PRUNED)["context:pruned"] == {
            "session_id": "a", "prune_id": 7, "kind": "prune", "reason": "manual", "original": 100_000, "final": 60_000,
            "removed": 42, "removed_ids": ["m1", "m2"], "shortened": 0, "summarised": 0,
            "tokenReduction": 40_000, "utilization": 30.0,
        }  # fmt: skip

    def test_of_a_summary_carry_its_text(self) -> None:  # B14
        """With the number of messages it covers and the number that stay."""
        payload = told(ContextSummarized("a", "s1", 20, 10, "Previous 20 turns"))["context:summarized"]
        assert payload == {
            "session_id": "a", "summary_id": "s1", "summarized": 20, "kept": 10, "summary": "Previous 20 turns"
        }  # fmt: skip

    def test_of_a_restore_name_the_messages(self) -> None:
        """And the operation that was undone, where one was."""
        assert told(ContextRestored("a", 3, ("m1",)))["context:restored"] == {
            "session_id": "a", "prune_id": 3, "message_ids": ["m1"]
        }  # fmt: skip

    def test_toast_only_what_nobody_clicked_for(self) -> None:
        """A click gets its answer directly."""
        automatic = ContextPruned("a", 7, "automatic", 100_000, 60_000, 42, (), 30.0)
        assert "toast:success" not in told(PRUNED)
        assert "42 items removed, 40,000 tokens freed" in str(told(automatic)["toast:success"]["message"])
        shortened = ContextPruned("a", 7, "automatic", 100_000, 60_000, 0, (), 30.0, 9)
        assert "0 items removed, 9 shortened, 40" in str(told(shortened)["toast:success"]["message"])
        covered = ContextPruned("a", 7, "automatic", 100_000, 60_000, 12, (), 30.0, 0, 10)
        assert "12 items removed, 10 of them summarised, 40" in str(told(covered)["toast:success"]["message"])

    def test_of_a_problem_go_where_it_belongs(self) -> None:
        """Into the session's room, or the overview when it belongs to none."""
        assert told(ProblemReported("a", "x"))["toast:warning"]["message"] == "x"
        assert told(ProblemReported("a", "x", failed=True))["toast:error"]["message"] == "x"
        assert [n.room for n in notes_of(ProblemReported("a", "x"))] == ["session:a"]
        assert [n.room for n in notes_of(ProblemReported(None, "x"))] == ["overview"]

    def test_of_an_import_say_how_far_it_is(self) -> None:
        """In the overview's room, where the file was dropped."""
        [note] = notes_of(ImportProgressed("a.jsonl", 3, 10))
        assert note.room == "overview"
        assert note.events == (("import:progress", {"name": "a.jsonl", "done": 3, "size": 10}),)

    def test_of_an_append_change_row_figures_and_list(self) -> None:
        """The overview learns the row, the session's own room the messages and the figures."""
        overview, own = notes_of(MessagesAppended("a", (4, 5), 2))
        assert (overview.room, overview.row) == ("overview", True)
        assert (own.room, own.numbers, own.appended, own.stats) == ("session:a", (4, 5), 2, True)

    def test_of_a_change_hold_the_session_once(self) -> None:
        """The figures that its own room is sent include the row."""
        overview, own = notes_of(SessionUpdated("a"))
        assert (overview.room, overview.row, overview.stats) == ("overview", True, False)
        assert (own.room, own.row, own.stats) == ("session:a", False, True)

    def test_of_a_verdict_change_the_row_alone(self) -> None:  # X18
        """A page that shows the session has asked for the verdict itself."""
        [note] = notes_of(SessionJudged("a"))
        assert (note.room, note.row, note.stats) == ("overview", True, False)

    def test_of_a_deletion_reach_both_rooms(self) -> None:
        """A page that shows the session learns that it is gone."""
        assert {note.room for note in notes_of(SessionDeleted("a"))} == {"overview", "session:a"}

    @pytest.mark.parametrize("event", [SettingsChanged(), ModelsChanged()])
    def test_of_settings_and_limits_reach_every_room(self, event: Event) -> None:
        """They hold for all."""
        assert [note.room for note in notes_of(event)] == [None]

    def test_of_a_new_session_reach_the_overview(self) -> None:
        """As its row."""
        assert [(n.room, n.row) for n in notes_of(SessionCreated("a"))] == [("overview", True)]
