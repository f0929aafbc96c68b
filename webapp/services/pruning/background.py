"""Summaries made on another thread: those that are due, and those that a model writes.

A session has one job at a time; a request while one runs changes nothing. A cancelled job leaves the session as it was.
A failure is published as an event and never reaches the caller of the append.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Final, Literal

from scoring.budget import ContextSizes, Due, summary_due
from webapp.errors import Conflict, CoppiceError
from webapp.events import CacheExpired, Event, MessagesAppended, ProblemReported
from webapp.services.pruning.automatic import AutomaticPruning
from webapp.services.pruning.plan_summaries import rejected_summaries
from webapp.services.session.environment import Environment
from webapp.services.session.gauges import gauge_of
from webapp.services.session.session import Session
from webapp.services.summaries.answers import Summarised
from webapp.services.summaries.summarising import LEASE, MADE_ALREADY, Summarising, only_summary
from webapp.store.operations import Actor

log = logging.getLogger(__name__)
# The other job, besides a summary on request or by its triggers: a prune whose summary a model writes.
PRUNE: Final = "prune"
Task = Literal[Actor, "prune"]


@dataclass(slots=True)
class Job:
    """A summary that is being made."""

    cancelled: threading.Event
    thread: threading.Thread


class BackgroundSummaries:
    """Runs summaries for sessions, on request or when one is due."""

    def __init__(
        self, environment: Environment, summarising: Summarising, automatic: AutomaticPruning
    ) -> None:
        self._environment, self._store = environment, environment.store
        self._summarising, self._automatic, self._leases = summarising, automatic, environment.leases
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()
        self._closed = False
        self._unsubscribe = environment.bus.subscribe(self._on_event)

    # -- on request

    def summarise(self, session_id: str, wait: bool | None = None) -> Summarised:
        """Summarise now. Wait for the result unless a model writes it; `wait` overrides that.

        Raises:
            NotFound, Conflict: as `Summarising.summarise`; Conflict too while one runs already.
        """
        if wait if wait is not None else not self._summarising.has_model:
            with self._job(session_id) as job:
                return self._summarising.summarise(session_id, "user", job.cancelled)
        self._store.sessions.get(session_id)
        started = self._start(session_id, "user")
        message = "a summary is being made" if started else MADE_ALREADY
        return Summarised(
            summary=None,
            operation=None,
            session=None,
            problems=[],
            running=True,
            started=started,
            message=message,
        )

    def cancel(self, session_id: str) -> bool:
        """Cancel the session's running summary; return False if none runs."""
        return self._leases.cancel(LEASE + session_id)

    def running(self, session_id: str) -> bool:
        """Return True while a summary is being made for the session."""
        return self._leases.is_taken(LEASE + session_id)

    def close(self) -> None:
        """Cancel all jobs and wait for them, at most 5 seconds for each."""
        self._unsubscribe()
        with self._lock:
            self._closed = True
            jobs = list(self._jobs.values())
        for job in jobs:
            job.cancelled.set()
        for job in jobs:
            if job.thread is not threading.current_thread():
                job.thread.join(timeout=5)

    # -- by itself

    def _on_event(self, event: Event) -> None:
        if not isinstance(event, MessagesAppended | CacheExpired):
            return
        if (row := self._store.sessions.live(event.session_id)) is None:
            return
        common = self._environment.settings()
        if not (self._summarising.has_model or common.auto_summarize or row.settings):
            return  # of most sessions, after every append: nothing more is read of them
        session = Session.of(self._environment, row)
        if self._automatic.wants_a_model(session):
            self._start(event.session_id, PRUNE)
        elif session.settings.auto_summarize and not session.awaits_end_of_loop and due(session):
            self._start(event.session_id, "automatic")

    # -- jobs

    def _start(self, session_id: str, task: Task) -> bool:
        """Summarise on another thread; return False if a summary is being made, here or in another worker."""
        with ExitStack() as stack:
            try:
                job = stack.enter_context(self._job(session_id))
            except Conflict:
                return False
            job.thread = threading.Thread(
                target=self._run,
                args=(session_id, task, job, stack.pop_all()),
                name=f"summary {session_id}",
                daemon=True,
            )
        job.thread.start()
        return True

    @contextmanager
    def _job(self, session_id: str) -> Iterator[Job]:
        """Keep others from summarising the session meanwhile; `close` cancels the job and waits for its thread.

        Raises:
            Conflict: a summary of the session is being made already, or this is closed.
        """
        if self._closed:
            raise Conflict(MADE_ALREADY)
        with only_summary(self._environment, session_id) as cancelled:
            job = Job(cancelled, threading.current_thread())
            with self._lock:
                self._jobs[session_id] = job
            try:
                yield job
            finally:
                with self._lock:
                    self._jobs.pop(session_id, None)

    def _run(self, session_id: str, task: Task, job: Job, held: ExitStack) -> None:
        with held:
            try:
                if task == PRUNE:
                    self._automatic.summarise(session_id, job.cancelled)
                else:
                    done = self._summarising.summarise(session_id, task, job.cancelled)
                    self._environment.bus.publish(*rejected_summaries(session_id, done.problems))
            except Conflict as error:
                log.info("no summary for %s: %s", session_id, error)
                if task == "user" and not job.cancelled.is_set():
                    self._report(session_id, error, failed=False)
            except CoppiceError as error:
                self._report(session_id, error, failed=True)
            except Exception:
                log.exception("a summary failed")
                self._report(session_id, "an error of ours, see the log", failed=True)

    def _report(self, session_id: str, why: object, *, failed: bool) -> None:
        self._environment.bus.publish(ProblemReported(session_id, f"no summary was made: {why}", failed))


def due(session: Session) -> Due:
    """Return whether a summary is due, and why."""
    return summary_due(sizes_of(session), session.settings)


def sizes_of(session: Session) -> ContextSizes:
    """Return a session's context as the triggers need it, in tokens as shown.

    The parts are those of the gauge. The agent's prompt and tools, which a transcript does not contain, count
    as tools.
    """
    limits = session.limits
    whole = gauge_of(session, session.pruned, limits.limit)
    parts = {region.name: region.tokens for region in whole.regions}
    unseen = parts.get("unseen", 0)
    tools = parts.get("tools", 0) + unseen
    messages, tokens = session.environment.store.summaries.since(session.key)
    since = session.pruned.scale.part(tokens)
    return ContextSizes(
        since_messages=messages, since_tokens=since, messages=whole.tokens - tools, tools=tools,
        window=limits.window, limit=limits.limit, system=parts.get("system", 0), unseen=unseen,
    )  # fmt: skip
