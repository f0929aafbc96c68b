"""Histories kept in memory, so that a plan does not read what it read a second ago.

One view is the pruned view of one session at one version: its history and which message stands where. An append
extends it; anything else that changes the context drops it, and the next look gathers it from the store, feature
columns only. The least recently used go when there are too many messages in all.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

from scoring.bulk import no_collection
from scoring.history import Facts, Features, History, needs_content, with_content
from webapp.services.ingest.append_batch import AppendBatch
from webapp.services.session.replacements import features_with
from webapp.services.session.stored_messages import read_features, whole
from webapp.store import Store
from webapp.store.context import PRUNED
from webapp.store.sessions import SessionRow

# About 4 kB a message, most of it what it says: 250 MB.
MESSAGES_KEPT = 60_000
# Of so many sessions keyword ratings by other lists than the stored ones are kept, through prunes and undos.
RATED_KEPT = 8

# Lexicon -> message number and its characters -> rating. A message that has other words by now has other characters.
Ratings = dict[str, dict[tuple[int, int], float]]


@dataclass(slots=True)
class SessionHistory:
    """A history and its message numbers. Hold `lock` while planning or extending."""

    session: int
    version: int
    history: History = field(default_factory=History)
    nos: list[int] = field(default_factory=list)
    index: dict[int, int] = field(default_factory=dict)
    stand_ins: dict[int, str] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)
    memo: dict[object, object] = field(default_factory=dict)
    ratings: Ratings = field(default_factory=dict)

    def append(self, no: int, features: Features, pinned: bool = False, drop_first: bool = False) -> None:
        """Adds the next message."""
        self.index[no] = self.history.append(features, pinned=pinned, drop_first=drop_first)
        self.nos.append(no)

    def positions(self, nos: Iterable[int]) -> set[int]:
        """Where messages stand; those that are not in the view are left out."""
        return {self.index[no] for no in nos if no in self.index}


class Histories:
    """The views of all sessions, as many as fit."""

    def __init__(self, store: Store, messages_kept: int = MESSAGES_KEPT) -> None:
        self._store, self._kept = store, messages_kept
        self._histories: OrderedDict[int, SessionHistory] = OrderedDict()
        self._ratings: OrderedDict[int, Ratings] = OrderedDict()
        self._lock = threading.Lock()
        self._gathering = threading.Lock()

    def of(self, row: SessionRow) -> SessionHistory:
        """The view of a session at the version of `row`."""
        if (view := self.known(row)) is not None:
            return view
        with self._gathering:  # whoever waits here mostly waits for the very view
            if (view := self.known(row)) is not None:
                return view
            with no_collection():
                view = self._gather(row)
            self._put(view)
        return view

    def known(self, row: SessionRow) -> SessionHistory | None:
        """The view of a session at the version of `row` if it is in memory."""
        with self._lock:
            view = self._histories.get(row.key)
            if view is None or view.version != row.version:
                return None
            self._histories.move_to_end(row.key)
            return view

    def _put(self, view: SessionHistory) -> None:
        with self._lock:
            self._histories[view.session] = view
            self._histories.move_to_end(view.session)
            total = sum(len(v.nos) for v in self._histories.values())
            while total > self._kept and len(self._histories) > 1:
                _, gone = self._histories.popitem(last=False)
                total -= len(gone.nos)

    def _gather(self, row: SessionRow) -> SessionHistory:
        gathered = self._store.contexts.gather(row.key, PRUNED)
        view = SessionHistory(row.key, row.version)
        features = list(read_features(gathered.features))
        for i, text in gathered.stand_ins.items():
            features[i] = features_with(features[i], text)
            view.stand_ins[gathered.nos[i]] = text
        self._complete(row, gathered.nos, features)
        view.history = History.of_features(features)
        if self._store.contexts.totals(row.key)[PRUNED].get("summary", (0, 0))[1]:
            view.history.summarised = self._store.contexts.before_summary(row.key, PRUNED)
            view.history.summary_tokens = self._store.contexts.summary_tokens(row.key, PRUNED)
        view.nos = view.history.numbers = gathered.nos
        view.index = {no: i for i, no in enumerate(gathered.nos)}
        view.history.pinned.update(i for i, flag in enumerate(gathered.pinned) if flag)
        view.history.drop_first.update(i for i, flag in enumerate(gathered.drop_first) if flag)
        if "facts" in row.state:  # of the log: a session keeps its looks when messages leave its context
            view.history.facts = Facts.from_dict(row.state["facts"])
        view.ratings = self._ratings_of(row.key)
        return view

    def _ratings_of(self, session: int) -> Ratings:
        with self._lock:
            found = self._ratings.setdefault(session, {})
            self._ratings.move_to_end(session)
            while len(self._ratings) > RATED_KEPT:
                self._ratings.popitem(last=False)
            return found

    def _complete(self, row: SessionRow, nos: list[int], features: list[Features]) -> None:
        """Finds the contents of messages that came in before contents were kept, or under another version."""
        missing = [i for i, one in enumerate(features) if needs_content(one)]
        for start in range(0, len(missing), 200):
            some = missing[start : start + 200]
            found = self._store.log.rows_of(row.key, [nos[i] for i in some])
            for i in some:
                features[i] = with_content(features[i], whole(features[i].role, found[nos[i]]))

    def advance(self, draft: AppendBatch) -> None:
        """Takes a draft that was just written into the view, if there is one for the version before."""
        with self._lock:
            view = self._histories.get(draft.row.key)
        if view is None:
            return
        with view.lock:
            if view.version != draft.base_version or draft.changed:
                self.drop(draft.row.key)
                return
            for no, features in draft.fresh:
                view.append(no, features)
            view.history.facts = draft.carried.facts.copy()
            view.memo.clear()
            view.version = draft.row.version

    def drop(self, session: int) -> None:
        """Forgets a session's view."""
        with self._lock:
            self._histories.pop(session, None)

    def forget(self, session: int) -> None:
        """Forgets all that is kept of a session that is deleted."""
        with self._lock:
            self._histories.pop(session, None)
            self._ratings.pop(session, None)
