"""Retention, the share of needed content that a plan keeps; weights are judged by it.

A context is cut to 50, 25 and 10 % of what may be dropped, system messages and the last unit not counted. A needed
name is kept if a message that stays still contains it. A message that was judged needed must stay whole, one that was
judged not needed must go. Retention is the mean over budgets, then over a session's cases, in percent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from scoring.history import History
from scoring.learning.labels import Case, names_of
from scoring.planning import PrunePlan, plan_prune
from scoring.settings import Settings

BUDGETS = (50, 25, 10)


def retention(settings: Settings, cases: Iterable[Case]) -> dict[str, float]:
    """Return session -> the share of the needed content that plans with these settings keep, in percent."""
    found: dict[str, list[float]] = {}
    for case in cases:
        found.setdefault(case.session, []).append(kept_share(case, settings))
    return {session: 100.0 * fmean(shares) for session, shares in found.items()}


def mean(figures: Mapping[str, float]) -> float:
    """Return the mean over sessions; 0 without any."""
    return fmean(figures.values()) if figures else 0.0


def kept_share(case: Case, settings: Settings) -> float:
    """Return the share (0...1) of one case's needs that plans keep."""
    history = case.history
    where = _where(case)
    plans = (plan_prune(history, settings, budget) for budget in budgets(history))
    return fmean(_share(case, where, plan) for plan in plans)


def budgets(history: History) -> list[int]:
    """Return the tokens that each plan may keep."""
    heads = {history.units.head[p] for p in (*history.systems, len(history) - 1)}
    must = sum(history.unit_tokens[head] for head in heads)
    return [must + (sum(history.tokens) - must) * percent // 100 for percent in BUDGETS]


def _where(case: Case) -> dict[str, list[int]]:
    """Return needed name -> the positions of messages that contain it."""
    wanted = frozenset().union(*case.steps)
    found: dict[str, list[int]] = {name: [] for name in wanted}
    if wanted:
        for position, features in enumerate(case.history.features):
            for name in names_of(features) & wanted:
                found[name].append(position)
    return found


def _share(case: Case, where: Mapping[str, Sequence[int]], plan: PrunePlan) -> float:
    shares = []
    if case.steps:
        kept = {name for name, positions in where.items() if _is_said(case.history, name, positions, plan)}
        shares.append(fmean(len(step & kept) / len(step) for step in case.steps))
    if case.needed or case.unneeded:
        whole = frozenset(plan.kept)
        right = len(case.needed & whole) + len(case.unneeded - whole - frozenset(plan.shortened))
        shares.append(right / (len(case.needed) + len(case.unneeded)))
    return fmean(shares)


def _is_said(history: History, name: str, positions: Sequence[int], plan: PrunePlan) -> bool:
    """Return whether a kept message still contains a name."""
    for position in positions:
        fate = plan.fate(position)
        if fate == "shortened":
            if name in _left_of(history, position, plan):
                return True
        elif fate != "goes":
            return True
    return False


def _left_of(history: History, position: int, plan: PrunePlan) -> set[str]:
    """Return the names in the lines that a shortened output keeps; none if it is cleared."""
    content, rows = history.features[position].content, frozenset(plan.shortenings[position].rows)
    if content is None or not rows:
        return set()
    names = content.names.split("\n")
    held, left = content.rows, set[str]()
    start = 0
    for line, piece, end in zip(held.lines, held.pieces, held.ends, strict=True):
        if (line, piece) in rows:
            left.update(names[mention] for mention in held.mentions[start:end] if mention < len(names))
        start = end
    return left
