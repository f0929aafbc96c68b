"""Outputs that a later message makes redundant."""

from __future__ import annotations

from scoring.history import History
from scoring.messages import Message
from scoring.planning import plan_prune, redundant_outputs
from scoring.settings import FORESIGHT, Settings
from tests.scoring.builders import user
from tests.scoring.planning.stages.sessions import OFF, file_text, ran, read

SETTINGS = FORESIGHT.from_dict({"stage_duplicates": True, "stage_superseded": True}, base=FORESIGHT)


def history(*parts: list[Message], settings: Settings = SETTINGS) -> History:
    """The history of these parts between a question and a last message."""
    return History.of([user(), *(m for part in parts for m in part), user("go on")], settings=settings)


def again(path: str, times: int) -> list[Message]:
    """A file that is read several times, and has grown each time."""
    return [m for n in range(times) for m in read(f"{path}{n}", path, file_text(path, 60 + n))]


def test_are_counted_by_file() -> None:  # X18
    """Nine of ten reads of a file are superseded, two of three of another."""
    found = redundant_outputs(history(again("spec.md", 10), again("a.py", 3)), SETTINGS)
    assert found.superseded == {"spec.md": 9, "a.py": 2}
    assert found.repeated == 0


def test_include_outputs_that_come_again() -> None:  # X7, X18
    """An output of a command, which names no file, counts as repeated."""
    listing = file_text("listing")
    found = redundant_outputs(history(ran("1", "ls -R", listing), ran("2", "ls -R", listing)), SETTINGS)
    assert (found.superseded, found.repeated) == ({}, 1)


def test_free_what_a_plan_of_that_size_frees_without_dropping_anything() -> None:  # X1, X18
    """The plan that cuts just so much clears these outputs and nothing else."""
    made = history(again("spec.md", 10), ran("x", "make", file_text("made")))
    found = redundant_outputs(made, SETTINGS)
    plan = plan_prune(made, SETTINGS, sum(made.tokens) - found.tokens)
    assert (plan.freed, plan.removed, len(plan.shortened)) == (found.tokens, (), 9)


def test_leave_out_what_is_pinned_or_not_asked_for() -> None:  # B7, X7, X18
    """A pinned message is protected; without the stages nothing is cleared."""
    made = history(again("spec.md", 3))
    made.pinned.add(2)
    assert redundant_outputs(made, SETTINGS).superseded == {"spec.md": 1}
    assert redundant_outputs(made, OFF).tokens == 0
