"""The files of docs/deploy.md: valid for the programs that read them, and true to the options of the commands."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from tests.certificates import certificate_in
from tests.ports import free_port
from tests.shared import ROOT
from webapp.commands.cli import commands
from webapp.config import KEYS

DEPLOY = ROOT / "deploy"
PAGES = (ROOT / "docs" / "deploy.md", ROOT / "docs" / "team.md", ROOT / "docs" / "access.md")
UNITS = sorted(DEPLOY.glob("*.service"))
FILES = sorted(path for path in DEPLOY.iterdir() if path.is_file())
NGINX = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
SYSTEMD, DOCKER = map(shutil.which, ("systemd-analyze", "docker"))
PROGRAM = "/opt/coppice/bin/coppice"
# A command in a block of shell, in a unit, or in a list of JSON.
COMMAND = re.compile(
    r"^(?:[\w-]+ )*(?:sudo -u coppice |ExecStart=)?(?:\S*/bin/)?coppice (?P<rest>[a-z-]+(?: .*)?)$"
)


def shell_lines(text: str) -> Iterator[str]:
    """Yield the lines of shell blocks, each with those that continue it, without comments."""
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        for line in block.replace("\\\n", " ").splitlines():
            if language in ("", "sh"):
                yield line.split(" #")[0].strip()


def documented() -> Iterator[tuple[str, list[str]]]:
    """Yield every command of ours that a page or a file names: where, and its words after the program."""
    for page in PAGES:
        for line in shell_lines(page.read_text("utf-8")):
            if found := COMMAND.match(line):
                yield page.name, shlex.split(found["rest"].replace("$(", "").replace(")", ""))
    for file in FILES:
        text = file.read_text("utf-8")
        for line in text.splitlines():
            if line.startswith("ExecStart="):
                yield file.name, shlex.split(line.removeprefix("ExecStart="))[1:]
        for listed in re.findall(r"\[\s*(\"coppice\",.*?)\]", text, re.DOTALL):
            yield file.name, re.findall(r'"([^"]+)"', listed)[1:]


def unknown(words: list[str]) -> list[str]:
    """Return the words that are neither a command, an option of it, nor a value."""
    command: click.Command | None = commands.get_command(click.Context(commands), words[0])
    if command is None:
        return words[:1]
    options: set[str] = {"--help"}
    for word in words[1:]:
        options |= {name for one in command.params for name in one.opts}
        if word.startswith("--"):
            if word.partition("=")[0] not in options:
                return [word]
        elif isinstance(command, click.Group):
            command = command.get_command(click.Context(command), word) or command
    return []


def ran(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program that may fail; return its outcome."""
    env = {**os.environ, **environment}
    return subprocess.run(command, check=False, capture_output=True, text=True, env=env)


class TestCommands:
    """Commands of the pages and files."""

    def test_and_their_options_exist(self) -> None:
        """Every command and option that a page or file names exists."""
        found = list(documented())
        assert len({words[0] for _, words in found}) >= 6
        assert [(where, words) for where, words in found if unknown(words)] == []

    def test_read_the_variables_that_are_set(self) -> None:
        """Every COPPICE_ name is one that a source reads."""
        sources = "".join(path.read_text("utf-8") for path in (ROOT / "webapp").rglob("*.py"))
        variables = {f"COPPICE_{name.upper()}" for name, key in KEYS.items() if key.has_variable}
        for path in (*PAGES, *FILES):
            for name in set(re.findall(r"COPPICE_[A-Z_]+", path.read_text("utf-8"))):
                assert name in sources or name in variables, f"{path.name}: {name}"

    def test_and_metrics_exist(self) -> None:
        """Every metric that the page names exists."""
        health = (ROOT / "webapp" / "routes" / "health.py").read_text("utf-8")
        for name in re.findall(r"`(coppice_\w+)`", PAGES[0].read_text("utf-8")):
            assert name in health


class TestNginx:
    """`deploy/nginx.conf`."""

    @pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
    def test_is_valid(self, tmp_path: Path) -> None:
        """It is checked with a self-signed certificate and unprivileged ports."""
        assert NGINX is not None
        certificate_in(tmp_path, "coppice.example")
        text = (DEPLOY / "nginx.conf").read_text("utf-8").replace("/etc/ssl/coppice", str(tmp_path))
        for port in ("80", "443"):
            text = text.replace(f"listen {port}", f"listen 127.0.0.1:{free_port()}")
        folders = "".join(
            f"{name}_temp_path {tmp_path}/{name};"
            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        around = f"pid {tmp_path}/pid; error_log {tmp_path}/log; events {{}}"
        whole = f"{around} http {{ access_log off; {folders}\n{text}\n}}"
        (tmp_path / "nginx.conf").write_text(whole)
        done = ran(NGINX, "-t", "-c", tmp_path / "nginx.conf")
        assert done.returncode == 0, done.stderr
        assert "[warn]" not in done.stderr, done.stderr


class TestUnits:
    """The units of systemd."""

    @pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
    def test_leave_a_place_to_write(self, unit: Path) -> None:
        """If the file system is read-only, the server's store or the follower's backlog is exempt."""
        lines = unit.read_text().splitlines()
        places = [one for one in lines if one.startswith(("StateDirectory=", "ReadWritePaths="))]
        assert "ProtectSystem=strict" not in lines or places

    @pytest.mark.skipif(SYSTEMD is None, reason="systemd-analyze is not installed")
    @pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
    def test_are_valid(self, unit: Path, tmp_path: Path) -> None:
        """They are checked with another program in place of ours."""
        assert SYSTEMD is not None
        text = unit.read_text("utf-8")
        assert PROGRAM in text
        program = shutil.which("true") or "/bin/true"
        (tmp_path / unit.name).write_text(text.replace(PROGRAM, program).replace("User=coppice", "User=root"))
        mode = "--user" if "%h" in text else "--system"
        done = ran(SYSTEMD, "verify", mode, "--man=no", tmp_path / unit.name, XDG_RUNTIME_DIR=str(tmp_path))
        own = [line for line in done.stderr.splitlines() if unit.name in line]
        assert (done.returncode, own) == (0, []), done.stderr


class TestCompose:
    """`deploy/compose.yaml`."""

    def services(self) -> dict[str, Any]:
        """Return the services."""
        yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
        found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
        return dict(found["services"])

    def test_names_services_that_are_there(self) -> None:
        """The addresses in the variables are those of services, and each service has a health check."""
        services = self.services()
        assert set(services) == {"coppice", "postgresql", "redis"}
        server = services["coppice"]
        assert set(server["depends_on"]) <= set(services)
        hosts = re.findall(r"@(\w+)/|redis://(\w+):", " ".join(map(str, server["environment"].values())))
        assert {one for pair in hosts for one in pair if one} <= set(services)
        assert all("healthcheck" in one for one in services.values())

    def test_opens_nothing_to_other_machines(self) -> None:
        """Nginx is in front of the server; the store and the queue publish no port."""
        ports = {name: one.get("ports", []) for name, one in self.services().items()}
        assert ports == {"coppice": ["127.0.0.1:5000:5000"], "postgresql": [], "redis": []}

    def test_has_no_secret_in_it(self) -> None:
        """Both come from the environment, and nothing starts without them."""
        text = (DEPLOY / "compose.yaml").read_text("utf-8")
        secrets = ("POSTGRES_PASSWORD", "COPPICE_TOKEN")
        assert [text.count(f"{name}: ${{{name}:?}}") for name in secrets] == [1, 1]

    def test_is_built_from_a_file_that_is_there(self) -> None:
        """The path is relative to the context."""
        build = self.services()["coppice"]["build"]
        assert (DEPLOY / build["context"] / build["dockerfile"]).is_file()

    @pytest.mark.skipif(DOCKER is None, reason="docker is not installed")
    def test_is_valid(self) -> None:
        """Docker accepts it."""
        assert DOCKER is not None
        if ran(DOCKER, "compose", "version").returncode:
            pytest.skip("docker compose is not installed")
        file = DEPLOY / "compose.yaml"
        secrets = {"POSTGRES_PASSWORD": "x", "COPPICE_TOKEN": "x"}
        done = ran(DOCKER, "compose", "-f", file, "config", "--quiet", **secrets)
        assert done.returncode == 0, done.stderr
