"""`coppice export`: a session as a file."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from scoring.formats import FORMATS
from tests.webapp.commands.running import Run
from webapp.commands.cli import lower_first
from webapp.services.transfer.exporting import NAMES, Exporting

CHAT = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]


@pytest.fixture
def fed(run: Run, tmp_path: Path) -> tuple[Run, str]:
    """The id of the only session of a store."""
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(CHAT))
    run("import", file, "--model", "gpt-5")
    return run, json.loads(run("sessions", "--json").out)[0]["id"]


class TestExporting:
    """Exports to stdout or to a file."""

    @pytest.mark.parametrize("name", [name for name in NAMES if name in FORMATS])
    def test_writes_a_message_list(self, fed: tuple[Run, str], name: str) -> None:
        """The list is in a provider's format."""
        run, session = fed
        assert "hello" in run("export", session, "--format", name).out

    def test_can_be_imported_again(
        self, fed: tuple[Run, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # S1
        """An export in Coppice's format imports to the same log."""
        run, session = fed
        file = tmp_path / "out.jsonl"
        assert run("export", session, "-o", file).code == 0
        monkeypatch.setenv("COPPICE_DB", str(tmp_path / "other.db"))
        assert run("import", file).code == 0
        assert run("export", session).out.splitlines()[1:] == file.read_text().splitlines()[1:]

    def test_reports_the_written_file(self, fed: tuple[Run, str], tmp_path: Path) -> None:  # X22
        """The file and its size are on stderr, and the content is not."""
        run, session = fed
        done = run("export", session, "-o", tmp_path / "out.jsonl")
        assert done.out == ""
        assert (
            done.err
            == f"wrote {tmp_path / 'out.jsonl'} ({(tmp_path / 'out.jsonl').stat().st_size:,} bytes)\n"
        )

    def test_names_the_file_that_it_cannot_write(self, fed: tuple[Run, str], tmp_path: Path) -> None:
        """The name is the one that was given, not that of the file in its place until all is written."""
        run, session = fed
        file = tmp_path / "nowhere" / "out.jsonl"
        assert run("export", session, "-o", file).err == f"coppice: {file}: no such file or directory\n"

    def test_creates_no_file_on_an_error(self, fed: tuple[Run, str], tmp_path: Path) -> None:
        """The transcript of Codex needs a session of Codex."""
        run, session = fed
        done = run("export", session, "--format", "codex", "-o", tmp_path / "x")
        assert done.code in (1, 2)
        assert not (tmp_path / "x").exists()

    def test_is_readable_by_its_owner_only(self, fed: tuple[Run, str], tmp_path: Path) -> None:
        """The umask does not matter; the mode of an existing file is kept."""
        run, session = fed
        (tmp_path / "shared.jsonl").touch(0o640)
        (tmp_path / "shared.jsonl").chmod(0o640)
        for name, mode in (("new.jsonl", 0o600), ("shared.jsonl", 0o640)):
            assert run("export", session, "-o", tmp_path / name).code == 0
            assert (tmp_path / name).stat().st_mode & 0o777 == mode

    def test_never_follows_a_link(self, fed: tuple[Run, str], tmp_path: Path) -> None:
        """Another user may have put the link in place of the export."""
        run, session = fed
        (tmp_path / "mine").write_text("mine")
        (tmp_path / "out.jsonl").symlink_to(tmp_path / "mine")
        done = run("export", session, "-o", tmp_path / "out.jsonl")
        assert (done.code, (tmp_path / "mine").read_text()) == (1, "mine")
        assert "is a link" in done.err

    def test_can_write_to_a_device(self, fed: tuple[Run, str]) -> None:
        """A device is not replaced by a file."""
        run, session = fed
        assert run("export", session, "-o", os.devnull).code == 0
        assert Path(os.devnull).is_char_device()

    @pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO])
    def test_that_fails_leaves_the_file_unchanged(
        self, fed: tuple[Run, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int
    ) -> None:
        """An incomplete export does not replace an earlier one; the message names the file, and the code is 1."""
        run, session = fed
        (tmp_path / "out.jsonl").write_text("whole")

        def breaks_off(*_: object) -> tuple[str, str, Iterator[bytes]]:
            def chunks() -> Iterator[bytes]:
                yield b"half"
                raise OSError(error, os.strerror(error))

            return "", "", chunks()

        monkeypatch.setattr(Exporting, "export", breaks_off)
        done = run("export", session, "-o", tmp_path / "out.jsonl")
        said = f"coppice: {tmp_path / 'out.jsonl'}: {lower_first(os.strerror(error))}\n"
        assert (done.code, done.err) == (1, said)
        assert [(file.name, file.read_text()) for file in tmp_path.glob("out*")] == [("out.jsonl", "whole")]
