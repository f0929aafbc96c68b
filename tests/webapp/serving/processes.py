"""`coppice serve` as a separate process."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests import servers
from tests.shared import ROOT
from tests.waiting import PATIENCE, until


@contextmanager
def started(
    folder: Path, *options: str, verify: ssl.SSLContext | bool = True
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `coppice serve` as a process; yield it and the printed address as soon as it answers.

    It estimates tokens: loading an encoding takes as long as a third of the rest of its start.
    """
    database = servers.database_in(folder)
    place = str(database) if isinstance(database, Path) else database.url
    command = [sys.executable, "-m", "webapp", "serve", "--no-watch", "--db", place, *options]
    process = subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, "COPPICE_TOKENIZER": "no"}, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "://" in line, process.stderr.read() if process.stderr else ""
        url = line.split(" at ")[1].split()[0]
        until(lambda: answers(url, verify))
        yield process, url
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def certificate_of(folder: Path, name: str) -> tuple[Path, Path]:
    """Write a certificate of a name, like "IP:127.0.0.1", into a folder; return it and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl, which makes the certificate, is not installed")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-subj", f"/CN={name.partition(':')[2]}", "-addext", f"subjectAltName={name}",
         "-out", certificate, "-keyout", key],
        check=True, capture_output=True,
    )  # fmt: skip
    return certificate, key


def answers(url: str, verify: ssl.SSLContext | bool) -> bool:
    """Return whether the health check of the server succeeds."""
    try:
        return bool(httpx.get(url + "/healthz", timeout=PATIENCE, verify=verify).json() == {"status": "ok"})
    except httpx.HTTPError:
        return False


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    """Return the process ids of a server's workers."""
    text = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    return [int(one) for one in text.split()]
