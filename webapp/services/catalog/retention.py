"""Limits on the age and size of sessions: a preview of what they delete, and the deletion every night.

Off by default: nothing is ever deleted by itself. A session is deleted with its sub-agents or not at all, and never if
it is kept, in use, or was in use within the last day. Times of use come from the clocks of agents' machines, which can
be wrong: a transcript that grew within the last day by the server's clock is in use, and a time in the future does not
count. Deletion is the ordinary one, so that a followed session is not imported again.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import timedelta

from scoring.counted import counted
from webapp.errors import Conflict, Invalid, NotFound
from webapp.events import SettingsChanged
from webapp.services.catalog.answers import Retention, RetentionLimits, SessionToDelete
from webapp.services.catalog.nights import after, next_night, night_of
from webapp.services.catalog.retention_choice import DAY_MS, MIB, Reason, SessionTree, to_delete
from webapp.services.catalog.sessions import SessionService
from webapp.services.session.environment import Environment
from webapp.services.session.labels import shown_title
from webapp.services.session.state import SessionState
from webapp.services.session.sub_agents import root_of, with_sub_agents
from webapp.services.session.times import from_ms, iso
from webapp.store.sessions import SessionRow

log = logging.getLogger(__name__)

LIMITS, LAST_RUN = "retention", "retention_run"
# A transcript that is read further so long after its session was made is being written.
GROWS_AFTER_MS = 3600 * 1000
# If the last night is longer ago, the server was off or a clock was set: the limits wait for one night more.
LONGEST_GAP = timedelta(days=7)
# The dates of servers in several time zones differ by at most so much.
ZONES = timedelta(days=1)
LOOK_SECONDS = 600.0
# The most sessions that an answer names.
NAMED = 200
OFF = RetentionLimits(days=None, size_mib=None, user_size_mib=None)


class RetentionService:
    """The use case of limits on sessions."""

    def __init__(self, environment: Environment, sessions: SessionService) -> None:
        self._environment, self._store, self._sessions = environment, environment.store, sessions
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    # -- limits

    def limits(self) -> RetentionLimits:
        """Return the stored limits; none by default, or if the stored ones are damaged."""
        stored = self._store.small.fields(LIMITS)
        known = {name: stored.get(name) for name in asdict(OFF)}
        sound = all(value is None or (type(value) is int and value > 0) for value in known.values())
        return RetentionLimits(**known) if sound else OFF

    def put(self, limits: RetentionLimits) -> Retention:
        """Store limits, which are applied from the next night on. Raises Invalid for one that is not positive."""
        _check(limits)
        with self._store.write():
            self._store.small.put_setting(LIMITS, None if limits == OFF else asdict(limits))
            self._store.small.put_setting(LAST_RUN, night_of(self._environment.clock()))
        self._environment.bus.publish(SettingsChanged())
        return self.preview()

    # -- sessions to delete

    def preview(self, limits: RetentionLimits | None = None) -> Retention:
        """Return the sessions that would be deleted now: by these limits, or by the stored ones."""
        stored = limits is None
        limits = self.limits() if limits is None else limits
        _check(limits)
        return self._answer(limits, self._to_delete(limits), stored=stored)

    def _to_delete(self, limits: RetentionLimits) -> list[tuple[SessionTree, Reason]]:
        now = self._environment.clock()
        return to_delete(self._trees(now), limits, now)

    def _answer(
        self, limits: RetentionLimits, going: Sequence[tuple[SessionTree, Reason]], *, stored: bool
    ) -> Retention:
        """Return the answer about the trees to delete."""
        named = [
            SessionToDelete(
                id=one.row.id, title=shown_title(one.row), user=one.user or None, last_activity=iso(one.last or None),
                sessions=one.sessions, bytes=one.size, reason=reason,
            )
            for one, reason in going[:NAMED]
        ]  # fmt: skip
        count, size = sum(one.sessions for one, _ in going), sum(one.size for one, _ in going)
        when = next_night(self._environment.clock()) if limits != OFF else None
        last = max((one.last for one, _ in going), default=0)
        return Retention(
            limits=limits,
            sessions=count,
            bytes=size,
            used_before=iso(last or None),
            next_at=when.isoformat() if when is not None and stored else None,
            text=words(limits, count, size, last, stored=stored),
            named=named,
        )

    def apply(self, sessions: int | None = None) -> Retention:
        """Delete what the stored limits select, and return what was deleted.

        Raises:
            Conflict: `sessions` is given and is not the number of sessions to delete now; nothing is deleted.
        """
        limits = self.limits()
        going = self._to_delete(limits)
        found = self._answer(limits, going, stored=True)
        if sessions is not None and sessions != found.sessions:
            raise Conflict(
                f"{sessions} sessions were confirmed and {found.sessions} would be deleted now; look again"
            )
        deleted = size = 0
        for one, _ in going:
            with self._environment.lock(one.row.id), suppress(NotFound):  # another process deleted it
                if self._is_used_again(one):
                    continue
                gone = self._sessions.delete(one.row.id)
                deleted, size = deleted + len(gone), size + sum(one.sizes.get(name, 0) for name in gone)
        return replace(found, sessions=deleted, bytes=size, text=f"{_amount(deleted, size)} deleted.")

    def _is_used_again(self, tree: SessionTree) -> bool:
        """Return whether a session of a tree was used or kept, or is new, since the trees were read."""
        found = with_sub_agents(self._store, tree.row.id)
        rows = [row for name in found if (row := self._store.sessions.find(name)) is not None]
        return any(
            row.id not in tree.sizes
            or row.version != tree.versions[row.id]
            or row.state.get("kept") is True  # keeping a session does not change its version
            for row in rows
            if row.deleted_at is None
        )

    def _trees(self, now: int) -> list[SessionTree]:
        rows = {row.id: row for row in self._store.sessions.all()}
        parents = {
            row.id: row.parent_id if row.is_sub_agent and row.parent_id in rows else None
            for row in rows.values()
        }
        looked_at = self._store.small.looked_at()
        members: dict[str, list[SessionRow]] = {}
        for row in rows.values():
            members.setdefault(root_of(row.id, parents), []).append(row)
        return [self._tree(rows[top], own, looked_at, now) for top, own in members.items()]

    def _tree(
        self, top: SessionRow, members: Sequence[SessionRow], looked_at: Mapping[str, int], now: int
    ) -> SessionTree:
        states = [SessionState.readable(row.state, row.source)[0] for row in members]
        grown = {row.id: looked_at.get(row.id, row.created_at) for row in members}
        grows = any(
            grown[row.id] - row.created_at > GROWS_AFTER_MS and now - grown[row.id] <= DAY_MS
            for row in members
        )
        used = (row.last_activity_at or row.created_at for row in members)
        return SessionTree(
            row=top,
            user=states[members.index(top)].owner,
            last=max(at if at <= now else grown[row.id] for at, row in zip(used, members, strict=True)),
            sizes={row.id: state.stored for row, state in zip(members, states, strict=True)},
            versions={row.id: row.version for row in members},
            exempt=grows or any(state.kept for state in states),
        )

    # -- every night

    def start(self) -> None:
        """Apply the limits every night from now on."""
        self._thread = threading.Thread(target=self._run, name="retention", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop; a session that is being deleted is deleted."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(timeout=10)

    def _run(self) -> None:
        while not self._ended.wait(LOOK_SECONDS):
            try:
                self.run_if_due()
            except Exception:
                log.exception("the limits on sessions could not be applied")

    def run_if_due(self) -> bool:
        """Apply the limits if no process has since the last night began; return whether it was done here.

        After a longer gap they wait for the next night, so that a clock that was set deletes nothing at once.
        """
        if self.limits() == OFF:
            return False
        night = night_of(self._environment.clock())
        with self._store.write():
            last = self._store.small.setting(LAST_RUN)
            if timedelta() <= after(last, night) <= ZONES:
                return False
            self._store.small.put_setting(LAST_RUN, night)
        if not timedelta() < after(night, last) <= LONGEST_GAP:
            return False
        done = self.apply()
        if done.sessions:
            log.warning("limits on sessions: %s", done.text)
        return True


def _check(limits: RetentionLimits) -> None:
    for name, value in asdict(limits).items():
        if value is not None and value < 1:
            raise Invalid(f"bad value for {name}; expected a whole number from 1, or null, got {value}", name)


def words(limits: RetentionLimits, sessions: int, size: int, last: int, *, stored: bool) -> str:
    """Return what will be deleted, in a sentence."""
    if limits == OFF:
        return "No limit is set: no session is ever deleted by itself."
    when = "will be deleted tonight" if stored else "would be deleted"
    if sessions == 0:
        return "No session is beyond the limits." if stored else "No session would be deleted."
    before = from_ms(last + DAY_MS).date().isoformat()
    return f"{_amount(sessions, size)}, last used before {before}, {when}."


def _amount(sessions: int, size: int) -> str:
    return f"{counted(sessions, 'session')}, {max(0.1 if size else 0.0, size / MIB):,.1f} MiB"
