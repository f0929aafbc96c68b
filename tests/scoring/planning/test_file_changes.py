"""Reads and changes of files, and changes that were taken back."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.history import History
from scoring.messages import Message
from scoring.planning import plan_prune
from scoring.planning.changed_lines import changed_lines
from scoring.planning.file_changes import MOST_EDITS, taken_back
from scoring.settings import FORESIGHT
from tests.scoring.builders import model, user
from tests.scoring.planning.stages.sessions import answered, asked, ran, read

FIRST, SECOND, THIRD = (f"limit_of_lexer = the_{name}_value()" for name in ("first", "second", "third"))


def edited(
    call_id: str, old: str, new: str, *, path: str = "/repo/a.py", failed: bool = False
) -> list[Message]:
    """An edit and its answer."""
    call = asked(call_id, "Edit", file_path=path, old_string=old, new_string=new)
    return [call, answered(call_id, "no match" if failed else "changed", failed=failed)]


def written(call_id: str, *lines: str) -> list[Message]:
    """A file that is written as a whole."""
    call = asked(call_id, "Write", file_path="/repo/a.py", content="\n".join(lines))
    return [call, answered(call_id, "written")]


def pairs(*messages: Message) -> set[tuple[int, int]]:
    """Return the edits that were taken back, with the later ones."""
    return taken_back(History.of(messages))


class TestTakenBack:
    """An edit of which a later one removes lines."""

    PUT, TAKEN = edited("1", FIRST, SECOND), edited("2", SECOND, THIRD)

    def test_is_paired_with_the_later_one(self) -> None:  # X23
        """One that removes other lines, or failed, takes nothing back."""
        assert pairs(*self.PUT, *self.TAKEN) == {(0, 2)}
        assert pairs(*self.PUT, *edited("2", "some_other = value()", THIRD)) == set()
        assert pairs(*self.PUT, *edited("2", SECOND, THIRD, path="/repo/b.py")) == set()
        assert pairs(*self.PUT, *edited("2", SECOND, THIRD, failed=True)) == set()

    def test_is_paired_with_each_that_removes_a_line(self) -> None:
        """The whole is true only beside all of them."""
        said = [*edited("1", "x", f"{FIRST}\n{SECOND}"), *edited("2", FIRST, "y"), *edited("3", SECOND, "z")]
        assert pairs(*said) == {(0, 2), (0, 4)}

    @pytest.mark.parametrize("again", [edited("3", THIRD, SECOND), read("3", "/repo/a.py", SECOND)])
    def test_is_true_again_if_its_lines_came_back(self, again: list[Message]) -> None:
        """The edit that brought them back takes back the one between."""
        found = pairs(*self.PUT, *self.TAKEN, *again)
        assert (0, 2) not in found
        assert found <= {(2, 4)}

    def test_may_be_a_file_that_is_written_again(self) -> None:
        """Without a line in common it could be another file of that name."""
        common = "import the_lexer_of_the_project"
        assert pairs(*written("1", common, FIRST), *written("2", common, SECOND)) == {(0, 2)}
        assert pairs(*written("1", common, FIRST), *written("2", SECOND)) == set()

    def test_stays_only_beside_what_took_it_back(self) -> None:  # X23
        """Its names are worth more, but alone it would read as the present content of the file."""
        noise = "\n".join(f"chatter of the build, part {n}, and no more" for n in range(60))
        acts: list[Message] = [one for n in range(9, 19) for one in ran(str(n), f"make part{n}", noise)]
        said: list[Any] = [user("go on"), *self.PUT, *edited("2", f"{SECOND}\n{noise}", THIRD),
                           model("see the_second_value()"), *acts, user("on")]  # fmt: skip
        history = History.of(said, settings=FORESIGHT)
        plans = [
            plan_prune(history, FORESIGHT, sum(history.tokens) * share // 100) for share in range(2, 98, 2)
        ]
        assert any(1 in plan.kept for plan in plans)
        assert any("something newer" in plan.reason(1) for plan in plans)
        assert all(3 in plan.kept for plan in plans if 1 in plan.kept)


class TestShortLines:
    """A reading of a file in which an edit changes values in lines too short to be marked."""

    SHOWN = "limit = 5\nport: 8080\nname = lexer"

    @pytest.mark.parametrize(
        ("old", "new"), [("limit = 5", "limit = 7"), ("port: 8080", "port: 9090"), ("x\nlimit = 5", "x")]
    )
    def test_pair_it_with_the_edit(self, old: str, new: str) -> None:  # X23
        """Each later edit, but none before the reading, and none of another file."""
        shown, again = read("1", "/repo/a.py", self.SHOWN), edited("3", "name = lexer", "name = parser")
        assert pairs(*shown, *edited("2", old, new), *again) == {(0, 2), (0, 4)}
        assert pairs(*edited("2", old, new), *shown) == set()
        assert pairs(*shown, *edited("2", old, new, path="/repo/b.py")) == set()
        assert pairs(*shown, *edited("2", old, new, failed=True)) == set()

    @pytest.mark.parametrize(
        ("old", "new"), [("limit = 5", "limit = 5\nmost = 9"), ("}", ")"), (FIRST, SECOND)]
    )
    def test_leave_it_where_no_value_is_hidden(self, old: str, new: str) -> None:
        """Lines that are only added change none, and a longer line is marked."""
        assert pairs(*read("1", "/repo/a.py", f"{self.SHOWN}\n{FIRST}"), *edited("2", old, new)) == set()

    def test_let_it_stay_only_beside_the_edit(self) -> None:  # X23
        """Alone it would show the old value as the present one."""
        noise = "\n".join(f"chatter of the build, part {n}, and no more" for n in range(60))
        said = [user("Tune it."), *read("r", "/repo/a.py", self.SHOWN)]
        for n in range(20):
            said += edited("e", "limit = 5", "limit = 7") if n == 3 else ran(str(n), f"make part{n}", noise)
        said.append(user("What is the name in a.py?"))
        history = History.of(said, settings=FORESIGHT)
        for share in (50, 25, 10, 5):
            kept = set(plan_prune(history, FORESIGHT, sum(history.tokens) * share // 100).kept)
            assert 1 not in kept or 9 in kept


class TestCommands:
    """A reading of a file that a command of the shell changes later, in lines that are not known."""

    SHOWN = read("1", "/repo/a.py", f"{FIRST}\n{SECOND}")

    @pytest.mark.parametrize(
        "command",
        [
            "sed -i 's/first/second/' /repo/a.py",
            "cd /repo && sed -i 4,5d a.py",
            "sed -i 's/limit_of_lexer/most/' /repo/a.py",
            "python - <<'E'\np = Path('/repo/a.py')\np.write_text(p.read_text().replace('first', '2'))\nE",
            "make text > /repo/a.py",
        ],
    )
    def test_pair_it_with_the_change(self, command: str) -> None:  # X23
        """Unless the command failed, or came before."""
        assert pairs(*self.SHOWN, *ran("2", command, "")) == {(0, 2)}
        assert pairs(*ran("2", command, ""), *self.SHOWN) == set()
        call = asked("2", "Bash", command=command)
        assert pairs(*self.SHOWN, call, answered("2", "no such file", failed=True)) == set()

    @pytest.mark.parametrize(
        "command",
        [
            "sed -n 1,9p /repo/a.py",
            "echo done >> /repo/a.py",
            "sed -i '4i x = 1' /repo/a.py",
            "sed -i 's/limit_of_parser/most/' /repo/a.py",
            "rm /repo/a.py",
        ],
    )
    def test_leave_it_where_nothing_that_it_shows_is_replaced(self, command: str) -> None:
        """A command that reads, that adds lines, that replaces a name of other lines, or leaves no file."""
        assert pairs(*self.SHOWN, *ran("2", command, "")) == set()

    def test_leave_what_only_ran_the_file(self) -> None:
        """Its output is no reading."""
        assert pairs(*ran("1", "python /repo/a.py", FIRST), *ran("2", "sed -i 4d /repo/a.py", "")) == set()

    def test_that_replace_the_file_end_its_readings(self) -> None:
        """Each reading stays beside the next change, so a log that is written again and again ties few messages."""
        logs: list[Message] = []
        for n in (1, 3, 5):
            logs += [*ran(f"{n}", "make > out.log", ""), *ran(f"{n + 1}", "cat out.log", FIRST)]
        assert pairs(*logs) == {(2, 4), (6, 8)}

    def test_tie_a_reading_to_the_next_of_many(self) -> None:
        """The pairs of a file that is read and changed thousands of times would fill the memory."""
        changes = [one for n in range(200) for one in ran(f"{n}", "sed -i 4d /repo/a.py", "")]
        assert pairs(*self.SHOWN, *changes) == {(0, n) for n in range(2, 2 + 2 * MOST_EDITS, 2)}

    def test_mark_whole_lines_that_a_script_replaces(self) -> None:  # X23
        """As an edit does: the reading stays, with its old lines marked."""
        script = f"p = Path('/repo/a.py')\np.write_text(p.read_text().replace('''{FIRST}\n{SECOND}''', ''))"
        history = History.of([*self.SHOWN, *ran("2", f"python - <<'E'\n{script}\nE", "")])
        assert taken_back(history) == set()
        assert len(changed_lines(history, [1, 1, 0, 0])[1]) == 2
