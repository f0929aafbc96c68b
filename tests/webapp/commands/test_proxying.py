"""`coppice proxy`: its options, and the proxy beside a server."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.waiting import until
from tests.webapp.proxy.conftest import free_port, listens
from webapp.agents.beside import hints
from webapp.cli import main
from webapp.commands.proxying import proxy_beside


class TestOptions:
    """Refused, or done without a server."""

    def test_refuse_an_address_that_is_none(self, capsys: pytest.CaptureFixture[str]) -> None:  # X13
        """The message names the option."""
        assert main(["proxy", "--openai", "api.example.com"]) == 2
        assert "--openai" in capsys.readouterr().err

    def test_stop_and_allow_pruning(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # X13
        """The kill switch is a file that every proxy looks at."""
        monkeypatch.setenv("COPPICE_HINTS", str(tmp_path / "hints"))
        mark = Path(hints.proxy_folder()) / hints.KILLED
        assert main(["proxy", "--stop-pruning"]) == 0
        assert mark.exists()
        assert main(["proxy", "--allow-pruning"]) == 0
        assert not mark.exists()


class TestBesideAServer:
    """`coppice serve --proxy`."""

    def test_runs_as_long_as_the_server(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # X13
        """A process of its own, which ends with the server."""
        monkeypatch.setenv("COPPICE_HINTS", str(tmp_path / "hints"))
        port = free_port()
        with proxy_beside(port, "http://127.0.0.1:9", None):
            until(lambda: listens(port))
        until(lambda: not listens(port))
