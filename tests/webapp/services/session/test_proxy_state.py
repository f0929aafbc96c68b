"""The state of a session whose calls go through the proxy."""

from __future__ import annotations

from pathlib import Path

import pytest

from webapp.agents.hook_runtime import hints
from webapp.services.session.proxy_state import PROXY, ProxyState, sends_older_edits, sends_pruned


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the kinds of the files that are read from here on."""
    read, kinds = hints.read, list[str]()

    def reading(session: str, kind: str, within: str | None = None) -> dict[str, object]:
        kinds.append(kind)
        return read(session, kind, within)

    monkeypatch.setattr(hints, "read", reading)
    Path(hints.proxy_folder()).mkdir(parents=True, exist_ok=True)
    return kinds


def test_reads_a_script_once_for_each_time_it_is_written(reads: list[str]) -> None:
    """Each append asks, and the file, which also has the scripts of other branches, can be megabytes long."""
    state, pruned = ProxyState(name="proxy-once", prunes=True), {"k": {"drop": True}}
    assert sends_pruned(state) is False
    for edits in ({}, pruned):
        hints.write(
            state.name, hints.ACTIVE, {"version": "v", "edits": edits, "before": []}, hints.proxy_folder()
        )
        assert [sends_pruned(state), sends_pruned(state)] == [bool(edits)] * 2
    assert len(reads) == 2


def test_compares_scripts_without_reading_them_again(reads: list[str]) -> None:
    """Each append with usage asks while a session is sent pruned."""
    folder = hints.proxy_folder()

    def write(kind: str, version: str) -> None:
        hints.write("proxy-two", kind, {"version": version, "edits": {"k": {"drop": True}}}, folder)

    def is_older() -> bool:
        return sends_older_edits(PROXY, "proxy-two", ProxyState())

    write(hints.EDITS, "two")
    assert not is_older()  # somebody emptied the folder: nothing says with which edits calls are sent
    write(hints.ACTIVE, "one")
    assert [is_older(), is_older()] == [True, True]
    write(hints.ACTIVE, "two")
    assert [is_older(), is_older()] == [False, False]
    assert reads == [hints.EDITS, hints.ACTIVE, hints.ACTIVE]
