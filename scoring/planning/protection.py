"""The units that a plan may not drop, each with its cause.

System messages, the last unit, pinned and spared messages, the newest compaction of the provider, and the fresh tail
are always kept, whatever they cost. The last user message is protected if there is room beside those, and so is the
last that no program wrote. The task, rules that users set, what they take back, the open plan, the newest unresolved
errors, the last statement and the user's own words are protected within shares of the budget. A unit is protected for
the first cause below that applies. It is kept whole, except the units that a strategy may shorten
(`Protection.guarded`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

from scoring.history import History
from scoring.planning.guards import Guards, find, question_of
from scoring.settings import Settings

# Causes in order of precedence, with the reason shown.
REASONS = {
    "system": "protected: system message",
    "last_unit": "protected: last message",
    "pinned": "protected: pinned",
    "spared": "protected: spared in this plan",
    "compaction": "protected: the provider's compaction of what came before",
    "fresh_tail": "protected: fresh tail",
    "last_user": "protected: the last user message",
    "task": "protected: the task",
    "rule": "protected: a rule of the user",
    "correction": "protected: a correction by the user",
    "plan": "protected: the open plan",
    "error": "protected: the newest unresolved error",
    "statement": "protected: the last statement",
    "answer": "protected: the answer to a protected question",
    "question": "protected: the question that a protected answer needs",
    "user_words": "protected: the user's words",
}
# The causes of messages that are always kept.
ALWAYS = frozenset({"system", "last_unit", "pinned", "spared", "compaction", "fresh_tail"})
# The first of the user's own messages is kept too, unless it takes more than this share of the budget.
FIRST_USER_SHARE = 0.25
# A task or correction that does not fit the share is protected if it takes at most this part of what is left beside
# what is always kept: where a system prompt takes most of the budget, the share is too small for a sentence. A rule
# whose correction is dropped would mislead.
SHARE_BESIDE = 0.25
BESIDE_SHARE = frozenset({"task", "correction"})
# Messages that may be shortened get at least these multiples of the share, however much of it users' words take:
# whether an unresolved error is kept must not depend on how much users wrote.
LEAST_FOR_ERRORS, LEAST_GUARDED = 2.0, 0.5


@dataclass(frozen=True, slots=True)
class Protection:
    """The cause of protection for each protected head, and the tokens of those always kept and of all protected.

    `guarded` are the causes of units that a strategy keeps before all others and may shorten, within `guarded_room`
    tokens. `outdated` maps the heads of older plans, of failures that were resolved, of edits that were taken back and
    of answered questions to the heads of what replaces or answers them. `last_user_left_out` is the position of the
    last user message if there is no room for it.
    """

    causes: dict[int, str]
    always_tokens: int
    tokens: int
    last_user_left_out: int | None
    guarded: dict[int, str]
    guarded_room: int
    outdated: Mapping[int, Collection[int]]


def always_tokens(history: History, settings: Settings) -> int:
    """Return the tokens of what is always kept, whatever it costs."""
    return _Protected(history, ()).add_always_kept((), settings.fresh_tail)


def protect(
    history: History,
    settings: Settings,
    max_tokens: int,
    spare: Collection[int] = (),
    drop: Collection[int] = (),
) -> Protection:
    """Return the protected units of a history.

    Messages that the user drops (`drop`) are protected only if they are system messages, pinned, or in the last unit.
    """
    head = history.units.head
    protected = _Protected(history, {head[p] for p in drop} - {head[p] for p in spare})
    always = protected.add_always_kept(spare, settings.fresh_tail)
    room = max_tokens - always
    last_user = history.own_words[-1:]
    left_out = None
    if last_user and room < protected.cost(last_user[0]):
        left_out = last_user[0]
    else:
        room -= protected.add("last_user", last_user)
    guards = find(history) if settings.guarded_percent else Guards(history.own_words)
    # If a program answers in a user's place, the last message that users wrote themselves is often the task.
    own = protected.not_dropped(guards.spoken[-1:])
    if own and protected.cost(own[0]) <= room:
        room -= protected.add("last_user", own)
    whole_share = int(room * settings.guarded_percent / 100)
    share = _Share(protected, whole_share, int(room * SHARE_BESIDE))
    share.protect_words(guards)
    room -= share.spent
    words, questions = _user_words(protected, settings, max_tokens, room, guards)
    room -= protected.add("user_words", words)
    room -= protected.add("question", questions)
    share.left = max(share.left, int(whole_share * (LEAST_FOR_ERRORS if guards.errors else LEAST_GUARDED)))
    guarded = share.guard(guards, room)
    return Protection(
        causes=protected.causes,
        always_tokens=always,
        tokens=max_tokens - room,
        last_user_left_out=left_out,
        guarded=guarded,
        guarded_room=min(share.left, room),
        outdated=_outdated(history, guards),
    )


class _Protected:
    """The units protected so far: their causes by head. `dropped` are the heads of units that the user drops."""

    def __init__(self, history: History, dropped: Collection[int]) -> None:
        self.history, self.dropped = history, dropped
        self.causes: dict[int, str] = {}

    def add_always_kept(self, spare: Iterable[int], fresh_tail: int) -> int:
        """Protect what is always kept, whatever it costs; return its tokens."""
        history = self.history
        tokens = self.add("system", history.systems)
        tokens += self.add("last_unit", _last(history, 1))
        tokens += self.add("pinned", history.pinned)
        tokens += self.add("spared", spare)
        tokens += self.add("compaction", self.not_dropped(history.compactions[-1:]))
        return tokens + self.add("fresh_tail", self.not_dropped(_last(history, fresh_tail)))

    def add(self, cause: str, positions: Iterable[int]) -> int:
        """Protect the units of these positions that are not protected yet; return their tokens."""
        head, costs = self.history.units.head, self.history.unit_tokens
        tokens = 0
        for position in positions:
            unit = head[position]
            if unit not in self.causes:
                self.causes[unit] = cause
                tokens += costs[unit]
        return tokens

    def cost(self, position: int) -> int:
        """Return the tokens that protecting a position's unit adds: 0 if it is protected already."""
        head = self.history.units.head[position]
        return 0 if head in self.causes else self.history.unit_tokens[head]

    def not_dropped(self, positions: Iterable[int]) -> list[int]:
        """Return the positions whose units the user does not drop."""
        return [p for p in positions if self.history.units.head[p] not in self.dropped]


class _Share:
    """The share of a budget for messages whose loss would mislead; `left` and `spent` are tokens."""

    def __init__(self, protected: _Protected, share: int, beside: int) -> None:
        self._protected, self._beside = protected, beside
        self.left, self.spent = share, 0

    def protect_words(self, guards: Guards) -> None:
        """Protect what users said: the last message, the task, then the rules, each with the question it answers.

        Rules have the whole share for themselves, however much the task takes. Corrections come after them, because
        what they correct is often in the task; then what users do not know or have, so that they are not asked again.
        """
        whole = self.left
        for cause, positions in (("last_user", guards.spoken[-1:]), ("task", guards.task)):
            for position in positions:
                self._protect(cause, position)
        self.left = whole
        for position in guards.rules:
            self._protect("rule", position)
        for position in guards.corrections:
            self._protect("correction", position)
        for position in guards.lacking:
            self._protect("user_words", position)
        self.left = max(0, whole - self.spent)

    def guard(self, guards: Guards, room: int) -> dict[int, str]:
        """Return the causes of units that may be shortened, in order of precedence."""
        found: dict[int, str] = {}
        if self.left <= 0 or room <= 0:
            return found
        statement = [] if guards.statement is None else [guards.statement]
        answer = [answer for question, answer in guards.answered if question == guards.statement]
        plan = [] if guards.plan is None else [guards.plan]
        for cause, positions in (
            ("error", guards.errors),
            ("plan", [*plan, *guards.steps]),
            ("answer", answer),
            ("statement", statement),
        ):
            for position in self._protected.not_dropped(positions):
                head = self._protected.history.units.head[position]
                if head not in self._protected.causes:
                    found.setdefault(head, cause)
        return found

    def _protect(self, cause: str, position: int) -> None:
        question = question_of(self._protected.history, position)
        alone = self._protected.cost(position)
        cost = alone + (self._protected.cost(question) if question is not None else 0)
        if cause == "correction" and self.left < cost:  # what is taken back says enough by itself
            question, cost = None, alone
        outside = cause in BESIDE_SHARE and self.left < cost <= self._beside
        if (cost > self.left and not outside) or not self._protected.not_dropped([position]):
            return
        if outside:
            self._beside -= cost
        else:
            self.left -= cost
        self.spent += cost
        self._protected.add(cause, [position])
        if question is not None:
            self._protected.add("question", [question])


def _outdated(history: History, guards: Guards) -> dict[int, set[int]]:
    """Return the heads of units that later ones replace or answer, each with the heads of those."""
    # A short answer is taken together with its question anyway.
    answered = (pair for pair in guards.answered if question_of(history, pair[1]) is None)
    head, found = history.units.head, dict[int, set[int]]()
    for old, new in chain(
        guards.old_plans, guards.resolved.items(), guards.taken_back, guards.replaced, answered
    ):
        if head[old] != head[new]:
            found.setdefault(head[old], set()).add(head[new])
    return found


def _last(history: History, count: int) -> range:
    """Return the positions of the last `count` messages."""
    return range(max(0, len(history) - count), len(history))


def _user_words(
    protected: _Protected,
    settings: Settings,
    max_tokens: int,
    room: int,
    guards: Guards,
) -> tuple[list[int], list[int]]:
    """Return the protected messages of the user, and the questions that short ones of them answer.

    The messages are the first one, then the others newest first, skipping what does not fit. A question comes with the
    later statement that replaces it, if any.

    There are some only in an agent's session, in which users write few of the messages. In a conversation what matters
    is kept by covering both sides, and half of a budget for one side would cost what the other said.

    Messages protected for another cause count against the cap too, because it limits the user's share of a context.
    """
    history, causes, spoken = protected.history, protected.causes, guards.spoken
    cap = min(settings.user_words_tokens, int(max_tokens * settings.user_words_percent / 100))
    few = len(spoken) * 100 <= settings.user_words_messages_percent * len(history)
    if cap <= 0 or not spoken or not few:
        return [], []
    replaced, first = dict(guards.replaced), spoken[0]
    taken: list[int] = []
    questions: list[int] = []
    seen: set[int] = set()
    head, costs = history.units.head, history.unit_tokens
    if costs[head[first]] > max_tokens * FIRST_USER_SHARE:
        seen.add(head[first])
    else:
        cap = max(cap, costs[head[first]])
    for position in chain([first], reversed(spoken)):
        unit = head[position]
        if unit in seen or unit in protected.dropped:
            continue
        # A short answer says nothing without its question.
        question = None if unit in causes else question_of(history, position)
        both = [position] if question is None or head[question] in seen else [position, question]
        if both[1:] and question in replaced:
            both += protected.not_dropped([replaced[question]])
        cost = costs[unit] + sum([protected.cost(one) for one in both[1:]])
        new = sum([protected.cost(one) for one in both])
        if cost > cap or new > room:
            continue
        seen.update(head[one] for one in both)
        cap -= cost
        room -= new
        taken.append(position)
        questions += both[1:]
        if cap <= 0:
            break
    return taken, questions
