"""The messages of one context, in order, as columns: the input of a plan.

There is one list for each fact instead of one object for each message, because a plan over 100,000 messages reads
columns in bulk. Positions are indices into these lists. Units are kept up to date as messages are appended; an append
takes amortised constant time. Plans and scores are made from a snapshot, which never changes, so a history can grow
while they are in use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import compress

from scoring.history.content.words import words_of
from scoring.history.cues import COMPACTION
from scoring.history.cues.calls import CallCue
from scoring.history.feature_cache import FEATURES
from scoring.history.features import Features, analyse, analyse_text, rated, text_of
from scoring.history.mentions import Mentions
from scoring.history.task_recognition import TaskCounts, settings_for
from scoring.messages import Message, Units
from scoring.settings import AUTO, FORESIGHT, STRATEGIES, Settings, lexicon_of
from scoring.signals import SIGNALS
from scoring.signals.relevance import QUESTION_WORDS
from scoring.tokens import FOUR_CHARACTERS, TokenCounter, estimate_message_tokens, estimate_text_tokens

# Every stage uses the traces of messages, and has a setting of its name.
_STAGE_SETTINGS = tuple(one.name for one in fields(Settings) if one.name.startswith("stage_"))


def reads_content(settings: Settings) -> bool:
    """Return whether a plan with these settings reads the contents of messages."""
    known = settings.task_type != AUTO  # otherwise the task type is recognised, from contents too
    weighed = any(signal.reads_content and settings.weights.get(name) for name, signal in SIGNALS.items())
    guarded = settings.guarded_percent > 0 or settings.mark_changed
    strategy = STRATEGIES.get(settings.strategy)  # an unknown one is refused when the plan is made
    reads = strategy is not None and strategy.reads_content
    return reads or weighed or guarded or not known


def reads_traces(settings: Settings) -> bool:
    """Return whether a plan with these settings uses the files that are read and the outputs that are repeated."""
    return any(getattr(settings, name) not in (False, "off") for name in _STAGE_SETTINGS)


def counter_of(settings: Settings, counter: TokenCounter | None) -> TokenCounter | None:
    """Return the counter for bare messages: the given one, or that of the settings; None for the estimator."""
    return FOUR_CHARACTERS if counter is None and settings.counting == "four_characters" else counter


def reads_words(messages: Sequence[Message], settings: Settings) -> bool:
    """Return whether the words of messages are read: by a signal with weight, or because of a question at the end."""
    weighed = (signal for name, signal in SIGNALS.items() if settings.weights.get(name))
    if any(signal.reads_content and not signal.needs_question for signal in weighed):
        return True
    last = messages[-1] if messages else None
    return last is not None and last.role == "user" and 0 < words_of(text_of(last)).total <= QUESTION_WORDS


def reads_keywords(settings: Settings, strategy: str | None = None) -> bool:
    """Return whether a plan with these settings uses the keyword ratings of messages."""
    used = STRATEGIES.get(strategy or settings.strategy)
    return used is None or not used.weighs_mentions


@dataclass(slots=True, eq=False)
class History:
    """Columns over the messages of one context.

    `pinned` and `drop_first` can be changed by the caller at any time; everything else is read only.
    """

    features: list[Features] = field(default_factory=list)
    roles: list[str] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    chars: list[int] = field(default_factory=list)
    keywords: list[float] = field(default_factory=list)
    systems: list[int] = field(default_factory=list)
    """The positions of system messages, in order."""
    own_words: list[int] = field(default_factory=list)
    """The positions of messages with a user's own words, in order."""
    compactions: list[int] = field(default_factory=list)
    """The positions of messages into which the provider compacted all before them, in order."""
    pinned: set[int] = field(default_factory=set)
    drop_first: set[int] = field(default_factory=set)
    units: Units = field(default_factory=Units)
    mentions: Mentions = field(default_factory=Mentions)
    task_counts: TaskCounts = field(default_factory=TaskCounts)
    """The counts by which the task type is recognised; callers with a longer log set those of the log."""
    unit_tokens: list[int] = field(default_factory=list)
    """The tokens of each unit at its head, and 0 at other positions."""
    summarised: int = 0
    """The number of messages before the last summary; summaries are not in the history."""
    summary_tokens: int = 0
    """The size of the summaries."""
    numbers: Sequence[int] = ()
    """The message numbers used in reasons; if empty, they are the positions counted from 1."""
    dated: bool = False
    """The messages have times, which the line in place of a cleared output names."""
    frozen: bool = False
    """It is a snapshot."""

    @classmethod
    def of(
        cls,
        messages: Sequence[Message],
        counter: TokenCounter | None = None,
        settings: Settings = FORESIGHT,
    ) -> History:
        """Return the history of bare messages, analysed, and counted by `counter` or as the settings say."""
        counter, lexicon = counter_of(settings, counter), lexicon_of(settings.keywords)
        traces = reads_traces(settings)
        if not reads_content(settings):
            history = cls.of_features(
                [analyse(m, estimate_message_tokens(m, counter), lexicon, traces=traces) for m in messages]
            )
            history.rate(messages, settings)
            return history
        reads = reads_words(messages, settings)
        # A counter of the caller's can change, so its counts are not cached.
        given = counter is not None and counter is not FOUR_CHARACTERS
        kind = None if given else counter, given, lexicon.digest, traces

        def cached(message: Message) -> Features:
            words = reads or message.role == "system"  # those of a system prompt show if it contains rules
            found = FEATURES.get(message, kind, words, partial(compute, words))
            return found._replace(tokens=estimate_message_tokens(message, counter)) if given else found

        def compute(words: bool, message: Message) -> Features:
            tokens = 0 if given else estimate_message_tokens(message, counter)
            return analyse(message, tokens, lexicon, content=True, traces=traces, words=words)

        history = cls.of_features(map(cached, messages))
        history.rate(messages, settings)
        return history

    @classmethod
    def of_texts(
        cls,
        said: Sequence[tuple[str, str]],
        counter: TokenCounter | None = None,
        settings: Settings = FORESIGHT,
    ) -> History:
        """Return what `of` returns for messages of a single text each, given as roles and texts.

        Only for settings that read no content; keywords are never rated again here.
        """
        counter, lexicon = counter_of(settings, counter), lexicon_of(settings.keywords)
        return cls.of_features(
            analyse_text(role, text, estimate_text_tokens(text, counter), lexicon) for role, text in said
        )

    @classmethod
    def of_features(cls, features: Iterable[Features]) -> History:
        """Return the history of messages that were analysed before."""
        history = cls()
        history.extend(list(features))
        return history

    def __len__(self) -> int:
        return len(self.roles)

    def snapshot(self) -> History:
        """Return a copy that never changes; a snapshot returns itself.

        Every column is copied once, which is a small part of the cost of a plan.
        """
        if self.frozen:
            return self
        out = History()
        for name in self.__slots__:
            setattr(out, name, copy(getattr(self, name)))
        out.mentions, out.task_counts = self.mentions.snapshot(), self.task_counts.copy()
        out.frozen = True
        return out

    def first(self, count: int) -> History:
        """Return a snapshot of the first `count` messages as they were before the others came."""
        out = History.of_features(self.features[:count])
        out.pinned = {position for position in self.pinned if position < count}
        out.drop_first = {position for position in self.drop_first if position < count}
        out.summarised, out.summary_tokens = self.summarised, self.summary_tokens
        out.numbers, out.dated, out.frozen = self.numbers[:count], self.dated, True
        return out

    def append(self, features: Features) -> int:
        """Add the next message; return its position."""
        self.extend((features,))
        return len(self.roles) - 1

    def extend(self, features: Sequence[Features]) -> None:
        """Add the next messages, a column at a time.

        Raises:
            ValueError: this is a snapshot.
        """
        if self.frozen:
            raise ValueError("a snapshot cannot grow: append to the history that it was made from")
        first = len(self.roles)
        if not features:
            return
        roles, tokens, chars, keywords, _, _, _, own_words, _, contents, *_ = zip(*features, strict=True)
        self.features += features
        self.roles += roles
        self.tokens += tokens
        self.chars += chars
        self.keywords += keywords
        self.unit_tokens += tokens
        self.systems += [n for n, role in enumerate(roles, first) if role == "system"]
        self.own_words += compress(range(first, len(self.roles)), own_words)
        self.compactions += [n for n, one in enumerate(features, first) if COMPACTION in one.cues.speech]
        self.mentions.extend(contents, roles)
        self.task_counts.extend(features)
        _merge(self.unit_tokens, self.units, self.units.extend(features))

    def joined(self, pairs: Iterable[tuple[int, int]]) -> History:
        """Return this history with the units of each two positions as one; both share all other columns."""
        out = copy(self)
        out.units, out.unit_tokens = copy(self.units), self.unit_tokens[:]
        for one, other in pairs:
            _merge(out.unit_tokens, out.units, out.units.join(one, other))
        return out

    def number(self, position: int) -> int:
        """Return the number of a message in reasons."""
        return self.numbers[position] if self.numbers else position + 1

    def rate(self, messages: Sequence[Message], settings: Settings) -> None:
        """Rate the keywords of messages again if the recognised task type has another keyword list."""
        if not reads_keywords(settings):
            return
        lexicon = lexicon_of(settings_for(settings, self.task_counts).keywords)
        for position, features in enumerate(self.features):
            again = rated(features, messages[position], lexicon)
            self.features[position], self.keywords[position] = again, again.keywords

    def unit(self, position: int) -> Sequence[int]:
        """Return the positions of the unit that a position belongs to."""
        return self.units.of(position)

    def tools(self, position: int) -> dict[str, str]:
        """Return the tool of each call of a unit, by the call's id; many formats name it only there."""
        found: dict[str, str] = {}
        for member in self.unit(position):
            features = self.features[member]
            found.update(zip(features.calls, features.names[0], strict=True))
        return found

    def outcomes(self) -> Iterator[tuple[int, CallCue, int, bool]]:
        """Yield each answered call: its position, its cue, the position of its result, and whether it failed."""
        asked: dict[str, tuple[int, CallCue]] = {}
        for position, features in enumerate(self.features):
            cues = features.cues
            for call_id, call in zip(features.calls, cues.calls, strict=False):
                asked[call_id] = position, call
            for call_id, failed in zip(features.results, cues.failed, strict=False):
                if call_id in asked:
                    yield *asked[call_id], position, failed


def _merge(unit_tokens: list[int], units: Units, gone: Iterable[int]) -> None:
    """Move the tokens of units that were merged into others, given by their former heads."""
    for head in gone:
        unit_tokens[units.head[head]] += unit_tokens[head]
        unit_tokens[head] = 0
