"""Names in a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.history.content.names import has_digit, identifiers


class TestNames:
    """Names that an agent may have to write again."""

    @pytest.mark.parametrize(
        ("text", "names"),
        [
            ("see src/app/config/prod.yaml", {"config/prod.yaml", "prod.yaml"}),
            ("open main.py.", {"main.py"}),
            ("call parse_rows(x) or getValue", {"parse_rows", "getValue"}),
            ("at https://example.org/a/b?q=1, now", {"https://example.org/a/b?q=1"}),
            ("order HAT271 of 48213 in 2024", {"HAT271", "48213"}),
            ("FAILED with well-known words", {"FAILED"}),
        ],
    )
    def test_are_paths_files_code_names_and_numbers(self, text: str, names: set[str]) -> None:
        """Paths, files, identifiers and numbers are found; years, products and plain words are not."""
        assert identifiers(text) == names

    def test_agree_between_absolute_and_relative_paths(self) -> None:
        """The last two parts of a path count."""
        assert "app/config.py" in identifiers("/home/me/app/config.py") & identifiers("./app/config.py")

    @pytest.mark.parametrize(
        "text",
        [
            "请修改src/app/main.py里的parse_rows函数",
            "main.pyのparse_rowsを直す",
            "main.py의 parse_rows를 고쳐",
        ],
    )
    def test_are_found_where_no_blank_parts_them(self, text: str) -> None:
        """In scripts without blanks, a name between their signs is found."""
        assert {"main.py", "parse_rows"} <= identifiers(text) <= {"main.py", "parse_rows", "app/main.py"}

    def test_may_be_of_such_signs(self) -> None:
        """File names in any script are found."""
        assert "需求文档.md" in identifiers("open 需求文档.md now")
        assert "https://example.org/a" in identifiers("看https://example.org/a，好")

    def test_are_never_plain_words(self) -> None:
        """Common product names are written like identifiers, but are not counted as names."""
        assert identifiers("I use GitHub and JavaScript with numpy, and so do they") == set()

    def test_of_absurd_length_count_by_their_beginning(self) -> None:
        """An address with a whole document in its query is shortened to its beginning."""
        assert [len(name) for name in identifiers("https://example.org/?q=" + "x" * 5_000)] == [300]

    @pytest.mark.parametrize("sign", list("()[]{}<>,;:\"'`|"))
    def test_do_not_depend_on_the_signs_around_them(self, sign: str) -> None:
        """A name is the same in a call, a list or quotes."""
        for text in (
            "parse_rows",
            "src/app/main.py",
            "https://example.org/a?b=c*",
            "x9f3a-77",
            "读parse_rows",
        ):
            assert identifiers(f"{sign}{text}{sign}") == identifiers(text)

    @given(st.text(max_size=200))
    def test_of_a_text_are_those_of_its_lines(self, text: str) -> None:
        """No name spans a line break, so each row can be analysed separately."""
        by_line = set().union(*map(identifiers, text.split("\n")))
        assert identifiers(text) == by_line

    def test_know_their_digits(self) -> None:
        """Codes with digits are distinguished from words."""
        assert has_digit("HAT271")
        assert not has_digit("parse_rows")
