"""Histories: the messages of pruned views as columns, cached so that a plan does not read the same data again.

One `SessionHistory` is the pruned view of one session at one version, and never changes: plans and everything
derived from them read it while the session grows. `Histories` also keeps a history that appends extend, those made
while it is read from the store included; a reader a few appends behind gets its first messages. Any other change of
the context drops it, and the next use reads it from the store again, feature columns only.
The least recently used are dropped when all together hold too many messages.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple, Self

from scoring.history import Features, History, TaskCounts, with_content
from webapp.errors import StalePlan, StoreError
from webapp.services.session.replacements import features_with
from webapp.services.session.session import Session
from webapp.services.session.stored_messages import HAS_CONTENT, features_text, read_features, whole
from webapp.store import Store
from webapp.store.context import PRUNED

# A message takes about 4 kB, most of it its content: 250 MB.
MESSAGES_KEPT = 60_000
# The number of sessions for which keyword ratings by other lists than the stored ones are kept, through
# prunes and undos.
RATED_KEPT = 8

# The number of messages whose contents are computed in one batch: read from the log and stored together.
CONTENT_BATCH = 200
# The number of appends by which a reader can be behind and still share the history in memory.
VERSIONS_KEPT = 64

# Lexicon -> (message number, its characters) -> rating. A message whose text has changed has another number
# of characters.
Ratings = dict[str, dict[tuple[int, int], float]]


class Version(NamedTuple):
    """A version of a session with its number of messages and the counts that tell its task type."""

    number: int
    messages: int
    task_counts: TaskCounts


class Append(NamedTuple):
    """Messages that were appended to the version `base`, and the version that they made."""

    base: int
    version: int
    task_counts: TaskCounts
    fresh: list[tuple[int, Features]]


@dataclass(frozen=True, slots=True, eq=False)
class SessionHistory:
    """The pruned view of a session at one version: a snapshot, with its message numbers.

    `memo` caches values derived from it; hold `lock` while adding to it.
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
        """Return the positions of messages by number, without those that are not in the view."""
        return {self.index[no] for no in nos if no in self.index}


class _GrowingHistory:
    """The history of a session as appends extend it, and its last snapshot if one was made.

    Hold `lock` for everything except the session's number.
    """

    def __init__(
        self,
        session: Session,
        history: History,
        nos: list[int],
        replacements: dict[int, str],
        ratings: Ratings,
    ) -> None:
        self.session, self.history = session.key, history
        self.lock = threading.Lock()
        self._nos, self._replacements, self._ratings = nos, replacements, ratings
        self._index = {no: i for i, no in enumerate(nos)}
        self._shown: SessionHistory | None = None
        self._versions = deque(
            [Version(session.version, len(nos), history.task_counts.copy())], maxlen=VERSIONS_KEPT
        )
        self.waiting: dict[int, Features] = {}  # appended since; contents not computed yet

    def __len__(self) -> int:
        return len(self._nos) + len(self.waiting)

    @property
    def version(self) -> int:
        """Return the newest version."""
        return self._versions[-1].number

    def snapshot(self, version: int) -> SessionHistory | None:
        """Return the history at a version; None if that is not known, or contents of its messages are missing."""
        if self._shown is not None and self._shown.version == version:
            return self._shown
        wanted = self._find(version)
        return None if wanted is None or wanted.messages > len(self._nos) else self._snapshot_of(wanted)

    def newest(self) -> SessionHistory:
        """Return the history at the newest version; no message may be waiting for its contents."""
        return self._snapshot_of(self._versions[-1])

    def _snapshot_of(self, wanted: Version) -> SessionHistory:
        if wanted.messages == len(self._nos):
            history, index = self.history.snapshot(), self._index.copy()
        else:
            history = self.history.first(wanted.messages)
            index = {no: i for no, i in self._index.items() if i < wanted.messages}
        history.task_counts = wanted.task_counts
        self._shown = SessionHistory(
            self.session, wanted.number, history, history.numbers, index, self._replacements, self._ratings
        )
        return self._shown

    def _find(self, version: int) -> Version | None:
        return next((one for one in reversed(self._versions) if one.number == version), None)

    def missing(self, version: int) -> dict[int, Features] | None:
        """Return the messages whose contents a version still needs; None if the version is not known."""
        wanted = self._find(version)
        if wanted is None:
            return None
        return dict(islice(self.waiting.items(), max(0, wanted.messages - len(self._nos))))

    def grow(self, arrived: Append) -> None:
        """Add messages that were appended to the newest version."""
        self.waiting.update(arrived.fresh)
        self._versions.append(Version(arrived.version, len(self), arrived.task_counts))

    def add_contents(self, found: Iterable[tuple[int, Features]]) -> None:
        """Add the waiting messages with their contents; skip those that another thread has added."""
        for no, features in found:
            if self.waiting.pop(no, None) is not None:
                self._index[no] = self.history.append(features)
                self._nos.append(no)


class _Reading:
    """The reading of a session's history, as a block: contents that it computes are stored when it ends."""

    def __init__(self, store: Store, session: Session) -> None:
        self._store, self.session = store, session
        # Message numbers with their stored features, and with the features that will replace them.
        self._computed: list[tuple[int, str, Features]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Store computed contents so that they are not computed again; if storing fails, the next use tries again."""
        for start in range(0, len(self._computed), CONTENT_BATCH):
            some = self._computed[start : start + CONTENT_BATCH]
            changes = [(no, old, features_text(new)) for no, old, new in some]
            with suppress(StoreError), self._store.write(self.session.id):
                self._store.log.put_features(self.session.key, changes)

    def require_version(self) -> None:
        """Raise StalePlan if the session has changed since it was loaded."""
        if self._store.sessions.version(self.session.key) != self.session.version:
            raise StalePlan("the session has changed meanwhile; look at it again")

    def complete(self, nos: Sequence[int], texts: Sequence[str], features: list[Features]) -> None:
        """Compute the contents of messages that were stored without them, or by another version.

        `texts` are the features as stored.
        """
        missing = [i for i, one in enumerate(features) if one.content is None]
        for start in range(0, len(missing), CONTENT_BATCH):
            some = missing[start : start + CONTENT_BATCH]
            with self._store.read():
                self.require_version()
                found = self._store.log.rows_of(self.session.key, [nos[i] for i in some])
            for i in some:
                features[i] = with_content(features[i], whole(features[i].role, found[nos[i]]))
                self._computed.append((nos[i], texts[i], features[i]))


class Histories:
    """A cache of the histories of sessions, within a limit of messages."""

    def __init__(self, store: Store, messages_kept: int = MESSAGES_KEPT) -> None:
        self._store, self._kept = store, messages_kept
        self._histories: OrderedDict[int, _GrowingHistory] = OrderedDict()
        self._ratings: OrderedDict[int, Ratings] = OrderedDict()
        self._lock = threading.Lock()
        self._gathering: dict[int, threading.Lock] = {}
        # Sessions whose history is being read from the store -> what was appended meanwhile.
        self._arrived: dict[int, list[Append]] = {}

    def of(self, session: Session) -> SessionHistory:
        """Return the history of a session at its version.

        Raises:
            StalePlan: the session has changed since it was loaded, and the history at its version is not in memory. It
                cannot change inside the transaction that loaded it.
        """
        if (known := self.known(session)) is not None:
            return known
        with self._lock:
            gathering = self._gathering.setdefault(session.key, threading.Lock())
        # A thread that waits here usually waits for the same history.
        with _Reading(self._store, session) as reading, gathering, self._store.read():
            found = self._completed(reading)
            return found if found is not None else self._gathered(reading)

    @property
    def is_computing(self) -> bool:
        """Return whether a thread waits for a history that is read from the store or completed."""
        with self._lock:
            return any(gathering.locked() for gathering in self._gathering.values())

    def known(self, session: Session) -> SessionHistory | None:
        """Return the history of a session at its version if it is in memory with all contents."""
        growing = self._growing(session)
        if growing is None:
            return None
        with growing.lock:
            return growing.snapshot(session.version)

    def _growing(self, session: Session) -> _GrowingHistory | None:
        with self._lock:
            found = self._histories.get(session.key)
            if found is not None:
                self._histories.move_to_end(session.key)
        return found

    def _completed(self, reading: _Reading) -> SessionHistory | None:
        """Return the same as `known`, with missing contents computed outside the lock, which appends need."""
        growing = self._growing(reading.session)
        if growing is None or not self._add_missing(growing, reading):
            return None
        with growing.lock:
            return growing.snapshot(reading.session.version)

    def _add_missing(self, growing: _GrowingHistory, reading: _Reading) -> bool:
        """Compute the contents that the session's version still needs; return False if the version is not known."""
        with growing.lock:
            missing = growing.missing(reading.session.version)
        if missing is None:
            return False
        nos, features = list(missing), list(missing.values())
        reading.complete(nos, list(map(features_text, features)), features)
        with growing.lock:
            growing.add_contents(zip(nos, features, strict=True))
        return True

    def analyse_ahead(self, session: Session, after: float) -> float | None:
        """Compute and store the next missing contents, of CONTENT_BATCH messages after a position of the pruned view.

        Return the position of the last one, None at the end. No history is kept for it; one in memory gets all of its
        missing contents.

        Raises:
            StalePlan: the session has changed since it was loaded.
        """
        with self._lock:
            growing = self._histories.get(session.key)
        with _Reading(self._store, session) as reading:
            if growing is not None:
                self._add_missing(growing, reading)
                return None
            some = self._store.contexts.without(session.key, PRUNED, HAS_CONTENT, after, CONTENT_BATCH)
            texts = [text for _, _, text in some]
            reading.complete([no for _, no, _ in some], texts, list(read_features(texts)))
            return some[-1][0] if some else None

    def advance(
        self, session: Session, base_version: int, fresh: Iterable[tuple[int, Features]], *, changed: bool
    ) -> None:
        """Extend a session's history by messages that were just appended to the version `base_version`.

        Where older messages `changed` as well, the history is dropped.
        """
        with self._lock:
            found, arrived = self._histories.get(session.key), self._arrived.get(session.key)
            if found is None and arrived is None:
                return
            batch = Append(base_version, session.version, session.state.facts.copy(), list(fresh))
            if arrived is not None and not changed:
                arrived.append(batch)
        if found is None:
            return
        with found.lock:
            if found.version == base_version and not changed:
                found.grow(batch)
                return
        self.drop(session.key)

    def drop(self, session: int) -> None:
        """Forget a session's history."""
        with self._lock:
            self._histories.pop(session, None)
            if session in self._arrived:
                self._arrived[session].clear()

    def forget(self, session: int) -> None:
        """Forget everything kept of a session that is deleted."""
        with self._lock:
            self._histories.pop(session, None)
            self._ratings.pop(session, None)
            self._gathering.pop(session, None)

    def _gathered(self, reading: _Reading) -> SessionHistory:
        """Return the history as read from the store, and keep it with what is appended meanwhile."""
        key = reading.session.key
        with self._lock:
            self._arrived[key] = []
        try:
            made = self._gather(reading)
            found = made.newest()
            self._put(made)
            return found
        finally:
            with self._lock:
                self._arrived.pop(key, None)

    def _put(self, made: _GrowingHistory) -> None:
        with self._lock:
            for batch in self._arrived.get(made.session, ()):
                if batch.base == made.version:
                    made.grow(batch)
            known = self._histories.get(made.session)
            # A reader may be behind the appends made meanwhile.
            if known is None or known.version < made.version:
                self._histories[made.session] = made
            self._histories.move_to_end(made.session)
            total = sum(map(len, self._histories.values()))
            while total > self._kept and len(self._histories) > 1:
                _, gone = self._histories.popitem(last=False)
                total -= len(gone)

    def _gather(self, reading: _Reading) -> _GrowingHistory:
        session, contexts, key = reading.session, self._store.contexts, reading.session.key
        with self._store.read():
            reading.require_version()
            gathered = contexts.gather(key, PRUNED)
        features = list(read_features(gathered.features))
        reading.complete(gathered.nos, gathered.features, features)
        replacements: dict[int, str] = {}
        for i, text in gathered.replacements.items():
            features[i] = features_with(features[i], text)
            replacements[gathered.nos[i]] = text
        history = History.of_features(features)
        with self._store.read():
            reading.require_version()
            if session.pruned.totals.get("summary", (0, 0))[1]:
                history.summarised = contexts.before_summary(key, PRUNED)
                history.summary_tokens = contexts.summary_tokens(key, PRUNED)
        history.numbers, history.dated = gathered.nos, True
        history.pinned.update(i for i, flag in enumerate(gathered.pinned) if flag)
        history.drop_first.update(i for i, flag in enumerate(gathered.drop_first) if flag)
        if "facts" in session.row.state:  # of the whole log: pruning does not change a session's task type
            history.task_counts = session.state.facts.copy()
        return _GrowingHistory(session, history, gathered.nos, replacements, self._ratings_of(key))

    def _ratings_of(self, session: int) -> Ratings:
        with self._lock:
            found = self._ratings.setdefault(session, {})
            self._ratings.move_to_end(session)
            while len(self._ratings) > RATED_KEPT:
                self._ratings.popitem(last=False)
            return found
