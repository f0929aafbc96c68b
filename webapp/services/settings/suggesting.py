"""Suggests weights from what the user's own sessions needed later (X15); `scoring` searches and judges.

It reads the log and the operations that people undid, pinned, restored or dropped. It changes nothing: the settings
service saves. One search runs at a time, because it keeps a core busy for some seconds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence

from scoring.history import (
    Features,
    TaskCounts,
    rated,
    settings_for,
    task_type_of,
    with_content,
)
from scoring.learning import (
    AHEAD,
    LEAST_BEFORE,
    LONGEST,
    LONGEST_JUDGED,
    Case,
    case_at,
    case_of_judgements,
    cuts_of,
    suggest,
)
from scoring.settings import STRATEGIES, Settings, lexicon_of
from webapp.errors import Conflict
from webapp.services.session.environment import Environment
from webapp.services.session.stored_messages import read_features, whole
from webapp.services.session.sub_agents import root_of
from webapp.services.settings.answers import Suggestion
from webapp.store.log import MessageRow
from webapp.store.operations import OperationRow
from webapp.store.sessions import SessionRow

SESSIONS = 40  # the newest are read; older ones say less about current work
CUTS = 4  # contexts looked at in one session
READ = LONGEST + 10 * AHEAD
# True if an operation that is not undone shows that the messages it changed in this way are needed.
JUDGEMENTS = {("pin", "pinned"): True, ("restore", "in"): True, ("drop", "out"): False}
TAKEN_BACK = ("prune", "drop")


class Suggesting:
    """Suggests weights."""

    def __init__(self, environment: Environment) -> None:
        self._environment, self._store = environment, environment.store
        self._running = threading.Lock()

    def suggest(
        self, sessions: Sequence[str] = (), progress: Callable[[int, int], None] | None = None
    ) -> Suggestion:
        """Return weights that would have kept more in these sessions (by default the newest), or why there are none.

        `progress` is called with the number of trials done and their maximum. It takes ten to twenty seconds
        at most on a small machine.

        Raises:
            NotFound: there is no such session.
            Conflict: another search is running.
        """
        if not self._running.acquire(blocking=False):
            raise Conflict("a search for weights is running already; try again when it is done")
        try:
            settings = self._environment.settings()
            found = suggest(self._cases(sessions, settings), settings, progress)
        finally:
            self._running.release()
        return Suggestion(
            weights=found.weights,
            present=dict(settings.weights),
            before=_rounded(found.before),
            after=_rounded(found.after),
            held_out=found.held_out_sessions,
            sessions=found.sessions,
            cases=found.cases,
            reason=found.reason,
        )

    def _cases(self, named: Sequence[str], settings: Settings) -> list[Case]:
        with self._store.read():
            everything = self._store.sessions.all()
            chosen = [self._store.sessions.get(name) for name in dict.fromkeys(named)]
        parents = {row.id: row.parent_id for row in everything}
        if not chosen:
            chosen = [row for row in everything if row.next_no > LEAST_BEFORE and row.source != "demo"][
                :SESSIONS
            ]
        cases: list[Case] = []
        for row in chosen:
            cases += self._cases_of(row, root_of(row.id, parents), settings)
        return cases

    def _cases_of(self, row: SessionRow, root: str, settings: Settings) -> list[Case]:
        """Return the cases of one session; a sub-agent's count as those of the session it works for (`root`).

        A session whose task type has its own weights has no cases: the common weights do not affect it.
        """
        counts = TaskCounts.from_dict(row.state.get("facts"))
        if settings.task_types.of(task_type_of(settings, counts)).weights is not None:
            return []
        settings = settings_for(settings, counts)
        with self._store.read():
            operations = self._store.operations.all(row.key)
            rewound = {no for o in operations if o.kind == "rewind" for no in self._changed(row, o, "out")}
            rows = _said(self._store.log.messages(row.key, range(READ)).values(), rewound)
            features = self._features(row, rows, settings)
        found = [case_at(root, features, cut) for cut in cuts_of(features, CUTS)]
        found.append(self._judged(row, root, operations, settings))
        cases = [case for case in found if case is not None]
        for case in cases:  # the task type of the session, not of a part of it
            case.history.task_counts = counts
        return cases

    def _judged(
        self, row: SessionRow, root: str, operations: Sequence[OperationRow], settings: Settings
    ) -> Case | None:
        """Return the case made of people's choices on single messages, the latest on each."""
        needed: dict[int, bool] = {}
        last = 0
        for operation in sorted(operations, key=lambda o: (o.undone_at or o.at, o.n)):
            for no, wanted in self._judgements(row, operation):
                needed[no] = wanted
                last = max(last, operation.seq)
        if not needed:
            return None
        with self._store.read():
            newest = self._store.log.last_messages(row.key, row.next_no, LONGEST_JUDGED)
            rows = _said((one for one in newest if one.first_seq < last), ())
            features = self._features(row, rows, settings)
        asked_for = {i for i, one in enumerate(rows) if needed.get(one.no) is True}
        unwanted = {i for i, one in enumerate(rows) if needed.get(one.no) is False}
        return case_of_judgements(root, features, asked_for, unwanted)

    def _judgements(self, row: SessionRow, operation: OperationRow) -> list[tuple[int, bool]]:
        if operation.actor == "agent":
            return []
        if operation.undone_at is not None:
            back = operation.kind in TAKEN_BACK
            return [(no, True) for no in self._changed(row, operation, "out")] if back else []
        return [
            (no, wanted)
            for (kind, change), wanted in JUDGEMENTS.items()
            if kind == operation.kind
            for no in self._changed(row, operation, change)
        ]

    def _changed(self, row: SessionRow, operation: OperationRow, change: str) -> list[int]:
        return [i.no for i in self._store.operations.items(row.key, operation.n) if i.change == change]

    def _features(self, row: SessionRow, rows: Sequence[MessageRow], settings: Settings) -> list[Features]:
        """Return the features of these messages; texts are read only where a feature is missing or outdated."""
        features = list(read_features([one.features for one in rows]))
        lexicon = lexicon_of(settings.keywords)
        rates = STRATEGIES[settings.strategy].weighs_messages  # the keywords of the settings count only there
        stale = [
            i
            for i, one in enumerate(features)
            if one.content is None or (rates and one.lexicon != lexicon.digest)
        ]
        for start in range(0, len(stale), 200):
            some = stale[start : start + 200]
            entries = self._store.log.rows_of(row.key, [rows[i].no for i in some])
            for i in some:
                message = whole(features[i].role, entries[rows[i].no])
                features[i] = rated(with_content(features[i], message), message, lexicon)
        return features


def _said(rows: Iterable[MessageRow], rewound: Iterable[int]) -> list[MessageRow]:
    """Return the messages in log order, without our notices and what the agent removed."""
    gone = frozenset(rewound)
    return sorted(one for one in rows if one.kind != "notice" and one.no not in gone)


def _rounded(value: float | None) -> float | None:
    return round(value, 1) if value is not None else None
