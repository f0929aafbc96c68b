"""Marks of a history, by number."""

from __future__ import annotations

from scoring.history.content import content_of
from scoring.history.mentions import AGENT, ALIKE, HAS_DIGIT, IS_LINE, TASK, TOOL, USER, Marks

LINE = "this is a whole line of words"


def marks_of(*said: tuple[str, str]) -> Marks:
    """The marks of messages, each (role, text)."""
    marks = Marks()
    for role, text in said:
        marks.append(content_of(text), role)
    return marks


class TestMarks:
    """Who named what, how often, and when last."""

    def test_are_numbered_as_they_come(self) -> None:
        """The same name has the same number everywhere."""
        marks = marks_of(("user", "main.py"), ("tool", "utils_b main.py"), ("tool", ""))
        assert marks.spelled == ["main.py", "utils_b"]
        assert [list(held) for held in marks.held] == [[0], [0, 1], []]

    def test_know_their_last_mention_and_their_count(self) -> None:
        """A message counts once, however often it repeats a name."""
        marks = marks_of(("user", "main.py main.py"), ("tool", "main.py"), ("user", "utils_b"))
        assert (list(marks.last), list(marks.count)) == ([1, 2], [2, 1])

    def test_know_who_named_them(self) -> None:
        """The first message of a user is the task; codes and lines are told apart."""
        marks = marks_of(
            ("system", "sys_name"),
            ("user", "main.py"),
            ("tool", f"HAT271\\n{LINE}"),
            ("assistant", "main.py"),
        )
        said = dict(zip(marks.spelled, marks.said, strict=True))
        assert said["sys_name"] == USER
        assert said["main.py"] == USER | TASK | AGENT
        assert said["HAT271"] == TOOL | HAS_DIGIT

    def test_hold_lines_as_numbers(self) -> None:
        """A line is no name."""
        marks = marks_of(("user", "x"), ("user", LINE))
        assert list(marks.said) == [USER | IS_LINE]

    def test_know_what_stands_in_alike_lines_alone(self) -> None:
        """Until it stands somewhere else as well; the same lines again are no other place."""
        log = "\n".join(f"INFO the request req-{n:04d} was served" for n in range(9))
        marks = Marks()
        for said, outputs in ((log, [log]), (log, [log]), ("what of req-0003?", [])):
            marks.append(content_of(said, outputs), "tool" if outputs else "user")
        alike = {name for name, said in zip(marks.spelled, marks.said, strict=True) if said & ALIKE}
        assert {name for name in alike if isinstance(name, str)} == {f"req-{n:04d}" for n in range(9)} - {
            "req-0003"
        }

    def test_take_a_message_that_nobody_looked_into(self) -> None:
        """It has none, and counts as a place."""
        marks = Marks()
        marks.append(None, "user")
        marks.append(content_of("main.py"), "user")
        assert (list(marks.last), list(marks.said)) == ([1], [USER])
