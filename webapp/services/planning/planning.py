"""Planning: plans over a session's pruned view: reads the data, lets `scoring` decide, caches the plan.

People see the tokens of the gauge, `scoring` plans in estimated tokens; `SessionPlan.scale` converts. The plan with
the saved settings gives the fates in lists; it is made at most once a version.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass
from typing import Any

from scoring.history import History, reads_keywords, settings_for, text_of
from scoring.planning import PrunePlan, Shortening, plan_prune, shortening, with_shortened
from scoring.settings import Lexicon, Settings, lexicon_of, preset_of
from webapp.errors import Conflict, StalePlan
from webapp.services.planning.exact_tokens import exact
from webapp.services.session.environment import Environment
from webapp.services.session.histories import Histories, SessionHistory
from webapp.services.session.limits import Limits
from webapp.services.session.prompt_cache import CacheState
from webapp.services.session.scale import Scale
from webapp.services.session.session import Session
from webapp.services.session.stored_messages import whole
from webapp.store.context import PRUNED

PLANS_OF_A_VIEW = 8


@dataclass(frozen=True, slots=True)
class PlanInputs:
    """The request for a plan: `Planning.make` makes the same plan of it as long as its session is the same.

    The settings `tried` are on top of the session's own. `max_tokens` is in tokens as shown; None takes the session's
    aim. `spare`, `drop` and `shorten` are message numbers.
    """

    tried: Mapping[str, Any] | None = None
    max_tokens: int | None = None
    strategy: str | None = None
    spare: tuple[int, ...] = ()
    drop: tuple[int, ...] = ()
    shorten: tuple[int, ...] = ()


AS_SAVED = PlanInputs()


@dataclass(slots=True)
class SessionPlan:
    """A plan and what it was made from.

    The plan is stale once the session's `version`, the current settings with those tried on top (`asked`), or the
    `limits` differ.
    """

    id: str
    session_id: str
    version: int
    inputs: PlanInputs
    """The request."""
    view: SessionHistory
    plan: PrunePlan
    asked: Settings
    settings: Settings
    """The current settings, with the weights of the task type."""
    preset: str
    """The preset that the settings come from."""
    limits: Limits
    scale: Scale
    max_tokens: int
    """The budget, in tokens as shown."""
    size: int
    """The number of messages in the view."""
    base: PrunePlan
    """The plan without outputs shortened by hand."""
    chosen: bool
    """Somebody chose messages that go or are shortened."""
    cached_for_hour: bool
    """The provider keeps for an hour what the last call wrote to its cache."""
    cache: CacheState | None

    @property
    def tokens_after(self) -> int:
        """Return the tokens of the context afterwards, as shown."""
        return self.scale.shown(self.scale.estimate - self.plan.freed)

    @property
    def freed(self) -> int:
        """Return the tokens that the plan frees: the difference of the shown sizes before and after."""
        return self.scale.tokens - self.tokens_after

    def digest(self) -> str:
        """Return a hash of what the plan does, and of what decided it."""
        plan = self.plan
        fates = [(i, one.tokens) for i, one in sorted(plan.shortenings.items())]
        summary = plan.summary and (sorted(plan.summary.covers), plan.summary.tokens)
        decided = (self.asked, self.limits, self.max_tokens, plan.strategy)
        said = repr((decided, sorted(plan.removed), fates, summary))
        return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()


class Planning:
    """Makes plans."""

    def __init__(self, environment: Environment, histories: Histories) -> None:
        self._environment, self._store, self._histories = environment, environment.store, histories

    def make(self, session: Session, inputs: PlanInputs = AS_SAVED, *, exactly: bool = False) -> SessionPlan:
        """Return a plan for the session as it is.

        A plan made `exactly` has the numbers that applying it has: what it shortens is read from the store and counted.

        Raises:
            InvalidSettings: the strategy is unknown, or a tried setting is invalid.
            Conflict: a pinned message is to be dropped.
        """
        settings = asked = settings_with(session, inputs.tried)
        limits = session.limits_with(settings)
        scale = session.pruned.scale
        shown = limits.aim_tokens if inputs.max_tokens is None else inputs.max_tokens
        budget = self._budget(session, scale, shown)
        view = self._histories.of(session)
        name = None if inputs.spare or inputs.drop else (settings, budget, inputs.strategy)
        with view.lock:
            _refuse_pinned(view, inputs.drop, inputs.spare)
            preset, settings = preset_of(settings), settings_for(settings, view.history.task_counts)
            plan = _cached(view, name, lambda: self._planned(view, settings, budget, inputs))
            if exactly:
                plan = _cached(view, name and ("exact", name), lambda: exact(session, view, plan))
            base = plan
            if inputs.shorten:
                chosen = self._chosen_shortenings(session, view, inputs.shorten)
                plan = with_shortened(plan, chosen, view.history.tokens)
        return SessionPlan(
            id=secrets.token_hex(8), session_id=session.id, version=session.version, inputs=inputs, view=view,
            plan=plan, asked=asked, settings=settings, preset=preset, limits=limits, scale=scale,
            max_tokens=shown, size=len(base.scores), base=base, chosen=bool(inputs.drop or inputs.shorten),
            cached_for_hour=session.state.cached_for_hour, cache=session.cache,
        )  # fmt: skip

    def _planned(
        self, view: SessionHistory, settings: Settings, budget: int, inputs: PlanInputs
    ) -> PrunePlan:
        history = view.history
        if reads_keywords(settings, inputs.strategy):
            history = self._rated(view, lexicon_of(settings.keywords))
        return plan_prune(
            history,
            settings,
            budget,
            strategy=inputs.strategy,
            spare=view.positions(inputs.spare),
            drop=view.positions(inputs.drop),
        )

    @contextmanager
    def reading(self, session_id: str) -> Iterator[Session]:
        """Open a read in which the session's history is in memory.

        Contents that have to be computed for it are computed before, because they cannot be stored inside a read.

        Raises:
            NotFound: there is no such session.
        """
        with suppress(StalePlan):  # an append was faster; its few contents can be computed again
            self._histories.of(Session.load(self._environment, session_id))
        with self._store.read():
            yield Session.load(self._environment, session_id)

    def is_ready(self, session: Session) -> bool:
        """Return whether the exact plan that `make` would return now is in memory, so that it takes no time."""
        view = self._histories.known(session)
        if view is None:
            return False
        budget = self._budget(session, session.pruned.scale, session.limits.aim_tokens)
        return ("exact", (session.settings, budget, None)) in view.memo

    def _budget(self, session: Session, scale: Scale, shown: int) -> int:
        """Return the budget of the messages alone, in estimated tokens."""
        others = session.pruned.outside_messages + self._store.contexts.summary_tokens(session.key, PRUNED)
        return max(0, scale.estimated(shown) - others)

    def _chosen_shortenings(
        self, session: Session, view: SessionHistory, nos: Collection[int]
    ) -> dict[int, Shortening]:
        """Return how the messages with these numbers are shortened, without those that are shortened already."""
        wanted = [no for no in nos if no in view.index and no not in view.replacements]
        found = self._store.log.rows_of(session.key, wanted)
        chosen: dict[int, Shortening] = {}
        for no in wanted:
            position = view.index[no]
            message = whole(view.history.roles[position], found[no])
            if (one := shortening(message, session.counter)) is not None:
                chosen[position] = one
        return chosen

    def _rated(self, view: SessionHistory, lexicon: Lexicon) -> History:
        """Return the history with keyword ratings of this lexicon; texts are read only for messages without them."""
        stale = [i for i, f in enumerate(view.history.features) if f.lexicon != lexicon.digest]
        if not stale:
            return view.history
        known = view.ratings.setdefault(lexicon.digest, {})
        names = {i: (view.nos[i], view.history.chars[i]) for i in stale}
        missing = [i for i in stale if names[i] not in known]
        for start in range(0, len(missing), 200):
            some = missing[start : start + 200]
            found = self._store.log.rows_of(view.session, [view.nos[i] for i in some])
            for i in some:
                if view.nos[i] in found:
                    said = (text_of(entry.message) for entry in found[view.nos[i]])
                    known[names[i]] = lexicon.rate("\n".join(said))
        history = copy(view.history)
        keywords = list(view.history.keywords)
        for i in stale:
            keywords[i] = known.get(names[i], keywords[i])
        history.keywords = keywords
        return history


def _cached(view: SessionHistory, name: Hashable, make: Callable[[], PrunePlan]) -> PrunePlan:
    """Return the plan that the view caches under a name, made first where there is none; None caches nothing."""
    known = view.memo.get(name)
    if isinstance(known, PrunePlan):
        return known
    plan = make()
    if name is not None:
        if len(view.memo) > PLANS_OF_A_VIEW:
            view.memo.clear()
        view.memo[name] = plan
    return plan


def settings_with(session: Session, tried: Mapping[str, Any] | None) -> Settings:
    """Return the session's settings with those that are tried on top."""
    return session.settings if tried is None else Settings.from_dict(tried, base=session.settings)


def _refuse_pinned(view: SessionHistory, drop: Collection[int], spare: Collection[int]) -> None:
    """Refuse to drop a pinned message, just as dropping it directly is refused.

    Raises:
        Conflict: a unit that is to be dropped, and not spared, is pinned.
    """
    heads = view.history.units.head
    pinned = {heads[p] for p in view.history.pinned} - {heads[p] for p in view.positions(spare)}
    found = sorted(no for no in drop if no in view.index and heads[view.index[no]] in pinned)
    if found:
        said = [f"message {no} is pinned, and never dropped: unpin it first" for no in found]
        raise Conflict(said[0], [{"field": "drop", "message": text} for text in said])
