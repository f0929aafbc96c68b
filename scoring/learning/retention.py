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


def retention(settings: Settings, cases: Sequence[Case]) -> dict[str, float]:
    """Return session -> the share of the needed content that plans with these settings keep, in percent."""
    return by_session(cases, [kept_share(case, settings) for case in cases])


def by_session(cases: Iterable[Case], shares: Iterable[float]) -> dict[str, float]:
    """Return session -> the mean of the shares (0...1) of its cases, in percent."""
    found: dict[str, list[float]] = {}
    for case, share in zip(cases, shares, strict=True):
        found.setdefault(case.session, []).append(share)
    return {session: 100.0 * fmean(some) for session, some in found.items()}


def mean(figures: Mapping[str, float]) -> float:
    """Return the mean over sessions; 0 without any."""
    return fmean(figures.values()) if figures else 0.0


def kept_share(case: Case, settings: Settings) -> float:
    """Return the share (0...1) of one case's needs that plans keep."""
    history, said = case.history.snapshot(), _said(case)
    plans = (plan_prune(history, settings, budget) for budget in budgets(history))
    return fmean(_share(case, said, plan) for plan in plans)


def budgets(history: History) -> list[int]:
    """Return the tokens that each plan may keep."""
    heads = {history.units.head[p] for p in (*history.systems, len(history) - 1)}
    must = sum(history.unit_tokens[head] for head in heads)
    return [must + (sum(history.tokens) - must) * percent // 100 for percent in BUDGETS]


def _said(case: Case) -> dict[int, set[str]]:
    """Return the needed names that each message contains, by the positions of those that contain any."""
    wanted = frozenset().union(*case.steps)
    said = {at: names_of(features) & wanted for at, features in enumerate(case.history.features)}
    return {at: names for at, names in said.items() if names}


def _share(case: Case, said: Mapping[int, set[str]], plan: PrunePlan) -> float:
    shares = []
    if case.steps:
        kept = _names_kept(case.history, said, plan)
        shares.append(fmean(len(step & kept) / len(step) for step in case.steps))
    if case.needed or case.unneeded:
        whole = frozenset(plan.kept)
        right = len(case.needed & whole) + len(case.unneeded - whole - frozenset(plan.shortened))
        shares.append(right / (len(case.needed) + len(case.unneeded)))
    return fmean(shares)


def _names_kept(history: History, said: Mapping[int, set[str]], plan: PrunePlan) -> set[str]:
    """Return the names that kept messages still contain."""
    kept: set[str] = set()
    for position, names in said.items():
        fate = plan.fate(position)
        if fate == "goes" or names <= kept:
            continue
        kept |= names & _left_of(history, position, plan) if fate == "shortened" else names
    return kept


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
