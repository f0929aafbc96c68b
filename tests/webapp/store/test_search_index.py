"""Search: what a person types, never a syntax error."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.store import Store
from webapp.store.log import EntryRow, MessageRow
from webapp.store.search_index import SearchFilter
from webapp.store.sessions import SessionRow
from webapp.store.sqlite.words import match_expression

ENTRY = EntryRow(0, b"i" * 16, 1, None, None, None, "message", "user", "", "[]", None, None, None, None, None)


@pytest.fixture
def indexed(store: Store, row: SessionRow) -> Store:
    """Two messages with words."""
    other = EntryRow(
        1, b"j" * 16, 2, None, None, None, "message", "user", "", "[]", None, None, None, None, None
    )
    with store.write():
        store.log.add_entries(row.key, [ENTRY, other])
        store.words.add(row.key, [(0, "the parser fails on naïve input"), (1, "pricing is fine")])
    return store


class TestExpression:
    """From what was typed to what FTS5 takes."""

    @pytest.mark.parametrize("q", ["", "   ", "***", '"', "(", "- -"])
    def test_is_none_where_nothing_is_looked_for(self, q: str) -> None:
        """Signs alone are no words."""
        assert match_expression(q) is None

    @pytest.mark.parametrize(
        ("q", "expression"),
        [
            ("a* " * 160, '"a"*'),
            ("alpha beta alpha", '"beta" "alpha"*'),
            ('"' + "a " * 240 + '"', '"' + " ".join("a" * 16) + '"'),
            (" ".join("abcdefghijklmnopqrs"), " ".join(f'"{one}"' for one in "abcdefghijklmnop") + "*"),
        ],
    )
    def test_has_few_words_each_once(self, q: str, expression: str) -> None:
        """Else one search takes minutes where a word is frequent."""
        assert match_expression(q) == expression

    @given(st.text(st.characters(), max_size=40))
    def test_is_valid_for_any_text(self, q: str) -> None:
        """Operators, quotes and half quotes are words."""
        from sqlite3 import connect

        connection = connect(":memory:")
        connection.execute("CREATE VIRTUAL TABLE t USING fts5 (x)")
        expression = match_expression(q)
        if expression is not None:
            connection.execute("SELECT * FROM t WHERE t MATCH ?", (expression,)).fetchall()
        connection.close()


class TestWords:
    """The index."""

    @pytest.mark.parametrize("q", ["parser", "PARSER fails", "naive", "pars", '"fails on"', "input parser"])
    def test_finds_words_whatever_their_case_and_order(
        self, indexed: Store, row: SessionRow, q: str
    ) -> None:  # X14
        """All words, phrases in quotes, the last word as a beginning."""
        assert indexed.words.in_session(row.key, q) == [1]

    @pytest.mark.parametrize("q", ['"on fails"', "parser pricing", "arser", "OR"])
    def test_finds_nothing_else(self, indexed: Store, row: SessionRow, q: str) -> None:
        """No part of a word, no operator."""
        assert indexed.words.in_session(row.key, q) == []

    def test_forgets_what_is_taken_out(self, indexed: Store, row: SessionRow) -> None:
        """A deleted session is not found."""
        with indexed.write():
            indexed.words.remove(row.key, [(0, "the parser fails on naïve input")])
        assert indexed.words.everywhere("parser", SearchFilter(), 9) == []

    def test_finds_the_same_after_a_merge(self, indexed: Store, row: SessionRow) -> None:
        """Upkeep changes nothing that can be seen."""
        with indexed.write():
            indexed.words.merge()
        assert indexed.words.everywhere("pricing", SearchFilter(row.key), 9) == [(row.key, 1, 2)]

    def test_is_limited_to_a_tool_whatever_else_a_message_says(self, indexed: Store, row: SessionRow) -> None:
        """A NUL in one preview takes no result from a search."""
        cards = (
            r'{"tool": "Read", "preview": "a \u0000 b"}',
            r'{"calls": [{"name": "Read"}], "preview": "\\u0000"}',
        )
        rest: dict[str, Any] = {
            "tokens": 1,
            "chars": 1,
            "features": "{}",
            "is_error": 0,
            "pinned": 0,
            "drop_first": 0,
            "turn": 1,
        }
        both = [
            MessageRow(
                no=n, role="tool", kind="message", card=card, first_seq=n - 1, last_seq=n - 1, group_key=None, at=None,
                id=b"i" * 16, out_operation=None, **rest,
            )
            for n, card in enumerate(cards, 1)
        ]  # fmt: skip
        with indexed.write():
            indexed.log.put_messages(row.key, both)
        found = [
            indexed.words.everywhere(word, SearchFilter(tool="Read"), 9) for word in ("parser", "pricing")
        ]
        assert found == [[(row.key, 0, 1)], [(row.key, 1, 2)]]
        assert indexed.words.everywhere("parser", SearchFilter(tool="Write"), 9) == []


class TestScriptsWithoutSpaces:
    """Words inside a run of Chinese, Japanese, Thai or Korean, which an index would take for one word."""

    TEXTS = (
        (0, "先检查配置文件，再删除旧的v2日志"),
        (1, "ファイル名を確認してから削除する"),
        (2, "ดูแฟ้มบันทึก 설정파일을 지워라"),
    )

    @pytest.fixture
    def unspaced(self, store: Store, row: SessionRow) -> Store:
        """Four scripts in three messages."""
        entries = [replace(ENTRY, seq=n, id=b"%016d" % n, message_no=n + 1) for n in range(3)]
        with store.write():
            store.log.add_entries(row.key, entries)
            store.words.add(row.key, self.TEXTS)
        return store

    @pytest.mark.parametrize(
        ("q", "numbers"),
        [
            ("文件", [1]),
            ("配置文件", [1]),
            ("日志 检查", [1]),
            ('"旧的v2日志"', [1]),
            ("志", [1]),
            ('"删" 志', [1]),
            ("文件。", [1]),
            ("ファイル", [2]),
            ("確認し", [2]),
            ("削", [2]),
            ("บันทึก", [3]),
            ("파일 지워", [3]),
            ("件文", []),
            ("文置", []),
            ("配置 確認", []),
        ],
    )
    def test_are_found_wherever_they_stand(
        self, unspaced: Store, row: SessionRow, q: str, numbers: list[int]
    ) -> None:  # X14
        """All letters in a row, with the signs of other scripts between them."""
        assert unspaced.words.in_session(row.key, q) == numbers
        assert sorted(no for _, _, no in unspaced.words.everywhere(q, SearchFilter(), 9)) == numbers

    def test_are_forgotten_with_their_text(self, unspaced: Store, row: SessionRow) -> None:
        """Nothing of a deleted session is found."""
        with unspaced.write():
            unspaced.words.remove(row.key, self.TEXTS)
        assert [unspaced.words.in_session(row.key, q) for q in ("文件", "件", "ファ")] == [[], [], []]
