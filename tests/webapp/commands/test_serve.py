"""`coppice serve` and `coppice demo`: the options they pass to the server."""

from __future__ import annotations

import socket
import webbrowser
from pathlib import Path
from typing import Any

import pytest

from tests.ports import free_port
from tests.webapp.commands.running import Run
from webapp.agents import AGENTS
from webapp.commands import serve
from webapp.serving import server as serving


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """Record the listener and the application factory instead of serving."""
    found: list[Any] = []
    for agent in AGENTS.values():
        monkeypatch.setenv(agent.variable, str(tmp_path / "no-agent"))

    def run_nothing(make: Any, listener: Any, *_: Any, workers: int) -> None:
        running = make()
        found.append((running.app.config, listener.getsockname()))
        running.close()
        listener.close()

    monkeypatch.setattr(serving, "run", run_nothing)
    return found


class TestServe:
    """Options become the configuration."""

    def test_passes_its_options_on(self, run: Run, asked: list[Any], tmp_path: Path) -> None:
        """Options are folders, hosts and whether to follow."""
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
        done = run(
            "serve", "--port", 0, "--watch", tmp_path / "a", "--watch", tmp_path / "b",
            "--allow-host", "box.local",
        )  # fmt: skip
        [(config, address)] = asked
        assert done.code == 0
        assert config.watch == (tmp_path / "a", tmp_path / "b")
        assert (config.follow, config.allowed_hosts, config.demo) == (True, ("box.local",), False)
        assert address[0] == "127.0.0.1"
        assert f"http://127.0.0.1:{address[1]}" in done.out

    def test_follows_nothing_if_told_so(self, run: Run, asked: list[Any]) -> None:
        """`--no-watch` leaves out the agents' folders too."""
        assert run("serve", "--port", 0, "--no-watch").code == 0
        assert asked[0][0].follow is False

    def test_takes_another_port_only_for_the_default(
        self, run: Run, asked: list[Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A port that was named is one that others send requests to."""
        port = free_port()
        monkeypatch.setattr(serve, "DEFAULT_PORT", port)
        with socket.create_server(("127.0.0.1", port)):
            assert run("serve", "--no-watch").code == 0
            assert asked[0][1][1] != port
            refused = run("serve", "--no-watch", "--port", port)
            assert (refused.code, f"port {port} on 127.0.0.1 is in use" in refused.err) == (2, True)
            monkeypatch.setenv("COPPICE_PORT", str(port))
            assert run("serve", "--no-watch").code == 2

    def test_starts_only_with_the_port_of_its_proxy(self, run: Run, asked: list[Any]) -> None:  # X13
        """Agents are told the port of the proxy; the server's own port is not taken from it either."""
        port = free_port()
        with socket.create_server(("127.0.0.1", port)):
            refused = run("serve", "--no-watch", "--port", 0, "--proxy", port)
            assert (refused.code, refused.out, asked) == (2, "", [])
            assert f"port {port} on 127.0.0.1 is in use" in refused.err
            assert "name another with --proxy" in refused.err
        refused = run("serve", "--no-watch", "--port", port, "--proxy", port)
        assert (refused.code, asked) == (2, [])
        assert "name another with --port" in refused.err

    def test_serves_other_machines_only_if_allowed_and_with_a_token(
        self, run: Run, asked: list[Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The address and `--allow-remote` are both needed, because any client can forge a `Host`."""
        remote = ("serve", "--no-watch", "--port", 0, "--host", "0.0.0.0")
        assert run(*remote).code == 2
        refused = run(*remote, "--allow-remote")
        assert (refused.code, "coppice token" in refused.err) == (2, True)
        monkeypatch.setenv("COPPICE_TOKEN", "secret")
        assert run(*remote).code == 2
        assert run(*remote, "--allow-remote").code == 0
        assert len(asked) == 1

    def test_prints_an_address_that_can_be_opened(
        self, run: Run, asked: list[Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A wildcard address cannot be opened, so another one is printed."""
        monkeypatch.setenv("COPPICE_TOKEN", "secret")
        done = run("serve", "--no-watch", "--port", 0, "--host", "0.0.0.0", "--allow-remote")
        assert "http://127.0.0.1:" in done.out

    def test_names_a_missing_folder(self, run: Run, asked: list[Any], tmp_path: Path) -> None:
        """The name may be misspelt; the folder is followed once it exists."""
        done = run("serve", "--port", 0, "--watch", tmp_path / "gone", "--watch", tmp_path)
        assert done.code == 0
        assert f"{tmp_path / 'gone'} does not exist yet" in done.err
        assert done.err.count("\n") == 1

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (("--workers", 2), "--queue redis://"),
            (("--queue", "redis://:secret@127.0.0.1:1"), "cannot reach the queue redis://127.0.0.1:1"),
            (("--queue", "redis://127.0.0.1:1"), "refused; start Redis there"),
            (("--queue", "http://127.0.0.1"), "expected an address like redis://"),
        ],
    )
    def test_refuses_impossible_workers(
        self, run: Run, asked: list[Any], options: tuple[Any, ...], said: str
    ) -> None:
        """The error comes before anything starts, says what to do, and hides the password of a queue."""
        refused = run("serve", "--no-watch", "--port", 0, *options)
        assert (refused.code, said in refused.err, "secret" in refused.err) == (2, True, False)
        assert asked == []

    def test_can_open_the_page(self, run: Run, asked: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
        """The browser opens the printed address."""
        opened: list[str] = []
        monkeypatch.setattr(webbrowser, "open", opened.append)
        done = run("serve", "--no-watch", "--port", 0, "--open")
        assert opened[0] in done.out

    def test_reports_an_invalid_store_before_it_starts(self, run: Run, asked: list[Any], db: Any) -> None:
        """The error is one line, and no server starts."""
        db.write_bytes(b"not a database at all" * 100)
        done = run("serve", "--no-watch", "--port", 0)
        assert (done.code, asked) == (1, [])
        assert done.err.count("\n") == 1


class TestDemo:
    """The command `coppice demo`."""

    def test_starts_its_session(self, run: Run, asked: list[Any]) -> None:
        """The session has a source of its own."""
        assert run("demo", "--no-watch", "--port", 0).code == 0
        assert asked[0][0].demo is True
        assert "demo" in run("sessions").out
