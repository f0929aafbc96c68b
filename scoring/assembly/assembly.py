"""Builds the list that is sent to the model: system prompt + memory + learnings, then summaries and messages in order.

The same state gives the same bytes; order is kept; units stay whole. The total, including system prompt and tool
definitions, is within the budget, or the result reports by how much it is not. Protected messages are never cut here,
except the newest message if it alone exceeds the budget. Input and log are not changed.

Room is given first to what is always kept (the fresh tail, pinned and system messages, the new message), then to the
summaries that fit, then to older messages as the strategy chooses.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scoring.assembly.enrichment import enrich
from scoring.assembly.slots import Slot, before_the_last_summary, history_of
from scoring.assembly.snapshot import AssemblyConfig, Item, Snapshot, user_says_something
from scoring.budget import TokenBudget, share_of, usable_tokens
from scoring.counted import counted
from scoring.errors import InvalidSettings
from scoring.formats import (
    encode,
    is_bound_to_history,
    is_empty,
    must_begin_with_user,
    opening,
    repair,
    without_bound_thoughts,
)
from scoring.history import History
from scoring.messages import Message, Text, ToolResult
from scoring.models import find_model
from scoring.planning import OverBudget, PrunePlan, always_tokens, fit, plan_prune
from scoring.settings import Settings
from scoring.summary import Summary, cleared, cut_message
from scoring.tokens import estimate_message_tokens, estimate_tool_tokens, part_tokens

# The newest message is never cut to fewer tokens than this, even if the tail has taken all the room.
LEAST_NEWEST = 256
LEAST_ROOM = 16  # with fewer tokens nothing can be cut to fit; the result reports that
LEFT_OUT = "memories and learnings are left out: what is always kept takes their room"
# Repairs after a choice (an opening, a placeholder) cost tokens themselves; the choice is then made again with less.
MOST_TRIES = 4


@dataclass(frozen=True, slots=True)
class BuiltContext:
    """The list that is sent to the model, and its cost.

    `messages` are without the system prompt, in the wire format of the input, or `Message`s if the input had none.
    `token_estimate` covers them, the enriched prompt and the tool definitions; `raw_message_tokens` the messages that
    are not summaries, `tool_output_tokens` the tool outputs among them. `over_budget` has the numbers if the total
    exceeds its budget; `notes` describes what was cut, left out or repaired.
    """

    messages: tuple[Any, ...]
    system_prompt: str
    token_estimate: int
    budget: TokenBudget
    has_summary: bool
    oldest_included_message_id: str | None
    summary_token_count: int
    raw_message_tokens: int
    tool_output_tokens: int
    over_budget: OverBudget | None
    newest_cut: bool
    left_out: tuple[str, ...]
    summaries_left_out: tuple[str, ...]
    memories: int
    learnings: int
    notes: tuple[str, ...]


def build(
    session: Snapshot | Sequence[Any] | Mapping[str, Any],
    model: str = "default",
    system_prompt: str = "",
    config: AssemblyConfig | Settings | TokenBudget | None = None,
    *,
    format: str | None = None,
) -> BuiltContext:
    """Build the context of a session for one call of a model.

    `session` is a snapshot, a list in any wire format or of `Message`s, or a request body, whose prompt is used if
    `system_prompt` is empty. `config` can be just settings or a budget. `format` is the list's wire format, if the
    list alone is ambiguous.

    Raises:
        UnknownFormat, MalformedMessage: a list of wire objects cannot be read.
    """
    snapshot, rules = Snapshot.of(session, format), AssemblyConfig.of(config)
    rules = rules if rules.format else replace(rules, format=snapshot.format)
    system_prompt = system_prompt or snapshot.system_prompt
    built = _Assembly(snapshot, rules, model, system_prompt).built()
    if built.over_budget is not None and (built.memories or built.learnings):
        bare = replace(snapshot, memories=(), learnings=())
        without = _Assembly(bare, rules, model, system_prompt).built()
        built = replace(without, notes=(*without.notes, LEFT_OUT))
    if not snapshot.format:
        return built
    return replace(built, messages=tuple(encode(built.messages, snapshot.format)))


class _Assembly:
    """One assembly: gathers slots, chooses those that fit, and returns the result."""

    def __init__(self, snapshot: Snapshot, config: AssemblyConfig, model: str, prompt: str) -> None:
        self.snapshot, self.config, self.counter = snapshot, config, config.counts
        self.model = model
        # The new message is protected as the last one and comes after the fresh tail, not within it.
        tail = config.tail + (1 if config.tail and snapshot.new_message is not None else 0)
        strategy = config.strategy or config.settings.strategy
        self.settings = replace(config.settings, fresh_tail=tail, strategy=strategy)
        self.notes: list[str] = []
        self.newest_cut = False
        base = self._prompt_tokens(prompt)
        tools = snapshot.tool_tokens
        self.tool_tokens = estimate_tool_tokens(snapshot.tools, self.counter) if tools is None else tools
        self.budget = budget = config.budget or self._budget(model, base)
        self.enriched = enrich(
            prompt,
            snapshot.memories,
            snapshot.learnings,
            budget.memory,
            budget.learnings,
            config.settings.learnings_shown,
            self.counter,
        )
        self.notes += self.enriched.notes
        self.system_tokens = self._prompt_tokens(self.enriched.prompt)
        system = max(base, budget.system_reserve) + self.system_tokens - base
        tools = max(self.tool_tokens, budget.tool_definitions_reserve)
        self.room = max(0, budget.total - system - tools)  # for messages

    def _prompt_tokens(self, prompt: str) -> int:
        return estimate_message_tokens(Message("system", (Text(prompt),)), self.counter) if prompt else 0

    def _budget(self, model: str, system: int) -> TokenBudget:
        """Return the budget that follows from a model's window and the settings."""
        config, settings = self.config, self.config.settings
        total = config.usable
        if total is None:
            try:
                limits = find_model(model, config.overrides, config.settings)
                total = usable_tokens(limits, config.settings)
            except InvalidSettings as error:
                self.notes.append(f"nothing of the window is usable: {error}")
                total = 0
        total = max(0, total)
        system = min(system, total)
        most = max(100.0, settings.memory_percent + settings.learnings_percent)
        memory, learnings = settings.memory_percent / most, settings.learnings_percent / most
        return TokenBudget(
            total, system, min(self.tool_tokens, total - system), memory, learnings, config.tail
        )

    # -- slots

    def _slots(self) -> list[Slot]:
        """Return the items as they will be sent, with marked tool outputs cleared, and the new message."""
        names: dict[str, str] = {}
        slots = [self._slot(item, names) for item in self.snapshot.items]
        if self.snapshot.new_message is not None:
            slots.append(self._counted("", self.snapshot.new_message))
        return slots

    def _slot(self, item: Item | Summary, names: dict[str, str]) -> Slot:
        if isinstance(item, Summary):
            message = item.as_message()
            return Slot(item.id, message, estimate_message_tokens(message, self.counter), summary=True)
        message = item.message
        if message.role == "assistant":
            names.update({call.id: call.name for call in message.calls})
        if item.compacted_at and message.results:
            return self._counted(
                item.id, cleared(message, item.compacted_at, names, self.counter), item.pinned
            )
        if item.features is not None and item.tokens is not None:
            return Slot(item.id, message, item.tokens, item.features, item.pinned)
        return self._counted(item.id, message, item.pinned)

    def _counted(self, name: str, message: Message, pinned: bool = False) -> Slot:
        return Slot(name, message, estimate_message_tokens(message, self.counter), pinned=pinned)

    def _repaired(self, slots: list[Slot]) -> list[Slot]:
        """Return the slots with every call paired; a repaired message takes the place of its original."""
        before = [slot.message for slot in slots]
        after, notes = repair(before, self.model)
        if not notes:
            return slots
        self.notes += [note for note in notes if note not in self.notes]
        known: defaultdict[int, deque[Slot]] = defaultdict(deque)
        for slot in slots:
            known[id(slot.message)].append(slot)
        out: list[Slot] = []
        for message in after:
            same = known.get(id(message))
            out.append(same.popleft() if same else self._counted("", message))
        return out

    def _with_opening(self, slots: list[Slot]) -> list[Slot]:
        """Return the slots, with a user message added if the list has none or has to begin with one."""
        first = next((n for n, s in enumerate(slots) if s.message.role != "system"), None)
        if first is None:
            return slots
        said = (s.message for s in slots[first:] if s.message.role != "system")
        # A message that is left out when the list is written does not begin it.
        begins = next((m for m in said if not is_empty(m, self.config.format)), None)
        opens = begins is not None and user_says_something(begins) and not begins.results
        wanted = must_begin_with_user(self.config.format, self.model) and not opens
        if wanted or not any(user_says_something(s.message) for s in slots):
            self.notes.append("the list began without a user message; one was put before it")
            return [*slots[:first], self._counted("", opening()), *slots[first:]]
        return slots

    # -- choosing

    def built(self) -> BuiltContext:
        """Return the assembled context, with what was left out and the repairs."""
        slots = self._repaired(self._slots())
        most = self._most_for_a_summary(self.room)
        if sum(slot.tokens for slot in slots) <= self.room and not any(
            s.summary and s.tokens > most for s in slots
        ):
            done = self._with_opening(slots)
            if sum(slot.tokens for slot in done) <= self.room:
                return self._result(done, slots, None)
        slots = self._newest_cut(slots)
        over, chosen = self._fitted(slots)
        return self._result(self._without_thoughts(chosen), slots, over)

    def _fitted(self, slots: list[Slot]) -> tuple[OverBudget | None, list[Slot]]:
        """Return the chosen slots, repaired and within the room, and the excess if protected slots alone exceed it."""
        over, chosen = self._chosen(slots, self.room)
        allowed, less = self.room, 0
        for left in range(MOST_TRIES, -1, -1):
            tokens = sum(slot.tokens for slot in chosen)
            chosen = self._with_opening(self._repaired(chosen))
            excess = sum(slot.tokens for slot in chosen) - self.room
            if over is not None or excess <= 0 or allowed == 0:
                break
            # Less than the last total, or the same would be chosen again; further each time, and 0 in the last try.
            less = max(excess, 2 * less)
            allowed = max(0, min(allowed, tokens) - less) if left > 1 else 0
            chosen = self._chosen(slots, allowed)[1]
        return over, chosen

    def _without_thoughts(self, slots: list[Slot]) -> list[Slot]:
        """Return the slots without thoughts that hold only for one history: the next call can have another choice."""
        out: list[Slot] = []
        for slot in slots:
            if not is_bound_to_history(slot.message):
                out.append(slot)
            elif not is_empty(message := without_bound_thoughts(slot.message)):
                out.append(self._counted(slot.id, message, slot.pinned))
        return out

    def _newest_cut(self, slots: list[Slot]) -> list[Slot]:
        """Return the slots, with the newest message cut to fit if it alone exceeds the room."""
        room = self.room
        newest = next((n for n in range(len(slots) - 1, -1, -1) if not slots[n].summary), None)
        if newest is None or slots[newest].tokens <= room or room < LEAST_ROOM:
            return slots
        slot = slots[newest]
        history = history_of([s for s in slots if not s.summary], self.settings)
        others = always_tokens(history, self.settings) - slot.tokens
        target = max(room - others, min(room, LEAST_NEWEST))
        cut = self._counted(slot.id, cut_message(slot.message, target, self.counter), slot.pinned)
        if cut.tokens >= slot.tokens:
            return slots
        self.newest_cut = True
        self.notes.append(f"the newest message is cut from {slot.tokens:,} to {cut.tokens:,} tokens")
        return [*slots[:newest], cut, *slots[newest + 1 :]]

    def _chosen(self, slots: list[Slot], room: int) -> tuple[OverBudget | None, list[Slot]]:
        """Return the slots kept within `room`: those always kept, summaries that fit, then the strategy's choice."""
        messages = [slot for slot in slots if not slot.summary]
        history = history_of(messages, self.settings)
        history.summarised = before_the_last_summary(slots)
        always = always_tokens(history, self.settings)
        summaries = self._summaries([s for s in slots if s.summary], room - always, room)
        plan = plan_prune(history, self.settings, max(0, room - sum(s.tokens for s in summaries)))
        self.notes += plan.problems
        shortened = self._shortened(plan, history, messages)
        stays = {id(slot): [slot] for slot in summaries}
        stays |= {id(messages[i]): [shortened.get(i, messages[i])] for i in (*plan.kept, *plan.shortened)}
        behind: list[Slot] = []
        if plan.summary is not None and (written := self._written(plan, messages)) is not None:
            place = plan.summary.place
            before = stays.setdefault(id(messages[place]), []) if place < len(messages) else behind
            before.insert(0, written)
        return plan.over_budget, [now for slot in slots for now in stays.get(id(slot), ())] + behind

    def _shortened(self, plan: PrunePlan, history: History, messages: Sequence[Slot]) -> dict[int, Slot]:
        """Return by position the slots of the messages that the plan shortens."""
        fitted = fit(
            plan,
            history,
            lambda i: messages[i].message,
            lambda short: estimate_message_tokens(short, self.counter),
        )
        return {
            i: replace(messages[i], message=short, tokens=fitted.costs[i], read_features=None, features=None)
            for i, short in fitted.replaced.items()
        }

    def _written(self, plan: PrunePlan, messages: list[Slot]) -> Slot | None:
        """Return the summary that the plan asks for, written now and not stored."""
        if plan.summary is None:
            return None
        removed = set(plan.removed)
        kept = [n for n in range(len(messages)) if n not in removed]
        words = self.config.settings.summary_words
        made = plan.summary.written(lambda n: messages[n].message, kept, words, self.counter)
        if not made.accepted:
            return None
        note = f"a summary made for this list replaces {counted(len(plan.summary.covers), 'message')}"
        self.notes = [n for n in self.notes if not n.startswith("a summary made for this list")] + [note]
        return Slot("", made.summary.as_message(), made.tokens, summary=True)

    def _summaries(self, summaries: list[Slot], left: int, room: int) -> list[Slot]:
        """Return the summaries that fit, each within its share; one that is too large does not exclude the others."""
        most = self._most_for_a_summary(room)
        taken: list[Slot] = []
        for slot in summaries:
            if slot.tokens <= min(most, left):
                left -= slot.tokens
                taken.append(slot)
        return taken

    def _most_for_a_summary(self, room: int) -> int:
        """Return the largest size of a summary: a share of the room (S2), or all of it with an explicit budget (M6)."""
        return (
            room if self.config.budget is not None else share_of(room, self.config.settings.summary_percent)
        )

    # -- the result

    def _result(self, chosen: list[Slot], slots: list[Slot], over: OverBudget | None) -> BuiltContext:
        there = {id(s.message) for s in chosen}
        summaries = sum(s.tokens for s in chosen if s.summary)
        raw = sum(s.tokens for s in chosen if not s.summary)
        total = self.system_tokens + self.tool_tokens + summaries + raw
        if over is None and total > self.budget.total:
            over = OverBudget(total, self.budget.total)
        ids = {s.id for s in chosen}
        missing = [s for s in slots if s.id and s.id not in ids and id(s.message) not in there]
        unsaid = tuple(s.id for s in missing if s.summary)
        self.notes += [f"summary {name} does not fit and is left out" for name in unsaid]
        if over is not None:
            self.notes.append(str(over))
        return BuiltContext(
            messages=tuple(s.message for s in chosen),
            system_prompt=self.enriched.prompt,
            token_estimate=total,
            budget=self.budget,
            has_summary=any(s.summary for s in chosen),
            oldest_included_message_id=next((s.id for s in chosen if s.id and not s.summary), None),
            summary_token_count=summaries,
            raw_message_tokens=raw,
            tool_output_tokens=sum(map(self._output_tokens, chosen)),
            over_budget=over,
            newest_cut=self.newest_cut,
            left_out=tuple(s.id for s in missing if not s.summary),
            summaries_left_out=unsaid,
            memories=self.enriched.memories,
            learnings=self.enriched.learnings,
            notes=tuple(dict.fromkeys(self.notes)),
        )

    def _output_tokens(self, slot: Slot) -> int:
        if slot.message.role == "tool":
            return slot.tokens
        results = [p for p in slot.message.parts if isinstance(p, ToolResult)]
        return sum(part_tokens(p, self.counter) for p in results)
