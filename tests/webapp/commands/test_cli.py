"""The command line: exit codes, one-line errors, and modules loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shared import ROOT
from webapp.commands.cli import COMMANDS, code_of, main
from webapp.errors import BusyStore, Conflict, Invalid, NotFound
from webapp.store import Store

FULL = Path("/dev/full")


class TestErrors:
    """Errors, which are one line on stderr with what is wrong, where, and what to do."""

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["prune", "/nowhere/list.json"], "/nowhere/list.json: no such file"),
            (["prune"], "see `coppice prune --help`"),
            (["nothing"], "no such command"),
            (["serve", "--port", "70000"], "--port"),
            (["serve", "--host", "0.0.0.0"], "--allow-remote"),
            (["export", "a", "--format", "pdf"], "pdf"),
            (
                ["serve", "--host", "0.0.0.0", "--no-watch", "--watch", "."],
                "--no-watch and --watch exclude each other",
            ),
            (["proxy", "--stop-pruning", "--allow-pruning"], "exclude each other; leave one out"),
            (["token", "--name", "bob", "list"], "--name does not belong to `coppice token list`"),
            (
                ["token", "--role", "viewer", "rotate", "1"],
                "--role does not belong to `coppice token rotate`",
            ),
            (["retention", "--json", "off"], "--json does not belong to `coppice retention off`"),
            (["import", "a.json", "--format", "coppice"], "'jsonl'"),
            (["import", "/nowhere/session.jsonl"], "/nowhere/session.jsonl: no such file"),
            (["import", ""], "expected a path, got nothing"),
            (["prune", ""], "expected a path, got nothing"),
            (["prune", "list.json", "-o", ""], "expected a path, got nothing"),
            (["serve", "--watch", ""], "expected a path, got nothing"),
            (["backup", ""], "expected a path, got nothing"),
            (["sessions", "--db", ""], "expected a path, or an address like postgresql://"),
            (["sessions", "--db", "sqlite:///c.db"], "expected a path, or an address like postgresql://"),
            (["context", ""], "expected the id of a session or its beginning, got nothing"),
            (["context", "nobody"], "no such session: nobody; `coppice sessions` lists their ids"),
        ],
    )
    def test_of_use_are_one_line_and_code_2(
        self, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        """There is no usage page and no traceback."""
        monkeypatch.setenv("COPPICE_DB", str(tmp_path / "c.db"))
        Store(tmp_path / "c.db").close()
        assert main(arguments) == 2
        captured = capsys.readouterr()
        assert words in captured.err
        assert captured.err.count("\n") == 1
        assert captured.out == ""

    def test_of_an_invalid_store_name_it(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        """The error names the file and the remedy; the code is 1 because the arguments are right."""
        broken = tmp_path / "c.db"
        broken.write_bytes(b"this is not a database" * 100)
        assert main(["sessions", "--db", str(broken)]) == 1
        assert str(broken) in capsys.readouterr().err

    def test_have_other_codes_than_failures(self) -> None:
        """The code is 2 if the input cannot be used, and 1 if the work failed."""
        assert [code_of(error) for error in (Invalid("x"), NotFound("session", "x"))] == [2, 2]
        assert [code_of(error) for error in (BusyStore("x"), Conflict("x"))] == [1, 1]


class TestHelp:
    """The help of every command."""

    @pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
    def test_is_shown(self, command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        """Both --help and -h show it."""
        assert main([*command, "--help"]) == 0
        long = capsys.readouterr().out
        assert main([*command, "-h"]) == 0
        assert capsys.readouterr().out == long
        assert "Usage: " in long

    @pytest.mark.parametrize("group", [[], ["hooks"]])
    def test_is_shown_without_arguments(self, group: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        """It has its lines, not those of an error; the code is that of a missing command."""
        assert main([*group, "--help"]) == 0
        page = capsys.readouterr().out
        assert main(group) == 2
        assert capsys.readouterr() == ("", page)

    def test_has_a_whole_sentence_for_each_command(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """No sentence is cut off in a terminal of 80 columns."""
        monkeypatch.setenv("COLUMNS", "80")
        assert main(["--help"]) == 0
        lines = capsys.readouterr().out.partition("Commands:\n")[2].splitlines()
        assert [line for line in lines if not line.endswith(".")] == []

    def test_says_the_version(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The version is printed on stdout."""
        assert main(["--version"]) == 0
        assert capsys.readouterr().out.startswith("coppice ")


class TestTheModule:
    """The module `python -m webapp`."""

    def test_is_the_command(self) -> None:
        """It runs `coppice`, with the same errors and exit codes."""
        done = subprocess.run(
            [sys.executable, "-m", "webapp", "nothing"], check=False, cwd=ROOT, capture_output=True, text=True
        )
        assert done.returncode == 2
        assert done.stderr.startswith("coppice: ")

    @pytest.mark.parametrize(
        ("closed", "code"),
        [("sessions --db a.db >&-", 0), ("sessions --db a.db <&- >&- 2>&-", 0), ("prune - <&-", 2)],
    )
    def test_runs_with_closed_streams(self, closed: str, code: int, tmp_path: Path) -> None:
        """Started with stdin, stdout or stderr closed, as some services do: no traceback, and one line of reason."""
        Store(tmp_path / "a.db").close()
        done = subprocess.run(
            ["/bin/sh", "-c", f'"$0" -m webapp {closed}', sys.executable], check=False, cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        )  # fmt: skip
        assert (done.returncode, len(done.stderr.splitlines())) == (code, int(code > 0))

    @pytest.mark.skipif(not FULL.exists(), reason="no device that is always full")
    @pytest.mark.parametrize("unbuffered", ["", "1"])
    @pytest.mark.parametrize(
        ("command", "said"),
        [
            ("sessions --json --db a.db >/dev/full", "coppice: stdout: no space left on device\n"),
            ("prune a.json --max-tokens 9 >/dev/full", "coppice: stdout: no space left on device\n"),
            ("--version >/dev/full", "coppice: stdout: no space left on device\n"),
            ("prune a.json --max-tokens 9 -o /dev/full", "coppice: /dev/full: no space left on device\n"),
            ("sessions --db nowhere.db 2>/dev/full", ""),
        ],
    )
    def test_names_a_full_output(self, command: str, said: str, unbuffered: str, tmp_path: Path) -> None:
        """The code is 1, whether a write or the last flush fails; a full stderr leaves the code as it is."""
        Store(tmp_path / "a.db").close()
        (tmp_path / "a.json").write_text(json.dumps([{"role": "user", "content": "hello " * 9_000}]))
        done = subprocess.run(
            ["/bin/sh", "-c", f'"$0" -m webapp {command}', sys.executable], check=False, cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": unbuffered},
            capture_output=True, text=True,
        )  # fmt: skip
        assert (done.returncode, done.stderr.endswith(said)) == (1 if said else 2, True)

    @pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
    def test_prints_all_titles_in_any_encoding(self, encoding: str, tmp_path: Path) -> None:
        """Characters that the encoding lacks are escaped; JSON is in UTF-8."""
        said = tmp_path / "Grüße, 世界.json"
        said.write_text(json.dumps([{"role": "user", "content": "Hello"}]))
        assert main(["import", str(said), "--db", str(tmp_path / "a.db")]) == 0
        env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": encoding}
        command = [sys.executable, "-m", "webapp", "sessions", "--db", "a.db"]
        table, document = (
            subprocess.run([*command, *more], cwd=tmp_path, env=env, capture_output=True, check=True).stdout
            for more in ([], ["--json"])
        )
        assert b"\\u4e16\\u754c" in table
        assert json.loads(document)[0]["title"] == "Grüße, 世界"

    def test_loads_a_command_when_it_is_named(self) -> None:
        """Help needs no server and no store."""
        code = "import sys; from webapp.commands.cli import main; main(['--version']); print('flask' in sys.modules)"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert done.stdout.splitlines()[-1] == "False"
