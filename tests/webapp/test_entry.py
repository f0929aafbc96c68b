"""The start of the command line."""

from __future__ import annotations

import pytest

from webapp import entry


def test_a_command_that_is_stopped_while_it_loads_ends_with_one_line(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends as one that is stopped later does."""

    def stop() -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(entry, "run_command", stop)
    assert entry.main() == 1
    assert capfd.readouterr() == ("", "coppice: stopped\n")
