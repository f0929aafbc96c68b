"""Finding files below a folder, quickly: one walk, one stat for each file, nothing opened. Newest first.

Only regular files are opened: opening a pipe would wait until another program writes to it.

Folders that cannot be read are left out. So are links: what one leads to below the folder that is searched is found
by its own name, and is one session. A link that leads out is logged; if it were followed, anybody who can write there
could make us show any file of this user.
"""

from __future__ import annotations

import codecs
import errno
import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG
from typing import Any, BinaryIO

import orjson

from webapp.agents.reading import packed
from webapp.agents.records import Origin, TranscriptFile

log = logging.getLogger("coppice.files")

HEAD_BYTES = 65_536
_MAX_DEPTH = 12
# The form of the ids that agents use for sessions and their files.
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_MAX_JSON_BYTES = 4 << 20
# Each finds strings, too, as its first group: what is in them stays.
_COMMENT = re.compile(rb'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(rb'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)
_SESSION = re.compile(rb'"(?:sessionId|session_id)"\s*:\s*"([^"\\]{1,200})"')


@dataclass(frozen=True, slots=True)
class Found:
    """A file: its time of last change in seconds since 1970, and its size in bytes."""

    path: Path
    modified: float
    size: int


def home_of(env: Mapping[str, str]) -> Path:
    """Return the user's home folder, by the environment."""
    return Path(env.get("HOME") or env.get("USERPROFILE") or Path.home())


def folder_of(env: Mapping[str, str], variable: str, *usual: str) -> Path:
    """Return the folder that an environment variable names, else the usual one below the user's home folder."""
    configured = env.get(variable, "").strip()
    return Path(configured).expanduser() if configured else home_of(env).joinpath(*usual)


def leads_out(path: Path | str, root: Path | str) -> bool:
    """Return whether a path below `root` leads out of it, by a link or by `..`; log each such path once."""
    if Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root)):
        return False
    _log_left_out(str(path), str(root))
    return True


@lru_cache(maxsize=4096)
def _log_left_out(path: str, root: str) -> None:
    log.warning("%s leads out of %s and is left out; follow or import the folder it leads to", path, root)


def list_files(root: Path, ending: str | tuple[str, ...], within: Path | None = None) -> list[Found]:
    """Return all files below `root` whose names end with `ending`, newest first; none if `root` does not exist.

    A `root` that is a file is listed alone, without a look at those beside it. If `root` contains a name that was read
    from a file, `within` is the folder that it must not lead out of.
    """
    if within is not None and leads_out(root, within):
        return []
    try:
        about = root.stat()
    except OSError:
        return []
    if S_ISREG(about.st_mode):
        wanted = root.name.endswith(ending) and not (leads_out(root, root.parent) or root.is_symlink())
        return [Found(root, about.st_mtime, about.st_size)] if wanted else []
    found = [
        Found(Path(entry.path), stat.st_mtime, stat.st_size)
        for entry, stat in walk(str(root))
        if entry.name.endswith(ending)
    ]
    found.sort(key=lambda f: (-f.modified, str(f.path)))
    return found


def transcripts_below(
    root: Path, ending: str | tuple[str, ...], source: str, origin_of: Callable[[Path], Origin]
) -> Iterator[TranscriptFile]:
    """Yield the transcripts below `root`, newest first. `origin_of` names the session of a file, if it has one."""
    for found in list_files(root, ending):
        session, parent, title, kind, _ = origin_of(found.path)
        if session is not None:
            yield TranscriptFile(found.path, session, parent, source, title, kind, found.modified)


def walk(
    folder: str, _depth: int = 0, _seen: set[tuple[int, int]] | None = None, _root: str | None = None
) -> Iterator[tuple[os.DirEntry[str], os.stat_result]]:
    """Yield (directory entry, stat) of every regular file below `folder`, in no order, without links."""
    root = _root or folder
    seen = set() if _seen is None else _seen
    try:
        about = Path(folder).stat()
        if (about.st_dev, about.st_ino) in seen or _depth > _MAX_DEPTH:
            return
        if about.st_ino:
            seen.add((about.st_dev, about.st_ino))
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        try:
            if entry.is_symlink():
                leads_out(entry.path, root)  # which logs it
            elif entry.is_dir():
                yield from walk(entry.path, _depth + 1, seen, root)
            elif entry.is_file():
                yield entry, entry.stat()
        except OSError:
            continue  # gone since


def open_file(path: Path) -> BinaryIO:
    """Open a regular file to read, unpacked if its name says so. Raises OSError, for everything else too."""
    file = open(path, "rb", opener=_open_at_once)  # noqa: SIM115  # for the caller
    if S_ISREG(os.fstat(file.fileno()).st_mode):
        return packed.unpacked(file) if path.suffix == packed.ENDING else file
    file.close()
    raise OSError(errno.EINVAL, "is not a regular file", str(path))


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def read_file(path: Path) -> bytes:
    """Return the content of a regular file. Raises OSError."""
    with open_file(path) as file:
        return file.read()


def reason_of(error: OSError) -> str:
    """Return why a file cannot be read, for the user."""
    return f"cannot be read: {(error.strerror or 'unknown reason').lower()}"


def read_head(path: Path, size: int = HEAD_BYTES) -> bytes:
    """Return the first bytes of a file without a byte order mark; empty if it cannot be read."""
    try:
        with open_file(path) as file:
            return file.read(size).removeprefix(codecs.BOM_UTF8)
    except OSError:
        return b""


def read_first_row(path: Path, size: int) -> bytes:
    """Return the first bytes of a file, as many as its first row needs if that is longer than `size`."""
    head = read_head(path, size)
    return head if b"\n" in head.lstrip() or len(head) < size - len(codecs.BOM_UTF8) else read_head(path)


def first_row(head: bytes) -> bytes:
    """Return the first row in the first bytes of a file; blank lines before it are none."""
    return head.lstrip().partition(b"\n")[0]


def session_in(head: bytes) -> str | None:
    """Return the session id that the first bytes of a file name."""
    named = _SESSION.search(head)
    return named[1].decode("utf-8", "replace") if named else None


def read_json_file(path: Path, *, commented: bool = False) -> Any:
    """Return the JSON in a small file; None if it is missing, too large or broken.

    A `commented` one can have comments and commas before a closing bracket.
    """
    try:
        if path.stat().st_size > _MAX_JSON_BYTES:
            return None
        text = read_file(path)
        for left_out in (_COMMENT, _LAST_COMMA) if commented else ():
            text = left_out.sub(lambda found: found[1] or b"", text)
        return orjson.loads(text)
    except (OSError, orjson.JSONDecodeError):
        return None
