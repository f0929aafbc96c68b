"""Installing into an agent's configuration, and uninstalling."""

from __future__ import annotations

import contextlib
import json
import stat
from pathlib import Path

import pytest

from tests.damages import OF_EACH_TYPE, damaged
from webapp.agents.extension import MARK
from webapp.agents.hook_runtime import hints
from webapp.errors import Conflict, Invalid, Malformed
from webapp.services.integrations import agent_config
from webapp.services.session.proxy_state import sends_edited

TEXT = '{"model":   "opus",\n   "hooks": {}}'


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings of an agent, written by hand."""
    monkeypatch.setenv("COPPICE_HINTS", str(tmp_path / "hints"))
    file = tmp_path / "settings.json"
    file.write_text(TEXT)
    file.chmod(0o640)
    return file


def install(settings: Path, program: str = "coppice") -> agent_config.Change:
    """Install and return the change."""
    change = agent_config.installing("claude-code", {"CLAUDE_CONFIG_DIR": str(settings.parent)}, program)
    agent_config.apply(change, remember=True)
    return change


def uninstall(settings: Path) -> agent_config.Change:
    """Uninstall and return the change."""
    change = agent_config.uninstalling("claude-code", {"CLAUDE_CONFIG_DIR": str(settings.parent)})
    agent_config.apply(change, remember=False)
    return change


class TestInstalling:
    """Installing into the settings, which shows its change first."""

    def test_shows_the_change_as_a_diff(self, settings: Path) -> None:  # X20
        """The diff shows the added lines, and the file does not change yet."""
        change = agent_config.installing(
            "claude-code", {"CLAUDE_CONFIG_DIR": str(settings.parent)}, "coppice"
        )
        assert change.diff.startswith(f"--- {settings}\n+++ {settings}\n")
        added = [line.removeprefix("+").strip() for line in change.diff.splitlines() if line.startswith("+")]
        assert added.count('"command": "coppice hook claude-code",') == 3
        assert settings.read_text() == TEXT

    def test_names_a_folder_in_its_place_once(self, settings: Path) -> None:
        """The reason is the system's, without the path and a number."""
        settings.unlink(missing_ok=True)
        settings.mkdir()
        with pytest.raises(Conflict, match=f"^{settings} cannot be read: Is a directory$"):
            install(settings)

    def test_names_an_unreadable_file(self, settings: Path) -> None:  # X20
        """The error has the file and the reason, and the file does not change."""
        settings.write_text("{ // mine\n}")
        with pytest.raises(Malformed, match=f"{settings}: the settings are not JSON"):
            install(settings)
        assert settings.read_text() == "{ // mine\n}"

    @pytest.mark.parametrize(
        "text", ['{\r\n  "a": 1\r\n}\r\n', '\ufeff{"a": 1}', '{"a": [1, 2], "b": 1.0e3}']
    )
    def test_is_undone_to_the_byte(self, settings: Path, text: str) -> None:  # X20
        """Uninstalling restores files of any layout."""
        settings.write_bytes(text.encode())
        install(settings)
        uninstall(settings)
        assert settings.read_bytes() == text.encode()

    def test_changes_nothing_a_second_time(self, settings: Path) -> None:
        """A second installation has an empty diff."""
        install(settings)
        assert install(settings).diff == ""

    def test_brings_an_old_addition_up_to_date(self, settings: Path) -> None:  # X20
        """The hooks name the program that installed them last, and the remembered text stays the user's."""
        install(settings, "/old/coppice")
        assert "/new/coppice hook" in install(settings, "/new/coppice").diff
        assert "/old/coppice" not in settings.read_text()
        uninstall(settings)
        assert settings.read_text() == TEXT

    def test_replaces_an_old_extension(self, settings: Path) -> None:  # X27
        """The code of an earlier version does not come back with the uninstallation."""
        env = {"PI_CODING_AGENT_DIR": str(settings.parent / "pi")}
        change = agent_config.installing("pi", env, "coppice")
        agent_config.apply(change, remember=True)
        change.path.write_text(f"// {MARK}\nold code")
        again = agent_config.installing("pi", env, "coppice")
        assert "-old code" in again.diff
        agent_config.apply(again, remember=True)
        assert change.path.read_text() == change.after
        agent_config.apply(agent_config.uninstalling("pi", env), remember=False)
        assert not change.path.exists()

    def test_keeps_the_mode_of_the_file(self, settings: Path) -> None:
        """The file is replaced by a new one of the same mode, and no other file is left."""
        install(settings)
        assert stat.S_IMODE(settings.stat().st_mode) == 0o640
        assert sorted(p.name for p in settings.parent.iterdir()) == ["hints", "settings.json"]

    def test_follows_a_symbolic_link(self, settings: Path, tmp_path: Path) -> None:
        """A link to another file stays a link."""
        kept = settings.rename(tmp_path / "kept.json")
        settings.symlink_to(kept)
        install(settings)
        assert settings.is_symlink()
        assert "hook claude-code" in kept.read_text()

    def test_creates_a_missing_file(self, settings: Path) -> None:
        """Uninstalling deletes that file."""
        settings.unlink()
        install(settings)
        assert settings.exists()
        uninstall(settings)
        assert not settings.exists()

    def test_names_an_unwritable_file(self, settings: Path) -> None:
        """The error names the file that cannot be written."""
        change = agent_config.installing(
            "claude-code", {"CLAUDE_CONFIG_DIR": str(settings.parent)}, "coppice"
        )
        moved = agent_config.Change(change.agent, settings / "below" / "a-file.json", None, change.after)
        with pytest.raises(Conflict, match=r"a-file.json cannot be written"):
            agent_config.apply(moved, remember=False)

    def test_names_a_folder_of_hints_that_cannot_be_created(self, settings: Path, tmp_path: Path) -> None:
        """The settings stay as they are: hooks without hints would do nothing."""
        (tmp_path / "hints").touch()
        with pytest.raises(Conflict, match=f"the folder {tmp_path}/hints cannot be created: File exists"):
            install(settings)
        assert settings.read_text() == TEXT

    def test_refuses_an_unknown_agent(self) -> None:
        """The error lists the known agents."""
        with pytest.raises(Invalid, match="claude-code"):
            agent_config.installing("nobody", {}, "coppice")

    def test_writes_nothing_over_a_change_of_the_agent(self, settings: Path) -> None:  # X20
        """The agent writes its settings too, for example while a person is asked whether to write the change."""
        env = {"CLAUDE_CONFIG_DIR": str(settings.parent)}
        change = agent_config.installing("claude-code", env, "coppice")
        settings.write_text('{"model": "sonnet"}')
        with pytest.raises(Conflict, match=f"{settings} was changed meanwhile"):
            agent_config.apply(change, remember=True)
        assert settings.read_text() == '{"model": "sonnet"}'

    def test_of_damaged_settings_is_refused_or_undone_to_the_byte(self, settings: Path) -> None:  # X20
        """Either nothing is written, or JSON that the uninstallation takes back."""
        hooks = {"Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "say done"}]}]}
        for data in damaged({"model": "opus", "hooks": hooks, "timeout": 5}):
            settings.write_bytes(data)
            with contextlib.suppress(Malformed, Conflict):
                install(settings)
                json.loads(settings.read_text("utf-8-sig"), parse_constant=pytest.fail)
                uninstall(settings)
            assert settings.read_bytes() == data, data[:200]


class TestUninstalling:
    """Uninstalling, which removes only the lines of Coppice."""

    def test_restores_an_unchanged_file(self, settings: Path) -> None:  # X20
        """If the file was not changed since, its original bytes return."""
        install(settings)
        assert settings.read_text() != TEXT
        uninstall(settings)
        assert settings.read_text() == TEXT

    def test_keeps_later_changes(self, settings: Path) -> None:  # X20
        """A later change of the user stays, and the lines of Coppice go."""
        install(settings)
        settings.write_text(settings.read_text().replace("opus", "sonnet"))
        uninstall(settings)
        assert "sonnet" in settings.read_text()
        assert "coppice" not in settings.read_text()

    def test_deletes_no_settings_if_the_record_of_them_is_damaged(self, settings: Path) -> None:  # X20
        """Only the lines of Coppice go then, as if the file had been changed."""
        install(settings)
        installed, record = settings.read_bytes(), Path(hints.path("claude-code", "before"))
        for before in (value for value in OF_EACH_TYPE if not isinstance(value, str)):
            settings.write_bytes(installed)
            record.write_text(json.dumps({**json.loads(record.read_text()), "before": before}))
            uninstall(settings)
            assert json.loads(settings.read_text()) == {"model": "opus"}

    def test_changes_nothing_without_an_installation(self, settings: Path) -> None:
        """The diff is empty."""
        assert uninstall(settings).diff == ""

    def test_is_shown_in_the_status(self, settings: Path) -> None:  # X20
        """The status lists the installed hooks before, between and after."""
        env = {"CLAUDE_CONFIG_DIR": str(settings.parent)}
        said = [agent_config.installed("claude-code", env)[1]]
        install(settings)
        said.append(agent_config.installed("claude-code", env)[1])
        uninstall(settings)
        said.append(agent_config.installed("claude-code", env)[1])
        assert said == [[], ["PreCompact", "SessionStart", "UserPromptSubmit"], []]

    def test_of_an_extension_forgets_what_calls_were_sent_with(self, settings: Path) -> None:  # X27
        """Later calls go out whole, so their usage is no longer that of an edited context."""
        env = {"PI_CODING_AGENT_DIR": str(settings.parent / "pi")}
        agent_config.apply(agent_config.installing("pi", env, "coppice"), remember=True)
        hints.write("s", hints.ACTIVE, {"version": "v1"})
        assert sends_edited("pi", "s")
        agent_config.apply(agent_config.uninstalling("pi", env), remember=False)
        assert not sends_edited("pi", "s")
