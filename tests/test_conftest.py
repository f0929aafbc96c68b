"""The guarantees of conftest.py for every test."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from playwright.sync_api import Page

from tests.conftest import pages_first
from tests.ports import EACH, free_port
from tests.shared import ROOT, is_idle, shared_files, shared_path


class TestTheHome:
    """The home folder during tests."""

    def test_is_not_the_home_of_the_user(self, own_home: Path) -> None:
        """Paths under the home lead to an empty folder of this run."""
        assert Path.home() == own_home
        assert Path("~/.claude").expanduser().is_relative_to(own_home)

    def test_has_no_settings_of_the_user(self) -> None:
        """No variable leads Coppice or the reader of an agent to the user's own files."""
        names = [
            name
            for name in os.environ
            if name.startswith(("COPPICE_DB", "XDG_", "CLAUDE_CONFIG", "CODEX_HOME"))
        ]
        assert names == []


class TestTheNetwork:
    """The addresses that a test can reach."""

    def test_ends_at_this_machine(self) -> None:
        """A connection to another host is refused before a packet leaves."""
        with socket.socket() as client, pytest.raises(OSError, match="only this machine"):
            client.connect(("192.0.2.1", 80))

    def test_holds_this_machine(self) -> None:
        """A server on the loopback is reached."""
        with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
            client.connect(server.getsockname())
            assert client.getpeername() == server.getsockname()


class TestPorts:
    """The ports that tests give to programs."""

    def test_differ_between_runs(self) -> None:
        """Two runs on one machine at the same time, such as those of two working copies, use different ports."""
        code = "from tests.ports import free_port; print(free_port())"
        said = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert int(said.stdout) // EACH != free_port() // EACH


class TestSharedMaterial:
    """The material that lies beside the repository."""

    def test_skips_the_test_that_lacks_it(self) -> None:
        """A test is skipped with the name of what is missing."""
        with pytest.raises(pytest.skip.Exception, match="shared/no/such is not beside"):
            shared_path("no", "such")

    def test_is_an_empty_list_where_it_is_missing(self) -> None:
        """Parametrising over missing files gives no cases and no error."""
        assert shared_files("*.jsonl", "no", "such") == []


class TestParameters:
    """Tests that are parametrised with nothing."""

    def test_without_cases_are_reported(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """A test without cases is an error, unless the shared material is missing."""
        monkeypatch.setattr("tests.shared.SHARED", tmp_path)
        assert is_idle("tests/test_a.py::test_a[NOTSET]")
        assert not is_idle("tests/test_a.py::test_a[x]")
        monkeypatch.setattr("tests.shared.SHARED", tmp_path / "none")
        assert not is_idle("tests/test_a.py::test_a[NOTSET]")


class TestTheOrder:
    """The order of the tests in a run with several workers."""

    PAGES = tuple(f"tests/browser/test_{n}.py::test_a" for n in range(5))
    OTHERS = tuple(f"tests/scoring/test_{n}.py::test_a" for n in range(10))

    def test_gives_pages_to_all_workers_but_one(self) -> None:
        """Each begins its part with some, and no test is lost."""
        found = [item.nodeid for item in pages_first(items(*self.OTHERS, *self.PAGES), 3)]
        assert [found[n] for n in (0, 5)] == [self.PAGES[0], self.PAGES[3]]
        assert found[10:] == list(self.OTHERS[5:])
        assert sorted(found) == sorted(self.OTHERS + self.PAGES)

    def test_is_that_of_the_files_otherwise(self) -> None:
        """Two workers, or a run without pages, gain nothing by another one."""
        for ids, workers in ((self.OTHERS + self.PAGES, 2), (self.OTHERS, 3), (self.PAGES, 3)):
            assert [item.nodeid for item in pages_first(items(*ids), workers)] == list(ids)


def items(*ids: str) -> list[pytest.Item]:
    """Return tests with these ids."""
    return [cast("pytest.Item", SimpleNamespace(nodeid=one)) for one in ids]


class TestTheBrowser:
    """The Chromium that browser tests get."""

    def test_opens_a_page(self, page: Page) -> None:
        """It starts on this machine, as root or not, and shows a page."""
        page.set_content("<h1>Coppice</h1>")
        assert page.get_by_role("heading").inner_text() == "Coppice"
