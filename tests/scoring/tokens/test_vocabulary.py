"""The words the estimator knows."""

from __future__ import annotations

from scoring.tokens.vocabulary import HAN_CHARACTERS, HAN_PAIRS, HANGUL_SYLLABLES, HANGUL_WORDS, KANA_WORDS


class TestVocabulary:
    """Frequent characters and words."""

    def test_hold_each_entry_once(self) -> None:
        """A doubled entry would be a slip."""
        pairs = [HAN_PAIRS[i : i + 2] for i in range(0, len(HAN_PAIRS), 2)]
        for entries in (HAN_CHARACTERS, HANGUL_SYLLABLES, pairs, HANGUL_WORDS.split(), KANA_WORDS.split()):
            assert len(set(entries)) == len(entries) > 400

    def test_hold_what_their_names_say(self) -> None:
        """Chinese, Korean and Japanese characters, words of two to four."""
        assert all("\u4e00" <= c <= "\u9fff" for c in HAN_CHARACTERS + HAN_PAIRS)
        assert all("\uac00" <= c <= "\ud7a3" for c in HANGUL_SYLLABLES + HANGUL_WORDS.replace(" ", ""))
        assert all(2 <= len(word) <= 4 for word in (*HANGUL_WORDS.split(), *KANA_WORDS.split()))
