"""Rows of outputs, and shortening to them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.history.content.rows import (
    ALIKE_FROM,
    HEAD,
    LONG_LINE,
    MOST_PARTS,
    TAIL,
    WHOLE,
    Row,
    alike_lines,
    pieces_of,
    shorten,
    text_line,
)

OUTPUT = "\n".join(f"line {n} of the output" for n in range(10))


class TestTextLines:
    """Lines with content."""

    def test_lose_their_number(self) -> None:
        """A line of code is the same with and without the number that a tool adds."""
        assert text_line("   12\treturn the rows of it") == "return the rows of it"

    def test_are_long_enough_and_have_words(self) -> None:
        """Lines of braces or dashes do not count."""
        assert text_line("}") is None
        assert text_line("-" * 60) is None

    def test_are_known_in_any_writing(self) -> None:
        """Letters of any script count; signs of scripts without blanks count as two, and four of them as words."""
        assert text_line("это достаточно длинный текст")
        assert text_line("土曜日の電車は九番線から出ます")
        assert text_line("電車は遅れた") is None
        assert text_line("════════════════════════ 完") is None


LOG = [
    f"2024-11-01T00:{n:02}:00Z INFO request [req-{n:04x}] served /v1/orders/{n} in {n}ms" for n in range(9)
]


class TestAlikeLines:
    """Lines that differ from many others only in codes and numbers."""

    def test_are_the_repeated_lines_of_a_log(self) -> None:
        """The one line of a log that differs in its words is not among them."""
        error = "2024-11-01T00:04:00Z ERROR request [req-0004] order 17 failed: E_LOCK"
        assert alike_lines([*LOG[:5], error, *LOG[5:]]) == {*range(10)} - {5}

    def test_are_many(self) -> None:
        """With seven lines, each may matter."""
        assert alike_lines(LOG[:7]) == set()

    def test_are_no_list_of_names_or_figures(self) -> None:
        """A list of names or numbers has no words in common, and its items may be needed."""
        assert alike_lines([f"src/parser/part_{n}.py" for n in range(20)]) == set()
        assert alike_lines([f'    "InstanceId": "i-0{n:016x}",' for n in range(20)]) == set()

    def test_are_no_code(self) -> None:
        """Lines of a program differ in words."""
        words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "theta", "kappa"]
        assert alike_lines([f"    return self.{word} if {word} else None" for word in words]) == set()

    @pytest.mark.parametrize("line", ["x" * 300_000, "a." * 150_000, "a/" * 150_000, "word " * 60_000])
    def test_take_as_long_as_they_are(self, line: str) -> None:
        """The time grows with the number of lines, not with its square."""
        assert len(alike_lines([line] * ALIKE_FROM)) in {0, ALIKE_FROM}


class TestPieces:
    """The pieces in which a line can be kept."""

    def test_of_a_short_line_are_the_line(self) -> None:
        """A line up to the limit is one piece."""
        assert pieces_of("x" * LONG_LINE) == ((WHOLE, "x" * LONG_LINE),)

    def test_of_a_long_line_are_parts_counted_from_both_ends(self) -> None:
        """A line is split between names, and its pieces give the whole line."""
        line = "first/path.py " + "word " * 200 + "last/path.py"
        parts = pieces_of(line)
        assert parts[0][0] == HEAD
        assert parts[-1][0] == TAIL
        assert [n for n, _ in parts if n % 2] == [*range(HEAD, 2 * len([n for n, _ in parts if n % 2]), 2)]
        assert "".join(said for _, said in parts) == line
        assert all(said == said.lstrip("ord") for _, said in parts)

    @given(st.text("ab_ ,", min_size=LONG_LINE + 1, max_size=1_500))
    def test_give_the_whole_line_in_order(self, line: str) -> None:
        """No part is empty, and none has the number of another."""
        parts = pieces_of(line)
        assert "".join(said for _, said in parts) == line
        assert all(said for _, said in parts)
        assert len({number for number, _ in parts}) == len(parts)

    def test_of_a_line_without_a_gap_are_the_line(self) -> None:
        """A name is never cut, however long it is."""
        line = "x" * 100_000
        assert pieces_of(line) == ((WHOLE, line),)

    def test_of_a_very_long_line_leave_out_its_middle(self) -> None:
        """A line of a megabyte has no more pieces than one of a page."""
        parts = pieces_of("word " * 200_000)
        assert len(parts) <= 2 * MOST_PARTS
        assert sum(len(said) for _, said in parts) < 10_000


class TestLongLines:
    """Long lines of which some pieces are kept."""

    LINE = " ".join(f'"id_{n}": "value {n}",' for n in range(80))
    PARTS = pieces_of(LINE)

    def shown(self, *pieces: int) -> list[str]:
        """Return the lines that show it."""
        return shorten([self.LINE], sorted(Row(0, piece) for piece in pieces))[0].split("\n")

    def test_is_one_beginning_and_one_end(self) -> None:  # X7
        """Neighbouring pieces are joined, and an ellipsis replaces the middle."""
        first, gap, last = self.shown(HEAD, HEAD + 2, TAIL)
        assert first == self.PARTS[0][1] + self.PARTS[1][1]
        assert gap == "[…]"
        assert self.LINE.endswith(last)

    def test_holds_all_before_a_part(self) -> None:
        """A piece of the middle is kept with all before it, which shows where it belongs."""
        assert self.shown(HEAD + 4) == self.shown(HEAD, HEAD + 2, HEAD + 4)

    def test_is_whole_with_all_parts(self) -> None:
        """A line with all its pieces has no ellipsis."""
        assert self.shown(*(piece for piece, _ in self.PARTS)) == [self.LINE]


class TestShortening:
    """Shortened outputs."""

    def test_keeps_lines_and_says_where_others_were(self) -> None:  # X7
        """Each gap gives the number of missing lines."""
        [short] = shorten([OUTPUT], [Row(2, WHOLE), Row(3, WHOLE), Row(7, WHOLE)])
        assert short.split("\n") == [
            *("[… 2 lines]", "line 2 of the output", "line 3 of the output"),
            *("[… 3 lines]", "line 7 of the output", "[… 2 lines]"),
        ]

    def test_counts_lines_on_from_one_output_to_the_next(self) -> None:
        """Line numbers continue over several outputs of one message."""
        first, second = shorten([OUTPUT, OUTPUT], [Row(11, WHOLE)])
        assert first == "[… 10 lines]"
        assert "line 1 of the output" in second

    def test_never_makes_longer(self) -> None:
        """An output that would not get shorter is kept."""
        assert shorten(["a\nb"], []) == ["a\nb"]

    @given(st.lists(st.text(max_size=900), max_size=6), st.sets(st.integers(0, 5)))
    def test_is_less_of_the_same(self, lines: list[str], kept: set[int]) -> None:
        """Every remaining line is a line of the output, in its order, except notes in brackets."""
        output = "\n".join(line.replace("\n", " ") for line in lines)
        count = output.count("\n") + 1
        rows = [
            Row(n, piece) for n in sorted(kept) if n < count for piece, _ in pieces_of(output.split("\n")[n])
        ]
        [short] = shorten([output], rows)
        assert len(short) <= len(output)
        at = 0
        for line in short.split("\n"):
            if short == output or line.startswith("[…"):
                continue
            at = output.index(line, at) + len(line)
