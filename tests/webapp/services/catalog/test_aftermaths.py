"""The aftermath of compactions, clearings, prunes and resumes, as it is counted, stored and summed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from scoring.learning import STEPS
from scoring.messages import Message
from tests.browser.writing import ClaudeFolder
from tests.waiting import until
from tests.webapp.building import START, call, entry, result, user
from webapp.agents.records import Cleared, Compaction, Entry
from webapp.app import App
from webapp.bodies import PruneBody
from webapp.config import Config
from webapp.services.catalog import aftermaths
from webapp.services.catalog.answers import EventAftermath, TimelineChange
from webapp.services.session.session import Session
from webapp.store.aftermaths import BASELINE, AftermathRow
from webapp.wiring import build

RULE = "Please keep every public name as it is, and write the tests before the code."


class Log:
    """A followed session that grows step by step; each step has ids and a time of its own."""

    def __init__(self, app: App, session: str = "s") -> None:
        self.app, self.session, self._numbers = app, session, count()
        app.ingest.ensure(session, "claude-code", cwd="/home/me/app")

    def add(self, *messages: Message) -> None:
        """Append messages."""
        self.app.ingest.append_records(self.session, [entry(next(self._numbers), one) for one in messages])

    def step(self, name: str, arguments: str, output: str = "done") -> None:
        """A call and its output."""
        made = f"call-{next(self._numbers)}"
        self.add(call(made, name, arguments), result(made, output))

    def read(self, path: str) -> None:
        """A step that reads a file."""
        self.step("Read", f'{{"file_path": "{path}"}}', "the text")

    def work(self, steps: int) -> None:
        """Steps that each do something new."""
        for _ in range(steps):
            self.step("Bash", f'{{"command": "make part-{next(self._numbers)}"}}')

    def compact(self, *replacement: Entry) -> None:
        """The agent compacts its context."""
        n = next(self._numbers)
        at = START + timedelta(seconds=n)
        new = tuple(Entry(one.message, one.source_id, at=at) for one in replacement)
        self.app.ingest.append_records(self.session, [Compaction(at, "auto", None, f"c-{n}", new or None)])

    def outcome(self, kind: str = "compaction") -> EventAftermath | None:
        """The aftermath of the only event of a kind, as the timeline has it after another count."""
        self.app.aftermaths.count(self.session)
        [change] = [one for one in self.changes() if one.kind == kind]
        return change.aftermath

    def changes(self) -> list[TimelineChange]:
        """The changes on the timeline."""
        return self.app.timelines.of(self.session).changes

    def rows(self) -> list[AftermathRow]:
        """The stored rows."""
        return self.app.store.aftermaths.of(self.app.store.sessions.get(self.session).key)


@pytest.fixture
def log(app: App) -> Log:
    """A session in which one file was read."""
    made = Log(app)
    made.add(user(RULE))
    made.read("src/a.py")
    return made


class TestACompaction:
    """An event that the agent records."""

    def test_is_followed_by_what_it_made_the_agent_do_again(self, log: Log) -> None:  # X25
        """The file that was read before, in another spelling, and the rule that the user gave again."""
        log.compact()
        log.add(user(f"As I said: {RULE}"))
        log.read("/home/me/app/src/a.py")
        log.work(1)
        found = log.outcome()
        assert found is not None
        assert (found.files, found.commands, found.errors, found.said) == (1, 0, 0, 1)
        assert found.tokens
        assert (found.seen, found.calls, found.complete) == (True, 2, False)

    def test_does_not_count_the_messages_of_its_new_context(self, log: Log) -> None:  # X25
        """The agent copies the user's messages into it; nobody said them again."""
        log.compact(entry(900, user(RULE)))
        log.work(1)
        found = log.outcome()
        assert found is not None
        assert (found.said, found.tokens) == (0, 0)

    def test_is_nothing_before_the_next_call(self, log: Log) -> None:  # X25
        """There was none in which anything could be done again."""
        log.compact()
        assert log.outcome() is None

    def test_is_compared_with_other_calls_of_the_session(self, log: Log) -> None:  # X25
        """A baseline window in which a file was read twice, before the event."""
        log.work(STEPS)
        log.read("src/a.py")
        log.work(STEPS)
        log.compact()
        log.work(STEPS + 1)
        assert log.outcome() is not None
        line = log.app.timelines.of("s")
        assert line.elsewhere is not None
        assert (line.elsewhere.windows, line.elsewhere.files, line.window_calls) == (1, 1.0, STEPS)

    def test_has_nothing_to_compare_with_in_a_short_session(self, log: Log) -> None:  # X25
        """No zero is made up."""
        log.compact()
        log.work(STEPS + 1)
        log.outcome()
        assert log.app.timelines.of("s").elsewhere is None
        totals = log.app.savings.all().aftermath
        assert totals is not None
        assert (totals.events.windows, totals.compared, totals.elsewhere) == (1, None, None)


class TestAClearing:
    """Outputs that the agent removed."""

    def test_is_an_event(self, log: Log) -> None:  # X25
        """The cleared file is read once more."""
        records = [Cleared(("call-1",), 900, "cleared", START + timedelta(seconds=50))]
        log.app.ingest.append_records("s", records)
        log.read("src/a.py")
        found = log.outcome("clearing")
        assert found is not None
        assert found.files == 1


class TestAPrune:
    """A prune of ours, which the agent sees only if its calls are sent pruned."""

    @staticmethod
    def prune(log: Log) -> None:
        """Record a prune behind the last message."""
        log.app.prunes.apply("s", PruneBody(max_tokens=1_000))

    @staticmethod
    def send_pruned(app: App) -> None:
        """Note that the last call was sent with our edits."""
        with app.store.write():
            session = Session.load(app.environment, "s")
            session.state.proxy.applied = True
            session.save()

    @pytest.fixture
    def pruned(self, log: Log) -> Log:
        """A followed session with a prune."""
        for n in range(30):
            log.step("Bash", f'{{"command": "cat part-{n}.log"}}', f"line {n} of it " * 200)
        self.prune(log)
        return log

    def test_that_the_agent_did_not_see_has_no_aftermath(self, pruned: Log) -> None:  # X25
        """It says so instead, once its window has passed."""
        pruned.read("src/a.py")
        assert pruned.outcome("prune") is None
        pruned.work(STEPS + 1)
        found = pruned.outcome("prune")
        assert found is not None
        assert (found.seen, found.files, found.calls) == (False, 0, 0)
        assert pruned.app.savings.all().aftermath is None

    def test_that_was_sent_is_an_event(self, pruned: Log) -> None:  # X25
        """Its file is read again."""
        self.send_pruned(pruned.app)
        pruned.read("src/a.py")
        found = pruned.outcome("prune")
        assert found is not None
        assert (found.seen, found.files) == (True, 1)

    def test_stays_unseen_where_pruning_is_switched_on_later(self, pruned: Log) -> None:  # X25
        """The agent did without nothing then."""
        pruned.work(STEPS + 2)
        pruned.outcome("prune")
        self.send_pruned(pruned.app)
        found = pruned.outcome("prune")
        assert found is not None
        assert not found.seen

    def test_ends_with_its_undo(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:  # X25
        """A later read misses nothing; a managed session sends what we prune."""
        ticks = count(1_800_000_000_000, 1_000)
        monkeypatch.setattr(app.environment, "clock", lambda: next(ticks))
        session = app.new_sessions.create(id="s", model="gpt-5").id

        def step(n: int, path: str) -> None:
            function = {"name": "Read", "arguments": f'{{"path": "{path}"}}'}
            made = {"id": f"c{n}", "type": "function", "function": function}
            rows = [
                {"role": "assistant", "content": None, "tool_calls": [made]},
                {"role": "tool", "tool_call_id": f"c{n}", "content": f"line {n} " * 200},
            ]
            app.ingest.append_messages(session, rows)

        for n in range(30):
            step(n, f"{n}.py")
        app.prunes.apply(session, PruneBody(max_tokens=4_000))
        step(31, "1.py")
        app.operations.undo(session, None)
        step(32, "2.py")
        app.aftermaths.count(session)
        [found] = [one.aftermath for one in app.timelines.of(session).changes if one.kind == "prune"]
        assert found is not None
        assert (found.files, found.calls, found.complete) == (1, 1, True)


class TestAResume:
    """The first calls of a session that continues a pruned copy."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> ClaudeFolder:
        """The folder of the agent."""
        return ClaudeFolder(tmp_path / "claude")

    @pytest.fixture
    def local(self, tmp_path: Path, folder: ClaudeFolder) -> Iterator[App]:
        """An application whose agents' folders are below the test's."""
        variables = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(folder.root)}
        made = build(Config(db=tmp_path / "c.db", tokenizer=False, follow=False, env=variables))
        yield made
        made.close()

    def test_is_an_event_against_the_log_of_its_origin(
        self, local: App, folder: ClaudeFolder, tmp_path: Path
    ) -> None:  # X25
        """The file was read in the origin, and its output was pruned from the copy."""
        origin = folder.transcript(cwd=str(tmp_path))
        origin.user("Fix the login race")
        for n in range(30):
            origin.call(
                "Read", {"file_path": f"src/{n}.py"}, "a line of it " * 900, tokens=20_000 + 1_000 * n
            )
        [read] = local.importing.import_file(origin.path.name, origin.path.read_bytes(), place=origin.path)
        made = local.resuming.resume(read.session_id, prune=True, max_tokens=35_000)
        path = Path(made.path)
        local.importing.import_file(path.name, path.read_bytes(), place=path)
        assert not local.aftermaths.count(made.session_id) or self.outcome(local, made.session_id) is None
        after = START.replace(year=2100)
        steps = [call("again", "Read", '{"file_path": "src/1.py"}'), result("again", "a line of it")]
        records = [Entry(one, f"new-{n}", at=after + timedelta(seconds=n)) for n, one in enumerate(steps)]
        local.ingest.append_records(made.session_id, records)
        local.aftermaths.count(made.session_id)
        found = self.outcome(local, made.session_id)
        assert found is not None
        assert (found.files, found.calls, found.complete) == (1, 1, False)

    @staticmethod
    def outcome(app: App, session: str) -> EventAftermath | None:
        """The aftermath of the resume, which the timeline marks."""
        [change] = [one for one in app.timelines.of(session).changes if one.kind == "resume"]
        assert change.before > change.after
        return change.aftermath


class TestStoredCounts:
    """Complete windows are counted once, and summed without a look at any log."""

    @pytest.fixture
    def complete(self, log: Log) -> Log:
        """A session with a complete window and a baseline."""
        log.work(4 * STEPS)
        log.compact()
        log.read("src/a.py")
        log.work(STEPS)
        log.outcome()
        return log

    def test_do_not_change_any_more(self, complete: Log, monkeypatch: pytest.MonkeyPatch) -> None:  # X25
        """The log is not read again."""
        before = complete.rows()
        complete.work(3)
        monkeypatch.setattr(complete.app.store.log, "rows_of", None)
        assert not complete.app.aftermaths.count("s")
        assert complete.rows() == before

    def test_are_not_replaced_by_a_count_that_was_late(
        self, complete: Log, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # X25
        """A thread that began with a shorter log writes after the one that saw the end of the window."""
        before = complete.rows()
        late = [row._replace(steps=1, files=0, complete=False) for row in before]
        monkeypatch.setattr(aftermaths, "_is_due", lambda *_: True)
        monkeypatch.setattr(aftermaths, "counted_rows", lambda *_: late)
        complete.app.aftermaths.count("s")
        assert complete.rows() == before

    def test_are_summed_beside_the_same_length_elsewhere(self, complete: Log) -> None:  # X25
        """A window that ended early is compared with as many calls."""
        complete.compact()
        complete.read("src/a.py")
        complete.compact()
        complete.work(STEPS + 1)
        complete.app.aftermaths.count("s")
        totals = complete.app.savings.all().aftermath
        assert totals is not None
        assert [(one.kind, one.events) for one in totals.kinds] == [("compaction", 3)]
        assert totals.compared == totals.events
        assert totals.events.files == pytest.approx(2 / 3, abs=0.01)
        assert totals.elsewhere is not None
        assert totals.elsewhere.files == 0

    def test_travel_with_an_export(self, complete: Log) -> None:  # X25 S1
        """An import has them, whether or not it could count them again."""
        before = complete.rows()
        exported = b"".join(complete.app.exporting.export("s")[2])
        complete.app.sessions.delete("s")
        assert complete.app.savings.all().aftermath is None
        complete.app.importing.import_file("s.jsonl", exported)
        assert complete.rows() == before
        assert list(complete.app.verify()) == []

    def test_are_removed_with_an_operation_that_did_not_take_place(self, complete: Log) -> None:  # X25
        """A clearing is taken back where its call's usage is corrected."""
        key = complete.app.store.sessions.get("s").key
        with complete.app.store.write():
            complete.app.store.aftermaths.put(key, [AftermathRow("clearing", 9, 1, 3)])
        complete.compact()
        complete.work(1)
        complete.app.aftermaths.count("s")
        assert [row.event for row in complete.rows() if row.operation == 9] == []

    def test_are_none_of_an_event_with_nothing_before_it(self, app: App) -> None:  # X25
        """There is nothing to do again."""
        log = Log(app)
        log.compact()
        log.work(2)
        assert log.outcome() is None


class TestInTheBackground:
    """A server counts by itself."""

    def test_counts_what_was_never_counted_and_what_changes(self, log: Log) -> None:  # X25
        """First what an import left, then each session that grows."""
        log.compact()
        log.work(1)
        log.app.aftermaths.start()
        until(lambda: len(log.rows()) == 2)
        assert {row.event for row in log.rows()} == {BASELINE, "compaction"}
        other = Log(log.app, "other")
        other.add(user(RULE))
        other.compact()
        other.work(1)
        until(lambda: bool(other.rows()))

    def test_looks_once_at_a_session_without_events(self, app: App) -> None:  # X25
        """A pinned message is an operation, and no event."""
        log = Log(app)
        log.add(user(RULE))
        [first] = app.messages.page("s").messages
        app.by_hand.pin("s", first.id)
        assert app.store.aftermaths.uncounted() == ["s"]
        app.aftermaths.count("s")
        assert app.store.aftermaths.uncounted() == []
        assert app.savings.all().aftermath is None
