"""`coppice suggest-weights`: the suggested weights, with the reason."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.webapp.commands.running import Run
from webapp.commands.suggesting import lines_of, share_text, table_of
from webapp.services.settings.answers import Suggestion
from webapp.store import Store

FOUND = Suggestion(
    weights={"recency": 35.0, "relevance": 30.0}, present={"recency": 35.0, "relevance": 15.0},
    before=71.25, after=78.0, held_out=9, sessions=18, cases=60, reason="they keep 6.8 points more",
)  # fmt: skip


class TestSuggestWeights:
    """The command."""

    @pytest.fixture
    def empty_store(self, db: Path) -> None:
        """A store without sessions."""
        Store(db).close()

    def test_explains_a_missing_suggestion(self, run: Run, empty_store: None) -> None:  # X15
        """An empty store gives the current weights and a reason, and the code 0."""
        done = run("suggest-weights")
        assert done.code == 0
        assert "Nothing to suggest: too few sessions" in done.out
        assert "relevance" in done.out

    def test_writes_json(self, run: Run, empty_store: None) -> None:  # X15
        """The JSON is for other programs."""
        found = json.loads(run("suggest-weights", "--json").out)
        assert (found["weights"], found["held_out"]) == (None, 0)

    def test_accepts_the_beginning_of_an_id(self, run: Run, tmp_path: Path) -> None:
        """An unknown id is named in the error."""
        file = tmp_path / "chat.json"
        file.write_text(json.dumps([{"role": "user", "content": "hello"}]))
        name = run("import", file).out.split()[0]
        assert run("suggest-weights", name[:8]).code == 0
        done = run("suggest-weights", "nobody")
        assert (done.code, done.err) == (
            2,
            "coppice: no such session: nobody; `coppice sessions` lists their ids\n",
        )


class TestTheAnswer:
    """The printed answer."""

    def test_shows_weights_and_retention_side_by_side(self) -> None:  # X15
        """Current and suggested values are in columns, with retention in the last row."""
        columns = [list(column.cells) for column in table_of(FOUND).columns]
        assert columns == [
            ["recency", "relevance", "held-out retention"],
            ["35", "15", "71.2 %"],
            ["35", "30", "78.0 %"],
        ]

    def test_says_that_nothing_has_changed(self) -> None:  # X15
        """The text says where to save the weights."""
        used, why, then = lines_of(FOUND)
        assert "60 contexts of 18 sessions, 9 held out" in used
        assert "they keep 6.8 points more" in why
        assert "Nothing changes until you save them" in then

    def test_may_be_about_a_single_session(self) -> None:
        """The nouns agree with their numbers."""
        used = lines_of(replace(FOUND, cases=1, sessions=1, held_out=0))[0]
        assert used == "Examined 1 context of 1 session, 0 held out."

    @pytest.mark.parametrize(("value", "words"), [(None, "-"), (50.0, "50.0 %")])
    def test_marks_unmeasured_values(self, value: float | None, words: str) -> None:
        """The mark is a dash."""
        assert share_text(value) == words
