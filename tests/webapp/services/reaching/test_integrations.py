"""Installing into an agent's configuration and taking it back."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from webapp.errors import Conflict, Invalid, Malformed
from webapp.services.reaching import integrations

TEXT = '{"model":   "opus",\n   "hooks": {}}'


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An agent's settings, written by hand."""
    monkeypatch.setenv("COPPICE_HINTS", str(tmp_path / "hints"))
    file = tmp_path / "settings.json"
    file.write_text(TEXT)
    file.chmod(0o640)
    return file


def install(settings: Path) -> integrations.Change:
    """Install and return the change."""
    change = integrations.installing("claude-code", {"CLAUDE_CONFIG_DIR": str(settings.parent)}, "coppice")
    integrations.apply(change, remember=True)
    return change


def uninstall(settings: Path) -> integrations.Change:
    """Take it back and return the change."""
    change = integrations.uninstalling("claude-code", {"CLAUDE_CONFIG_DIR": str(settings.parent)})
    integrations.apply(change, remember=False)
    return change


class TestInstalling:
    """A change that is shown before it is made."""

    def test_shows_the_change_as_a_diff(self, settings: Path) -> None:  # X20
        """The diff is against the current file."""
        change = integrations.installing(
            "claude-code", {"CLAUDE_CONFIG_DIR": str(settings.parent)}, "coppice"
        )
        assert change.diff.startswith(f"--- {settings}\n+++ {settings}\n")
        added = [line.removeprefix("+").strip() for line in change.diff.splitlines() if line.startswith("+")]
        assert added.count('"command": "coppice hook claude-code",') == 3
        assert settings.read_text() == TEXT

    def test_names_the_file_that_cannot_be_read(self, settings: Path) -> None:  # X20
        """The reason has its place, and the file stays as it is."""
        settings.write_text("{ // mine\n}")
        with pytest.raises(Malformed, match=f"{settings}: the settings are not JSON"):
            install(settings)
        assert settings.read_text() == "{ // mine\n}"

    @pytest.mark.parametrize(
        "text", ['{\r\n  "a": 1\r\n}\r\n', '\ufeff{"a": 1}', '{"a": [1, 2], "b": 1.0e3}']
    )
    def test_is_undone_to_the_byte(self, settings: Path, text: str) -> None:  # X20
        """Whatever the file looked like."""
        settings.write_bytes(text.encode())
        install(settings)
        uninstall(settings)
        assert settings.read_bytes() == text.encode()

    def test_changes_nothing_a_second_time(self, settings: Path) -> None:
        """There is no diff."""
        install(settings)
        assert install(settings).diff == ""

    def test_keeps_the_mode_of_the_file(self, settings: Path) -> None:
        """Written whole, by another file in its place."""
        install(settings)
        assert stat.S_IMODE(settings.stat().st_mode) == 0o640
        assert sorted(p.name for p in settings.parent.iterdir()) == ["hints", "settings.json"]

    def test_writes_through_a_link(self, settings: Path, tmp_path: Path) -> None:
        """A link to a file kept elsewhere stays one."""
        kept = settings.rename(tmp_path / "kept.json")
        settings.symlink_to(kept)
        install(settings)
        assert settings.is_symlink()
        assert "hook claude-code" in kept.read_text()

    def test_makes_a_file_where_there_is_none(self, settings: Path) -> None:
        """Uninstalling deletes that file."""
        settings.unlink()
        install(settings)
        assert settings.exists()
        uninstall(settings)
        assert not settings.exists()

    def test_says_which_file_cannot_be_written(self, settings: Path) -> None:
        """Everything stays unchanged."""
        change = integrations.installing(
            "claude-code", {"CLAUDE_CONFIG_DIR": str(settings.parent)}, "coppice"
        )
        moved = integrations.Change(change.agent, settings / "below" / "a-file.json", None, change.after)
        with pytest.raises(Conflict, match=r"a-file.json cannot be written"):
            integrations.apply(moved, remember=False)

    def test_knows_the_agents_that_it_reaches(self) -> None:
        """Others are refused with their names."""
        with pytest.raises(Invalid, match="claude-code"):
            integrations.installing("nobody", {}, "coppice")


class TestUninstalling:
    """Exactly our own lines."""

    def test_gives_back_the_very_bytes(self, settings: Path) -> None:  # X20
        """The original bytes return if nobody has changed the file since."""
        install(settings)
        assert settings.read_text() != TEXT
        uninstall(settings)
        assert settings.read_text() == TEXT

    def test_keeps_what_was_changed_since(self, settings: Path) -> None:  # X20
        """Our lines go, the change stays."""
        install(settings)
        settings.write_text(settings.read_text().replace("opus", "sonnet"))
        uninstall(settings)
        assert "sonnet" in settings.read_text()
        assert "coppice" not in settings.read_text()

    def test_changes_nothing_where_nothing_is_installed(self, settings: Path) -> None:
        """The file is not even written."""
        assert uninstall(settings).diff == ""

    def test_is_seen_in_the_status(self, settings: Path) -> None:  # X20
        """The status is right before, between and after."""
        env = {"CLAUDE_CONFIG_DIR": str(settings.parent)}
        said = [integrations.active("claude-code", env)[1]]
        install(settings)
        said.append(integrations.active("claude-code", env)[1])
        uninstall(settings)
        said.append(integrations.active("claude-code", env)[1])
        assert said == [[], ["PreCompact", "SessionStart", "UserPromptSubmit"], []]
