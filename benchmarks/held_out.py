"""The errors on sessions that nothing was chosen on or learned from: `python -m benchmarks.held_out [FOLDER]`.

A session, a project, a version of an agent or a whole agent is left out in turn. Its calls are then predicted from the
others only: with the overheads that their first calls and compactions teach, earlier or later, and with every constant
that was chosen on real transcripts (of `scoring.tokens.calibration`, `reports`, `families`, `overheads`, `counting`,
`webapp.agents.claude_code.unwritten` and the factors of the models) fitted to them. A fit multiplies a constant by 3/4
or 4/3, a factor by 0.95 or 1.05: the best of all moves first, then the best next one, while the mean error of growth
falls. Constants that fit noise show as a gap to the figures as shipped. The tables give the figures for all together,
and by agent and version.

It takes about a minute, so that it is no part of `python -m benchmarks`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import prediction
from benchmarks.prediction import (
    Prediction,
    Replay,
    figures,
    grown,
    growth_error,
    replay_one,
    root_of,
    sessions,
)
from scoring import models
from scoring.tokens import calibration, counting, families, overheads, reports
from webapp import tokenizers
from webapp.agents.claude_code import unwritten
from webapp.tokenizers import Tokenizers

TIMES = (0.75, 4 / 3)
# Factors of models are known to some percent.
FACTOR_TIMES = (0.95, 1.05)
LEAST_TIMES, MOST_TIMES = 0.3, 3.2
# More than there are: every replay counts the same texts.
TEXTS = 1 << 20
# Of the mean error of growth: a twentieth of a percent.
LEAST_GAIN, MOST_MOVES = 0.0005, 8
Choice = tuple[tuple[str, float], ...]  # (constant, times its value) of those that were moved
KINDS: Mapping[str, Callable[[Prediction], str]] = {
    "session": lambda call: call.session,
    "project": lambda call: call.project,
    "version": lambda call: f"{call.agent} {call.version}",
    "agent": lambda call: call.agent,
}


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant of a module; `put` sets it to a multiple of its shipped value."""

    name: str
    put: Callable[[float], None]
    times: Sequence[float] = TIMES


def constants() -> list[Constant]:
    """Return the constants that were chosen on transcripts."""
    found = [
        *_of(
            calibration,
            "SAMPLES",
            "PRIOR_TOKENS",
            "PRIOR_CALLS",
            "LEAST_SAMPLE",
            "MOST_EXTRA",
            "SMALL_ANSWER",
        ),
        *_of(calibration, "BELIEVED_OUTPUT_SHARE"),
        *_of(reports, "FALSE_SHARE"),
        *_of(calibration, "ALIKE_SHARE"),
        *_of(overheads, "SESSIONS", "LEAST_SECONDS"),
        *_of(unwritten, "STEPS", "OLDER_STEPS", "WORDS", "OLDER_WORDS"),
        *_of(counting, "CALL_OVERHEAD", "RESULT_OVERHEAD"),
    ]
    fields = ("message", "calls", "argument", "definition", "seal_chars", "sealed_chars")
    for start in ("claude", "gpt"):
        found += [Constant(f"{start}: {field}", _family_setter(start, field)) for field in fields]
        found.append(Constant(f"{start}: factor", _factor_setter(start), FACTOR_TIMES))
    return found


def _of(module: ModuleType, *names: str) -> Iterator[Constant]:
    for name in names:
        yield Constant(f"{module.__name__.rsplit('.', 1)[-1]}.{name}", _module_setter(module, name))


def _module_setter(module: ModuleType, name: str) -> Callable[[float], None]:
    usual = getattr(module, name)
    return lambda times: setattr(module, name, _times(usual, times))


def _times(value: Any, times: float) -> Any:
    """Return a number, or each of several, multiplied; whole numbers stay whole and above 0."""
    if isinstance(value, tuple):
        return tuple(_times(one, times) for one in value)
    if isinstance(value, dict):
        return {key: _times(one, times) for key, one in value.items()}
    return max(1, round(value * times)) if isinstance(value, int) and value else value * times


def _family_setter(start: str, field: str) -> Callable[[float], None]:
    usual = {name: family for name, family in families.FAMILIES.items() if name.startswith(start)}

    def put(times: float) -> None:
        for name, family in usual.items():
            changed = replace(families.FAMILIES[name], **{field: _times(getattr(family, field), times)})
            moved = family if changed == family else changed  # others know the usual one by identity
            families.FAMILIES[name] = moved  # type: ignore[index]
        models.families._family.cache_clear()  # noqa: SLF001 - rebuilt from the table

    return put


def _factor_setter(start: str) -> Callable[[float], None]:
    usual = models.find_model

    def put(times: float) -> None:
        before = models.find_model

        def found(name: str | None) -> Any:
            limits = before(name)
            ours = (name or "").startswith(start)
            return replace(limits, token_factor=limits.token_factor * times) if ours else limits

        models.find_model = found if times != 1 else usual  # type: ignore[assignment]

    return put


@contextmanager
def moved(choice: Choice) -> Iterator[None]:
    """Set the constants of a choice to their moved values until the block ends."""
    setters = {constant.name: constant.put for constant in constants()}
    for name, times in choice:
        setters[name](times)
    try:
        yield
    finally:
        for name, _ in choice:
            setters[name](1)


class Trial:
    """The replays of one folder's sessions under moved constants, each made once."""

    def __init__(self, root: Path, tokenizers: Tokenizers) -> None:
        self._read, self._tokenizers = sessions(root), tokenizers
        self._made: dict[Choice, list[Replay]] = {}
        self.constants = constants()

    def under(self, choice: Choice) -> list[Prediction]:
        """Return the prediction of every call with these constants moved."""
        return [call for one in self._replays(choice) for call in one.calls]

    def _replays(self, choice: Choice) -> list[Replay]:
        if choice not in self._made:
            with moved(choice):
                self._made[choice] = prediction.replay(self._read, self._tokenizers)
        return self._made[choice]

    @cached_property
    def shipped(self) -> list[Prediction]:
        """Return the predictions with the constants as shipped."""
        return self.under(())

    def best(self, wanted: Callable[[Prediction], bool]) -> Choice:
        """Return moves that help the wanted calls: the best one, then the best on top of it, while one gains enough."""
        choice: Choice = ()
        score = self._score(choice, wanted)
        for _ in range(MOST_MOVES):
            tried = {self._score(other, wanted): other for other in self._moves(choice)}
            best = min(tried)
            if best > score - LEAST_GAIN:
                break
            choice, score = tried[best], best
        return choice

    def _score(self, choice: Choice, wanted: Callable[[Prediction], bool]) -> float:
        return _mean(filter(wanted, self.under(choice)))

    def _moves(self, choice: Choice) -> Iterator[Choice]:
        at = dict(choice)
        for constant in self.constants:
            for times in constant.times:
                there = round(at.get(constant.name, 1.0) * times, 4)
                moves = {**at, constant.name: there}
                if LEAST_TIMES <= there <= MOST_TIMES:
                    yield tuple(sorted((n, t) for n, t in moves.items() if t != 1.0))

    def held_out(self, kind: str) -> tuple[list[Prediction], list[Choice]]:
        """Return the predictions of each group's calls from the other groups, and the constants chosen on those."""
        group_of = KINDS[kind]
        calls, choices = list[Prediction](), list[Choice]()
        for group in dict.fromkeys(map(group_of, self.shipped)):
            choice = self.best(lambda call, group=group: group_of(call) != group)  # type: ignore[misc]
            calls += self._left_out(lambda call, group=group: group_of(call) == group, choice)  # type: ignore[misc]
            choices.append(choice)
        return calls, choices

    def _left_out(self, wanted: Callable[[Prediction], bool], choice: Choice) -> list[Prediction]:
        """Return the predictions for the wanted sessions, with these constants and the lessons of all others."""
        replays = self._replays(choice)
        out = [bool(one.calls) and wanted(one.calls[0]) for one in replays]
        lessons = [
            lesson for one, left in zip(replays, out, strict=True) if not left for lesson in one.lessons
        ]
        lessons.reverse()
        with moved(choice):
            made = (
                replay_one(r, self._tokenizers, lessons)
                for r, left in zip(self._read, out, strict=True)
                if left
            )
            return [call for one in made for call in one.calls]


def _mean(calls: Iterator[Prediction]) -> float:
    """Return the mean error of the growths, each at most 100 %, which a choice minimises."""
    errors = [min(1.0, growth_error(c, c.predicted)) for c in grown(calls)]
    return sum(errors) / len(errors) if errors else 0.0


def by_version(kind: str, calls: Sequence[Prediction]) -> Table:
    """Return the table of the figures by agent and version, of calls that were held out."""
    names = ("total p50", "p90", "growth p50", "p90", "first p50", "compacted p50", "factors p50", "p90")
    table = Table(f"{kind} held out, %", "calls", *names, box=None)
    order = [name for name, _, _ in figures(calls)]
    version_of = KINDS["version"]
    for version in sorted(set(map(version_of, calls))):
        own = [call for call in calls if version_of(call) == version]
        found = {name: value for name, value, _ in figures(own)}
        table.add_row(version, str(len(own)), *(f"{found[n]:.2f}" if n in found else "" for n in order))
    return table


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures as shipped, fitted to all, and held out by session, project, version and agent."""
    arguments = sys.argv[1:] if argv is None else argv
    console = Console(width=130)
    tokenizers.RECENT_TEXTS = TEXTS
    trial = Trial(root_of(arguments[0] if arguments else None), Tokenizers())
    fit = trial.best(lambda _: True)
    columns = {"as shipped": trial.shipped, "fitted to all": trial.under(fit)}
    choices = list[Choice]()
    for kind in KINDS:
        columns[f"{kind} held out"], chosen = trial.held_out(kind)
        choices += chosen if kind == "session" else []
    simple = figures(trial.shipped, simple=True)
    table = Table("figure, %", "goal", *columns, "simplest", box=None)
    measured = [{name: value for name, value, _ in figures(calls)} for calls in columns.values()]
    plain = {name: value for name, value, _ in simple}
    for name, _, goal in figures(trial.shipped):
        table.add_row(name, f"{goal}", *(f"{one[name]:.2f}" for one in measured), f"{plain[name]:.2f}")
    console.print(table)
    for kind in KINDS:
        console.print(by_version(kind, columns[f"{kind} held out"]))
    console.print("fitted to all:", ", ".join(f"{name} x{times:.3g}" for name, times in fit))
    for constant in trial.constants:
        often = [times for choice in choices for name, times in choice if name == constant.name]
        if often:
            console.print(
                f"{constant.name}: moved without {len(often)} of {len(choices)} sessions, to {sorted(set(often))}"
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
