"""Histories: the messages of pruned views as columns, cached so that a plan does not read what was read a second ago.

One `SessionHistory` is the pruned view of one session at one version, and never changes: plans, and whatever is worked
out of them later, read it while the session grows. Behind it `Histories` keeps a history that an append extends; any
other change of the context drops that, and the next use gathers it from the store, feature columns only. The least
recently used are dropped when they hold too many messages together.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from scoring.history import Features, History, needs_content, with_content
from webapp.errors import StalePlan
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


@dataclass(frozen=True, slots=True, eq=False)
class SessionHistory:
    """The pruned view of a session at one version: a snapshot, with its message numbers.

    `memo` keeps what was worked out of it; hold `lock` while adding to it.
    """

    session: int
    version: int
    history: History
    nos: Sequence[int]
    index: Mapping[int, int]
    replacements: Mapping[int, str]
    ratings: Ratings
    lock: threading.RLock = field(default_factory=threading.RLock)
    memo: dict[object, object] = field(default_factory=dict)

    def positions(self, nos: Iterable[int]) -> set[int]:
        """Return the positions of messages by number; those that are not in the view are left out."""
        return {self.index[no] for no in nos if no in self.index}


class _Growing:
    """The history of a session as appends extend it, and the snapshot of it as it is now, where one was made.

    Hold `lock` for all but the session's number.
    """

    __slots__ = (
        "_index",
        "_nos",
        "_ratings",
        "_replacements",
        "_shown",
        "history",
        "lock",
        "session",
        "version",
    )

    def __init__(
        self,
        session: Session,
        history: History,
        nos: list[int],
        replacements: dict[int, str],
        ratings: Ratings,
    ) -> None:
        self.session, self.version, self.history = session.key, session.version, history
        self.lock = threading.Lock()
        self._nos, self._replacements, self._ratings = nos, replacements, ratings
        self._index = {no: i for i, no in enumerate(nos)}
        self._shown: SessionHistory | None = None

    def __len__(self) -> int:
        return len(self._nos)

    def snapshot(self) -> SessionHistory:
        """Return the history as it is now."""
        if self._shown is None:
            history = self.history.snapshot()
            self._shown = SessionHistory(
                self.session, self.version, history, history.numbers, self._index.copy(), self._replacements,
                self._ratings,
            )  # fmt: skip
        return self._shown

    def grow(self, session: Session, fresh: Iterable[tuple[int, Features]]) -> None:
        """Add messages, which bring the history to the session's version."""
        for no, features in fresh:
            self._index[no] = self.history.append(features)
            self._nos.append(no)
        self.history.facts = session.state.facts.copy()
        self.version, self._shown = session.version, None


class Histories:
    """The histories of all sessions, as many as fit."""

    def __init__(self, store: Store, messages_kept: int = MESSAGES_KEPT) -> None:
        self._store, self._kept = store, messages_kept
        self._histories: OrderedDict[int, _Growing] = OrderedDict()
        self._ratings: OrderedDict[int, Ratings] = OrderedDict()
        self._lock = threading.Lock()
        self._gathering = threading.Lock()

    def of(self, session: Session) -> SessionHistory:
        """Return the history of a session at its version.

        Raises:
            StalePlan: the session has changed since it was loaded. Inside the transaction that loaded it, it cannot.
        """
        if (known := self.known(session)) is not None:
            return known
        with self._gathering:  # a thread that waits here mostly waits for the same history
            if (known := self.known(session)) is not None:
                return known
            gathered = self._gather(session)
            found = gathered.snapshot()
            self._put(gathered)
        return found

    def known(self, session: Session) -> SessionHistory | None:
        """Return the history of a session at its version if it is in memory."""
        with self._lock:
            found = self._histories.get(session.key)
            if found is None:
                return None
            self._histories.move_to_end(session.key)
        with found.lock:
            return found.snapshot() if found.version == session.version else None

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
            if found.version == base_version and not changed:
                found.grow(session, fresh)
                return
        self.drop(session.key)

    def drop(self, session: int) -> None:
        """Forget a session's history."""
        with self._lock:
            self._histories.pop(session, None)

    def forget(self, session: int) -> None:
        """Forget everything kept of a session that is deleted."""
        with self._lock:
            self._histories.pop(session, None)
            self._ratings.pop(session, None)

    def _put(self, made: _Growing) -> None:
        with self._lock:
            known = self._histories.get(made.session)
            if (
                known is None or known.version < made.version
            ):  # a reader may be behind what was appended meanwhile
                self._histories[made.session] = made
            self._histories.move_to_end(made.session)
            total = sum(map(len, self._histories.values()))
            while total > self._kept and len(self._histories) > 1:
                _, gone = self._histories.popitem(last=False)
                total -= len(gone)

    def _gather(self, session: Session) -> _Growing:
        contexts, key = self._store.contexts, session.key
        with self._store.read():
            if self._store.sessions.version(key) != session.version:
                raise StalePlan("the session has changed meanwhile; look at it again")
            gathered = contexts.gather(key, PRUNED)
            features = list(read_features(gathered.features))
            replacements: dict[int, str] = {}
            for i, text in gathered.stand_ins.items():
                features[i] = features_with(features[i], text)
                replacements[gathered.nos[i]] = text
            self._complete(key, gathered.nos, features)
            history = History.of_features(features)
            if session.pruned.totals.get("summary", (0, 0))[1]:
                history.summarised = contexts.before_summary(key, PRUNED)
                history.summary_tokens = contexts.summary_tokens(key, PRUNED)
        history.numbers = gathered.nos
        history.pinned.update(i for i, flag in enumerate(gathered.pinned) if flag)
        history.drop_first.update(i for i, flag in enumerate(gathered.drop_first) if flag)
        if "facts" in session.row.state:  # of the whole log: pruning does not change a session's task type
            history.facts = session.state.facts.copy()
        return _Growing(session, history, gathered.nos, replacements, self._ratings_of(key))

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
