"""Exact values: error messages, URLs, ids, configuration values and numbers, each copied verbatim from a message."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from scoring.messages import REMINDER, Message, Reasoning, Text, ToolResult
from scoring.summary.sentences import both_ends, is_confirmation

ERROR_WORTH = 4.0
LONGEST_VALUE, LONGEST_ERROR = 160, 300  # characters
MOST_ERRORS = 3  # of one output
_NO_ERROR = re.compile(r"(?:0 (?:errors|failed)|no errors?)\b", re.IGNORECASE)
_ERROR_LINE = re.compile(r"\b(?:error|failed|fatal|panic|denied)\b|(?:Error|Exception)\b", re.IGNORECASE)
# Lines of source code and of search results mention errors without reporting one.
_CODE = re.compile(
    r"^\d+\s*[→|:\t]|^\S+\.\w+[-:]\d+[-:]\s*\t|%[vsdwq]\b|[({]$|;$"
    r"|^(?:if|elif|else|return|func|def|class|raise|except|catch|throw|try|import|from|const|let|var|type|#|//|\*)\b"
    r"|(?:Errorf?|Exception|Fatalf?|[Ff]ailed|error)\("
)
_NAMES = "port|timeout|limit|version|size|key|id|host|user|name|url|path|rate|total|price|count"
# Source code that looks like a setting: a type, a call, one name assigned to another.
_SOURCE = re.compile(
    r"^self\.|[:=]\s?(?:[A-Za-z_][\w.]*\(|=|(?:str|int|float|bool|bytes|Path|None|Any|self|cls|string|number)\b)|"
    r"[()]$|[\w\]]\s?= [a-z_][a-z_.]*$|[:=]\s?[A-Za-z_]$"
)
# A quoted error: its name opens the line.
_QUOTED_ERROR = re.compile(
    r"^\W*(?:[\w.]*\.)?(?:ERROR|FATAL|Error|[A-Z]\w*(?:Error|Exception))\b\W{0,3}:\s?\S"
)
_SCHEMES = "https?|wss?|s?ftp|ssh|git|s3|gs|file|postgres(?:ql)?|mysql|redis|amqp|mongodb(?:\\+srv)?"
_NO_URL = r"\s\"'<>)\]}`。，、；：！？）」』】"
# A hash, with the name that it is a part of.
_HASH = (
    r"(?<![\w-])(?:[a-z][a-z0-9]{0,20}-){0,4}(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}"
    r"(?:-[a-z0-9]{3,10})?(?![\w-])"
)
# Between a letter or digit and a Chinese or Japanese character, which have no blank between them.
_GLUED = re.compile(
    r"(?<=[\u3040-\u30ff\u3400-\u9fff])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[\u3040-\u30ff\u3400-\u9fff])"
)
# The letters and digits of a code: Latin, Greek or Cyrillic. Others are written next to words without a blank.
_LETTER = "A-Za-zÀ-ÖØ-öø-ɏͰ-ӿ"
_CODE_CHARS = f"{_LETTER}0-9_"
# A part of a code that is joined by slashes or colons: with a digit.
_CODE_PART = rf"(?:[{_LETTER}_.-]{{0,20}}\d[{_CODE_CHARS}.-]{{0,30}})"
_OTHER_PARTS = r"(?:[-/][A-Z0-9]{1,10}){0,4}"  # of an upper-case code
# Weight and pattern of each kind; the whole match is the value, verbatim. A repetition has a bound where a match can
# begin at each character of a word: texts without blanks, such as encoded data, took seconds.
_PATTERNS: tuple[tuple[float, re.Pattern[str]], ...] = (
    (3.0, re.compile(rf"\b(?:{_SCHEMES})://[^{_NO_URL}]+[^{_NO_URL}.,;:]")),
    (3.0, re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE)),
    (2.5, re.compile(r"\b[A-Z][A-Z0-9_]{2,}\s?=\s?(?!\$\()[^\s\"'`,;]+")),
    (2.0, re.compile(r'"\w{0,40}(?:_id|Id|ID|number|_key|status)":\s?(?:"[^"\n]{1,80}"|-?[\d.]{1,30})')),
    (1.5, re.compile(r"\b(?:[A-Z]{2,10}\d{2,10}|[a-z]{1,20}(?:_[a-z]{1,20}){1,4}_\d{1,10})\b")),
    (2.0, re.compile(rf"\b[A-Z]{{2,10}}-\d{{1,7}}{_OTHER_PARTS}\b")),
    (1.5, re.compile(r"(?<![\w/])--?[a-z][\w-]+=[^\s\"'`,;]+")),
    (1.5, re.compile(_HASH)),
    (1.5, re.compile(rf"\b[a-z_][\w.-]{{0,40}}(?:{_NAMES})\s?[:=]\s?[^\s,;\"'`{{}}\[\]]{{1,80}}", re.IGNORECASE)),
    (1.0, re.compile(r"\b(?:port|version|timeout|limit)[ \t]+(?:is[ \t]+|of[ \t]+|to[ \t]+)?\d[\w.]*", re.IGNORECASE)),
    (1.0, re.compile(r"[$€£]\s?\d[\d,.]*\d|\b\d[\d,.]{0,30}\s?(?:%|ms|MB|GB|kB|KB|EUR|USD|€|£|¥)(?!\w)")),
    (2.0, re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b")),  # an address
    (0.5, re.compile(r"(?<![\d.])v?\d+\.\d+\.\d+(?:[-+][\w.]+)?\b(?!\.\d)")),
)  # fmt: skip
_EXTENSIONS = (
    "py|pyi|ipynb|js|mjs|cjs|ts|tsx|jsx|vue|md|rst|txt|json|jsonl|ya?ml|toml|ini|cfg|conf|env|lock|csv|tsv|html?|s?css|"
    "xml|svg|go|rs|rb|java|kt|swift|c|h|cc|cpp|hpp|cs|php|lua|sh|sql|db|log|pdf|png|jpe?g|gif|docx?|xlsx?|pptx?|zip|gz|tar"
)
# Rooted, of three parts, or of two with an extension: "and/or" is not a path, nor is the tag "</div>".
_PATH = (
    r"(?<![\w:/.@<€$£%)-])(?:(?:~|\.{1,2})?/(?:[\w@.+-]+/)*|(?:[\w@.+-]+/){2,}|(?:[\w@.+-]+/)+(?=[\w@+-]+\.[a-z]))"
    r"[\w@+-][\w@.+-]*\w"
)
# Only in the words of a user or an agent: in the output of a tool every second word would match.
_SPOKEN_PATTERNS: tuple[tuple[float, re.Pattern[str]], ...] = (
    (1.5, re.compile(_PATH)),
    (1.5, re.compile(r"\b[A-Za-z]:\\(?:[\w .+-]+\\)*[\w.+-]*\w")),  # a Windows path
    (1.5, re.compile(rf"(?<![\w./])[\w-]{{1,100}}\.(?:{_EXTENSIONS})\b(?![/.(]\w)")),  # a file name
    (2.0, re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+\b")),  # a mail address
    (2.0, re.compile(r"(?<!\w)#[\w-]*\d[\w-]*\w")),  # an issue, an order
    # letters and digits
    (1.5, re.compile(
        rf"(?<![{_CODE_CHARS}-])(?<!\d[/:])(?=[{_CODE_CHARS}-]{{0,39}}[{_LETTER}])"
        rf"(?=[{_CODE_CHARS}-]{{0,39}}\d[{_CODE_CHARS}-]{{0,39}}\d)"
        rf"[{_LETTER}0-9][{_CODE_CHARS}-]{{3,38}}[{_CODE_CHARS}](?!-?[{_CODE_CHARS}]|[/:]\d)"
    )),
    # the same, joined by slashes or colons
    (2.0, re.compile(
        rf"(?<![\w./:@#=%-])(?=\w)(?=[\d./:-]{{0,60}}[{_LETTER}]){_CODE_PART}(?:[/:]{_CODE_PART}){{1,4}}(?<=\w)(?![\w/])"
    )),
    # a date, with a time
    (1.5, re.compile(
        r"(?<![\w-])\d{4}-\d{2}-\d{2}(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:\s?(?:Z|UTC|[+-]\d{2}:?\d{2}))?)?"
        r"(?![\w-])"
    )),
    (2.0, re.compile(r"(?<![\w+])\+\d{1,3}[ ./-]?\(?\d[\d ()./-]{5,14}\d\b")),  # a telephone number
    (1.0, re.compile(r"(?<![\w.,])\d{5,24}(?![\w.,]*\d)\b")),  # a long number
)  # fmt: skip


def values(messages: Sequence[Message]) -> Iterator[tuple[float, str]]:
    """Yield each exact value with its weight, higher in the user's words and for errors; repeats are yielded again."""
    for message in messages:
        for part in message.parts:
            if not isinstance(part, Text | ToolResult | Reasoning) or is_confirmation(part.text):
                continue
            text = both_ends(part.text)
            parted = text if text.isascii() else _GLUED.sub(" ", text)
            users_words = message.role == "user" and message.name != REMINDER
            own = 1.0 * users_words - 0.5 * isinstance(part, Reasoning)
            lines = error_lines(text)
            if not isinstance(part, ToolResult):
                lines = [line for line in lines if _QUOTED_ERROR.match(line)]
            yield from ((ERROR_WORTH + own, line) for line in lines)
            for worth, pattern in _PATTERNS if isinstance(part, ToolResult) else _PATTERNS + _SPOKEN_PATTERNS:
                for match in pattern.finditer(parted):
                    if len(match[0]) <= LONGEST_VALUE and ("://" in match[0] or not _SOURCE.search(match[0])):
                        yield worth + own, match[0]


def error_lines(text: str) -> list[str]:
    """Return the lines that report an error, verbatim, each once; for a traceback the line that names the error."""
    found: dict[str, None] = {}
    for line in map(str.strip, text.splitlines()):
        if (
            8 <= len(line) <= LONGEST_ERROR
            and _ERROR_LINE.search(line)
            and not (_NO_ERROR.match(line) or _CODE.search(line))
        ):
            found[line] = None
            if len(found) >= MOST_ERRORS:
                break
    return list(found)
