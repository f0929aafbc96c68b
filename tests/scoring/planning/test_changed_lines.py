"""Lines that files no longer contain."""

from __future__ import annotations

from scoring.history import History
from scoring.messages import Message
from scoring.planning import PrunePlan, plan_prune
from scoring.planning.changed_lines import changed_lines
from scoring.settings import FORESIGHT
from tests.scoring.builders import user
from tests.scoring.planning.stages.sessions import answered, asked, read

TEXT = "".join(f"{n:>5}→value_{n} = the_old_value_of({n})\n" for n in range(1, 9))
OLD, NEW = "value_3 = the_old_value_of(3)", "value_3 = the_new_value_of(3)"


def edited(call_id: str, old: str = OLD, new: str = NEW, *, failed: bool = False) -> list[Message]:
    """An edit and its answer."""
    edit = asked(call_id, "Edit", file_path="/repo/a.py", old_string=old, new_string=new)
    return [edit, answered(call_id, "no match" if failed else "changed", failed=failed)]


def changed(*messages: Message, gone: frozenset[int]) -> dict[int, int]:
    """Return the number of changed lines by output, if some messages go."""
    stays = [int(p not in gone) for p in range(len(messages))]
    return {p: len(lines) for p, lines in changed_lines(History.of(messages), stays).items()}


class TestChangedLines:
    """Lines that an output shows and the file no longer has."""

    SAID = (user("go"), *read("1", "/repo/a.py", TEXT), *edited("2"))

    def test_are_those_of_an_edit_that_goes(self) -> None:  # X23
        """If the edit stays, it shows the change itself."""
        assert changed(*self.SAID, gone=frozenset({3, 4})) == {2: 1}
        assert changed(*self.SAID, gone=frozenset()) == {}

    def test_are_not_those_of_an_edit_that_failed(self) -> None:
        """The file still has them."""
        said = (user("go"), *read("1", "/repo/a.py", TEXT), *edited("2", failed=True))
        assert changed(*said, gone=frozenset({3, 4})) == {}

    def test_are_not_those_that_came_back(self) -> None:
        """A later edit inserted them again."""
        assert changed(*self.SAID, *edited("3", NEW, OLD), gone=frozenset({3, 4})) == {}

    def test_are_marked_in_what_stays(self) -> None:
        """The rest of the output reads as before, and the reason says so."""
        acts = [(asked(str(n), "Bash", command="x"), answered(str(n), "y\n" * 400)) for n in range(5, 30)]
        long = [one for act in acts for one in act]
        said = [*self.SAID, *long, user("on")]
        plan = self.without_the_edit(said)
        text = plan.shortenings[2].apply(said[2]).text
        assert OLD not in text
        assert "[changed]" in text
        assert "value_4 = the_old_value_of(4)" in text
        assert "lines are marked" in plan.reason(2)

    def without_the_edit(self, said: list[Message]) -> PrunePlan:
        """Return a plan that keeps the read and drops the edit."""
        history = History.of(said)
        history.pinned.clear()
        return plan_prune(history, FORESIGHT, sum(history.tokens) - 10, drop={3})
