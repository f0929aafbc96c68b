"""AppendBatch: an append that is prepared but not yet written."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from tests.webapp.building import call, conversation, entries, entry, followed, result, said, user
from tests.webapp.store.queries import queries
from webapp.agents.claude_code.unwritten import WORDS
from webapp.agents.records import Usage
from webapp.app import App
from webapp.services.ingest.append_batch import AppendBatch
from webapp.services.session.session import Session


def ms_of(at: datetime) -> int:
    """Return a time in milliseconds, for a clock that stands still."""
    return round(at.timestamp() * 1000)


class TestAppendBatch:
    """A batch of records to append."""

    def test_changes_nothing_before_it_is_written(self, app: App) -> None:
        """A batch that is never written leaves no trace."""
        followed(app, user("go"))
        before = list(app.store.dump.records(app.store.sessions.get("s")))
        AppendBatch(Session.load(app.environment, "s")).add(entries(*conversation(2), start=5)).close_all()
        assert list(app.store.dump.records(app.store.sessions.get("s"))) == before

    def test_gives_the_same_log_for_any_batch_size(self, app: App) -> None:
        """Ids, messages, contexts, totals, samples and usage do not depend on the size of batches."""
        calls = [
            entry(n, call(f"c{n}"), group="h", usage=Usage(900, output), call_key="h")
            for n, output in ((92, 92), (94, 94), (96, 30))
        ]
        records = [
            *entries(*conversation(3)),
            entry(90, said("a"), group="g"),
            entry(91, said("b"), group="g"),
            calls[0],
            # Agents write a result before the next call of the answer.
            entry(93, result("c92", "done " * 40)),
            calls[1],
            entry(95, result("c94", "done " * 40)),
            calls[2],
        ]
        for session, size in (("one", 100), ("many", 1), ("some", 5)):
            app.ingest.ensure(session, "claude-code")
            for start in range(0, len(records), size):
                app.ingest.append_records(session, records[start : start + size])
        kinds = ("entries", "messages", "context_items", "totals", "samples")
        dumps = [
            [r for r in app.store.dump.records(app.store.sessions.get(s)) if r["type"] in kinds]
            for s in ("one", "many", "some")
        ]
        assert dumps[0] == dumps[1] == dumps[2]
        assert any(r["type"] == "samples" for r in dumps[0])
        used = [app.store.usage.calls(app.store.sessions.get(s).key) for s in ("one", "many", "some")]
        assert [one._replace(seq=0) for one in used[0]] == [one._replace(seq=0) for one in used[1]]
        assert [(one.call_key, one.output_tokens) for one in used[2]] == [("h", 94)]
        assert [point.number for point in app.timelines.of("one").points] == [*range(1, 17)]

    def test_is_no_activity_yet_to_come(self, app: App) -> None:
        """A session that was appended to before the clock was set back is active when it is appended to again."""
        past, to_come = (datetime(year, 1, 1, tzinfo=UTC) for year in (2026, 2040))
        app.ingest.ensure("s", "claude-code")
        shown = []
        for n, now in enumerate((to_come, past)):
            app.environment.clock = partial(ms_of, now)
            app.ingest.append_records("s", [replace(entry(n + 1, user(f"go {n}")), at=now)])
            shown.append(app.sessions.get("s").last_activity)
        assert shown == ["2040-01-01T00:00:00.000Z", "2026-01-01T00:00:00.000Z"]

    def test_excludes_unsent_reasoning_from_the_total(self, app: App) -> None:  # X11
        """Reasoning that is not sent again would overstate the next call."""
        app.ingest.ensure("s", "gemini-cli")
        thought = Usage(12_000, 1_500, reasoning_tokens=1_400, unsent_tokens=1_400)
        answer = entry(2, said("Four."), usage=thought, call_key="a")
        app.ingest.append_records("s", [entry(1, user("How many?")), answer])
        agent = app.sessions.get("s").agent
        assert agent is not None
        assert (agent.tokens, agent.certainty) == (12_100, "exact")

    def test_reads_as_many_rows_for_a_long_session(self, app: App) -> None:
        """The number of rows read by an append does not grow with the session."""
        touched = []
        for turns in (2, 60):
            session = followed(app, *conversation(turns), session_id=f"s{turns}")
            with queries(app.store) as made:
                app.ingest.append_records(session, [entry(999, user("more"))])
            touched.append(sum(query.rows for query in made))
        assert touched[0] == touched[1]

    def test_titles_a_session_by_its_first_request(self, app: App) -> None:
        """Later requests do not change the title."""
        followed(app, said("hello"), user("Fix the parser, please"), user("and the lexer"))
        assert app.sessions.get("s").title == "Fix the parser, please"


class TestUnwrittenReminder:
    """The reminder of the task list, which the agent sends after the tenth row of answers."""

    def test_is_added_to_the_estimate_of_its_call(self, app: App) -> None:  # X11
        """The reminder counts in the estimate of its call and in the gauge before it, and in no other call."""
        app.ingest.ensure("s", "claude-code", model="claude-opus-4-6")
        size, said_before = 20_000, []
        for n in range(12):
            size += 100
            key, at = f"c{n}", 10 * n
            records = [
                entry(at, call(f"call-{n}"), usage=Usage(size, 50), call_key=key, group=key),
                entry(at + 1, result(f"call-{n}", "done")),
            ]
            app.ingest.append_records("s", records)
            said_before.append(app.sessions.get("s").agent.tokens - size)
        calls = app.store.usage.calls(app.store.sessions.get("s").key)
        assert said_before[9] - said_before[8] == round(1.15 * WORDS)
        assert said_before[10] == said_before[8]
        assert (calls[10].estimated or 0) - calls[10].input_tokens == said_before[9] - 100
