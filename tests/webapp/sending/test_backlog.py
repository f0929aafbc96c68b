"""The backlog on disk."""

from __future__ import annotations

import errno
import stat
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import pytest

from webapp.agents.reading.readers import digest_of
from webapp.errors import Conflict
from webapp.sending.backlog import Backlog, Damaged


def header(key: str, n: int) -> dict[str, Any]:
    """Return the fields of the n-th chunk of a transcript."""
    before = digest_of({"n": n - 1}) if n > 1 else ""
    return {"file": {"key": key}, "before": before, "after": {"n": n}}


def put(backlog: Backlog, key: str, n: int) -> None:
    """Add the n-th chunk of a transcript."""
    backlog.put(key, header(key, n), b'[{"record":"meta"}]')


def full(_: int) -> None:
    """Raise the error of a full disk."""
    raise OSError(errno.ENOSPC, "No space left on device")


class TestTheBacklog:
    """Chunks that wait, and what was acknowledged."""

    def test_gives_chunks_in_order_and_skips_those_of_refused_files(self, tmp_path: Path) -> None:
        """A refused file delays no other."""
        backlog = Backlog(tmp_path)
        for key, n in (("a", 1), ("b", 1), ("a", 2)):
            put(backlog, key, n)
        first = backlog.first()
        assert first is not None
        assert (first.key, first.after) == ("a", {"n": 1})
        other = backlog.first({"a"})
        assert other is not None
        assert other.key == "b"

    def test_writes_the_complete_request(self, tmp_path: Path) -> None:
        """`before` can be replaced if a transcript was deleted."""
        backlog = Backlog(tmp_path)
        put(backlog, "a", 2)
        one = backlog.first()
        assert one is not None
        assert orjson.loads(backlog.body(one)) == {**header("a", 2), "records": [{"record": "meta"}]}
        assert orjson.loads(backlog.body(one, "x"))["before"] == "x"

    def test_survives_its_process(self, tmp_path: Path) -> None:
        """The next process finds positions and chunks."""
        backlog = Backlog(tmp_path)
        put(backlog, "a", 1)
        put(backlog, "a", 2)
        one = backlog.first()
        assert one is not None
        backlog.acknowledge(one)
        backlog.close()
        later = Backlog(tmp_path)
        assert later.acknowledged() == {"a": digest_of({"n": 1})}
        assert later.position("a") == {"n": 2}
        assert (len(later), later.size > 0) == (1, True)

    def test_forgets_portions_of_a_file_that_is_read_again(self, tmp_path: Path) -> None:
        """Portions of other files stay."""
        backlog = Backlog(tmp_path)
        put(backlog, "a", 1)
        put(backlog, "b", 1)
        backlog.reset("a", {"n": 0})
        assert backlog.position("a") == {"n": 0}
        assert (len(backlog), backlog.position("b")) == (1, {"n": 1})

    def test_is_readable_by_its_user_only(self, tmp_path: Path) -> None:
        """Transcripts hold source code and sometimes credentials."""
        backlog = Backlog(tmp_path / "follow")
        put(backlog, "a", 1)
        modes = {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in (tmp_path / "follow").rglob("*.json")}
        assert modes == {0}

    def test_belongs_to_one_process(self, tmp_path: Path) -> None:
        """The error names the locked file."""
        backlog = Backlog(tmp_path)
        with pytest.raises(Conflict, match="lock"):
            Backlog(tmp_path)
        backlog.close()
        Backlog(tmp_path).close()

    @pytest.mark.parametrize("folder", ["waiting", "acknowledged"])
    @pytest.mark.parametrize(
        "data",
        [b"", b'{"file"', b"{}", b"[]", b"x\n[]\n", b'x\n{"file":{"key":3},"after":{}}\n', b'{"key":"a","position":3}'],
    )  # fmt: skip
    def test_drops_a_damaged_file(self, tmp_path: Path, folder: str, data: bytes) -> None:
        """Its lines are read from the transcript again."""
        backlog = Backlog(tmp_path)
        put(backlog, "a", 1)
        if (one := backlog.first()) is not None and folder == "acknowledged":
            backlog.acknowledge(one)
        backlog.close()
        [file] = (tmp_path / folder).glob("*.json")
        file.write_bytes(data)
        later = Backlog(tmp_path)
        assert later.position("a") == {}
        assert not list((tmp_path / folder).glob("*.json"))

    def test_keeps_a_file_that_it_may_not_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """After a start as another user it waits for its owner: the transcript may be gone."""
        backlog = Backlog(tmp_path)
        put(backlog, "a", 1)
        backlog.close()
        [file] = (tmp_path / "waiting").glob("*.json")

        def denied(path: Path, _: str) -> None:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))

        with monkeypatch.context() as patch:
            patch.setattr("webapp.sending.backlog._hold", lambda _: BytesIO())
            patch.setattr(Path, "open", denied)
            with pytest.raises(PermissionError, match=file.name):
                Backlog(tmp_path)
        assert len(Backlog(tmp_path)) == 1

    def test_detects_changed_records(self, tmp_path: Path) -> None:
        """The server would refuse them, or store something else."""
        backlog = Backlog(tmp_path)
        put(backlog, "a", 1)
        one = backlog.first()
        assert one is not None
        [file] = (tmp_path / "waiting").glob("*.json")
        whole = file.read_bytes()
        for data in (whole[:-2], whole.replace(b"meta", b"mete")):
            file.write_bytes(data)
            with pytest.raises(Damaged, match="damaged"):
                backlog.body(one)
        file.unlink()
        with pytest.raises(Damaged, match="cannot be read"):
            backlog.body(one)

    def test_leaves_no_half_file_on_a_full_disk(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Other portions stay and can be acknowledged, which frees space."""
        backlog = Backlog(tmp_path)
        put(backlog, "a", 1)
        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(OSError, match="No space"):
            put(backlog, "a", 2)
        assert backlog.position("a") == {"n": 1}
        one = backlog.first()
        assert one is not None
        backlog.acknowledge(one)
        assert backlog.position("a") == {"n": 1}
        assert [path.name for path in tmp_path.rglob("*") if path.suffix in (".new", ".json")] == []
