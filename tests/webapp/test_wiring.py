"""Wiring: everything by its name, and everything stopped."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from webapp.config import Config
from webapp.errors import FullDisk, ReadOnlyStore, StoreError
from webapp.store import Store
from webapp.wiring import build, identity_of


class TestBuild:
    """The application without Flask."""

    def test_runs_nothing_by_itself(self, tmp_path: Path) -> None:
        """No thread, no scan, until something is started."""
        before = threading.active_count()
        app = build(Config(db=tmp_path / "a.db", tokenizer=False, env={"HOME": str(tmp_path)}))
        assert threading.active_count() == before
        assert app.sessions.list() == []
        app.close()

    def test_stops_what_runs(self, tmp_path: Path) -> None:
        """No thread is left after closing."""
        before = set(threading.enumerate())
        app = build(Config(db=tmp_path / "a.db", tokenizer=False, env={"HOME": str(tmp_path)}))
        app.watcher.start()
        app.demo.start()
        app.close()
        assert {t.name for t in threading.enumerate() if t not in before and t.is_alive()} == set()


class TestTheIdentity:
    """The name by which the workers of a store find each other."""

    def refuse_writes(self, store: Store, monkeypatch: pytest.MonkeyPatch, error: StoreError) -> None:
        """Let each write to the store fail."""

        @contextmanager
        def fail(_: str | None = None) -> Iterator[None]:
            raise error
            yield

        monkeypatch.setattr(store, "write", fail)

    def test_is_read_where_nothing_can_be_written(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Workers start and show what is there on a full disk, too."""
        with closing(Store(tmp_path / "a.db")) as store:
            name = identity_of(store)
            self.refuse_writes(store, monkeypatch, FullDisk("no room left"))
            assert identity_of(store) == name

    def test_is_any_for_a_read_only_store_without_one(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Its workers change nothing that others would have to know."""
        with closing(Store(tmp_path / "a.db")) as store:
            self.refuse_writes(store, monkeypatch, ReadOnlyStore("read-only"))
            assert identity_of(store)
