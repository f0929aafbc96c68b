"""Headings of lines that could belong to several."""

from __future__ import annotations

import pytest

from scoring.history.content.headings import headings_of


def headings(text: str) -> dict[str, str]:
    """Return the heading of each line that has one, both without blanks around them."""
    lines = text.split("\n")
    return {lines[line].strip(): lines[head].strip() for line, head in headings_of(text).items()}


class TestFieldsUnderSeveralHeadings:
    """The same field says something else under each of them."""

    @pytest.mark.parametrize(
        ("text", "first", "second"),
        [
            ("[a]\nurl = 1\n\n[b]\nurl = 2", "[a]", "[b]"),
            ("# notes\n[a, old]\n  url = 1\n[b]\n  url = 2", "[a, old]", "[b]"),
            ("## a\n\n- url: 1\n\n## b\n\n- url: 2", "## a", "## b"),
            ("=== a ===\nurl: 1\n=== b ===\nurl: 2", "=== a ===", "=== b ==="),
            ("hosts:\n  a:\n    url: 1\n  b:\n    url: 2", "a:", "b:"),
            ("hosts:\n  - name: a\n    url: 1\n  - name: b\n    url: 2", "- name: a", "- name: b"),
            ('{\n  "a": {\n    "url": 1\n  },\n  "b": {\n    "url": 2\n  }\n}', '"a": {', '"b": {'),
        ],
    )
    def test_have_their_own(self, text: str, first: str, second: str) -> None:
        """In sections, titles, and blocks of deeper lines."""
        found = {line.strip(' "-'): head for line, head in headings(text).items() if "url" in line}
        assert sorted(found.values()) == sorted([first, second])

    def test_have_those_above_where_headings_are_alike(self) -> None:
        """A heading that occurs several times needs its own."""
        found = headings_of("a:\n  db:\n    url: 1\nb:\n  db:\n    url: 2")
        assert found == {2: 1, 1: 0, 5: 4, 4: 3}

    @pytest.mark.parametrize(
        "text",
        [
            "[a]\nurl = 1\n[b]\nport = 2",
            "[a]\nurl = 1\nurl = 2",
            "url = 1\nurl = 2",
            "## a\nwords of a text\n## b\nwords of a text",
        ],
    )
    def test_are_the_only_ones_with_a_heading(self, text: str) -> None:
        """No field that occurs once, or under one heading, and no other line."""
        assert headings(text) == {}

    @pytest.mark.parametrize("before", ["", "y"])
    def test_are_found_beside_lines_of_blanks(self, before: str) -> None:
        """The time does not grow with the square of a line's blanks; with their cube this would take days."""
        filled = f"{before}{' ' * 20_000}x"
        text = f"[a]\n{filled}\n  url = 1\n[b]\n{filled}\n  url = 2"
        assert set(headings(text).values()) == {"[a]", "[b]"}
