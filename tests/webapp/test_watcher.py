"""The watcher: it reads changed files, works off the backlog, and survives a broken file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from tests.waiting import PATIENCE, until
from tests.webapp.services.ingest.followed_file import NAME, Place, row
from webapp import events, watcher
from webapp.agents.reading.readers import CHUNK_RECORDS
from webapp.agents.records import TranscriptFile
from webapp.app import App
from webapp.errors import BusyStore
from webapp.events import MessagesAppended, ProblemReported
from webapp.watcher import Watcher


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A home with an application that follows."""
    made = Place(tmp_path)
    yield made
    made.app.close()


def when(app: App, kind: type, count: int = 1) -> Event:
    """Is set at the n-th event of a kind."""
    done, seen = Event(), list[Any]()

    def listen(event: events.Event) -> None:
        if isinstance(event, kind):
            seen.append(event)
            if len(seen) >= count:
                done.set()

    app.bus.subscribe(listen)
    return done


class TestWatcher:
    """Starts, follows, stops."""

    def test_brings_in_what_is_there_and_what_comes(self, place: Place) -> None:  # X12
        """It reads an existing file, a line that is appended to it, and a new file."""
        place.write(row(0))
        place.app.watcher.start()
        until(lambda: place.texts() == ["hello 0"])
        place.write(row(1))
        until(lambda: place.texts() == ["hello 0", "hello 1"])
        other = NAME.replace("1", "9")
        place.file.with_name(f"{other}.jsonl").write_bytes(row(0, "other"))
        until(lambda: len(place.texts(other)) == 1)

    def test_reads_a_session_in_use_before_files_that_arrived(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Hundreds of transcripts that appear at once, as of a folder that is mounted late, do not delay it."""
        place.write(row(0))
        following, looked = place.app.watcher.following, list[Path]()
        following.discover()
        late = [place.file.with_name(f"{NAME[:-3]}{n:03}.jsonl") for n in range(500, 600)]
        watcher = Watcher(following)
        watcher._changed([*late, place.file])

        def look_up(path: Path) -> list[TranscriptFile]:
            looked.append(path)
            watcher._stop.set()
            return []

        monkeypatch.setattr(following, "files_at", look_up)
        watcher._work_live()
        assert looked == [place.file]

    def test_goes_on_when_a_file_fails(self, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
        """The failure is reported, the other files come in."""
        place.write(row(0))
        bad = place.file.with_name(f"{NAME.replace('1', '8')}.jsonl")
        bad.write_bytes(row(0, "bad"))
        following = place.app.watcher.following
        real = following.read_new
        monkeypatch.setattr(
            following, "read_new", lambda file, stop: 1 / 0 if file.path == bad else real(file, stop)
        )
        reported = when(place.app, ProblemReported)
        place.app.watcher.start()
        assert reported.wait(PATIENCE)
        until(lambda: place.texts() == ["hello 0"])

    def test_reads_a_file_again_after_the_store_was_busy(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It does not have to change before."""
        monkeypatch.setattr(watcher, "RETRY_SECONDS", 0.0)
        place.write(row(0))
        following = place.app.watcher.following
        real, left = following.read_new, [BusyStore("another process is writing; try again")]

        def busy_once(file: Any, stop: Event) -> None:
            if left:
                raise left.pop()
            real(file, stop)

        monkeypatch.setattr(following, "read_new", busy_once)
        place.app.watcher.start()
        until(lambda: not left)
        until(lambda: place.texts() == ["hello 0"])

    def test_stops_and_starts_again(self, place: Place) -> None:
        """Stopping or starting twice is harmless; files changed in between are read."""
        watcher: Watcher = place.app.watcher
        watcher.start()
        watcher.start()
        threads = list(watcher._threads)
        watcher.stop()
        watcher.stop()
        assert not [thread.name for thread in threads if thread.is_alive()]
        place.write(row(0))
        watcher.start()
        until(lambda: place.texts() == ["hello 0"])

    def test_stops_in_the_middle_of_a_file(self, place: Place) -> None:
        """Its threads end when it stops, and the rest is read after the next start."""
        place.write(*map(row, range(3 * CHUNK_RECORDS)))
        came, go_on = Event(), Event()

        def hold(event: events.Event) -> None:
            if isinstance(event, MessagesAppended):
                came.set()
                go_on.wait(PATIENCE)

        place.app.bus.subscribe(hold)
        watcher: Watcher = place.app.watcher
        watcher.start()
        assert came.wait(PATIENCE)
        threads = list(watcher._threads)
        stopping = Thread(target=watcher.stop)
        stopping.start()
        assert watcher._stop.wait(PATIENCE)
        go_on.set()
        stopping.join()
        assert not [thread.name for thread in threads if thread.is_alive()]
        assert 0 < place.app.sessions.get(NAME).messages <= CHUNK_RECORDS
        watcher.start()
        until(lambda: place.app.sessions.get(NAME).messages == 3 * CHUNK_RECORDS)

    def test_follows_folders_that_appear_later(self, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
        """An agent that is installed while we run."""
        place.file.parent.rmdir()
        place.file.parent.parent.rmdir()
        following, scanned = place.app.watcher.following, Event()
        discover = following.discover

        def scan() -> list[TranscriptFile]:
            found = discover()
            scanned.set()
            return found

        monkeypatch.setattr(following, "discover", scan)
        place.app.watcher.start()
        assert scanned.wait(PATIENCE)
        place.file.parent.mkdir(parents=True)
        place.write(row(0))
        until(lambda: place.texts() == ["hello 0"])
