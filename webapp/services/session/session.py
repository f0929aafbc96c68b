"""Session: one session as loaded, with everything that is derived from its row, its running state and its totals.

A service loads a session, changes it, and calls `save()` inside its transaction. A followed session has two
contexts: the agent's (what the agent really sends) and the pruned view (the result of our operations). A
managed session has the pruned view alone. Tokens are estimates until a `Scale` converts them to the tokens that are
shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, lru_cache

from scoring.budget import usable_tokens
from scoring.errors import InvalidSettings
from scoring.history import settings_for
from scoring.models import ModelLimits, family_of, find_model
from scoring.settings import Lexicon, Settings, lexicon_of
from scoring.tokens import (
    ESTIMATOR,
    STEADY_SHARE,
    Calibration,
    ModelCounter,
    Overheads,
    TokenCounter,
    Traits,
    expected,
)
from webapp.agents import AGENTS
from webapp.services.session.environment import Environment
from webapp.services.session.limits import Limits, compatible_settings, limits_of
from webapp.services.session.prompt_cache import CacheState, prompt_cache
from webapp.services.session.proxy_state import ProxyState
from webapp.services.session.scale import Scale
from webapp.services.session.state import SessionState
from webapp.services.session.windows import window_of
from webapp.store.context import AGENT, PRUNED, REGIONS_BESIDE
from webapp.store.sessions import COLUMNS, MOST_OBSERVED, ObservedOverheads, SessionRow

# View -> region -> (estimated tokens, messages).
Totals = dict[int, dict[str, tuple[int, int]]]
# Source -> the overheads that its sessions showed.
Observed = dict[str, list[ObservedOverheads]]

# A turn may add at least this share of the usable tokens, however little the last ones added.
LEAST_GROWTH = 0.05
STATE_DAMAGED = "its stored running state is damaged and was reset; run `coppice verify`"
DEFAULT_MODEL = "default"  # a name that no model has
# Columns that a person may change while an append is being prepared.
SHARED_COLUMNS = ("title", "model", "cwd", "agent_type", "parent_id", "window", "wire_format")


class SessionContext:
    """One context of a session: the agent's, or the pruned view. `view` is its number in the store."""

    __slots__ = ("_session", "view")

    def __init__(self, session: Session, view: int) -> None:
        self._session, self.view = session, view

    @property
    def totals(self) -> dict[str, tuple[int, int]]:
        """Return region -> (estimated tokens, messages)."""
        return self._session.totals[self.view]

    @totals.setter
    def totals(self, totals: dict[str, tuple[int, int]]) -> None:
        self._session.totals[self.view] = totals

    @property
    def estimates(self) -> dict[str, int]:
        """Return region -> estimated tokens."""
        return {name: tokens for name, (tokens, _) in self.totals.items()}

    @property
    def estimate(self) -> int:
        """Return the estimated tokens of the whole context."""
        return sum(self.estimates.values())

    @property
    def messages(self) -> int:
        """Return the number of messages and summaries in the context."""
        return sum(count for _, count in self.totals.values())

    @property
    def outside_messages(self) -> int:
        """Return the estimated tokens outside messages and summaries: tool definitions, memories."""
        return sum(self.region(name) for name in REGIONS_BESIDE)

    @property
    def scale(self) -> Scale:
        """Return the conversion from estimated to shown tokens, as the context is now."""
        main = self._session.main
        apart = None if main.view == self.view else main.estimate
        return Scale(self._session.calibration, self.estimate, apart)

    @property
    def tokens(self) -> int:
        """Return the tokens shown for the whole context: real ones once usage is known."""
        return self.scale.tokens

    def region(self, name: str) -> int:
        """Return the estimated tokens of one region."""
        return self.totals.get(name, (0, 0))[0]

    def count(self, region: str, tokens: int, messages: int) -> None:
        """Add to a region's totals."""
        before = self.totals.get(region, (0, 0))
        self.totals[region] = (before[0] + tokens, before[1] + messages)


class Session:
    """One loaded session. `row`, `state` and `totals` are changed in place and written by `save()`.

    `unpruned` is the context of a followed session as its client keeps it, stored even while calls are sent pruned.
    `observed` caches the overheads of an agent's sessions by source, for sessions that are loaded together. With
    `own_calibration_only` nothing that other sessions showed is used.
    """

    def __init__(
        self,
        environment: Environment,
        row: SessionRow,
        totals: Totals,
        observed: Observed | None = None,
    ) -> None:
        self.environment, self.row, self.totals = environment, row, totals
        self.state, self._state_damaged = SessionState.readable(row.state, row.source)
        self.pruned = SessionContext(self, PRUNED)
        self.unpruned = SessionContext(self, AGENT) if row.followed else None
        self.own_calibration_only = False
        self.is_between_calls = False  # the next call is certainly made after this change
        self._observed = {} if observed is None else observed
        self._remember()

    @classmethod
    def load(cls, environment: Environment, session_id: str) -> Session:
        """Return a session as the store has it.

        Raises:
            NotFound: there is no such session, or it was deleted.
        """
        return cls.of(environment, environment.store.sessions.get(session_id))

    @classmethod
    def of(cls, environment: Environment, row: SessionRow) -> Session:
        """Return the session of a row that was just read."""
        return cls(environment, row, environment.store.contexts.totals(row.key))

    @classmethod
    @contextmanager
    def to_change(cls, environment: Environment, session_id: str) -> Iterator[Session]:
        """Open the transaction of a change under the session's lock, and yield the session as it is then.

        Raises:
            NotFound: there is no such session, or it was deleted.
            BusyStore: too many others wait to change it.
        """
        with environment.lock(session_id), environment.store.write(session_id):
            yield cls.load(environment, session_id)

    # -- identity

    @property
    def id(self) -> str:
        """Return the session's id as it is in addresses."""
        return self.row.id

    @property
    def key(self) -> int:
        """Return the session's number in the store."""
        return self.row.key

    @property
    def version(self) -> int:
        """Return a number that grows with every change of the log or of a context."""
        return self.row.version

    @property
    def operations_version(self) -> tuple[int, int]:
        """Return numbers that change with every operation and every undo, and with nothing else."""
        return self.row.next_operation, self.state.undos

    @property
    def agent(self) -> SessionContext | None:
        """Return the context that the agent really sends; None if that is the pruned view.

        That is so if the proxy or the agent's own extension sent the session's last call pruned.
        """
        return None if self.state.proxy.applied or self.state.edited else self.unpruned

    @property
    def main(self) -> SessionContext:
        """Return the context that the gauge shows and that real usage refers to."""
        return self.agent or self.pruned

    @contextmanager
    def may_switch(self) -> Iterator[None]:
        """Let the block change which context is sent; the estimates of the last entries are then those of that one.

        An agent can write a call down before it sends it, and its usage later.
        """
        before = self.main.estimate
        yield
        self.state.add_to_estimates(self.main.estimate - before)

    @property
    def sends_pruned_view(self) -> bool:
        """Return True if the agent's next call sends the pruned view, or what equals it in size."""
        return self.agent is None or self.agent.totals == self.pruned.totals

    @property
    def contexts(self) -> tuple[SessionContext, ...]:
        """Return every context that is kept of the session, the pruned view last."""
        return (self.pruned,) if self.unpruned is None else (self.unpruned, self.pruned)

    # -- settings and limits

    @property
    def settings(self) -> Settings:
        """Return the common settings with the session's own overrides."""
        return compatible_settings(self.row.settings, self.environment.settings())[0]

    @property
    def ignored_settings(self) -> list[str]:
        """Return the stored state and settings of the session that are not used, each with the reason."""
        faults = compatible_settings(self.row.settings, self.environment.settings())[1]
        return [
            *(f"its own {name} is ignored: {why}" for name, why in faults),
            *self.row.damaged,
            *([STATE_DAMAGED] if self._state_damaged else []),
            *(
                f"the stored {name} is damaged and left out; save it again"
                for name in self.environment.damaged
            ),
        ]

    @property
    def task_settings(self) -> Settings:
        """Return the settings with the weights and keywords of the session's task type."""
        return settings_for(self.settings, self.state.facts)

    @property
    def automatic(self) -> bool:
        """Return True if the session is pruned automatically."""
        return self.settings.automatic if self.row.automatic is None else bool(self.row.automatic)

    @property
    def limits(self) -> Limits:
        """Return the limits of the session with its settings."""
        return self.limits_with(self.settings)

    def limits_with(self, settings: Settings) -> Limits:
        """Return the limits of the session with other settings."""
        model = self.environment.model(self.row.model)
        seen = window_of(self.row, self.state, model, self.environment.windows)
        return limits_of(model, seen, settings, self.state.largest)

    @property
    def usable_shown(self) -> int:
        """Return the most tokens, as shown, that the pruned view may take; 0 if nothing of the window is usable."""
        try:
            return self.require_usable()
        except InvalidSettings:
            return 0

    @property
    def usable_estimate(self) -> int:
        """Return the most estimated tokens that the pruned view may take; 0 if nothing of the window is usable."""
        return self._estimated(self.usable_shown)

    def _estimated(self, usable: int) -> int:
        return self.pruned.scale.estimated(usable) if usable else 0

    @property
    def can_be_relieved(self) -> bool:
        """Return whether the pruned view exceeds the usable tokens, and these have room for any messages."""
        usable = self.usable_shown
        return self.pruned.tokens > usable and self._estimated(usable) > self.pruned.outside_messages

    @property
    def growth_per_turn(self) -> int | None:
        """Return the tokens that a turn adds to the main context, over the last turns; None if that is not known."""
        return self.state.growth_per_turn(self.main.tokens - self.unseen_before(self.row.next_sample))

    def has_room_for_a_turn(self, tokens: int) -> bool:
        """Return whether a context of so many tokens is still usable after another turn like the last ones.

        A cap on the target lowers what counts as usable by the same share.
        """
        most = min(self.usable_shown, int(100 * self.limits.target_tokens / self.settings.target_percent))
        return tokens + max(self.growth_per_turn or 0, int(most * LEAST_GROWTH)) <= most

    @property
    def is_above_target(self) -> bool:
        """Return whether the main context is above its target; `state.above` is what was last noted of it."""
        return self.main.tokens > self.limits.target_tokens

    def require_usable(self) -> int:
        """Return the most tokens that the pruned view may take, as shown.

        Raises:
            InvalidSettings: the reserves leave nothing of the window; the error has the numbers.
        """
        limits = self.limits
        window = replace(limits.model, window=limits.window, input_limit=min(limits.limit, limits.window))
        return usable_tokens(window, self.settings)

    @property
    def cache(self) -> CacheState | None:
        """Return the provider's cache of the context; None where its state is unknown or there is none."""
        return prompt_cache(self.state, self.environment.model(self.row.model), self.environment.clock())

    @property
    def cache_is_cold(self) -> bool:
        """Return True if the provider's cache of the last call has expired, so that the next call writes all of it."""
        return (cache := self.cache) is not None and cache.cold

    def awaits_cold_cache(self, tokens: int) -> bool:
        """Return whether a prune of a context of so many tokens should wait (X26).

        It does while the cache is of use and there is room for another turn, unless the settings say otherwise.
        """
        cache = self.cache
        is_warm = cache is not None and not cache.cold
        return is_warm and self.settings.wait_for_cold_cache and self.has_room_for_a_turn(tokens)

    @property
    def awaits_end_of_loop(self) -> bool:
        """Return whether a prune should wait until the running tool loop has ended.

        A model that checks its thoughts would refuse those of the loop after a change, and without them it would think
        again. Above the usable tokens nothing waits.
        """
        return self.state.is_thinking and self.pruned.scale.estimate <= self.usable_estimate

    # -- counting

    @cached_property
    def counter(self) -> TokenCounter:
        """Return the token counter of the session's model, or of the model its agent used last."""
        model = self._model_to_count
        return ModelCounter(
            self.environment.tokenizers.counter(model.encoding),
            family_of(self._counted_name),
            model.token_factor,
        )

    @property
    def least_share(self) -> float:
        """Return the smallest share of its count that a first call's text can really take.

        If tokens are estimated or our table has no row for the model, it is the share for any tokenizer.
        """
        model = self._model_to_count
        counts = self.environment.tokenizers.counter(model.encoding) is not ESTIMATOR
        known = counts and not model.assumed and not model.own
        return family_of(self._counted_name).least if known else STEADY_SHARE

    @cached_property
    def lexicon(self) -> Lexicon:
        """Return the keyword lists of the session's task type, compiled."""
        return lexicon_of(self.task_settings.keywords)

    @property
    def model_row(self) -> ModelLimits:
        """Return the model table's row for the session's own model, without changes by settings."""
        return find_model(self.row.model, self.environment.overrides())

    def change_model(self, name: str | None) -> None:
        """Set the model. Without real usage, messages stay counted as for the old one and are converted by a factor."""
        counted = self._counted_name or DEFAULT_MODEL
        self.row.model, self.row.window = name, None
        self.state.model_changed()
        if self.row.next_no == 1 or self.calibration.known:
            return
        self.state.counted_as = ""
        own, before = self._model_to_count, find_model(counted, self.environment.overrides())
        if counted != (self._counted_name or DEFAULT_MODEL):
            self.state.count_as(counted, own.token_factor / before.token_factor)
        else:
            self.state.count_as("", 1.0)

    @property
    def _counted_name(self) -> str | None:
        agent = AGENTS.get(self.row.source)
        usual = agent.usual_model if agent is not None else None
        return self.state.counted_as or self.row.model or usual

    @property
    def _model_to_count(self) -> ModelLimits:
        return find_model(self._counted_name, self.environment.overrides())

    # -- real usage

    @property
    def calibration(self) -> Calibration:
        """Return the calibration from real usage; what this session has not shown yet is that of the agent's others.

        An append stores what this session showed by itself, so that the result does not depend on the order of
        sessions.
        """
        return self.state.calibration if self.own_calibration_only else self.calibration_with_others

    @property
    def calibration_with_others(self) -> Calibration:
        """Return the calibration that also uses other sessions; a session without messages sends nothing."""
        known, row = self.state.calibration, self.row
        needed = not known.known or known.calls == 1 or (known.compacted and not known.compactions)
        if not needed or row.source not in AGENTS or row.next_no == 1:
            return known
        others = self._overheads_of_others
        if not known.known:
            unseen = known.unseen + others.unseen
            return replace(known, unseen=unseen, second=others.second or 0, restored=others.restored or 0)
        second = others.second or 0 if known.calls == 1 else known.second
        return replace(
            known, second=second, restored=known.restored if known.compactions else others.restored or 0
        )

    def unseen_before(self, sample: int) -> int:
        """Return the tokens outside the transcript, which sizes stored before the first call lack."""
        known = self.state.calibration
        if not known.known:
            return self.calibration_with_others.unseen - known.unseen
        return self.state.first_unseen if sample < self.state.first_known else 0

    @cached_property
    def _overheads_of_others(self) -> Overheads:
        """Return the overheads to expect from what other sessions of the agent showed."""
        row, child = self.row, self.row.parent_id is not None
        if row.source not in self._observed:
            self._observed[row.source] = self.environment.store.sessions.observed_overheads(row.source)
        observed = self._observed[row.source]
        model = row.model or next(
            (one.model for one in observed if one.child == child and one.model), self._counted_name
        )
        own, names = self.environment.overrides(), {model, *(one.model for one in observed)}
        factors = {name: find_model(name, own).token_factor for name in names}
        state = self.state
        like = Traits(
            source=row.source, child=child, agent_type=row.agent_type, cwd=row.cwd, model=model,
            factor=factors[model], opening=state.opening, version=state.agent_version,
        )  # fmt: skip
        return expected(
            like, [_overheads(row.source, one, factors[one.model]) for one in observed if one.key != row.key]
        )

    # -- saving

    def touch(self) -> None:
        """Increase the version: the log or a context has changed, so earlier plans are stale."""
        self.row.version += 1

    def save(self) -> None:
        """Write all changes since the session was loaded or last saved, inside the caller's transaction."""
        self.row.state = self.state.to_dict()
        columns = ((name, getattr(self.row, name)) for name in COLUMNS)
        changed = {name: value for name, value in columns if value != self._saved[name]}
        store = self.environment.store
        store.sessions.update(self.key, **changed)
        for view, regions in self.totals.items():
            if regions != self._saved_totals[view]:
                store.contexts.put_totals(self.key, view, regions)
        self._remember()

    def keep_changes_of_others(self, current: SessionRow) -> None:
        """Copy from `current` the shared columns that changed since this session was loaded.

        The window and `kept`, which users set, and the proxy's state are copied too.
        """
        if current.model != self._saved["model"]:
            self.state.model_changed()
            prior = (current.state.get("calibration") or {}).get("prior", 1.0)
            self.state.count_as(current.state.get("counted_as", ""), prior)
        self.state.own_window = current.state.get("own_window", 0)
        self.state.own_window_at = current.state.get("own_window_at", 0)
        self.state.kept = current.state.get("kept") is True
        self.state.proxy = ProxyState.from_dict(current.state.get("proxy"))
        for name in SHARED_COLUMNS:
            if (theirs := getattr(current, name)) != self._saved[name]:
                setattr(self.row, name, theirs)
                self._saved[name] = theirs

    def _remember(self) -> None:
        self._saved = {name: getattr(self.row, name) for name in COLUMNS}
        self._saved_totals = {view: dict(regions) for view, regions in self.totals.items()}


@lru_cache(maxsize=2 * MOST_OBSERVED)
def _overheads(source: str, seen: ObservedOverheads, factor: float) -> tuple[Traits, Overheads]:
    """Return the traits of a session of an agent and what it showed; cached, because all sessions begin with these."""
    traits = Traits(
        source=source, child=seen.child, agent_type=seen.agent_type, cwd=seen.cwd, model=seen.model,
        factor=factor, opening=seen.opening, version=seen.agent_version,
    )  # fmt: skip
    second = seen.second if seen.calls > 1 else None
    restored = seen.restored if seen.compactions else None
    return traits, Overheads(seen.unseen, second, restored, seen.calls)
