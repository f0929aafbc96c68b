"""The files that a script in a command changes: those that it opens to write, and the texts that it replaces.

A file is named in quotes where it is opened, or before by a variable; a name that the script computes is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# A file by its name, which has a suffix.
FILE = re.compile(r"[\w./~@+-]*[\w~-]\.[A-Za-z]\w*")
_QUOTED = r"""(?:\b[\w.]{0,40}Path\(\s*)?\\?["']([^"'\\\n]+)\\?["']\s*\)?"""
_ASSIGNED = re.compile(rf"\b(\w{{1,80}})\s*=\s*{_QUOTED}")
_NAMED = rf"(?:{_QUOTED}|(\w+))"
_OPENED = (
    re.compile(rf"""open\(\s*{_NAMED}\s*,\s*(?:mode\s*=\s*)?\\?["'](?:[wx]|r\+)"""),
    re.compile(rf"(?:{_QUOTED}|\b(\w+))\.write_(?:text|bytes)\("),
    re.compile(rf"(?:writeFile(?:Sync)?|File\.write|file_put_contents)\(\s*{_NAMED}"),
)
_WRITES = re.compile(r"open\(|\.write_|writeFile|File\.write|file_put_contents")
_LITERAL = (
    r"""[rbuf]?(?:(?P<quotes>"{3}|'{3})(?P<long>.{0,8000}?)(?P=quotes)|"""
    r"""(?P<quote>["'])(?P<short>(?:\\.|(?!(?P=quote))[^\\\n])*)(?P=quote))"""
)
_TEXT_ASSIGNED = re.compile(rf"\b(?P<name>\w{{1,80}})\s*=\s*{_LITERAL}", re.DOTALL)
_TEXT_OR_NAME = re.compile(rf"[\s,]*(?:{_LITERAL}|(?P<name>\w{{1,80}}))", re.DOTALL)
_REPLACE = re.compile(r"\.replace\(|\b(re\.sub)\(")
_CLASS, _ESCAPED = re.compile(r"\\[bBdDsSwW<>]"), re.compile(r"\\(.)")


def changed_by_script(script: str) -> Iterator[tuple[str, str, str]]:
    """Yield each file that a script changes with a text that it replaces and the new one, "" if they are not known."""
    if not _WRITES.search(script):
        return
    held = {variable: path for variable, path in _ASSIGNED.findall(script) if FILE.fullmatch(path)}
    paths = [path or held.get(variable, "") for one in _OPENED for path, variable in one.findall(script)]
    replaced = list(_replaced(script)) or [("", "")]
    for path in dict.fromkeys(paths):
        if FILE.fullmatch(path):
            yield from ((path, old, new) for old, new in replaced)


def plain_text(pattern: str) -> str:
    """Return a regular expression as the text that it looks for, as far as it is one."""
    return _ESCAPED.sub(r"\1", _CLASS.sub(" ", pattern))


def _replaced(script: str) -> Iterator[tuple[str, str]]:
    """Yield each text that a script replaces, with the new one; both are literals or variables that hold one."""
    texts = {found["name"]: _text(found) for found in _TEXT_ASSIGNED.finditer(script)}
    for call in _REPLACE.finditer(script):
        old = _TEXT_OR_NAME.match(script, call.end())
        new = old and _TEXT_OR_NAME.match(script, old.end())
        if old and new:
            before, after = (texts.get(one["name"]) if one["name"] else _text(one) for one in (old, new))
            if before is not None:
                yield plain_text(before) if call[1] else before, after or ""


def _text(found: re.Match[str]) -> str:
    """Return the text of a literal, with its line breaks."""
    long = found["long"]
    return long if long is not None else (found["short"] or "").replace("\\n", "\n")
