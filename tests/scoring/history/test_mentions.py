"""Mentions of names and lines in a history, by number."""

from __future__ import annotations

from scoring.history.content import content_of
from scoring.history.mentions import Mentions
from scoring.signals import AGENT, ALIKE, HAS_DIGIT, IS_LINE, TASK, TOOL, USER

LINE = "this is a whole line of words"


def mentions_of(*said: tuple[str, str]) -> Mentions:
    """The mentions of messages, each (role, text)."""
    mentions = Mentions()
    for role, text in said:
        mentions.append(content_of(text), role)
    return mentions


class TestMentions:
    """The first and last mention of each name or line, their count, and their flags."""

    def test_are_numbered_in_order_of_appearance(self) -> None:
        """A name has the same number wherever it occurs."""
        mentions = mentions_of(("user", "main.py"), ("tool", "utils_b main.py"), ("tool", ""))
        assert mentions.spelled == ["main.py", "utils_b"]
        assert [list(held) for held in mentions.held] == [[0], [0, 1], []]

    def test_know_their_last_mention_and_their_count(self) -> None:
        """A message counts once, however often it repeats a name."""
        mentions = mentions_of(("user", "main.py main.py"), ("tool", "main.py"), ("user", "utils_b"))
        assert (list(mentions.last), list(mentions.count)) == ([1, 2], [2, 1])

    def test_know_who_named_them(self) -> None:
        """The task is the first message of a user; codes and lines are distinguished."""
        mentions = mentions_of(
            ("system", "sys_name"),
            ("user", "main.py"),
            ("tool", f"HAT271\\n{LINE}"),
            ("assistant", "main.py"),
        )
        said = dict(zip(mentions.spelled, mentions.flags, strict=True))
        assert said["sys_name"] == USER
        assert said["main.py"] == USER | TASK | AGENT
        assert said["HAT271"] == TOOL | HAS_DIGIT

    def test_hold_lines_as_numbers(self) -> None:
        """A line has a number and a flag, and is not spelled."""
        mentions = mentions_of(("user", "x"), ("assistant", "y"), ("user", LINE))
        assert list(mentions.flags) == [USER | IS_LINE]

    def test_of_alike_lines_are_flagged(self) -> None:
        """A name is flagged as long as it occurs only in alike lines; the same output again changes nothing."""
        log = "\n".join(f"INFO the request req-{n:04d} was served" for n in range(9))
        mentions = Mentions()
        for said, outputs in ((log, [log]), (log, [log]), ("what of req-0003?", [])):
            mentions.append(content_of(said, outputs), "tool" if outputs else "user")
        alike = {name for name, said in zip(mentions.spelled, mentions.flags, strict=True) if said & ALIKE}
        assert {name for name in alike if isinstance(name, str)} == {f"req-{n:04d}" for n in range(9)} - {
            "req-0003"
        }

    def test_accept_a_message_without_content(self) -> None:
        """It has no mentions but takes a position."""
        mentions = Mentions()
        mentions.append(None, "user")
        mentions.append(content_of("main.py"), "user")
        assert (list(mentions.last), list(mentions.flags)) == ([1], [USER | TASK])

    def test_of_the_task_are_those_of_the_last_word_before_the_first_reply(self) -> None:
        """Names in an example conversation before the task are not flagged as the task's."""
        mentions = mentions_of(
            ("user", "demo.py"), ("user", "main.py"), ("assistant", "well"), ("user", "utils_b")
        )
        assert list(mentions.flags) == [USER, USER | TASK, USER]
