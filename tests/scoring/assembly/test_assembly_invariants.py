"""Invariants: an assembled list fits or says so, is valid for its wire format, in order, and always the same."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.assembly.assembly import BuiltContext, build
from scoring.assembly.emergency import NoUserMessageFits, SystemTooLarge, relieve
from scoring.assembly.snapshot import AssemblyConfig, Item, Snapshot
from scoring.formats import FORMATS, decode, encode, repair, validate
from scoring.history import History
from scoring.lists import prune
from scoring.messages import Message, Text, has_own_words, units_of
from scoring.planning.strategies import STRATEGIES
from scoring.settings import BLUEPRINT, FORESIGHT, Settings
from scoring.summary import Summary
from scoring.tokens import estimate_message_tokens, estimate_tool_tokens
from tests.scoring.builders import BALANCED, any_messages, model, user
from tests.scoring.formats.lists import conversations
from tests.scoring.lists.talks import talks

NAMES = sorted(FORMATS)
WINDOWS = st.sampled_from([0, 1, 20, 60, 120, 300, 1_000, 5_000, 1_000_000])


@st.composite
def snapshots(draw: st.DrawFn, name: str) -> Snapshot:
    """A session in a wire format, with messages missing, repeated, cleared or summarised."""
    said = decode(encode(draw(conversations()), name, {}), name).messages
    if draw(st.booleans()):
        said = tuple(draw(any_messages))
    items: list[Item | Summary] = []
    for n, message in enumerate(said):
        fate = draw(st.integers(0, 11))
        cleared = "2024-01-15T00:00:00Z" if fate == 1 else ""
        if fate == 0:
            continue
        if fate == 2:
            items.append(Summary(f"s{n}", draw(st.text(max_size=200)), messages=3))
        # The same call twice in one turn, in objects that came so, cannot be made valid; the edge refuses it.
        twice = fate == 4 and not message.calls
        items += [Item(str(n), message, pinned=fate == 3, compacted_at=cleared)] * (2 if twice else 1)
    texts = st.lists(st.text(max_size=80), max_size=8)
    return Snapshot(items, draw(texts), draw(texts), new_message=draw(st.none() | st.just(Message("user"))))


def rules(draw: Callable[..., Any], name: str) -> AssemblyConfig:
    """A window of any size, and any strategy."""
    strategy = draw(st.sampled_from(sorted(STRATEGIES)))
    return AssemblyConfig(
        replace(BALANCED, fresh_tail=draw(st.integers(0, 4))),
        usable=draw(WINDOWS),
        strategy=strategy,
        format=name,
    )


def tokens_of(made: BuiltContext) -> int:
    """Return the tokens of the result, counted independently."""
    prompt = [Message("system", (Text(made.system_prompt),))] if made.system_prompt else []
    return sum(map(estimate_message_tokens, [*prompt, *made.messages])) + estimate_tool_tokens([])


@pytest.mark.parametrize("name", NAMES)
class TestAnyAssembly:
    """Properties of any assembly: any mixture of roles, orphans, media, reasoning, summaries and windows."""

    @given(st.data())
    def test_is_within_its_budget_or_says_that_it_is_not(
        self, name: str, data: st.DataObject
    ) -> None:  # C5, M1
        """The tokens are counted independently, system prompt included; an excess is reported."""
        config = rules(data.draw, name)
        made = build(data.draw(snapshots(name)), "default", data.draw(st.text(max_size=100)), config)
        assert tokens_of(made) <= made.token_estimate
        assert made.over_budget is not None or made.token_estimate <= made.budget.total
        if made.over_budget is not None:
            assert str(made.over_budget) in made.notes

    @given(st.data())
    def test_is_valid_for_the_wire_format(self, name: str, data: st.DataObject) -> None:  # X6, P4
        """The list as written passes the documented rules of its format, or holds the system prompt alone."""
        made = build(data.draw(snapshots(name)), config=rules(data.draw, name))
        if all(m.role == "system" for m in made.messages):
            return
        envelope: dict[str, Any] = {}
        assert validate(encode(made.messages, name, envelope), name, ready=False) == []

    @given(st.data())
    def test_keeps_the_order_and_repeats_itself(self, name: str, data: st.DataObject) -> None:  # M7, P9
        """The same state gives an equal value, kept messages stay in order, and the input is not changed."""
        snapshot, config = data.draw(snapshots(name)), rules(data.draw, name)
        before = [*snapshot.items]
        made = build(snapshot, config=config)
        assert build(snapshot, config=config) == made
        assert list(snapshot.items) == before
        items = [i.message for i in snapshot.items if isinstance(i, Item)]
        places = {id(m): n for n, m in enumerate(items)}
        seen = [places[id(m)] for m in made.messages if id(m) in places]
        assert all(a <= b for a, b in itertools.pairwise(seen)) or len(places) < len(items)


def fits_alone(messages: list[Message], unit: tuple[int, ...], room: int) -> bool:
    """Return whether a unit with words of the user's fits by itself."""
    alone = [messages[n] for n in unit]
    if not any(map(has_own_words, alone)):
        return False
    try:
        return relieve(alone, room).tokens <= room
    except NoUserMessageFits:
        return False


class TestABareList:
    """A bare list, whose messages come without stored facts."""

    @given(
        talks(), st.sampled_from([FORESIGHT, BLUEPRINT]), st.sampled_from(sorted(STRATEGIES)), st.floats(0, 1)
    )
    def test_is_chosen_from_as_a_prune_chooses(
        self, messages: list[Message], preset: Settings, strategy: str, share: float
    ) -> None:  # C2, X7
        """An assembly keeps the same messages as a prune, and the same rows of outputs."""
        rules = replace(preset, strategy=strategy, fresh_tail=1, counting="tokenizer", min_recent_messages=1)
        history = History.of(messages, settings=rules)
        budget = int(sum(history.tokens) * share)
        done = prune(history, messages, rules, budget)
        made = build(messages, config=AssemblyConfig(rules, usable=budget))
        if done.over_budget is None and not made.newest_cut:
            stays = [done.fitted.replaced.get(i, messages[i]) for i in done.fitted.kept]
            if done.summary is not None and done.plan.summary is not None:
                place = bisect_left(done.fitted.kept, done.plan.summary.covers[0])
                stays.insert(place, done.summary.summary.as_message())
            assert list(made.messages) == stays

    def test_is_reported_too_long_only_if_nothing_else_can_go(self) -> None:  # C5, B7
        """Repairs need tokens, for which messages are dropped, down to the last one that can go."""
        said = [user("x " * 400), *(model(f"{n} so it is") for n in range(200))]
        rules = replace(FORESIGHT, strategy="newest_first", user_words_tokens=0, min_recent_messages=1)
        for usable in range(40, 400, 3):
            made = build(said, config=AssemblyConfig(rules, usable=usable, format="anthropic"))
            assert made.over_budget is None
            assert made.token_estimate == tokens_of(made) <= usable
            assert usable - made.token_estimate <= 30


class TestAnyEmergency:
    """The emergency path on any list."""

    @given(any_messages, st.integers(0, 2_000), st.booleans(), st.integers(0, 8))
    def test_ends_within_the_budget(
        self, messages: list[Message], available: int, overflow: bool, recent: int
    ) -> None:  # S5, P6, C5
        """The result fits, repairs included, and keeps words of the user; otherwise the error has the numbers."""
        system = sum(estimate_message_tokens(m) for m in messages if m.role == "system")
        if system > available:
            with pytest.raises(SystemTooLarge) as caught:
                relieve(messages, available, overflow=overflow, min_recent=recent)
            assert (caught.value.system_tokens, caught.value.available) == (system, available)
            return
        try:
            done = relieve(messages, available, overflow=overflow, min_recent=recent)
        except NoUserMessageFits:
            assert not any(fits_alone(messages, unit, available - system) for unit in units_of(messages))
            return
        repaired, _ = repair(done.messages)
        assert sum(map(estimate_message_tokens, done.messages)) == done.tokens <= available
        assert sum(map(estimate_message_tokens, repaired)) <= available
        assert any(map(has_own_words, done.messages)) or not any(map(has_own_words, messages))
        assert sorted((*done.kept, *done.dropped)) == list(range(len(messages)))

    @given(st.data(), st.sampled_from(NAMES), WINDOWS, st.booleans())
    def test_leaves_a_list_that_can_be_sent(
        self, data: st.DataObject, name: str, available: int, overflow: bool
    ) -> None:  # X6, P4
        """The list assembled from the remaining messages is valid for its format."""
        said = decode(encode(data.draw(conversations()), name, {}), name).messages
        try:
            done = relieve(said, available, overflow=overflow)
        except (SystemTooLarge, NoUserMessageFits):
            return
        made = build(done.messages, config=AssemblyConfig(format=name, usable=10_000_000))
        if all(m.role == "system" for m in made.messages):
            return
        assert validate(encode(made.messages, name, {}), name, ready=False) == []
