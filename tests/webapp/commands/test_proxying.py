"""`coppice proxy`: its options, and the proxy that a server starts."""

from __future__ import annotations

from pathlib import Path

import anthropic
import httpx
import pytest

from tests.ports import free_port, listens
from tests.reach.upstream import strict_upstream
from tests.servers import option_in
from tests.waiting import until
from tests.webapp.commands.running import Run
from tests.webapp.serving.processes import certificate_of, started
from webapp.agents.hook_runtime import hints
from webapp.commands.cli import main
from webapp.commands.proxying import proxy_beside
from webapp.serving.server import listen


class TestOptions:
    """Options of the command that need no running proxy."""

    def test_refuse_an_invalid_address(self, capsys: pytest.CaptureFixture[str]) -> None:  # X13
        """The error names the option."""
        assert main(["proxy", "--openai", "api.example.com"]) == 2
        assert "--openai" in capsys.readouterr().err
        assert main(["proxy", "--server", "box:5000"]) == 2
        assert "--server" in capsys.readouterr().err

    def test_switch_pruning_off_and_on(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # X13
        """The switch is a file that every proxy checks."""
        monkeypatch.setenv("COPPICE_HINTS", str(tmp_path / "hints"))
        mark = Path(hints.proxy_folder()) / hints.KILLED
        assert main(["proxy", "--stop-pruning"]) == 0
        assert mark.exists()
        assert main(["proxy", "--allow-pruning"]) == 0
        assert not mark.exists()


class TestBesideAServer:
    """The proxy of `coppice serve --proxy`."""

    def test_runs_as_long_as_the_server(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # X13
        """The proxy is a separate process that ends with the server."""
        monkeypatch.setenv("COPPICE_HINTS", str(tmp_path / "hints"))
        port = free_port()
        with proxy_beside(port, "http://127.0.0.1:9", "token"):
            until(lambda: listens(port))
        until(lambda: not listens(port))

    def test_names_the_option_of_the_server_for_a_port_in_use(
        self, capfd: pytest.CaptureFixture[str]
    ) -> None:  # X13
        """The option `--port` of `coppice serve` is the server's own port."""
        with listen("127.0.0.1", 0) as taken:
            port = taken.getsockname()[1]
            assert main(["proxy", "--beside", "--port", str(port)]) == 2
        assert "in use, perhaps by another Coppice; name another with --proxy" in capfd.readouterr().err

    def test_ends_when_the_server_is_killed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X13
        """A remaining proxy would occupy the port of the next one."""
        monkeypatch.setenv("COPPICE_HINTS", str(tmp_path / "hints"))
        port = free_port()
        with started(tmp_path, "--port", "0", "--proxy", str(port)) as (process, _):
            until(lambda: listens(port))
            process.kill()
            until(lambda: not listens(port))

    def test_sends_calls_to_a_server_with_tokens(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:  # X13
        """The server's proxy has its own token."""
        monkeypatch.setenv("COPPICE_HINTS", str(tmp_path / "hints"))
        monkeypatch.delenv("COPPICE_TOKEN", raising=False)
        assert main(["token", "--db", option_in(tmp_path)]) == 0
        token = next(word for word in capsys.readouterr().out.split() if word.startswith("coppice_"))
        port = free_port()
        with strict_upstream() as provider:
            monkeypatch.setenv("COPPICE_PROXY_ANTHROPIC", provider.url)
            with started(tmp_path, "--port", "0", "--proxy", str(port)) as (process, url):
                until(lambda: listens(port))
                client = anthropic.Anthropic(
                    base_url=f"http://127.0.0.1:{port}/proxy/anthropic", api_key="sk-ant-api-x"
                )
                client.messages.create(
                    model="claude-sonnet-4-6", max_tokens=9, messages=[{"role": "user", "content": "Hi"}]
                )
                head = {"Authorization": f"Bearer {token}"}
                until(lambda: httpx.get(f"{url}/api/sessions", headers=head).json()["sessions"])
                assert httpx.get(f"{url}/api/sessions").status_code == 401
                process.terminate()
                until(lambda: not listens(port))

    def test_trusts_the_certificate_of_its_server(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X13
        """The certificate has the name by which others reach the server, not this machine's own address."""
        monkeypatch.setenv("COPPICE_HINTS", str(tmp_path / "hints"))
        monkeypatch.delenv("COPPICE_TOKEN", raising=False)
        certificate, key = certificate_of(tmp_path, "DNS:coppice.example")
        port = free_port()
        options = ("--port", "0", "--proxy", str(port), "--tls-cert", str(certificate), "--tls-key", str(key))
        with strict_upstream() as provider:
            monkeypatch.setenv("COPPICE_PROXY_ANTHROPIC", provider.url)
            with started(tmp_path, *options, verify=False) as (_, url):
                until(lambda: listens(port))
                client = anthropic.Anthropic(
                    base_url=f"http://127.0.0.1:{port}/proxy/anthropic", api_key="sk-ant-api-x"
                )
                client.messages.create(
                    model="claude-sonnet-4-6", max_tokens=9, messages=[{"role": "user", "content": "Hi"}]
                )
                until(lambda: httpx.get(f"{url}/api/sessions", verify=False).json()["sessions"])


class TestAlone:
    """`coppice proxy` with the token of a sender."""

    def test_may_only_send_calls(self, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        """A stolen token of this kind cannot read a session."""
        monkeypatch.setenv("COPPICE_HINTS", str(tmp_path / "hints"))
        db = option_in(tmp_path)
        sender = run("token", "--role", "sender", "--db", db).out.strip()
        viewer = run("token", "--role", "viewer", "--db", db).out.strip()
        with strict_upstream() as provider, started(tmp_path, "--port", "0") as (_, url):
            monkeypatch.setenv("COPPICE_PROXY_ANTHROPIC", provider.url)
            port = free_port()
            with proxy_beside(port, url, sender):
                until(lambda: listens(port))
                client = anthropic.Anthropic(
                    base_url=f"http://127.0.0.1:{port}/proxy/anthropic", api_key="sk-ant-api-x"
                )
                client.messages.create(
                    model="claude-sonnet-4-6", max_tokens=9, messages=[{"role": "user", "content": "Hi"}]
                )
                sessions = f"{url}/api/sessions"
                until(lambda: httpx.get(sessions, headers=bearer(viewer)).json()["sessions"])
                refused = httpx.get(sessions, headers=bearer(sender))
                assert (refused.status_code, refused.json()["error"]["type"]) == (403, "viewer_needed")


def bearer(token: str) -> dict[str, str]:
    """Return the header of a token."""
    return {"Authorization": f"Bearer {token}"}
