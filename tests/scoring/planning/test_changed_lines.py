"""Lines that files no longer contain."""

from __future__ import annotations

from scoring.history import History
from scoring.messages import Message
from scoring.planning import PrunePlan, plan_prune
from scoring.planning.changed_lines import changed_lines
from scoring.planning.strategies.contract import mark_changed
from scoring.settings import FORESIGHT
from tests.scoring.builders import user
from tests.scoring.planning.stages.sessions import answered, asked, read

TEXT = "".join(f"{n:>5}→value_{n} = the_old_value_of({n})\n" for n in range(1, 9))
OLD, NEW = "value_3 = the_old_value_of(3)", "value_3 = the_new_value_of(3)"

CHECK, HEAD = "    assert the_value_of(n) == 0", "def test_the_value_of_{}() -> None:"
TESTS = "\n".join(f"{HEAD.format(name)}\n{CHECK}\n" for name in ("first", "second", "third"))


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


class TestLinesThatOccurSeveralTimes:
    """Lines that an edit replaces in one place only."""

    def marked(self, **edit: object) -> str:
        """Return how the file reads if an edit of it goes."""
        said = [user("go"), *read("1", "/repo/a.py", TESTS), asked("2", "Edit", file_path="/repo/a.py", **edit),
                answered("2", "changed"), user("on")]  # fmt: skip
        history = History.of(said)
        lines = changed_lines(history, [1, 1, 1, 0, 0, 1])
        return mark_changed(lines.get(2, frozenset()), said[2]).text

    def test_are_marked_where_the_replaced_text_lies(self) -> None:  # X23
        """The file still has them in the other places."""
        head = HEAD.format("second")
        text = self.marked(old_string=f"{head}\n{CHECK}", new_string=f"{head}\n    pass")
        assert text == TESTS.replace(f"{head}\n{CHECK}", f"{head}\n[changed]")

    def test_are_marked_as_often_as_they_were_replaced(self) -> None:
        """The replaced text does not say in which place."""
        text = self.marked(old_string=CHECK, new_string="    pass")
        assert (text.count("[changed]"), text.count(CHECK)) == (1, 2)

    def test_are_all_marked_if_all_were_replaced(self) -> None:
        """The call says so."""
        text = self.marked(old_string=CHECK, new_string="    pass", replace_all=True)
        assert CHECK not in text

    def test_are_all_marked_after_an_edit_each(self) -> None:
        """The second edit does not mean the place that the first one changed."""
        said = [user("go"), *read("1", "/repo/a.py", TESTS), *edited("2", CHECK, "    pass"),
                *edited("3", CHECK, "    pass"), user("on")]  # fmt: skip
        lines = changed_lines(History.of(said), [1, 1, 1, 0, 0, 0, 0, 1])
        assert len(lines[2]) == 2
