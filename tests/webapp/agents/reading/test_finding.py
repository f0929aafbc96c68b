"""Finding files below a folder."""

from __future__ import annotations

import os
from pathlib import Path

from webapp.agents.reading.finding import HEAD_BYTES, home_of, list_files, read_head, read_json_file


def test_files_come_newest_first(tmp_path: Path) -> None:
    """All files with the ending, wherever below, by time."""
    for n, name in enumerate(("a.jsonl", "x/y/b.jsonl", "x/c.txt")):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}\n")
        os.utime(path, (n, n))
    assert [f.path.name for f in list_files(tmp_path, ".jsonl")] == ["b.jsonl", "a.jsonl"]
    assert [f.size for f in list_files(tmp_path, ".txt")] == [3]


def test_rings_of_links_end(tmp_path: Path) -> None:
    """A link to a folder above is followed once, a broken one not at all."""
    (tmp_path / "a.jsonl").write_text("")
    (tmp_path / "ring").symlink_to(tmp_path)
    (tmp_path / "broken.jsonl").symlink_to(tmp_path / "gone")
    assert [f.path.name for f in list_files(tmp_path, ".jsonl")] == ["a.jsonl"]


def test_heads_and_small_documents_never_raise(tmp_path: Path) -> None:
    """Missing and broken files give nothing; a head is never the whole of a large file."""
    path = tmp_path / "a.json"
    assert read_head(path) == b""
    assert read_json_file(path) is None
    path.write_bytes(b"[1" + b" " * 2 * HEAD_BYTES)
    assert len(read_head(path)) == HEAD_BYTES
    assert read_json_file(path) is None
    path.write_text("[1]")
    assert read_json_file(path) == [1]


def test_the_home_folder_is_the_environments() -> None:
    """HOME, or what Windows has instead."""
    assert home_of({"HOME": "/h"}) == Path("/h")
    assert home_of({"USERPROFILE": "/u"}) == Path("/u")
    assert home_of({}) == Path.home()
