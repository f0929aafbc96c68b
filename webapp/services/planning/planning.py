"""Plans over a session's pruned view: gathers, lets `scoring` decide, remembers the answer.

What is shown speaks of the tokens of the gauge; `scoring` plans in estimated tokens. `SessionPlan.scale` turns one
into the other. The plan with the saved settings is what fates in lists come from; it is made at most once a version.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from scoring.errors import InvalidSettings
from scoring.history import History, reads_keywords, settings_for, text_of
from scoring.planning import PrunePlan, Shortening, plan_prune, shortening, with_shortened
from scoring.settings import Lexicon, Settings, lexicon_of, preset_of
from webapp.errors import Conflict, StalePlan
from webapp.services.session.environment import Environment, Limits
from webapp.services.session.gauges import Scale, Totals, tokens_beside
from webapp.services.session.histories import Histories, SessionHistory
from webapp.services.session.state import SessionState
from webapp.services.session.stored_messages import whole
from webapp.store.context import PRUNED
from webapp.store.sessions import SessionRow

PLANS_KEPT = 64


@dataclass(slots=True)
class SessionPlan:
    """A plan and what it was made from. `settings` are those that hold, with what the task type has of its own;
    `preset` is the name of what they come from. `max_tokens` and what `scale` gives are tokens as shown; `size` is how
    many messages the view had. `base` is the plan without what is shortened by hand; `chosen` says that somebody chose
    what should go.

    The state that it was made for is the session's `version`, the settings in force with those `tried` on top
    (`asked`), and `limits`: where any of them is another, the plan is stale.
    """

    id: str
    session_id: str
    version: int
    view: SessionHistory
    plan: PrunePlan
    tried: Mapping[str, Any] | None
    asked: Settings
    settings: Settings
    preset: str
    limits: Limits
    scale: Scale
    max_tokens: int
    size: int
    base: PrunePlan
    chosen: bool


class Planning:
    """Makes plans and keeps the last ones that were shown."""

    def __init__(self, environment: Environment, histories: Histories) -> None:
        self._environment, self._store, self._histories = environment, environment.store, histories
        self._plans: OrderedDict[str, SessionPlan] = OrderedDict()
        self._lock = threading.Lock()

    def make(
        self,
        row: SessionRow,
        totals: Totals | None = None,
        *,
        tried: Mapping[str, Any] | None = None,
        max_tokens: int | None = None,
        strategy: str | None = None,
        spare: Collection[int] = (),
        drop: Collection[int] = (),
        shorten: Collection[int] = (),
    ) -> SessionPlan:
        """A plan for the session as it is, with `tried` on top of its settings; `spare`, `drop` and `shorten` are
        message numbers.

        Raises:
            InvalidSettings: nobody knows the strategy, or what is tried is not valid.
            Conflict: what is pinned is to be dropped.
        """
        settings = asked = self._asked(row, tried)
        limits = self._environment.limits(row, settings)
        totals = totals if totals is not None else self._store.contexts.totals(row.key)
        scale = self.scale(row, totals)
        shown = limits.aim_tokens if max_tokens is None else max_tokens
        budget = self._budget(row, totals, scale, shown)
        view, name = self._histories.of(row), (settings, budget, strategy)
        with view.lock:
            _refuse_pinned(view, drop, spare)
            preset, settings = preset_of(settings), settings_for(settings, view.history.facts)
            plain = not spare and not drop
            known = view.memo.get(name) if plain else None
            if isinstance(known, PrunePlan):
                plan = known
            else:
                history = view.history
                if reads_keywords(settings, strategy):
                    history = self._rated(view, row, lexicon_of(settings.keywords))
                plan = plan_prune(
                    history, settings, budget, strategy=strategy,
                    spare=view.positions(spare), drop=view.positions(drop),
                )  # fmt: skip
                if plain:
                    if len(view.memo) > 4:
                        view.memo.clear()
                    view.memo[name] = plan
            size = len(plan.scores)
            base = plan
            if shorten:
                plan = with_shortened(plan, self._by_hand(row, view, plan, shorten), view.history.tokens)
        return SessionPlan(
            secrets.token_hex(8), row.id, row.version, view, plan, tried, asked, settings, preset, limits, scale,
            shown, size, base, bool(drop or shorten),
        )  # fmt: skip

    def _asked(self, row: SessionRow, tried: Mapping[str, Any] | None) -> Settings:
        """The session's settings with those that are tried on top."""
        settings = self._environment.settings_of(row)
        return settings if tried is None else Settings.from_dict(tried, base=settings)

    def scale(self, row: SessionRow, totals: Totals | None = None) -> Scale:
        """How estimated tokens of the pruned view are shown."""
        totals = totals if totals is not None else self._store.contexts.totals(row.key)
        return Scale(SessionState.from_dict(row.state), totals, PRUNED, row.followed)

    def is_ready(self, row: SessionRow) -> bool:
        """Whether the plan that would be made now is in memory, so that it takes no time."""
        view = self._histories.known(row)
        if view is None:
            return False
        settings, totals = self._environment.settings_of(row), self._store.contexts.totals(row.key)
        shown = self._environment.limits(row, settings).aim_tokens
        return (settings, self._budget(row, totals, self.scale(row, totals), shown), None) in view.memo

    def _budget(self, row: SessionRow, totals: Totals, scale: Scale, shown: int) -> int:
        """What the messages alone may take, in estimated tokens."""
        others = tokens_beside(totals) + self._store.contexts.summary_tokens(row.key, PRUNED)
        return max(0, scale.estimated(shown) - others)

    def _by_hand(
        self, row: SessionRow, view: SessionHistory, plan: PrunePlan, nos: Collection[int]
    ) -> dict[int, Shortening]:
        """How the messages with these numbers are shortened by hand, those that stand shortened already left out."""
        counter = self._environment.measure(row).counter
        wanted = [no for no in nos if no in view.index and no not in view.stand_ins]
        found = self._store.log.rows_of(row.key, wanted)
        made: dict[int, Shortening] = {}
        for no in wanted:
            position = view.index[no]
            message = whole(view.history.roles[position], found[no])
            if position < len(plan.scores) and (one := shortening(message, counter)) is not None:
                made[position] = one
        return made

    def remember(self, made: SessionPlan) -> SessionPlan:
        """Keeps a plan that was shown, so that exactly it can be applied."""
        with self._lock:
            self._plans[made.id] = made
            while len(self._plans) > PLANS_KEPT:
                self._plans.popitem(last=False)
        return made

    def recall(self, plan_id: str, row: SessionRow) -> SessionPlan:
        """The plan that was shown under this id.

        Raises:
            StalePlan: the session, its settings or its limits have changed since, or the plan is no longer kept.
        """
        with self._lock:
            made = self._plans.get(plan_id)
        if made is None or made.session_id != row.id:
            raise StalePlan("this plan is no longer known; look at a new one")
        if made.version != row.version:
            raise StalePlan("the session has changed since this plan was made; look at a new one")
        if not self._decided_alike(made, row):
            raise StalePlan("settings or limits have changed since this plan was made; look at a new one")
        return made

    def _decided_alike(self, made: SessionPlan, row: SessionRow) -> bool:
        """Whether settings and limits are those that the plan was made with."""
        try:
            settings = self._asked(row, made.tried)
        except InvalidSettings:  # what was tried does not go with what was saved since
            return False
        return settings == made.asked and self._environment.limits(row, settings) == made.limits

    def holding(self, plan_id: str, row: SessionRow) -> SessionPlan | None:
        """The plan that was shown under this id, where it holds for the session as it is."""
        try:
            return self.recall(plan_id, row)
        except StalePlan:
            return None

    def _rated(self, view: SessionHistory, row: SessionRow, lexicon: Lexicon) -> History:
        """The view's history with keyword ratings of this lexicon; texts are read only for messages without them."""
        stale = [i for i, f in enumerate(view.history.features) if f.lexicon != lexicon.digest]
        if not stale:
            return view.history
        known = view.ratings.setdefault(lexicon.digest, {})
        names = {i: (view.nos[i], view.history.chars[i]) for i in stale}
        missing = [i for i in stale if names[i] not in known]
        for start in range(0, len(missing), 200):
            some = missing[start : start + 200]
            found = self._store.log.rows_of(row.key, [view.nos[i] for i in some])
            for i in some:
                if view.nos[i] in found:
                    said = (text_of(entry.message) for entry in found[view.nos[i]])
                    known[names[i]] = lexicon.rate("\n".join(said))
        history = History()
        for name in History.__slots__:
            setattr(history, name, getattr(view.history, name))
        keywords = list(view.history.keywords)
        for i in stale:
            keywords[i] = known.get(names[i], keywords[i])
        history.keywords = keywords
        return history


def _refuse_pinned(view: SessionHistory, drop: Collection[int], spare: Collection[int]) -> None:
    """Refuses to drop what is pinned, as dropping it directly is refused.

    Raises:
        Conflict: a unit to be dropped, and not spared, is pinned.
    """
    heads = view.history.units.head
    pinned = {heads[p] for p in view.history.pinned} - {heads[p] for p in view.positions(spare)}
    found = sorted(no for no in drop if no in view.index and heads[view.index[no]] in pinned)
    if found:
        said = [f"message {no} is pinned, and never dropped: unpin it first" for no in found]
        raise Conflict(said[0], [{"field": "drop", "message": text} for text in said])
