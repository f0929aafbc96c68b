"""The places of pi's sessions, and their origin."""

from __future__ import annotations

from pathlib import Path, PurePath

import pytest

from webapp.agents.pi.files import discover, match_score, origin, roots
from webapp.agents.records import Origin


def test_the_folder_follows_the_environment() -> None:
    """A variable for sessions comes before the one for the agent's folder, and then the default."""
    assert roots({"HOME": "/h"}) == [Path("/h/.pi/agent/sessions")]
    assert roots({"HOME": "/h", "PI_CODING_AGENT_DIR": "/p"}) == [Path("/p/sessions")]
    assert roots({"PI_CODING_AGENT_DIR": "/p", "PI_CODING_AGENT_SESSION_DIR": "/s"}) == [Path("/s")]


@pytest.mark.parametrize(
    ("named", "chosen"),
    [('"/s"', ["/s"]), ('"~/s"', ["HOME/s"]), ('"s"', []), ('"~/.pi/agent/sessions"', []), ("1", [])],
)
def test_the_folder_of_the_settings_is_searched_too(tmp_path: Path, named: str, chosen: list[str]) -> None:
    """Sessions from before it was chosen stay where they were; one relative to each project is unknown."""
    agent = tmp_path / ".pi" / "agent"
    agent.mkdir(parents=True)
    (agent / "settings.json").write_text(f'{{"sessionDir": {named}}}')
    usual = [*(Path(one.replace("HOME", str(tmp_path))) for one in chosen), agent / "sessions"]
    assert roots({"HOME": str(tmp_path)}) == usual
    assert roots({"HOME": str(tmp_path), "PI_CODING_AGENT_SESSION_DIR": "/e"}) == [Path("/e")]


def test_the_first_row_names_the_parent() -> None:
    """A session made from another one names its file; a session that names itself has no parent."""
    path = PurePath("a.jsonl")
    assert origin(path, b'{"type":"session","id":"s"}\n{}') == Origin("s")
    fork = b'{"type":"session","id":"s","parentSession":"C:\\\\x\\\\2026_p.jsonl"}\n'
    assert origin(path, fork) == Origin("s", "p", None, "fork")
    assert origin(path, fork.replace(b"2026_p", b"2026_s")) == Origin("s")
    assert origin(path, b'{"type":"message","id":"s"}\n') == origin(path, b"broken") == Origin()


def test_other_files_are_ignored(tmp_path: Path) -> None:
    """Only files with a session's first row count."""
    (tmp_path / "2026_x.jsonl").write_text("{}\n")
    (tmp_path / "2026_y.jsonl").write_text('{"type":"session","id":"y"}\n')
    assert [file.session_id for file in discover(tmp_path)] == ["y"]


def test_a_long_first_row_names_the_session(tmp_path: Path) -> None:
    """It is found as an import of the file finds it."""
    row = '{"type":"session","prompt":"%s","id":"y"}\n' % ("x" * 9_000)
    (tmp_path / "2026_y.jsonl").write_text(row)
    assert [file.session_id for file in discover(tmp_path)] == ["y"]


def test_blank_lines_before_the_first_row_are_none(tmp_path: Path) -> None:
    """The session is found behind them, however long its row is, as an import of the file finds it."""
    row = '\n \r\n{"type":"session","prompt":"%s","id":"y"}\n' % ("x" * 9_000)
    (tmp_path / "2026_y.jsonl").write_text(row)
    assert [file.session_id for file in discover(tmp_path)] == ["y"]


def test_rows_are_recognised_by_their_fields() -> None:
    """This covers a first row and entries with a parent or message, but not rows of other agents."""
    assert match_score({"type": "session", "id": "a", "timestamp": "t"}) == 2
    assert match_score({"type": "message", "message": {"role": "user"}}) == 2
    assert match_score({"type": "compaction", "parentId": None}) == 2
    assert match_score({"type": "message", "role": "user"}) == match_score({"type": "user", "uuid": "u"}) == 0
