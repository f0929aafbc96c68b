"""The state of a session whose calls go through the proxy."""

from __future__ import annotations

from pathlib import Path

import pytest

from webapp.agents.hook_runtime import hints
from webapp.services.session.proxy_state import ProxyState, sends_pruned


def test_reads_a_script_once_for_each_time_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each append asks, and the file, which also has the scripts of other branches, can be megabytes long."""
    read, reads = hints.read, list[str]()

    def reading(session: str, kind: str, within: str | None = None) -> dict[str, object]:
        reads.append(session)
        return read(session, kind, within)

    monkeypatch.setattr(hints, "read", reading)
    Path(hints.proxy_folder()).mkdir(parents=True, exist_ok=True)
    state, pruned = ProxyState(name="proxy-once", prunes=True), {"k": {"drop": True}}
    assert sends_pruned(state) is False
    for edits in ({}, pruned):
        hints.write(state.name, hints.ACTIVE, {"edits": edits, "before": []}, hints.proxy_folder())
        assert [sends_pruned(state), sends_pruned(state)] == [bool(edits)] * 2
    assert len(reads) == 2
