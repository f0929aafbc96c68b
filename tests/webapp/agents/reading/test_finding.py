"""Finding files below a folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from webapp.agents.reading.finding import (
    HEAD_BYTES,
    home_of,
    list_files,
    open_file,
    read_head,
    read_json_file,
)


def test_files_come_newest_first(tmp_path: Path) -> None:
    """All files below the folder with the ending are listed by time."""
    for n, name in enumerate(("a.jsonl", "x/y/b.jsonl", "x/c.txt")):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}\n")
        os.utime(path, (n, n))
    assert [f.path.name for f in list_files(tmp_path, ".jsonl")] == ["b.jsonl", "a.jsonl"]
    assert [f.size for f in list_files(tmp_path, ".txt")] == [3]


def test_a_single_file_is_listed_without_a_look_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder of thousands each changed file costs the same; a link out of the folder is left out here, too."""
    folder = tmp_path / "sessions"
    folder.mkdir()
    (folder / "a.jsonl").write_text("{}\n")
    (tmp_path / "outside.jsonl").write_text("{}\n")
    (folder / "out.jsonl").symlink_to(tmp_path / "outside.jsonl")
    monkeypatch.setattr(os, "scandir", None)
    assert [f.path for f in list_files(folder / "a.jsonl", ".jsonl")] == [folder / "a.jsonl"]
    assert list_files(folder / "a.jsonl", ".txt") == list_files(folder / "out.jsonl", ".jsonl") == []
    assert list_files(folder / "gone.jsonl", ".jsonl") == []


def test_circular_links_end(tmp_path: Path) -> None:
    """A link to a parent folder is not followed, and a broken link is ignored."""
    (tmp_path / "a.jsonl").write_text("")
    (tmp_path / "ring").symlink_to(tmp_path)
    (tmp_path / "broken.jsonl").symlink_to(tmp_path / "gone")
    assert [f.path.name for f in list_files(tmp_path, ".jsonl")] == ["a.jsonl"]


def test_heads_and_small_documents_never_raise(tmp_path: Path) -> None:
    """Missing and malformed files give nothing, and only the head of a large file is read."""
    path = tmp_path / "a.json"
    assert read_head(path) == b""
    assert read_json_file(path) is None
    path.write_bytes(b"[1" + b" " * 2 * HEAD_BYTES)
    assert len(read_head(path)) == HEAD_BYTES
    assert read_json_file(path) is None
    path.write_text("[1]")
    assert read_json_file(path) == [1]


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_only_regular_files_are_opened(tmp_path: Path, kind: str) -> None:
    """A pipe would be waited at, and a device has no end."""
    path = tmp_path / "a.json"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path = Path("/dev/zero")
    else:
        path.mkdir()
    with pytest.raises(OSError, match="regular file|directory"):
        open_file(path)
    assert (read_head(path), read_json_file(path)) == (b"", None)


def test_the_home_folder_follows_the_environment() -> None:
    """It is HOME, or the variable of Windows."""
    assert home_of({"HOME": "/h"}) == Path("/h")
    assert home_of({"USERPROFILE": "/u"}) == Path("/u")
    assert home_of({}) == Path.home()


def test_links_to_elsewhere_are_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Writing into a followed folder must not expose other files; a file with links to it is found once."""
    inside, outside = tmp_path / "in", tmp_path / "out"
    for folder in (inside / "real", outside / "deep"):
        folder.mkdir(parents=True)
        (folder / "a.jsonl").write_text("{}")
    (inside / "file.jsonl").symlink_to(outside / "deep" / "a.jsonl")
    (inside / "folder").symlink_to(outside)
    (inside / "again.jsonl").symlink_to(inside / "real" / "a.jsonl")
    (inside / "real" / "beside.jsonl").symlink_to("a.jsonl")
    (inside / "Another").symlink_to("real")
    (inside / "up").symlink_to("../out/deep")
    assert [found.path for found in list_files(inside, ".jsonl")] == [inside / "real" / "a.jsonl"]
    assert list_files(inside / "real" / "beside.jsonl", ".jsonl") == []
    assert "beside" not in caplog.text
    for name in ("file.jsonl", "folder", "up"):
        assert f"{inside / name} leads out of" in caplog.text


def test_a_root_may_itself_be_a_link(tmp_path: Path) -> None:
    """The user may have moved the whole folder."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.jsonl").write_text("{}")
    (tmp_path / "root").symlink_to(tmp_path / "real")
    assert len(list_files(tmp_path / "root", ".jsonl")) == 1


def test_a_head_has_no_byte_order_mark(tmp_path: Path) -> None:
    """An editor can have added one, and the first row names the session."""
    (tmp_path / "a.jsonl").write_bytes(b"\xef\xbb\xbf{}\n")
    assert read_head(tmp_path / "a.jsonl") == b"{}\n"
