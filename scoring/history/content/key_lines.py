"""Lines of a tool output that are never cut: those that report an error, and how a run ended.

They are recognised by what all kinds of programs print, not by the program: the word for an error at the beginning of a
report, the name of an exception, a mark of failure, a count of what passed or failed, an exit status. Lines of source
code and of search results mention errors without reporting any, and are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from scoring.history.content.failure_words import STEMS, STEMS_BEYOND_ASCII, reports, tells
from scoring.history.content.json_outcome import lines_of_json, outcome_of_json
from scoring.settings import Finder

MOST_ERRORS, MOST_VERDICTS = 3, 2  # lines of one output, beside the last that counts tests
READ_CHARS = 400  # of a line: a longer one is data
VERDICT_WITHIN = 12  # lines from the end in which the result of a run is searched
STATUS_WITHIN = 3  # lines from the beginning or the end
READ_LINES = 20_000

_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_STEMS = Finder((
    "error", "err!", "fail", "exception", "traceback", "panic", "fatal", "denied", "refused", "assert", "abort",
    "not found", "no such", "cannot", "could not", "couldn't", "unable", "undefined", "unresolved", "invalid",
    "segmentation", "core dumped", "timed out", "killed", "exit", "returncode", "returned", "status", "not ok", "***",
    "critical", "caused by", "unexpected", "not recognized", "does not exist", "erreur", "conflict", "and not used",
    "missing return", "not enough", "too many", *STEMS,
))  # fmt: skip
_PLACE = r"(?:[^\s:]+[:(]\d+(?:[:,]\d+)?\)?:?\s+)?"  # a file and a line in it
_MARKS = Finder(("✗", "✘", "✖", "❌", "✕", *STEMS_BEYOND_ASCII))
_ERROR = re.compile(
    rf"""(?:E\s+|>\s*|\|\s*|\*+\s*|\[[^\]]*\]\s*)?{_PLACE}(?:
        (?:[\w$]+[.:]+)*\w*(?:Error|Exception|Failure)\b\s*(?::|$|\()
        | (?:npm\s+)?
          (?:(?:fatal|internal|syntax|type|runtime|compile|link|parse|import|build|test|uncaught|unhandled)\s+)?
          (?:error|err!|fatal|panic|failure|failed|abort(?:ed)?|critical|fehler|erreur)
          (?:\s+\w+)?\s*(?:\[[^\]]*\]|\([^)]*\))?\s*[:!]
        | npm\serr! | <\w*error> | (?:uncaught|unhandled)\s+\w+ | traceback\s\(most | caused\sby:
        | thread\s'.*'\spanicked
        | (?:✗|✘|✖|×|❌|✕|not\sok\b|---\sfail|fail(?:ed)?\s+\S) )
    | !\s\[(?:remote\s)?rejected\] | conflict\s\(
    """,
    re.IGNORECASE | re.VERBOSE,
)
_AFTER_PLACE = re.compile(r":\s*(?:fatal\s+)?error(?:\s+\w+\d+)?:|:\s+error\s+[A-Z]+\d+", re.IGNORECASE)
_PHRASE = re.compile(
    r"""command\snot\sfound | no\ssuch\sfile | permission\sdenied | access\s(?:is\s)?denied | not\srecognized\sas
    | \b(?:cannot|could\snot|couldn't|unable\sto)\s\w+ | undefined\sreference | unresolved\s(?:import|symbol|reference)
    | segmentation\sfault | core\sdumped | out\sof\smemory | timed\sout | connection\srefused
    | \bdoes\snot\sexist\b | \bis\snot\sdefined\b | invalid\s(?:option|argument|syntax|choice) | unexpected\stoken
    | make(?:\[\d+\])?:\s\*\*\* | ld\sreturned\s[1-9] | (?:build|compilation|tests?)\sfailed | assertion\sfailed
    | symbol(?:\(s\))?\snot\sfound | \bline\s\d+:\s+\d+\s(?:killed|aborted|terminated)\b""",
    re.IGNORECASE | re.VERBOSE,
)
# Every match has one of these.
_PHRASE_WORDS = (
    "not found", "no such", "denied", "not rec", "cannot", "could", "unable", "undefined", "unresolved", "segment",
    "core d", "out of", "timed out", "refused", "not exist", "not defined", "invalid", "unexpected", "***", "returned",
    " failed", "killed", "aborted", "terminated",
)  # fmt: skip
# A diagnosis of the Go compiler, which does not say "error". Code found at such a place would be indented by tabs.
_DIAGNOSED = re.compile(r"^(?:vet:\s)?\S+\.go:\d+:\d+:\s[\w\"]")
_ANSWERED = re.compile(r"^(<\s)?HTTP/[\d.]+\s+(\d{3})\b")
# Lines of a program that fails, even if the command line that it ran in ended with status 0.
_RAISED = re.compile(
    r"^traceback\s\(most|^(?:[\w$]+[.:]+)*(?:\w+Error|\w*Exception)\s*:|^fail(?:ed)?\b[\s:]|^panic:|^not\sok\b",
    re.IGNORECASE,
)
# A log level in capitals near the beginning of a line.
_LOGGED = re.compile(r"^.{0,60}?(?<![\w-])(?:ERROR|FATAL|CRITICAL|SEVERE|PANIC|FAIL|FAILED)(?![\w-])")
_STATUS = re.compile(
    r"(?:exit(?:ed)?(?:\s+with)?(?:\s+(?:code|status))?|return(?:ed)?\s*code|exit_?(?:code|status))"
    r"[\s:=>\"']*(-?\d+)(?![\d.]*\w)"
    # Counts are returned, too, so that a program must be named and the number must stand alone.
    r"|\b(?:job|process|command|program|script|task|step|hook|child|ld|make|shell)\s+returned\s+(-?\d{1,3})"
    r"(?=\s*(?:$|exit\b|[<,}\"']))"
    # A status of HTTP.
    r"|\bstatus(?:[\s_]?code)?[\s:=>\"']*([45]\d\d)(?=\s*(?:$|[<,}\"']))",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"\b(?:0|no)\s+(?:tests?\s+|jobs?\s+|checks?\s+)?(?:errors?|failed|failures?|failing)\b|\b(?:errors?|failures?|failed)\s*[:=]\s*0\b",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"\b[1-9]\d*\s+(?:errors?|failed|failures?|failing)\b", re.IGNORECASE)
# Counts of what is no error any more.
_MENDED = re.compile(
    r"""\b(?:auto-?)?(?:fixed|resolved|corrected|repaired|solved|cleared|closed|suppressed|behoben|corregidos|corrigés)
        :?\s+(?:all\s+)?\d+\s+(?:errors?|failures?)\b
    | \b\d+\s+(?:errors?|failures?)\s+(?:\w+\s+){0,2}(?:fixed|resolved|corrected|repaired|solved|cleared|closed
        |suppressed)\b
    | \b\d+\s+(?:errors?|failures?)\s*\([^)]*\b0\s+(?:remain|left|unfixed)[^)]*\)""",
    re.IGNORECASE | re.VERBOSE,
)
_CODE = re.compile(
    r"^\d+\s*[→|\t]|^\d+[:-](?!\d)|^\S+\.\w+[-:]\d+[-:](?!.*\b(?:error|fatal)\b)|[({;,]$|%[vsdwq]\b"
    r"|^(?:if|elif|else|return|func|function|fn|def|class|struct|raise|except|catch|throws?|try|import|from|const|let|var"
    r"|val|type|public|private|protected|static|with|for|while|assert|self\.|this\.|#|//|/?\*|--\s|<!--)"
    r"|(?:Errorf?|Exception|Fatalf?|[Ff]ailed|error)\([\"'`\w]"
)
_VERDICT = re.compile(
    r"""\b\d+\s+(?:\w+\s+)?(?:tests?|specs?|examples?|scenarios?|suites?|assertions?|checks?|passed|passing|failed|failing
            |failures?|errors?|skipped|pending|ok|warnings?|problems?|issues?|successes)\b
    | ^\W*(?:ok|pass(?:ed)?|fail(?:ed|ure)?|success(?:ful(?:ly)?)?)\b | \bran\s\d+ | \bbuild\s(?:success|fail)
    | \b(?:tests?|suites?|results?|assertions|summary)\b[^:\n]{0,20}:\s*(?:\d|ok|pass|fail|success)
    | \b(?:succeeded|successfully|all\s(?:tests|checks|files)\s\w+|no\s(?:issues|errors|problems|warnings)\b)
    | \b(?:finished|completed|compiled|built|done)\s(?:in|with)\b | bestanden | 成功""",
    re.IGNORECASE | re.VERBOSE,
)
# Every match has one of these words; most lines have none.
_VERDICT_WORDS = (
    "test", "spec", "example", "scenario", "suite", "assertion", "check", "pass", "fail", "error", "skipped", "pending",
    "ok", "warning", "problem", "issue", "succe", "ran", "build", "built", "result", "summary", "files", "finished",
    "completed", "compiled", "done", "bestanden",
)  # fmt: skip
# The counts of a test run, anywhere in the output.
_COUNTS = re.compile(
    r"\b\d+\s+(?:passed|failed|passing|failing|failures?|succeeded)\b|\btest result:", re.IGNORECASE
)
_COUNTS_WORDS = Finder(("pass", "fail", "succeeded", "test result:"))


def is_failure(text: str) -> bool:
    """Return whether an output reports a failure: a status other than 0, or an error.

    A status of 0 can be that of the last command of a script, so an exception that was raised before it still counts.
    """
    lines, errors, stated = _read(text)
    if stated is not None:
        return stated
    status = _status(lines)
    if status:
        return True
    if any(status is None or _RAISED.search(lines[number]) for number in errors):
        return True
    return any(
        _COUNTED.search(line) is not None and _COUNTED.search(_MENDED.sub("", line)) is not None
        for _, line in _last(lines)
    )


def error_lines(text: str) -> list[str]:
    """Return the lines of an output that report an error, without colours and blanks around them."""
    lines, errors, _ = _read(text)
    return [lines[number] for number in errors]


def key_lines(text: str) -> list[int]:
    """Return the numbers of the lines of an output that are never cut, in rising order.

    These are the first errors and the last one, how the run ended, and its status if that is a failure.
    """
    lines, errors, stated = _read(text)
    kept = set(errors if len(errors) <= MOST_ERRORS else [*errors[: MOST_ERRORS - 1], errors[-1]])
    ends = [number for number, line in _last(lines) if _is_verdict(line)]
    counts = [
        number
        for number in _COUNTS_WORDS.lines_of("\n".join(lines))
        if _COUNTS.search(lines[number]) and not _CODE.search(lines[number])
    ]
    kept.update(ends[-MOST_VERDICTS:] + counts[-1:])
    if _status(lines):
        kept.update(number for number, line in _edges(lines) if _STATUS.search(line))
    if stated:
        kept.update(lines_of_json(lines))
    return sorted(kept)


@lru_cache(maxsize=1)
def _read(text: str) -> tuple[list[str], list[int], bool | None]:
    """Return the lines of an output, the numbers of those that report an error, and the outcome stated in JSON.

    Cached, because `is_failure` and `key_lines` are called one after the other.
    """
    lines = _clean(text)
    errors = list(_errors(lines))
    refused = _refused(lines) if "HTTP/" in text else None
    if refused is not None:
        errors = sorted({*errors, refused})
    stated = outcome_of_json(text)
    return lines, errors, outcome_of_json(_last_object(text)) if stated is None else stated


def _is_verdict(line: str) -> bool:
    # Looking for the words first is much cheaper than the regular expressions.
    may_be = not line.isascii() or any(map(line.lower().__contains__, _VERDICT_WORDS))
    return may_be and _CODE.search(line) is None and _VERDICT.search(line) is not None


def _clean(text: str) -> list[str]:
    lines = text.split("\n", READ_LINES)[:READ_LINES]
    if "\x1b" in text:
        lines = [_ANSI.sub("", line[:READ_CHARS]) for line in lines]
    return [line[:READ_CHARS].strip() for line in lines]


def _errors(lines: Sequence[str]) -> Iterator[int]:
    """Yield the numbers of the lines that report an error."""
    for number in _candidates("\n".join(lines)):
        line = lines[number]
        if len(line) < 2:
            continue
        reported = not _CODE.search(line) and _is_error(lines, number) and not _NONE.search(line)
        if reported or _DIAGNOSED.match(line):
            yield number


def _candidates(text: str) -> list[int]:
    """Return the numbers of the lines that may report an error."""
    found = _STEMS.lines_of(text)
    return found if text.isascii() else sorted({*found, *_MARKS.lines_of(text)})


def _is_error(lines: Sequence[str], number: int) -> bool:
    line = lines[number]
    if len(line) > 3 and (_ERROR.match(line) or _AFTER_PLACE.search(line) or _LOGGED.match(line)):
        return True
    if any(map(line.lower().__contains__, _PHRASE_WORDS)) and _PHRASE.search(line):
        return True
    if reports(line):
        return True
    return (number < STATUS_WITHIN or number >= len(lines) - VERDICT_WITHIN) and tells(line)


def _refused(lines: Sequence[str]) -> int | None:
    """Return the number of the last status line of HTTP if the answer is an error.

    Such a line opens the output, or is marked as received; other ones are examples in a text.
    """
    found: tuple[int, int] | None = None
    for number, line in enumerate(lines):
        answer = _ANSWERED.match(line) if "HTTP/" in line else None
        if answer and (answer[1] or found or number < STATUS_WITHIN):
            found = number, int(answer[2])
    return found[0] if found and found[1] >= 400 else None


def _last_object(text: str) -> str:
    """Return the last line if it is an object in JSON that follows other text, "" if not: records are data."""
    before, _, last = text.rstrip().rpartition("\n")
    return last if last[:1] == "{" and before.rpartition("\n")[2].lstrip()[:1] not in ("{", "[", "") else ""


def _status(lines: Sequence[str]) -> int | None:
    """Return the exit status that an output names at its beginning or its end, None if it names none."""
    for _, line in _edges(lines):
        if len(line) <= 80 and (found := _STATUS.search(line)):
            return int(found[1] or found[2] or found[3])
    return None


def _edges(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the first and the last lines with their numbers."""
    first = min(STATUS_WITHIN, len(lines))
    for number in (*range(first), *range(max(first, len(lines) - STATUS_WITHIN), len(lines))):
        yield number, lines[number]


def _last(lines: Sequence[str]) -> list[tuple[int, str]]:
    """Return the last lines that are not blank, with their numbers."""
    found: list[tuple[int, str]] = []
    for number in range(len(lines) - 1, -1, -1):
        if lines[number]:
            found.append((number, lines[number]))
            if len(found) == VERDICT_WITHIN:
                break
    return found[::-1]
