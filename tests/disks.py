"""A disk that can fail or lose power: a layer between SQLite and its own file layer (VFS).

Every access also reaches the real files, so that a store works as usual. In memory the layer records what the disk
would hold after a power cut: each file as of its last sync, and the writes since, any of which can be lost or torn.
Files are created and deleted in order, as on file systems with a journal.

It replaces SQLite's default layer, for files below one folder, while the context manager is open.
"""

from __future__ import annotations

import _sqlite3
import ctypes
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SECTOR = 512
# Result codes of SQLite, and the kind of access that returns them.
OK, BUSY, FULL = 0, 5, 13
FAULTS = {
    "disk full": ("write", FULL),
    "write fails": ("write", 778),
    "sync fails": ("sync", 1034),
    "read fails": ("read", 266),
    "locked": ("lock", BUSY),
}
_EXCLUSIVE = 8  # the flag of SQLite's lock on the shared index that a writer takes

_P, _I, _L = ctypes.c_void_p, ctypes.c_int, ctypes.c_longlong
_METHODS = {  # place in sqlite3_io_methods, and the types of the arguments
    "close": (1, (_P,)),
    "read": (2, (_P, _P, _I, _L)),
    "write": (3, (_P, _P, _I, _L)),
    "truncate": (4, (_P, _L)),
    "sync": (5, (_P, _I)),
    "lock": (14, (_P, _I, _I, _I)),
}
_METHOD_COUNT = 19
_OPEN = ctypes.CFUNCTYPE(_I, _P, _P, _P, _I, _P)
_DELETE = ctypes.CFUNCTYPE(_I, _P, _P, _I)


class _Vfs(ctypes.Structure):
    _fields_ = [
        ("version", _I), ("size", _I), ("longest", _I), ("next", _P), ("name", ctypes.c_char_p), ("data", _P),
        ("open", _P), ("delete", _P), ("rest", _P * 17),
    ]  # fmt: skip


@dataclass
class Held:
    """A file on the disk: its synced content, and the writes and cuts since, in order."""

    synced: bytearray = field(default_factory=bytearray)
    waiting: list[tuple[int, bytes | None]] = field(default_factory=list)

    def after(self, rng: random.Random) -> bytes:
        """Return the content after a power cut."""
        found = bytearray(self.synced)
        for at, data in self.waiting:
            fate = rng.random()
            if fate < 0.4:
                continue
            _apply(found, at, data if data is None or fate < 0.9 else data[: SECTOR * rng.randrange(8)])
        return bytes(found)


def _apply(content: bytearray, at: int, data: bytes | None) -> None:
    if data is None:
        del content[at:]
        return
    content.extend(bytes(max(0, at - len(content))))
    content[at : at + len(data)] = data


Image = dict[str, Held]


class Disk:
    """The files below a folder. `cut(image)` is called after every access that changes something, if it is set."""

    def __init__(self, folder: Path, library: ctypes.CDLL, default: _Vfs) -> None:
        self._folder, self._default = str(folder), default
        self._free, self._names = library.sqlite3_free, dict[int, str]()
        self._tables: dict[int, Any] = {}  # SQLite's table of methods -> ours, made from it
        self._kept: list[Any] = []  # what C calls must outlive the calls
        self._originals: dict[str, Any] = {}
        self.held: Image = {}
        self.cut: Callable[[], None] = lambda: None
        self._fault: tuple[str, int] | None = None
        self._before_fault = 0
        self.failed = 0

    def image(self) -> Image:
        """Return a copy of the content of the disk."""
        return {name: Held(bytearray(held.synced), list(held.waiting)) for name, held in [*self.held.items()]}

    @contextmanager
    def failing(self, fault: str, after: int) -> Iterator[None]:
        """Let every access of a kind fail after a number of successful ones."""
        self._fault, self._before_fault, self.failed = FAULTS[fault], after, 0
        try:
            yield
        finally:
            self._fault = None

    def _fails(self, kind: str) -> int:
        fault = self._fault
        if fault is None or fault[0] != kind:
            return OK
        self._before_fault -= 1
        if self._before_fault >= 0:
            return OK
        self.failed += 1
        return fault[1]

    # -- called by SQLite

    def open(self, vfs: int, name: int | None, file: int, flags: int, out: int | None) -> int:
        """Open a file; one of ours gets our methods."""
        code: int = _OPEN(self._default.open or 0)(vfs, name, file, flags, out)
        path = ctypes.string_at(name).decode() if name else ""
        place = ctypes.cast(file, ctypes.POINTER(_P))
        if code == OK and path.startswith(self._folder) and place[0]:
            self._names[file] = path
            self.held.setdefault(path, Held(bytearray(Path(path).read_bytes())))
            place[0] = self._ours(place[0])
        return code

    def delete(self, vfs: int, name: int, sync: int) -> int:
        """Delete a file."""
        code: int = _DELETE(self._default.delete or 0)(vfs, name, sync)
        if code == OK:
            self.held.pop(ctypes.string_at(name).decode(), None)
        return code

    def _ours(self, original: int) -> int:
        if original not in self._tables:
            table = (_P * _METHOD_COUNT)()
            ctypes.memmove(table, original, ctypes.sizeof(table))
            ctypes.c_int.from_buffer(table).value = 2  # without memory maps, so that reads come to us
            for name, (place, types) in _METHODS.items():
                kind = ctypes.CFUNCTYPE(_I, *types)
                self._originals[name] = kind(table[place] or 0)
                called = kind(getattr(self, f"_{name}"))
                self._kept.append(called)
                table[place] = ctypes.cast(called, _P).value
            self._tables[original] = table
        return ctypes.addressof(self._tables[original])

    def _close(self, file: int) -> int:
        self._names.pop(file, None)
        return int(self._originals["close"](file))

    def _read(self, file: int, into: int, amount: int, at: int) -> int:
        return self._fails("read") or int(self._originals["read"](file, into, amount, at))

    def _lock(self, file: int, first: int, count: int, flags: int) -> int:
        fails = self._fails("lock") if flags & _EXCLUSIVE and flags & 2 else OK
        return fails or int(self._originals["lock"](file, first, count, flags))

    def _write(self, file: int, data: int, amount: int, at: int) -> int:
        if code := self._fails("write"):
            return code
        code = self._originals["write"](file, data, amount, at)
        if code == OK:
            self._wait(file, at, ctypes.string_at(data, amount))
        return int(code)

    def _truncate(self, file: int, size: int) -> int:
        code = self._originals["truncate"](file, size)
        if code == OK:
            self._wait(file, size, None)
        return int(code)

    def _wait(self, file: int, at: int, data: bytes | None) -> None:
        held = self.held.get(self._names[file])
        if held is not None:
            held.waiting.append((at, data))
        self.cut()

    def _sync(self, file: int, flags: int) -> int:
        if code := self._fails("sync"):
            return code
        held = self.held.get(self._names[file])
        count = len(held.waiting) if held is not None else 0
        code = self._originals["sync"](file, flags)
        if held is not None and code == OK:
            for at, data in held.waiting[:count]:
                _apply(held.synced, at, data)
            del held.waiting[:count]
        self.cut()
        return int(code)


def _library() -> ctypes.CDLL | None:
    """Return the SQLite that Python's module runs; None where its functions cannot be reached."""
    library = ctypes.CDLL(getattr(_sqlite3, "__file__", None))
    return library if hasattr(library, "sqlite3_vfs_register") else None


AVAILABLE = _library() is not None
_ALIVE: list[Any] = []  # SQLite keeps the addresses of these for as long as a connection is open


@contextmanager
def disk(folder: Path) -> Iterator[Disk]:
    """Yield the disk for a folder; all connections opened within the block use it."""
    library = _library()
    assert library is not None
    library.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
    default = library.sqlite3_vfs_find(None)
    made = Disk(folder, library, default.contents)
    ours = _Vfs.from_buffer_copy(default.contents)
    calls = (_OPEN(made.open), _DELETE(made.delete))
    ours.name, ours.next = b"coppice-tests", None
    ours.open, ours.delete = (ctypes.cast(call, _P).value for call in calls)
    _ALIVE.append((made, ours, calls))
    library.sqlite3_vfs_register(ctypes.byref(ours), 1)
    try:
        yield made
    finally:
        library.sqlite3_vfs_register(default, 1)
        library.sqlite3_vfs_unregister(ctypes.byref(ours))


def laid_out(image: Image, folder: Path, rng: random.Random) -> None:
    """Write the content of a disk after a power cut into a folder."""
    folder.mkdir()
    for name, held in image.items():
        (folder / Path(name).name).write_bytes(held.after(rng))
