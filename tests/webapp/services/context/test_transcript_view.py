"""Transcripts that an agent can resume from, which contain exactly the pruned view."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from scoring.messages import Message
from scoring.summary import cut_message
from scoring.tokens import ESTIMATOR
from tests.shared import shared_data
from tests.webapp.services.transfer.resumable import sample_of
from webapp.agents.codex.items import SUMMARY_PREFIX
from webapp.app import App
from webapp.bodies import PlanBody, PruneBody
from webapp.config import Config
from webapp.services.context.pruned_view import view_items
from webapp.services.context.sent_order import as_sent
from webapp.services.session.answers import Session
from webapp.services.session.operation import ContextChange
from webapp.services.session.replacements import Replacement
from webapp.services.session.session import Session as LoadedSession
from webapp.store.context import PRUNED
from webapp.store.log import MessageRow
from webapp.store.operations import Facts
from webapp.store.sessions import SessionRow
from webapp.wiring import build

FILES = {
    "claude-code": "claude-code/projects/-src-deep-manifest/a7da*.jsonl",
    "codex": "codex/sessions/2025/11/17/*.jsonl",
}


@pytest.fixture(params=sorted(FILES))
def session(app: App, request: pytest.FixtureRequest) -> Session:
    """A pruned real session of each agent."""
    [path] = shared_data("transcripts").glob(FILES[request.param])
    session_id = app.importing.import_file(str(path), path.read_bytes())[0].session_id
    tokens = app.sessions.get(session_id).pruned.tokens
    app.prunes.apply(session_id, PruneBody(max_tokens=int(tokens * 0.7)))
    return app.sessions.get(session_id)


class Elsewhere:
    """Another store that imports the export."""

    def __init__(self, app: App, other: App) -> None:
        self.app, self.other = app, other
        self.regions: set[str] = set()

    def read(self, session: Session) -> list[Message]:
        """Return the messages of the session that an import of the export creates."""
        name, _, chunks = self.app.exporting.export(session.id, session.source)
        [imported] = self.other.importing.import_file(name, b"".join(chunks))
        assert imported.session_id != session.id
        assert (imported.skipped, imported.problems) == (0, [])
        row = self.other.store.sessions.get(imported.session_id)
        self.regions = {k for k, (_, n) in self.other.store.contexts.totals(row.key)[PRUNED].items() if n}
        return sent(self.other, row)


@pytest.fixture
def elsewhere(app: App, tmp_path: Path) -> Iterator[Elsewhere]:
    """A second store."""
    other = build(Config(db=tmp_path / "other.db", tokenizer=False, env={}))
    yield Elsewhere(app, other)
    other.close()


def sent(app: App, row: SessionRow) -> list[Message]:
    """Return the messages of the pruned view in the order in which they are sent."""
    return [one.message for one in as_sent(app.store, row.key, view_items(app.store, row.key))]


def view(app: App, session: Session) -> list[Message]:
    """Return the messages of the pruned view."""
    return sent(app, app.store.sessions.get(session.id))


def without_heading(text: str) -> str:
    """Return the text without the heading that Codex puts before a summary."""
    return text.removeprefix(f"{SUMMARY_PREFIX}\n")


@pytest.mark.parametrize(
    ("source", "word"),
    [("claude-code", "beds does"), ("codex", "the beds"), ("gemini-cli", "the beds"), ("pi", "hedge.")],
)
def test_a_row_with_half_a_character_is_kept(
    app: App, elsewhere: Elsewhere, source: str, word: str
) -> None:  # X13
    """Agents cut texts in the middle of a character; such a message is in the copy too, as it was read."""
    sample = sample_of(source)
    text = sample.read_bytes().replace(word.encode(), rb"\ud83d" + word.encode())
    [made] = app.importing.import_file(sample.name, text, place=sample)
    session = app.sessions.get(made.session_id)
    there, here = elsewhere.read(session), view(app, session)
    assert f"\ufffd{word}" in "".join(m.text for m in here)
    assert f"\ufffd{word}" in "".join(m.text for m in there)


class TestTranscript:
    """A transcript, which has a new session id."""

    def test_reads_back_as_the_pruned_view(
        self, app: App, session: Session, elsewhere: Elsewhere
    ) -> None:  # X13
        """The messages have the same roles and texts, in the same order."""
        there, here = elsewhere.read(session), view(app, session)
        assert [(m.role, m.text) for m in there] == [(m.role, m.text) for m in here]

    def test_reads_back_with_shortened_outputs(
        self, app: App, session: Session, elsewhere: Elsewhere
    ) -> None:  # X13, C3
        """The file has an output's replacement, and not the output."""
        rules = {"strategy": "tool_outputs_first", "tool_outputs_keep_turns": 0, "tool_outputs_keep_tokens": 0,
                 "tool_outputs_minimum_gain": 0, "fresh_tail": 0, "minimum_gain_percent": 0}  # fmt: skip
        tokens = app.sessions.get(session.id).pruned.tokens
        whole = {r.call_id: r.text for m in view(app, session) for r in m.results}
        plan = app.prunes.plan(session.id, PlanBody(max_tokens=int(tokens * 0.8), settings=rules))
        app.prunes.apply(session.id, PruneBody(plan_id=plan.plan_id))
        here = view(app, session)
        short = {r.call_id: r.text for m in here for r in m.results if whole[r.call_id] != r.text}
        assert short
        there = elsewhere.read(session)
        assert [m.text for m in there] == [m.text for m in here]
        assert {r.call_id: r.text for m in there for r in m.results if r.call_id in short} == short

    @pytest.mark.parametrize("role", ["user", "tool"])
    def test_reads_back_a_cut_message(
        self, app: App, session: Session, elsewhere: Elsewhere, role: str
    ) -> None:  # X13, S5
        """A message with changed parts in the context has the same parts in the file."""
        row = app.store.sessions.get(session.id)
        places = view_items(app.store, row.key)
        place = max((p for p in places if p.message.role == role), key=lambda p: len(p.message.text))
        cut = cut_message(place.message, 20, ESTIMATOR)
        text = Replacement(20, {}, cut.parts).text
        assert isinstance(place.row, MessageRow)
        with app.store.write():
            change = ContextChange(LoadedSession.of(app.environment, row), now=0)
            change.replace([place.row], {place.row.no: text}, {})
            change.record("prune", "emergency", "emergency", 1, Facts())
        there, here = elsewhere.read(session), view(app, session)
        assert cut.text != place.message.text
        assert [(m.role, m.text, m.calls) for m in there] == [(m.role, m.text, m.calls) for m in here]
        assert cut.text in [m.text for m in there]

    def test_contains_a_summary_at_its_place(
        self, app: App, session: Session, elsewhere: Elsewhere
    ) -> None:  # X13, C2
        """The summary is written as the agent's own, in place of the messages it covers."""
        app.summarising.summarise(session.id)
        there, here = elsewhere.read(session), view(app, session)
        assert [without_heading(m.text) for m in there] == [m.text for m in here]
        [at] = [n for n, m in enumerate(there) if "[Summary: depth 1" in m.text]
        assert there[at].role == "user"
        assert "summary" in elsewhere.regions

    def test_contains_a_summary_after_a_pinned_message(
        self, app: App, session: Session, elsewhere: Elsewhere
    ) -> None:  # X13, C2
        """A pinned message before a summary stays in the file."""
        row = app.store.sessions.get(session.id)
        first = app.store.contexts.items(row.key, PRUNED)[0].ref
        app.by_hand.pin(session.id, app.store.log.messages(row.key, [first])[first].mid)
        app.summarising.summarise(session.id)
        there, here = elsewhere.read(session), view(app, session)
        assert [without_heading(m.text) for m in there] == [m.text for m in here]
        assert "[Summary" not in there[0].text

    def test_does_not_name_its_original(self, app: App, session: Session) -> None:
        """No row has the id of the session it was made from, and rows are linked to each other."""
        _, _, chunks = app.exporting.export(session.id, session.source)
        rows = [orjson.loads(line) for line in b"".join(chunks).splitlines()]
        assert all(row.get("sessionId") != session.id for row in rows)
        parents = [row.get("parentUuid") for row in rows if "parentUuid" in row]
        uuids = [row["uuid"] for row in rows if "uuid" in row]
        assert parents == [None, *uuids[:-1]][: len(parents)]
