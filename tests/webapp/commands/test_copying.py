"""`coppice copy`, killed and started again."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.postgresql import Cluster
from tests.shared import ROOT
from tests.webapp.building import conversation, followed
from webapp.config import Config, Database
from webapp.errors import Conflict
from webapp.store import Store
from webapp.wiring import build

SESSIONS = 5


@pytest.fixture(params=["from a file", "from PostgreSQL"])
def places(request: pytest.FixtureRequest, tmp_path: Path, cluster: Cluster) -> Iterator[list[Database]]:
    """A store with sessions, and an empty one."""
    with cluster.database() as lent:
        found: list[Database] = [tmp_path / "file.db", lent]
        source, target = found if request.param == "from a file" else found[::-1]
        app = build(Config(db=source, follow=False, tokenizer=False, env={}))
        for n in range(SESSIONS):
            followed(app, *conversation(8), session_id=f"s{n}")
        app.close()
        yield [source, target]


def copying(source: Database, target: Database) -> subprocess.Popen[str]:
    """Start `coppice copy`."""
    names = [str(one) if isinstance(one, Path) else one.url for one in (source, target)]
    return subprocess.Popen(
        [sys.executable, "-m", "webapp", "copy", "--from", names[0], "--to", names[1]],
        cwd=ROOT, env={**os.environ, "PYTHONUNBUFFERED": "1"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True,
    )  # fmt: skip


class TestKilled:
    """A copy whose process is killed between two statements."""

    def test_continues_and_completes(self, places: list[Database]) -> None:
        """An incomplete copy is not served, the complete one is verified, and no password is printed."""
        source, target = places
        killed = copying(source, target)
        assert killed.stdout is not None
        assert "entries" in killed.stdout.readline()
        killed.kill()
        killed.communicate()
        with pytest.raises(Conflict, match="interrupted"):
            build(Config(db=target, follow=False, tokenizer=False, env={}))
        again = copying(source, target)
        said, _ = again.communicate()
        lines = said.splitlines()
        assert (again.returncode, lines[0]) == (0, "s0: was copied before"), said
        assert lines[-1].endswith(f"{SESSIONS} sessions, and both are sound.")
        assert "secret" not in said
        with closing(Store(source)) as here, closing(Store(target)) as there:
            assert here.sessions.everything() == there.sessions.everything()
            assert list(there.verify()) == []
