"""Estimates the tokens of a text without a tokenizer, from the pieces a tokenizer would cut it into.

Latin text is cut at words, case changes, digits in threes, signs and breaks; the cost of each kind was fitted to o200k
on prose, code, logs, JSON (a mean error of 5 % for a text, 15 % in the worst tenth). Other text costs by its Unicode
block: some tokens for each run, and some for each character. docs/adr/0016 has the errors by language.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import groupby
from math import ceil
from unicodedata import normalize

# Only 64 characters are searched for the digit or letter that makes a run mixed: a search to the end from each place
# would take hours for a word of a megabyte.
# The most frequent alternative comes first: a word that is not part of a run. Only the capitals may backtrack.
_PIECES = re.compile(
    r"[A-Z]?[a-z]++(?![A-Za-z\d])|[^\w\s\0-\x08\x0e-\x1f\x7f]++"
    r"|(?:[A-Za-z]{1,64}+\d|\d{1,64}+[A-Za-z])[A-Za-z\d]*+"  # hashes, ids, sizes
    r"|[A-Z]?[a-z]++|[A-Z]+(?![a-z])| ?\d{1,3}+|_++|\n\s*+|[^\S\n]{2,}+|[\0-\x08\x0e-\x1f\x7f]"
)
_CONTROL = re.compile(r"[\0-\x08\x0e-\x1f\x7f]")
# The pieces into which a tokenizer cuts a run of letters and digits.
_CASES = re.compile(r"[A-Z]*[a-z]+|[A-Z]+|\d{1,3}")
# A single blank that no piece crosses: texts often repeat what is between two of them.
_BETWEEN = re.compile(r" (?<=\S )(?=[^\s\d])")
_LONGEST_CACHED = 64  # characters; the cost of a longer chunk or piece is not cached
_LATIN_WORD = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]+")
_ACCENT, _RARE_ACCENT = re.compile("[\u00c0-\u024f\u1e00-\u1eff]"), re.compile("[\u0100-\u024f]")
_NORTHERN_ACCENT = re.compile("[äöåæøÄÖÅÆØ]")
_COMBINING = re.compile("[A-Za-z][\u0300-\u036f]")
_FOREIGN = re.compile(r"[^\x00-\x7f\u00c0-\u024f\u1e00-\u1eff]+")

# Sums of whole parts of a token do not depend on their order.
_PARTS = 3_000
# Costs in tokens, fitted.
_SHORT_WORD, _LONG_WORD, _LETTER_BEYOND_SIX, _CAPITAL = 1.0, 0.62, 0.205, 0.273
_DIGITS, _BLANK_AND_DIGITS, _MIXED, _MIXED_CHARACTER = 1.4, 2.5, 0.5, 0.427
# In base64 and the like letters change their case so often that few of the pieces are words: that many characters or
# fewer for each piece, over a length that no name has.
_CODED_CHARACTER, _CODED_FROM, _CODED_PIECE = 0.675, 20, 3
_UNDERSCORE, _NEW_LINE, _INDENT, _SIGNS = 0.312, 0.858, 1.1, 0.853
# The longest runs of one character that are a token, such as the rule below a heading.
_LONGEST_RULE, _MOST_BREAKS, _WIDEST_BLANK = 64, 16, 128
# Tokens of a word in languages with accents, at least one: for the word, and for each letter. The accents of
# Western Europe are frequent in the vocabulary, others (Czech, Polish) are not; Nordic words are less frequent.
_WESTERN, _EASTERN, _NORTHERN = (0.3, 0.15), (0.05, 0.32), (0.3, 0.25)
# One rare accent in _RARE_SHARE makes a line Eastern; a share of _SHARE_OF_LINES such lines makes all Eastern. A text
# is Nordic if nearly all accents in nearly all its lines are.
_RARE_SHARE, _SHARE_OF_LINES, _MOST = 20, 0.6, 0.9
_FEW_ACCENTS = 0.01  # of the characters; a line with fewer is English with an accented name

# Scripts and signs: first and last code point, tokens for a run and for each of its characters, fitted to translated
# messages of programs. In scripts with blanks between words a run is a word, and takes one token at least.
_BLOCKS: tuple[tuple[int, int, float, float], ...] = (
    (0x0300, 0x036F, 0.0, 2.0),  # combining marks: two bytes, and they split the word
    (0x0370, 0x03FF, 0.2, 0.34),  # Greek
    (0x0400, 0x052F, 0.15, 0.24),  # Cyrillic
    (0x0591, 0x05BF, 0.0, 2.0),  # points and accents of Hebrew
    (0x0590, 0x05FF, 0.2, 0.45),  # Hebrew
    (0x0610, 0x061A, 0.0, 2.0),  # vowels and other marks of Arabic
    (0x064B, 0x0652, 0.0, 0.5),  # the vowels, often one token with their letter
    (0x0653, 0x065F, 0.0, 2.0),
    (0x06D6, 0x06DC, 0.0, 2.0),
    (0x0600, 0x06FF, 0.2, 0.34),  # Arabic
    (0x0530, 0x058F, 0.01, 0.41),  # Armenian
    (0x0980, 0x09FF, 0.01, 0.38),  # Bengali
    (0x0A00, 0x0A7F, 0.01, 0.6),  # Gurmukhi
    (0x0A80, 0x0AFF, 0.01, 0.41),  # Gujarati
    (0x0B00, 0x0B7F, 0.01, 1.1),  # Odia
    (0x0C00, 0x0C7F, 0.01, 0.46),  # Telugu
    (0x0D80, 0x0DFF, 0.01, 0.6),  # Sinhala
    (0x0900, 0x0DFF, 0.01, 0.34),  # other scripts of India
    (0x0E00, 0x0EFF, 0.01, 0.43),  # Thai and Lao
    (0x0F00, 0x0FFF, 0.01, 1.58),  # Tibetan
    (0x1000, 0x109F, 0.01, 0.57),  # Burmese
    (0x10A0, 0x10FF, 0.01, 0.39),  # Georgian
    (0x1780, 0x17FF, 0.01, 0.56),  # Khmer
    (0x1100, 0x11FF, 0.0, 3.0),  # the parts of Korean syllables
    (0x1200, 0x137F, 0.0, 2.0),  # Ethiopic
    (0x2000, 0x206F, 0.0, 0.9),  # dashes, quotes, joiners
    (0x2190, 0x22FF, 0.0, 1.6),  # arrows, mathematics
    (0x2500, 0x257F, 0.0, 1.5),  # boxes
    (0x2580, 0x25FF, 0.0, 1.6),  # blocks, shapes
    (0x2600, 0x27BF, 0.0, 1.8),  # symbols, dingbats
    (0x2800, 0x28FF, 0.0, 2.9),  # braille, as in spinners
    (0x3000, 0x303F, 0.0, 0.9),  # punctuation of Chinese and Japanese
    (0x3099, 0x309A, 0.0, 2.0),  # marks of kana
    (0x3040, 0x30FF, 0.0, 0.62),  # kana
    (0x3400, 0x9FFF, 0.0, 0.71),  # Chinese characters
    (0xAC00, 0xD7AF, 0.4, 0.44),  # Korean syllables
    (0xFE00, 0xFE0F, 0.0, 0.5),  # variation selectors
    (0xFF61, 0xFFDC, 0.0, 1.7),  # half-width kana
    (0xFF00, 0xFFEF, 0.0, 0.95),  # full-width forms
    (0x1D400, 0x1D7FF, 0.0, 3.0),  # letters of mathematics
    (0x1F000, 0x1F1E5, 0.0, 3.0),
    (0x1F1E6, 0x1F1FF, 0.0, 2.0),  # flags, two per flag
    (0x1F200, 0x1F67F, 0.0, 2.0),  # emoji
    (0x1F680, 0x1F8FF, 0.0, 2.4),
    (0x1F900, 0x1F9FF, 0.0, 2.3),
    (0x1FA00, 0x1FAFF, 0.0, 2.95),
)
_NOTHING, _ONE = (0.0, 0.0), (0.0, 1.0)
# A character that the vocabulary does not have takes a token for each of its bytes; some scripts have a few pairs of
# bytes in it. By the number of bytes.
_OTHER = {2: (0.0, 1.95), 3: (0.0, 2.8), 4: (0.0, 4.0)}
# Frequent signs that are one token each.
_ONE_TOKEN = frozenset("🙂😂😉😍👍😀🤣🔥😊👉🙏👌😘😭👇😁👏💕🏻🏼❤★☆♥→●■□─━═█…—–“”‘’•€")
# Marks that are in the vocabulary: accents of Latin, points of Hebrew, some of Arabic.
_FREQUENT_MARKS = frozenset(
    "\u0300\u0301\u0302\u0303\u0306\u0308\u0309\u030a\u030c\u0323\u0327\u032d"
    "\u05b0\u05b4\u05b5\u05b6\u05b7\u05b8\u05b9\u05bc\u05bf"
    "\u0653\u0654\u0670"
)
# The additional tokens of a word without a blank before it, in scripts that have few words in the vocabulary, most of
# them with the blank.
_UNSPACED = tuple(
    (re.compile(f"(?<![ {letters}\u0300-\u036f])[{letters}]{{3,}}"), more)
    for letters, more in (("\u0370-\u03ff", 1.8), ("\u0900-\u0dff", 1.4))
)
# Stacked marks, more than any language writes.
_STACK = re.compile(
    "[\u0300-\u036f\u0591-\u05bf\u064b-\u065f\u0900-\u0902\u093c\u0941-\u0948\u094d"
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]{3,}|[\u0e48-\u0e4b]{2,}"
)
_GAP = "\0"  # replaces a stack: the letters around it are not one word
# Frequent characters of traditional Chinese only: a run with one of them takes more tokens for each character.
_TRADITIONAL = re.compile("[這個們來說時會對為沒從關開過還後與學實問題點檔執設訊無請將變數選項當應處輸錯誤]")
_KANA = re.compile("[\u3040-\u30ff]")
_TRADITIONAL_RATIO = 1.3
_RUN = re.compile(r"([^\u0300-\u036f\u0591-\u05bf\u064b-\u065f\u0e31-\u0e4e])\1{3,}")
_TOKENS_IN_RUN = 6  # repeated signs come in tokens of four, eight and sixteen


def estimate(text: str) -> int:
    """Return the estimated number of tokens of `text` in a modern vocabulary of some 200,000 entries."""
    if not text:
        return 0
    total = 0.0
    if not text.isascii():
        lines = text.split("\n")
        # All that is special is within a line, and most lines of code have none of it.
        special = "\n".join([line for line in lines if not line.isascii()])
        runs = _FOREIGN.findall(special)
        total += sum([_known_foreign(run) if len(run) <= _LONGEST_CACHED else _foreign(run) for run in runs])
        total += sum([more * len(words.findall(special)) for words, more in _UNSPACED])
        accented: list[tuple[int, str, int, int]] = []
        for number, line in enumerate(lines):
            if line.isascii():
                continue
            lines[number] = words = _FOREIGN.sub(" ", line)
            # Only pairs are composed: sorting a long run of marks takes quadratic time.
            composed = words + normalize("NFC", "".join(_COMBINING.findall(line)))
            accents = len(_ACCENT.findall(composed))
            if accents > _FEW_ACCENTS * len(line):
                rare, northern = len(_RARE_ACCENT.findall(composed)), len(_NORTHERN_ACCENT.findall(composed))
                accented.append((number, words, rare * _RARE_SHARE > accents, northern >= _MOST * accents))
        # Many lines of a language have none of its rare accents.
        eastern = sum([rare for _, _, rare, _ in accented]) >= _SHARE_OF_LINES * len(accented)
        north = sum([all_of_it for _, _, _, all_of_it in accented]) >= _MOST * len(accented)
        for number, words, rare, _ in accented:
            base, each = _NORTHERN if north else _EASTERN if rare or eastern else _WESTERN
            total += sum([max(1.0, base + each * len(word)) for word in _LATIN_WORD.findall(words)])
            lines[number] = _LATIN_WORD.sub("", words)
        text = "\n".join(lines)
    chunks = Counter(_BETWEEN.split(text))
    parts = sum(
        [
            count * (_known_chunk(chunk) if len(chunk) <= _LONGEST_CACHED else _chunk(chunk))
            for chunk, count in chunks.items()
        ]
    )
    return max(1, ceil(total + parts / _PARTS - 0.5))


def _chunk(chunk: str) -> int:
    """Return the parts of tokens of a text between two blanks."""
    return sum(
        [
            _known_cost(piece) if len(piece) <= _LONGEST_CACHED else _cost(piece)
            for piece in _PIECES.findall(chunk)
        ]
    )


_known_chunk = lru_cache(maxsize=1 << 16)(_chunk)


def _cost(piece: str) -> int:
    """Return the parts of tokens of one piece of plain text."""
    return round(_PARTS * _tokens(piece))


_known_cost = lru_cache(maxsize=50_000)(_cost)


def _tokens(piece: str) -> float:
    first, length = piece[0], len(piece)
    if first.isalnum():
        return _word_cost(piece)
    if _CONTROL.match(first):
        return 1.0
    if first == "_":
        return _UNDERSCORE + _beyond(length, _LONGEST_RULE)
    if first == "\n":
        return _NEW_LINE + _beyond(piece.count("\n"), _MOST_BREAKS)
    if first.isspace():
        return _BLANK_AND_DIGITS if piece[-1].isdigit() else _INDENT + _beyond(length, _WIDEST_BLANK)
    if length <= 2 or piece == first * length:
        return _SIGNS + _beyond(length, _LONGEST_RULE)
    return _SIGNS * (length + 1) / 3


def _beyond(length: int, longest: int) -> float:
    """Return the tokens that a run of one character takes more than one of the `longest` length that is a token."""
    return max(0, length - longest) / longest


def _word_cost(piece: str) -> float:
    length = len(piece)
    if piece.isdigit():
        return _DIGITS
    if not piece.isalpha():
        both = length >= _CODED_FROM and not (piece.islower() or piece.isupper())
        coded = both and length <= _CODED_PIECE * len(_CASES.findall(piece))
        return _CODED_CHARACTER * length if coded else _MIXED + _MIXED_CHARACTER * length
    if length > 1 and piece[1].isupper():
        return _CAPITAL * length
    return _SHORT_WORD if length <= 6 else _LONG_WORD + _LETTER_BEYOND_SIX * (length - 6)


def _foreign(segment: str) -> float:
    """Return the tokens of a run of characters outside the Latin script."""
    total = 0.0

    def shorten(run: re.Match[str]) -> str:
        nonlocal total
        total += len(run[0]) / _TOKENS_IN_RUN
        return run[1]

    def unstack(stack: re.Match[str]) -> str:
        nonlocal total
        total += sum([1.0 if len(mark.encode()) == 3 else max(1.0, _script(mark)[1]) for mark in stack[0]])
        return _GAP

    runs = groupby(_STACK.sub(unstack, _RUN.sub(shorten, segment)), _script)
    characters = sum([max(1.0 if base else 0.0, base + each * len(list(run))) for (base, each), run in runs])
    traditional = _TRADITIONAL.search(segment) and not _KANA.search(segment)
    return total + characters * (_TRADITIONAL_RATIO if traditional else 1.0)


_known_foreign = lru_cache(maxsize=1 << 12)(_foreign)  # mostly single signs


@lru_cache(maxsize=20_000)
def _script(one: str) -> tuple[float, float]:
    """Return the tokens for a run of characters of this one's script, and for each character of it."""
    if one in _ONE_TOKEN or one in _FREQUENT_MARKS:
        return _ONE
    if one == _GAP:
        return _NOTHING
    point = ord(one)
    found = ((base, each) for first, last, base, each in _BLOCKS if first <= point <= last)
    return next(found, _OTHER[len(one.encode("utf-8", "surrogatepass"))])
