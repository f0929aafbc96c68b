"""The wheel that users install: it contains pages and libraries, and needs neither node nor this repository."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import ConsoleMessage, Page

from tests.shared import ROOT
from tests.waiting import PATIENCE, until

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-qq")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree."""
    folder = tmp_path_factory.mktemp("wheel")
    offline = ("--no-deps", "--no-build-isolation", "--no-index")
    subprocess.run([*PIP, "wheel", *offline, "--wheel-dir", str(folder), str(ROOT)], check=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the wheel is installed in; its dependencies are those of the tests."""
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run(
        [*PIP, "install", "--no-deps", "--no-index", "--target", str(folder), str(wheel)], check=True
    )
    return folder


@pytest.fixture
def served(installed: Path, tmp_path: Path) -> Iterator[str]:
    """The address of the installed dashboard, started from elsewhere with its own store."""
    environment = {**os.environ, "PYTHONPATH": str(installed), "PATH": str(tmp_path), "HOME": str(tmp_path)}
    command = [sys.executable, str(installed / "bin" / "coppice"), "serve", "--port", "0", "--no-watch"]
    output = (tmp_path / "output.txt").open("w+")
    with subprocess.Popen(
        [*command, "--db", str(tmp_path / "coppice.db")],
        cwd=tmp_path,
        env=environment,
        stdout=output,
        stderr=output,
    ) as process:
        try:
            yield address_of(process, Path(output.name))
        finally:
            process.terminate()
            process.wait(PATIENCE)


def address_of(process: subprocess.Popen[bytes], output: Path) -> str:
    """Return the address that the server prints, once it answers. Fails with its output when it ends instead."""
    found: list[str] = []

    def answers() -> bool:
        if process.poll() is not None:
            pytest.fail(f"the server ended:\n{output.read_text()}")
        found[:] = re.findall(r"http://[\d.]+:\d+", output.read_text())
        try:
            return (
                bool(found) and httpx.get(f"{found[0]}/healthz", timeout=PATIENCE, trust_env=False).is_success
            )
        except httpx.HTTPError:
            return False

    until(answers)
    return found[0]


class TestTheWheel:
    """The files in the wheel."""

    def test_carries_pages_and_libraries_beside_the_code(self, wheel: Path) -> None:
        """Static files, templates and the vendored libraries with their licences lie under webapp/."""
        names = set(zipfile.ZipFile(wheel).namelist())
        for name in ("app.js", "vendor/socket.io-client/socket.io.esm.min.js", "vendor/uplot/LICENSE"):
            assert f"webapp/static/{name}" in names
        assert "webapp/templates/base.html" in names

    def test_carries_nothing_of_the_tools(self, wheel: Path) -> None:
        """Tests, benchmarks and scripts stay in the tree."""
        tops = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
        assert {top for top in tops if not top.endswith(".dist-info")} == {"scoring", "webapp"}


class TestTheInstalledPackage:
    """The package as installed by a user without node."""

    def test_shows_its_dashboard_without_node_or_the_tree(self, served: str, page: Page) -> None:
        """The first page is shown without errors, and every file that it requests exists."""
        faults: list[str] = []

        def on_console(message: ConsoleMessage) -> None:
            if message.type == "error":
                faults.append(message.text)

        page.on("console", on_console)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("response", lambda reply: faults.append(reply.url) if reply.status >= 400 else None)
        page.goto(served)
        page.wait_for_load_state("load")
        assert page.get_by_role("main").is_visible()
        assert faults == []


def test_the_client_s_wheel_needs_httpx_alone(tmp_path: Path) -> None:
    """Its only dependency is httpx, and its module is the same file as the server's."""
    offline = ("--no-deps", "--no-build-isolation", "--no-index")
    source = str(ROOT / "packages" / "coppice-client")
    subprocess.run([*PIP, "wheel", *offline, "--wheel-dir", str(tmp_path), source], check=True)
    (built,) = tmp_path.glob("coppice_client-*.whl")
    with zipfile.ZipFile(built) as wheel:
        assert wheel.read("coppice_client/__init__.py") == (ROOT / "webapp" / "client.py").read_bytes()
        [metadata] = [name for name in wheel.namelist() if name.endswith("METADATA")]
        needed = [
            line for line in wheel.read(metadata).decode().splitlines() if line.startswith("Requires-Dist")
        ]
    assert needed == ["Requires-Dist: httpx>=0.28"]
    code = f"import sys; sys.path.insert(0, {str(built)!r}); import coppice_client; print(coppice_client.Coppice)"
    found = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "<class 'coppice_client.Coppice'>"
