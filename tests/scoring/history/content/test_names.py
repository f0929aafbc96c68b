"""Names in a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.history.content.names import has_digit, identifiers


class TestNames:
    """Tests of what an agent may have to spell again."""

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
        """Each kind is found; years, products and plain words are none."""
        assert identifiers(text) == names

    def test_agree_between_absolute_and_relative_paths(self) -> None:
        """A path counts by its last two parts."""
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
        """A name between signs that are written without blanks is the same name."""
        assert {"main.py", "parse_rows"} <= identifiers(text) <= {"main.py", "parse_rows", "app/main.py"}

    def test_may_be_of_such_signs(self) -> None:
        """A file may be named in any writing."""
        assert "需求文档.md" in identifiers("open 需求文档.md now")
        assert "https://example.org/a" in identifiers("看https://example.org/a，好")

    def test_are_never_plain_words(self) -> None:
        """Products that everybody says are spelled like code and are none."""
        assert identifiers("I use GitHub and JavaScript with numpy, and so do they") == set()

    def test_of_absurd_length_count_by_their_beginning(self) -> None:
        """An address with a whole document in its query is still one short name."""
        assert [len(name) for name in identifiers("https://example.org/?q=" + "x" * 5_000)] == [300]

    @pytest.mark.parametrize("sign", list("()[]{}<>,;:\"'`|"))
    def test_do_not_depend_on_the_signs_around_them(self, sign: str) -> None:
        """A name in a call, a list or quotes is the same name."""
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
        """No name reaches across a line break, so that rows can be looked at one by one."""
        by_line = set().union(*map(identifiers, text.split("\n")))
        assert identifiers(text) == by_line

    def test_know_their_digits(self) -> None:
        """Codes are distinguished from words."""
        assert has_digit("HAT271")
        assert not has_digit("parse_rows")
