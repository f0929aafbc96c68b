"""Words for relevance."""

from __future__ import annotations

import pytest

from scoring.history.content.words import LONGEST, stem, words_of


class TestStems:
    """Stems, by which questions and answers are compared."""

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("parsing", "parsed"),
            ("stories", "story"),
            ("running", "run"),
            ("deployment", "deployed"),
            ("tests", "test"),
        ],
    )
    def test_of_two_forms_of_a_word_agree(self, one: str, other: str) -> None:
        """Endings are removed."""
        assert stem(one) == stem(other)

    def test_leave_stop_words_and_letters_out(self) -> None:
        """`yes, go ahead` has no stems."""
        assert words_of("Yes, go a x and then").stems == {}
        assert words_of("Tiles and tiles").stems == {stem("tiles"): 2}

    def test_cut_data_short(self) -> None:
        """A word of a thousand letters is data, not a word."""
        assert [len(word) for word in words_of("x" * 1_000).stems] == [LONGEST]

    def test_count_words(self) -> None:
        """All words count, stop words too."""
        assert words_of("Yes, go ahead: 3 times").total == 5

    def test_of_other_languages_are_whole_words(self) -> None:
        """Words are split only at characters that are no letters in any language."""
        assert words_of("Größe, größe und 大きさ").stems == {"größ": 2, "und": 1, "大き": 1, "きさ": 1}
        assert words_of("हिन्दी में").stems == {"हिन्दी": 1, "में": 1}

    @pytest.mark.parametrize(
        ("question", "answer", "other"),
        [
            ("うちの犬の名前は何ですか？", "犬の名前はビスケットです。", "電車は土曜日に出る。"),
            ("我们家的狗叫什么？", "狗叫饼干。", "火车又晚点了。"),
            ("우리 개의 이름은?", "개의 이름은 비스킷", "기차가 늦었다"),
            ("Где запасной ключ?", "запасной ключ под горшком", "поезд опоздал"),
        ],
    )
    def test_meet_in_any_writing(self, question: str, answer: str, other: str) -> None:
        """An answer shares stems with its question, in scripts with blanks and without."""
        assert words_of(question).stems.keys() & words_of(answer).stems.keys()
        assert not words_of(question).stems.keys() & words_of(other).stems.keys()

    def test_agree_however_a_letter_is_composed(self) -> None:
        """Combining accents and full-width digits are the same as their usual forms."""
        assert words_of("cafe\u0301 \uff14\uff12").stems == words_of("caf\u00e9 42").stems

    def test_count_pairs_of_signs_as_words(self) -> None:
        """Eleven signs without blanks count as about five words."""
        assert words_of("うちの犬の名前は何です").total == 5


class TestAsking:
    """Questions and requests."""

    @pytest.mark.parametrize(
        "text",
        [
            *("Where is it?", "Tell me what we said of the tiles", "and why did you do that?"),
            *(
                "Wie heißt unser Hund?",
                "Où est la clé ?",
                "¿Dónde está la llave",
                "狗叫什么？",
                "鍵はどこですか。",
            ),
        ],
    )
    def test_is_seen(self, text: str) -> None:
        """A question mark, or a word that asks, in a sentence of words."""
        assert words_of(text).asks

    @pytest.mark.parametrize(
        "text",
        ["", "go on", "git diff --stat HEAD~1 src/app.py?raw", "yes, please do it", "x[0]==y ?", "犬の名前"],
    )
    def test_is_not_seen_in_orders_and_code(self, text: str) -> None:
        """Orders and lines of code are not questions."""
        assert not words_of(text).asks
