"""`coppice follow --to`: a process that pushes transcripts, killed like its server."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.ports import free_port
from tests.servers import option_in
from tests.shared import ROOT
from tests.waiting import PATIENCE, until
from tests.webapp.commands.running import Run
from tests.webapp.services.ingest.followed_file import NAME, row
from tests.webapp.serving.processes import started
from webapp.commands.options import server_address
from webapp.errors import Invalid


@contextmanager
def follower(home: Path, url: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """Run the command over the transcripts of a home directory."""
    command = [sys.executable, "-m", "webapp", "follow", "--to", url, "--backlog", str(home / "follow")]
    env = {**os.environ, "HOME": str(home), "COPPICE_CONFIG": os.devnull, **environment}
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME"):
        env.pop(name, None)
    with (home / "err").open("w") as err:
        process = subprocess.Popen(command, cwd=ROOT, env=env, stderr=err, text=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    """Return the path of a transcript in a new home directory."""
    made = tmp_path / ".claude" / "projects" / "-src" / f"{NAME}.jsonl"
    made.parent.mkdir(parents=True)
    return made


def append(file: Path, *numbers: int) -> None:
    """Append rows like an agent."""
    with file.open("ab") as out:
        out.write(b"".join(row(n) for n in numbers))


def texts(url: str) -> list[str]:
    """Return the texts of the session on a server, or an empty list."""
    answer = httpx.get(f"{url}/api/sessions/{NAME}/messages", params={"sort": "oldest", "limit": 200})
    return [one["text"] for one in answer.json().get("messages", [])]


class TestFollow:
    """The command as a process."""

    def test_loses_and_repeats_nothing_when_either_side_is_killed(
        self, tmp_path: Path, transcript: Path
    ) -> None:
        """The backlog has the messages while the server is down, as one line says; then the transcript has them."""
        port = str(free_port())
        append(transcript, 0)
        with follower(tmp_path, f"http://127.0.0.1:{port}") as first:
            until(lambda: list((tmp_path / "follow" / "waiting").glob("*.json")))
            with started(tmp_path, "--port", port) as (server, url):
                until(lambda: texts(url) == ["hello 0"])
                assert (tmp_path / "err").read_text().count("refused; ") == 1
                append(transcript, 1)
                until(lambda: texts(url) == ["hello 0", "hello 1"])
                server.kill()
            append(transcript, 2)
            until(lambda: list((tmp_path / "follow" / "waiting").glob("*.json")))
            first.kill()
        append(transcript, 3)
        with started(tmp_path, "--port", port) as (_, url), follower(tmp_path, url):
            until(lambda: len(texts(url)) >= 4)
            assert texts(url) == [f"hello {n}" for n in range(4)]

    def test_ends_at_once_with_a_wrong_token(self, tmp_path: Path, run: Run) -> None:
        """One line says how to get a valid token."""
        assert run("token", "--db", option_in(tmp_path)).code == 0
        with (
            started(tmp_path, "--port", "0") as (_, url),
            follower(tmp_path, url, COPPICE_TOKEN="x") as process,
        ):
            assert process.wait(PATIENCE) == 1
        assert "coppice token --role sender" in (tmp_path / "err").read_text()

    def test_imports_neither_server_nor_store(self) -> None:
        """The command is for machines that only have agents."""
        code = (
            "import sys, webapp.commands.following\n"
            "heavy = ('flask', 'gunicorn', 'sqlite_utils', 'tiktoken', 'webapp.store', 'webapp.services')\n"
            "print([name for name in heavy if name in sys.modules])"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "[]"


class TestAddress:
    """The value of `--to`."""

    @pytest.mark.parametrize(
        "address",
        ["coppice.example", "ftp://x", "https://", "https://x?y", "", "http://[x", "http://x:99999"],
    )
    def test_is_refused_if_invalid(self, address: str) -> None:
        """The error has an example."""
        with pytest.raises(Invalid, match=r"https://coppice\.example"):
            server_address(address, "--to")

    def test_without_tls_causes_a_warning(self, capsys: pytest.CaptureFixture[str]) -> None:
        """An address of this machine needs no TLS and causes no warning."""
        assert server_address("http://127.0.0.1:5000/", "--to") == "http://127.0.0.1:5000"
        assert capsys.readouterr().err == ""
        assert server_address("http://box.example/coppice", "--to") == "http://box.example/coppice"
        assert "without TLS" in capsys.readouterr().err
