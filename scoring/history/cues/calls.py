"""Cues of a tool call: whether it writes a plan, a code of what it does, the files it reads, and the lines it removes.

They are found by the shape of the arguments first and by the words in the tool's name second, so that unknown tools are
understood too. Files are identified by their names without folders, lines by the hashes used for mentions.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from typing import Any, NamedTuple
from zlib import crc32

from scoring.history.content.hashes import hashes_of
from scoring.history.content.names import identifiers
from scoring.history.cues import acts
from scoring.summary import EDITED, PATH_KEYS, WRITTEN, Change, changed_by, command_of, first_string

# The kinds of calls: a whole plan, a step of one, one that only reads, one that gives a list of texts, a command that
# does more than read, any other.
PLAN, STEP, LOOK, LIST, RUN, OTHER = "P", "p", "q", "l", "r", ""
PLANS = frozenset({PLAN, STEP})
FILES_KEPT = 6
READ_CHARS = 200_000

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PLANNING = frozenset({"todo", "todos", "plan", "task", "tasks", "checklist", "milestone", "milestones"})
_PLAN_KEYS = frozenset({"todo", "todos", "plan", "steps", "tasks", "checklist", "milestones"})
_SETTING = frozenset({"write", "update", "create", "add", "set", "complete", "mark", "edit", "new", "finish"})
_LOOKING = frozenset(
    "read view open cat get list ls glob grep search find fetch show lookup query describe inspect".split()  # noqa: SIM905
)
_CHANGING = frozenset(
    "edit write replace create patch insert update delete remove apply run exec bash shell".split()  # noqa: SIM905
)
# Tools that give a list to someone else, or make it longer, leave earlier lists as they are.
_GIVING = frozenset(
    "add append push send notify post run exec ask delete remove batch book order buy cancel call label tag".split()  # noqa: SIM905
)
_STATE_KEYS = frozenset({"status", "state", "done", "completed", "checked", "progress"})
_STEP_KEYS = frozenset(
    {"content", "step", "text", "title", "task", "description", "name", "activeForm", "subject"}
)
# States of steps. Records such as orders and devices have other ones.
_STEP_STATES = frozenset({
    "pending", "in_progress", "completed", "done", "todo", "not_started", "started", "active", "doing", "open",
    "blocked", "cancelled", "canceled", "skipped", "failed",
})  # fmt: skip
_BOX = re.compile(r"(?m)^\s*(?:[-*+]|\d+[.)])\s*\[[ xX~]\]\s")
_ITEM = re.compile(r"(?m)^\s*(?:[-*+]|\d+[.)])\s+\S")
_NUMBERED_ITEM = re.compile(r"\s*\d+[.)]\s+\S")
_OLD_KEY = re.compile(
    r"^(?:old|search|find|original|before)(?:_?(?:string|str|text|code|lines?|content))?$", re.IGNORECASE
)
_EVERYWHERE = re.compile(r"^(?:replace_?all|allow_?multiple|expected_?replacements)$", re.IGNORECASE)
_NEW_KEY = re.compile(
    r"^(?:new|replace(?:ment)?|updated|after)(?:_?(?:string|str|text|code|lines?|content|with))?$",
    re.IGNORECASE,
)
_BODY_KEYS = ("content", "contents", "file_text", "text", "new_content", "body")
PATCHED_FILE = re.compile(r"^(?:\*\*\* (?:Update|Delete) File: |\+\+\+ (?:b/)?)(\S+)", re.MULTILINE)
_LOOKS = re.compile(
    r"(?:grep|egrep|rg|ag|ls|find|fd|tree|cat|bat|head|tail|nl|less|more|sed\s+-n|awk|wc|which|type|file|stat|du|diff|"
    r"test|\[|echo|pwd|env|printenv|jq|git\s+(?:log|show|diff|grep|blame|status|branch|ls-files|rev-parse)|"
    r"Get-Content|Select-String|Get-ChildItem|dir|findstr)\b"
)
_FILE = re.compile(r"(?<![\w./~-])[\w./~+@-]*[\w-]\.[A-Za-z]\w{0,9}\b")
_REDIRECT = re.compile(r"(?:>>?|\btee\s+(?:-a\s+)?)\s*([\w./~+-]+\.\w+)")
_VALUE = re.compile(r"\w[\"']?\s*[:=]\s*\S")  # a name with its value
# Changes by a command that make earlier readings of a file old; one that restores it makes some true again.
_REWRITTEN = frozenset({EDITED, WRITTEN})
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


class Edit(NamedTuple):
    """A file that a call changes, by its name without folders, and the lines it removes; `whole` if it writes all.

    `old` are the lines of the texts that it replaces, in order, those that stay included; with `everywhere` it replaces
    them wherever they occur. Lines are given by their hashes. `unseen`: it changes only values in lines that are too
    short to have one, or by a command, so what it changed cannot be marked in a reading; it concerns only those with
    all `names`.
    """

    file: str
    gone: tuple[int, ...] = ()
    whole: bool = False
    old: tuple[int, ...] = ()
    everywhere: bool = False
    unseen: bool = False
    names: tuple[str, ...] = ()

    @property
    def is_of_output(self) -> bool:
        """Return whether a command writes its output into the file."""
        return self.whole and self.unseen

    @classmethod
    def from_list(cls, data: Sequence[Any]) -> Edit:
        """Return the edit with these fields; one that an earlier version stored lacks the last ones."""
        fields: list[Any] = [tuple(value) if isinstance(value, list) else value for value in data]
        return cls(*fields)


class CallCue(NamedTuple):
    """The cues of one call: its kind, a code of what it does, the files it may show, and its edits.

    The code is the same for a command that is run again.
    """

    kind: str = OTHER
    act: int = 0
    reads: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()

    def to_list(self) -> list[Any]:
        """Return the cue as JSON-ready data."""
        return [self.kind, self.act, list(self.reads), [list(map(_as_json, edit)) for edit in self.edits]]

    @classmethod
    def from_list(cls, data: Sequence[Any]) -> CallCue:
        """Return the cue that `to_list` wrote."""
        kind, act, reads, edits = data
        return cls(kind, act, tuple(reads), tuple(map(Edit.from_list, edits)))


def _as_json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def cue_of_call(name: str, arguments: str, parsed: Any) -> CallCue:
    """Return the cues of a call; `parsed` are its arguments as JSON, None if they are free text."""
    given: Mapping[str, Any] = parsed if isinstance(parsed, dict) else {"input": arguments}
    command = command_of(given) if isinstance(parsed, dict) else ""
    path = first_string(given, PATH_KEYS)
    plan = _plan(name, given)
    if plan:
        return CallCue(plan, crc32(f"{name} plan".encode("utf-8", "replace")))
    edits = tuple(_edits(name, given, path)) or tuple(_shell_edits(command))
    if command:
        looks = bool(_LOOKS.match(acts.bare(command))) and all(one.is_of_output for one in edits)
        return CallCue(LOOK if looks else RUN, acts.of_command(name, command), _files(command), edits)
    kind = LOOK if not edits and _only_reads(name) else OTHER
    file = path or (edits[0].file if edits else "")
    if kind == OTHER and not file and (listing := _listing(name, given)):
        return CallCue(LIST, acts.of_arguments(f"{name} {listing}", {**given, listing: None}))
    act = acts.of_file(name, file) if file and (edits or kind == LOOK) else acts.of_arguments(name, given)
    reads = (posixpath.basename(path),) if path else ()
    return CallCue(kind, act, reads, edits)


@lru_cache(maxsize=1 << 10)
def _name_words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORDS.findall(name.rpartition("__")[2]))


def _only_reads(name: str) -> bool:
    words = _name_words(name)
    return bool(words & _LOOKING) and not words & _CHANGING


def _plan(name: str, given: Mapping[str, Any]) -> str:
    """Return PLAN for a call that writes a list of steps, STEP for one that changes one of them."""
    words = _name_words(name)
    named = bool(words & _PLANNING)
    if any(_lists_steps(key, value, named=named) for key, value in given.items()):
        return PLAN
    return STEP if named and words & _SETTING else ""


def _lists_steps(key: str, value: Any, *, named: bool) -> bool:
    """Return whether an argument is a list of steps; `named` if its tool is one for plans by its name."""
    kept = key.lower() in _PLAN_KEYS
    if isinstance(value, str):
        return named and len((_ITEM if kept else _BOX).findall(value[:READ_CHARS])) >= 2
    if not isinstance(value, list) or not value:
        return False
    if all(isinstance(one, str) for one in value):
        return named and kept and len(value) >= 2
    return all(isinstance(one, dict) and _is_step(one, surely=named or kept) for one in value)


def _is_step(one: Mapping[str, Any], *, surely: bool) -> bool:
    """Return whether an object is a step: it has a state, and, unless its list is surely a plan, a text too."""
    states = [one[key] for key in _STATE_KEYS & one.keys()]
    if surely or not states:
        return bool(states)
    return any(isinstance(one.get(key), str) for key in _STEP_KEYS) and all(
        isinstance(state, bool) or str(state).lower().replace("-", "_").replace(" ", "_") in _STEP_STATES
        for state in states
    )


def _listing(name: str, given: Mapping[str, Any]) -> str:
    """Return the argument by which a call gives a list of texts, "" if there is none or more than one.

    A tool without a word for plans in its name may write one: a later list in the same argument then replaces it.
    """
    if _name_words(name) & (_GIVING | _LOOKING):
        return ""
    found = [key for key, value in given.items() if _is_list_of_texts(value)]
    return found[0] if len(found) == 1 else ""


def _is_list_of_texts(value: Any) -> bool:
    """Return whether a value is a list of two texts or more, at least one of several words; numbered in one text."""
    if isinstance(value, str):
        lines = [line for line in value[:READ_CHARS].splitlines() if line.strip()]
        return len(lines) >= 2 and all(map(_NUMBERED_ITEM.match, lines))
    if not isinstance(value, list) or len(value) < 2:
        return False
    texts = [next(iter(one.values())) if isinstance(one, dict) and len(one) == 1 else one for one in value]
    return all(isinstance(one, str) for one in texts) and any(
        not one.isascii() or len(one.split()) > 1 for one in texts
    )


def _edits(name: str, given: Mapping[str, Any], path: str) -> Iterator[Edit]:
    """Yield the edits of a call of an editing tool."""
    texts = [v for v in given.values() if isinstance(v, str)]
    for text in texts:
        if ("\n@@" in text or "*** " in text) and (patched := list(_of_patch(text[:READ_CHARS]))):
            yield from patched
            return
    single = replacements_in(given)
    pairs = [pair for one in single for pair in _replaced(one)]
    file = posixpath.basename(path)
    if pairs and file:
        before, after = ("\n".join(texts) for texts in zip(*pairs, strict=True))
        yield edit_of(file, before, after, everywhere=any(map(_is_everywhere, single)))
    elif file and not _only_reads(name) and any(isinstance(given.get(key), str) for key in _BODY_KEYS):
        yield Edit(file, (), True)


def replacements_in(given: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the objects of a call's arguments that may each replace a text: all arguments, and those in lists."""
    listed = (one for value in given.values() if isinstance(value, list) for one in value)
    return [given, *(one for one in listed if isinstance(one, dict))]


def _replaced(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield a text and its replacement, from the keys for old and new text."""
    old = next((v for k, v in given.items() if isinstance(v, str) and _OLD_KEY.match(k)), None)
    new = next((v for k, v in given.items() if isinstance(v, str) and _NEW_KEY.match(k)), None)
    if old is not None and new is not None:
        yield old[:READ_CHARS], new[:READ_CHARS]


def _is_everywhere(given: Mapping[str, Any]) -> bool:
    """Return whether an edit replaces every occurrence of its text."""
    found = [value for key, value in given.items() if _EVERYWHERE.match(key)]
    return any(value > 1 or value is True if isinstance(value, int) else value == "true" for value in found)


def edit_of(file: str, old: str, new: str, *, everywhere: bool = False) -> Edit:
    """Return the edit of a file that replaces a text by another one."""
    before = hashes_of(old)
    gone = frozenset(before).difference(hashes_of(new))
    unseen = not gone and any(map(_VALUE.search, {*_bare_lines(old)} - {*_bare_lines(new)}))
    return Edit(file, tuple(sorted(gone)), False, before if gone else (), everywhere, unseen)


def _bare_lines(text: str) -> Iterator[str]:
    return map(str.strip, text.splitlines())


def _of_patch(text: str) -> Iterator[Edit]:
    starts = [(found.start(), found[1]) for found in PATCHED_FILE.finditer(text)]
    for (start, file), (end, _) in pairwise([*starts, (len(text), "")]):
        rows = text[start:end].split("\n")[1:]
        old = "\n".join(row[1:] for row in rows if row[:1] in ("-", " ") and row[:3] != "---")
        new = "\n".join(row[1:] for row in rows if row[:1] in ("+", " ") and row[:3] != "+++")
        yield edit_of(posixpath.basename(file), old, new)


def _files(command: str) -> tuple[str, ...]:
    """Return the files that a command names, without folders."""
    found = _FILE.findall(_QUOTED.sub(" ", command.split("<<", 1)[0][:2_000]))
    return tuple(dict.fromkeys(posixpath.basename(one) for one in found))[:FILES_KEPT]


def _shell_edits(command: str) -> Iterator[Edit]:
    """Yield the files that a command changes; the lines are known only of one that it writes from a here-document."""
    first = command.split("\n", 1)[0]
    written = _REDIRECT.findall(first) if "<<" in first and ">>" not in first else []
    yield from (Edit(posixpath.basename(path), (), True) for path in written)
    changed = (one for one in changed_by(command) if one.how in _REWRITTEN and one.path not in written)
    yield from map(_of_change, islice(changed, FILES_KEPT))


def _of_change(change: Change) -> Edit:
    """Return the edit of a command; which lines it removes is known only of a text with whole lines."""
    file = posixpath.basename(change.path)
    if change.how == WRITTEN:
        return Edit(file, whole=True, unseen=True)
    edit = (
        edit_of(file, change.old[:READ_CHARS], change.new) if "\n" in change.old.strip("\n") else Edit(file)
    )
    return edit if edit.gone else Edit(file, unseen=True, names=tuple(sorted(identifiers(change.old))))
