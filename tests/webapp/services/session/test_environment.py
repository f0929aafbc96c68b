"""The environment: limits, settings and locks of sessions."""

from __future__ import annotations

import gc
import threading
from dataclasses import replace
from typing import Any

import pytest

from scoring.models import ModelLimits
from scoring.settings import FORESIGHT, Settings
from tests.waiting import PATIENCE
from tests.webapp.building import managed
from webapp.app import App
from webapp.bodies import ModelRow
from webapp.config import Config
from webapp.errors import BusyStore, NotFound
from webapp.services.session.answers import SessionStrategy
from webapp.services.session.environment import CHECK_MS, WAITING
from webapp.services.session.limits import Window, limits_of
from webapp.services.session.session import Session
from webapp.wiring import build

MODEL = ModelLimits("m", 200_000)


def settings(**data: Any) -> Settings:
    """Return the defaults with some changes."""
    return Settings.from_dict(data, base=FORESIGHT)


class TestLimits:
    """Limits of a session; the target is the least of three numbers."""

    @pytest.mark.parametrize(
        ("model", "changes", "limit", "target"),
        [
            (MODEL, {}, 200_000, 160_000),
            (ModelLimits("m", 400_000, 272_000), {}, 272_000, 217_600),
            (MODEL, {"target_percent": 100, "response_reserve": 50_000}, 200_000, 150_000),
            (MODEL, {"cap_tokens": 90_000}, 200_000, 90_000),
        ],
    )
    def test_follow_from_model_and_settings(
        self, model: ModelLimits, changes: Any, limit: int, target: int
    ) -> None:  # X10
        """The numbers are a share of the input limit, the window less the reserve, and the user's cap."""
        found = limits_of(model, None, settings(**changes))
        assert (found.limit, found.target_tokens) == (limit, target)
        assert found.aim_tokens <= found.target_tokens

    def test_follow_the_window_that_the_agent_reports(self) -> None:  # X10
        """The agent's report replaces the model's limit, whether smaller or larger."""
        seen = Window(258_400, "reported", "")
        assert limits_of(MODEL, Window(1_000_000, "reported", ""), FORESIGHT).limit == 1_000_000
        assert limits_of(ModelLimits("m", 400_000, 272_000), seen, FORESIGHT).limit == 258_400

    def test_are_always_positive(self) -> None:
        """Limits are positive for any window."""
        tiny = limits_of(ModelLimits("m", 1_000), None, settings(response_reserve=100_000))
        assert tiny.target_tokens >= 1


class TestEnvironment:
    """Settings, models and locks."""

    def test_a_session_overrides_single_settings(self, app: App) -> None:
        """Other settings follow the common ones."""
        session = managed(app, settings={"fresh_tail": 3})
        app.settings.put({"aim_percent": 50, "fresh_tail": 9})
        row = app.store.sessions.get(session)
        assert (
            Session.of(app.environment, row).settings.fresh_tail,
            Session.of(app.environment, row).settings.aim_percent,
        ) == (3, 50)
        assert app.environment.settings().fresh_tail == 9

    def test_a_session_ignores_an_override_that_conflicts(self, app: App) -> None:
        """A conflicting override is ignored and noted; it applies again when the conflict ends."""
        session = managed(app, settings={"aim_percent": 70, "strategy": "score", "fresh_tail": 3})
        app.settings.put({"target_percent": 50, "aim_percent": 40})
        answer = app.sessions.get(session)
        found = Session.load(app.environment, session).settings
        assert (found.strategy, found.fresh_tail, found.aim_percent) == ("score", 3, 40)
        assert answer.strategy == SessionStrategy(name="score", own="score", setting="foresight")
        [note] = answer.notes
        assert note == "its own aim_percent is ignored: expected at most the target of 50 %, got 70"
        app.settings.put({"target_percent": 80})
        assert app.sessions.get(session).notes == []
        assert Session.load(app.environment, session).settings.aim_percent == 70

    def test_settings_of_another_version_are_read(self, app: App) -> None:
        """Unknown fields are ignored, and the others apply."""
        with app.store.write():
            app.store.small.put_setting("settings", {"from_the_future": 1})
        app.environment.forget()
        assert app.environment.settings() == FORESIGHT
        with app.store.write():
            app.store.small.put_setting("settings", {"from_the_future": 1, "fresh_tail": 3})
        app.environment.forget()
        assert app.environment.settings() == replace(FORESIGHT, fresh_tail=3)

    def test_settings_and_models_of_another_process_arrive(
        self, app: App, config: Config, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Changes and resets arrive after the next check."""
        now = app.environment.clock()
        monkeypatch.setattr(app.environment, "clock", lambda: now)
        assert app.environment.settings().target_percent == FORESIGHT.target_percent
        other = build(config)
        other.settings.put({"target_percent": 55})
        other.models.put("own", ModelRow(window=50_000))
        assert app.environment.settings().target_percent == FORESIGHT.target_percent
        now += CHECK_MS
        assert app.environment.settings().target_percent == 55
        assert app.environment.model("own").window == 50_000
        other.settings.reset()
        now += CHECK_MS
        assert app.environment.settings() == FORESIGHT
        other.close()

    def test_a_lock_is_shared_while_it_is_held(self, app: App) -> None:
        """A second caller gets the same lock."""
        held = app.environment.lock("s")
        assert app.environment.lock("s") is held
        assert app.environment.lock("t") is not held

    def test_keeps_no_lock_of_unknown_sessions(self, app: App) -> None:
        """Unknown ids leave nothing in memory."""
        for n in range(20):
            with pytest.raises(NotFound):
                app.ingest.append_messages(f"none-{n}", [])
        gc.collect()
        assert len(app.environment._locks) == 0


class TestAReadDuringAChange:
    """A read of the store that begins before a change and ends after it."""

    @pytest.mark.parametrize("table", ["fields", "model_overrides"])
    def test_is_not_kept(self, app: App, monkeypatch: pytest.MonkeyPatch, table: str) -> None:
        """Another thread saves settings and a model's limits meanwhile; the next read has them."""
        small, environment = app.store.small, app.environment
        read = getattr(small, table)

        def late(*given: str) -> Any:
            found = read(*given)
            monkeypatch.setattr(small, table, read)
            app.settings.put({"target_percent": 61})
            app.models.put("m", ModelRow(window=9_000))
            return found

        environment.settings()  # which also looks for changes by other processes
        environment.forget()
        monkeypatch.setattr(small, table, late)
        environment.settings()
        environment.overrides()
        assert environment.settings().target_percent == 61
        assert [row.name for row in environment.overrides()] == ["m"]

    def test_of_an_agents_windows_is_not_kept(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        """The window that an agent reports meanwhile is there at the next read."""
        small, environment = app.store.small, app.environment
        read = small.fields

        def late(name: str) -> Any:
            found = read(name)
            monkeypatch.setattr(small, "fields", read)
            with app.store.write():
                environment.remember_window("claude-code/m", 1_000_000, "reported", 1)
            return found

        environment.settings()
        monkeypatch.setattr(small, "fields", late)
        assert environment.windows() == {}
        assert list(environment.windows()) == ["claude-code/m"]

    def test_on_a_snapshot_from_before_the_change_is_not_kept(self, app: App) -> None:
        """A long request reads what was stored when it began, also when it reads after the change."""
        environment = app.environment
        begun, saved, read = threading.Event(), threading.Event(), threading.Event()

        def request() -> None:
            with app.store.read():
                app.store.sessions.all()
                begun.set()
                assert saved.wait(PATIENCE)
                environment.settings()
                environment.overrides()
            read.set()

        environment.settings()  # which also looks for changes by other processes
        threading.Thread(target=request).start()
        assert begun.wait(PATIENCE)
        app.settings.put({"target_percent": 61})
        app.models.put("m", ModelRow(window=9_000))
        environment.forget()
        saved.set()
        assert read.wait(PATIENCE)
        assert environment.settings().target_percent == 61
        assert [row.name for row in environment.overrides()] == ["m"]

    def test_before_the_commit_is_not_kept(self, app: App) -> None:
        """While a reported window is being stored, other threads read the one before."""
        environment = app.environment
        environment.windows()
        with app.store.write():
            environment.remember_window("claude-code/m", 1_000_000, "reported", 1)
            reader = threading.Thread(target=environment.windows)
            reader.start()
            reader.join(PATIENCE)
        assert list(environment.windows()) == ["claude-code/m"]

    def test_of_what_was_not_committed_is_not_kept(self, app: App) -> None:
        """A change that is taken back leaves nothing behind."""
        environment = app.environment
        environment.windows()

        def report_and_fail() -> None:
            with app.store.write():
                environment.remember_window("claude-code/m", 1_000_000, "reported", 1)
                assert list(environment.windows()) == ["claude-code/m"]
                app.sessions.get("none")

        with pytest.raises(NotFound):
            report_and_fail()
        assert environment.windows() == {}


class TestTheLockOfASession:
    """The lock of a session, which one thread holds and a few wait for."""

    def test_is_reentrant(self, app: App) -> None:
        """One change may be part of another."""
        with app.environment.lock("s"), app.environment.lock("s"):
            pass

    def test_limits_the_waiting_threads(self, app: App) -> None:
        """Each waiting request occupies a thread, so further ones are refused at once."""
        inside, free, refused = threading.Semaphore(0), threading.Event(), threading.Semaphore(0)

        def change() -> None:
            try:
                with app.environment.lock("s"):
                    inside.release()
                    assert free.wait(PATIENCE)
            except BusyStore:
                refused.release()

        threads = [threading.Thread(target=change) for _ in range(WAITING + 3)]
        for thread in threads:
            thread.start()
        assert inside.acquire(timeout=PATIENCE)
        assert [refused.acquire(timeout=PATIENCE) for _ in range(2)] == [True, True]
        with app.environment.lock("another"):
            free.set()
        for thread in threads:
            thread.join(PATIENCE)
        assert not refused.acquire(blocking=False)
