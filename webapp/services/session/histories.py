"""Histories: the messages of pruned views as columns, cached so that a plan does not read what was read a second ago.

One `SessionHistory` is the pruned view of one session at one version. An append extends it; any other change of the
context drops it, and the next use gathers it from the store, feature columns only. The least recently used are dropped
when they hold too many messages together.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

from scoring.history import Features, History, needs_content, with_content
from webapp.services.session.replacements import features_with
from webapp.services.session.session import Session
from webapp.services.session.stored_messages import read_features, whole
from webapp.store import Store
from webapp.store.context import PRUNED

# A message takes about 4 kB, most of it its content: 250 MB.
MESSAGES_KEPT = 60_000
# Keyword ratings by other lists than the stored ones are kept for so many sessions, through prunes and undos.
RATED_KEPT = 8

# Lexicon -> (message number, its characters) -> rating. A message whose words have changed has other characters.
Ratings = dict[str, dict[tuple[int, int], float]]


@dataclass(slots=True)
class SessionHistory:
    """The history of a pruned view with its message numbers. Hold `lock` while planning or extending it."""

    session: int
    version: int
    history: History = field(default_factory=History)
    nos: list[int] = field(default_factory=list)
    index: dict[int, int] = field(default_factory=dict)
    replacements: dict[int, str] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)
    memo: dict[object, object] = field(default_factory=dict)
    ratings: Ratings = field(default_factory=dict)

    def append(self, no: int, features: Features, pinned: bool = False, drop_first: bool = False) -> None:
        """Add the next message."""
        self.index[no] = self.history.append(features, pinned=pinned, drop_first=drop_first)
        self.nos.append(no)

    def positions(self, nos: Iterable[int]) -> set[int]:
        """Return the positions of messages by number; those that are not in the view are left out."""
        return {self.index[no] for no in nos if no in self.index}


class Histories:
    """The histories of all sessions, as many as fit."""

    def __init__(self, store: Store, messages_kept: int = MESSAGES_KEPT) -> None:
        self._store, self._kept = store, messages_kept
        self._histories: OrderedDict[int, SessionHistory] = OrderedDict()
        self._ratings: OrderedDict[int, Ratings] = OrderedDict()
        self._lock = threading.Lock()
        self._gathering = threading.Lock()

    def of(self, session: Session) -> SessionHistory:
        """Return the history of a session at its version."""
        if (known := self.known(session)) is not None:
            return known
        with self._gathering:  # a thread that waits here mostly waits for the same history
            if (known := self.known(session)) is not None:
                return known
            found = self._gather(session)
            self._put(found)
        return found

    def known(self, session: Session) -> SessionHistory | None:
        """Return the history of a session at its version if it is in memory."""
        with self._lock:
            found = self._histories.get(session.key)
            if found is None or found.version != session.version:
                return None
            self._histories.move_to_end(session.key)
            return found

    def advance(
        self, session: Session, base_version: int, fresh: Iterable[tuple[int, Features]], *, changed: bool
    ) -> None:
        """Extend a session's history by messages that were just appended to the version `base_version`.

        Where older messages `changed` as well, the history is dropped.
        """
        with self._lock:
            found = self._histories.get(session.key)
        if found is None:
            return
        with found.lock:
            if found.version != base_version or changed:
                self.drop(session.key)
                return
            for no, features in fresh:
                found.append(no, features)
            found.history.facts = session.state.facts.copy()
            found.memo.clear()
            found.version = session.version

    def drop(self, session: int) -> None:
        """Forget a session's history."""
        with self._lock:
            self._histories.pop(session, None)

    def forget(self, session: int) -> None:
        """Forget everything kept of a session that is deleted."""
        with self._lock:
            self._histories.pop(session, None)
            self._ratings.pop(session, None)

    def _put(self, history: SessionHistory) -> None:
        with self._lock:
            self._histories[history.session] = history
            self._histories.move_to_end(history.session)
            total = sum(len(h.nos) for h in self._histories.values())
            while total > self._kept and len(self._histories) > 1:
                _, gone = self._histories.popitem(last=False)
                total -= len(gone.nos)

    def _gather(self, session: Session) -> SessionHistory:
        contexts, key = self._store.contexts, session.key
        gathered = contexts.gather(key, PRUNED)
        found = SessionHistory(key, session.version)
        features = list(read_features(gathered.features))
        for i, text in gathered.stand_ins.items():
            features[i] = features_with(features[i], text)
            found.replacements[gathered.nos[i]] = text
        self._complete(key, gathered.nos, features)
        found.history = history = History.of_features(features)
        if session.pruned.totals.get("summary", (0, 0))[1]:
            history.summarised = contexts.before_summary(key, PRUNED)
            history.summary_tokens = contexts.summary_tokens(key, PRUNED)
        found.nos = history.numbers = gathered.nos
        found.index = {no: i for i, no in enumerate(gathered.nos)}
        history.pinned.update(i for i, flag in enumerate(gathered.pinned) if flag)
        history.drop_first.update(i for i, flag in enumerate(gathered.drop_first) if flag)
        if "facts" in session.row.state:  # of the whole log: pruning does not change a session's task type
            history.facts = session.state.facts.copy()
        found.ratings = self._ratings_of(key)
        return found

    def _ratings_of(self, session: int) -> Ratings:
        with self._lock:
            found = self._ratings.setdefault(session, {})
            self._ratings.move_to_end(session)
            while len(self._ratings) > RATED_KEPT:
                self._ratings.popitem(last=False)
            return found

    def _complete(self, session: int, nos: list[int], features: list[Features]) -> None:
        """Compute the contents of messages that were stored without one, or by another version."""
        missing = [i for i, one in enumerate(features) if needs_content(one)]
        for start in range(0, len(missing), 200):
            some = missing[start : start + 200]
            found = self._store.log.rows_of(session, [nos[i] for i in some])
            for i in some:
                features[i] = with_content(features[i], whole(features[i].role, found[nos[i]]))
