"""Finding a Chromium: the named one, the system's, and no third way without asking."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import browser


def program(folder: Path, name: str) -> Path:
    """An empty program of that name in a folder of its own."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A search path with nothing on it, and nothing named."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv(browser.VARIABLE, raising=False)


class TestNamedOrSystem:
    """The choice before anything is installed."""

    def test_is_the_named_one_before_the_systems(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        """COPPICE_CHROMIUM wins over what is installed."""
        program(tmp_path / "bin", "chromium")
        named = program(tmp_path / "own", "chrome")
        monkeypatch.setenv(browser.VARIABLE, str(named))
        assert browser.named_or_system() == str(named)

    @pytest.mark.parametrize(
        "name", ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
    )
    def test_is_the_systems_under_any_of_its_names(self, tmp_path: Path, name: str) -> None:
        """Distributions name it differently."""
        assert browser.named_or_system() is None
        installed = program(tmp_path / "bin", name)
        assert browser.named_or_system() == str(installed)

    def test_is_the_headless_shell_before_the_browser_with_windows(self, tmp_path: Path) -> None:
        """The tests show nobody a window."""
        program(tmp_path / "bin", "chromium")
        shell = program(tmp_path / "bin", "chromium-headless-shell")
        assert browser.named_or_system() == str(shell)

    def test_refuses_a_name_that_is_no_program(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A wrong COPPICE_CHROMIUM is said, not passed over."""
        monkeypatch.setenv(browser.VARIABLE, "no-such-chromium")
        with pytest.raises(browser.NoBrowserError, match="COPPICE_CHROMIUM names no-such-chromium"):
            browser.named_or_system()


class TestInstall:
    """Installing a Chromium on a machine without one."""

    @pytest.mark.parametrize(
        ("packages", "asked_for"),
        [
            (("chromium-headless-shell", "chromium"), ("chromium-headless-shell",)),
            (("chromium",), ("chromium-headless-shell", "chromium")),
        ],
        ids=["with a headless shell", "without"],
    )
    def test_asks_apt_as_root(
        self,
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
        packages: tuple[str, ...],
        asked_for: tuple[str, ...],
    ) -> None:
        """Root on a Debian gets the first Chromium that there is a package of, and Playwright is not asked."""
        program(tmp_path / "bin", "apt-get")
        asked: list[tuple[str, ...]] = []

        def run(*command: str) -> bool:
            asked.append(command)
            if command[1] == "update":
                return True
            if command[-1] in packages:
                program(tmp_path / "bin", command[-1])
            return command[-1] in packages

        monkeypatch.setattr(browser, "is_root", lambda: True)
        monkeypatch.setattr(browser, "_run", run)
        assert browser.install() == str(tmp_path / "bin" / asked_for[-1])
        assert asked == [
            ("apt-get", "update", "-qq"),
            *(("apt-get", "install", "-y", "-qq", "--no-install-recommends", name) for name in asked_for),
        ]

    def test_takes_playwrights_own_for_others(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A user who is not root gets Playwright's Chromium, without its system packages."""
        asked: list[tuple[str, ...]] = []
        monkeypatch.setattr(browser, "is_root", lambda: False)
        monkeypatch.setattr(browser, "_run", lambda *command: bool(asked.append(command)))
        monkeypatch.setattr(browser, "playwrights_own", lambda: "/somewhere/chrome")
        assert browser.install() == "/somewhere/chrome"
        assert [command[1:] for command in asked] == [("-m", "playwright", "install", "chromium")]

    def test_says_what_to_do_when_nothing_helps(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without any way to a browser, the message names the variable."""
        monkeypatch.setattr(browser, "is_root", lambda: False)
        monkeypatch.setattr(browser, "_run", lambda *_: False)
        monkeypatch.setattr(browser, "playwrights_own", lambda: None)
        with pytest.raises(browser.NoBrowserError, match="name one in COPPICE_CHROMIUM"):
            browser.install()


class TestLaunchArguments:
    """The arguments that Chromium is started with."""

    @pytest.mark.parametrize(("root", "expected"), [(True, True), (False, False)])
    def test_drop_the_sandbox_for_root_only(
        self, monkeypatch: pytest.MonkeyPatch, root: bool, expected: bool
    ) -> None:
        """Chromium's sandbox does not start as root, and is kept for everyone else."""
        monkeypatch.setattr(browser, "is_root", lambda: root)
        assert ("--no-sandbox" in browser.launch_arguments()) is expected
