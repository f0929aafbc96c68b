"""The built-in summary, without a model: five sections quoted verbatim from the messages, within a limit of words.

The same messages always give the same text. Each section has a share of the words; unused words go to the other
sections. Summaries among the items are split into their lines, which are kept where there is room, so that a summary of
summaries still has the content of the first one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from scoring.messages import Message, is_continuation, is_interruption
from scoring.summary.exact_values import ERROR_WORTH, error_lines, values
from scoring.summary.files import READ, described, files_touched
from scoring.summary.sentences import (
    decision_weight,
    decisions,
    is_confirmation,
    next_steps,
    open_tasks,
    quoted,
    quoted_whole,
    said_by,
    sentences,
    text_of,
)
from scoring.summary.summary import Summary, Surroundings
from scoring.tokens import ESTIMATOR, TokenCounter

SECTIONS = ("Files Modified", "Key Decisions", "Important Values", "Current State", "Pending Tasks")
SHARES = (0.2, 0.3, 0.22, 0.16, 0.12)  # of the words, in the order of the sections
MOST_WORDS = 600
NOTHING = "(none)"
TASK = "Task: "
LEAST_QUOTED = 2  # words: the speaker alone is useless
WORDS_OF_HEADINGS = 4 * len(SECTIONS)  # "##", two words, and "(none)"
MOST_ERRORS = 10
# Searched from the end, because the last decision is the valid one.
MOST_CANDIDATES = 400
# The order in which sections take unused words: decisions, values, state, tasks, files.
SECTION_PRIORITY = (1, 2, 3, 4, 0)


def ranked_lines(items: Sequence[Message | Summary], around: Surroundings) -> list[list[str]]:
    """Return the lines for each of the five sections, uncut, the most important first."""
    messages = list(_as_said([item for item in items if isinstance(item, Message)]))
    earlier = _earlier(item for item in items if isinstance(item, Summary))
    files, choices, exact, state, tasks = earlier
    return [
        list(dict.fromkeys(_files(messages) + files)),
        _decisions(messages, choices),
        list(dict.fromkeys(_values(messages) + exact)),
        _state(messages, state, around),
        list(dict.fromkeys(_tasks(messages) + tasks)),
    ]


def in_full(ranked: Sequence[Sequence[str]], most_words: int) -> str:
    """Return the five sections in at most `most_words` words, each under its heading; an empty one has "(none)"."""
    room = max(0, most_words - WORDS_OF_HEADINGS)
    chosen = _fitting(ranked, room, lambda line: word_count(line) + 1, heading=0)
    return "\n\n".join(section(name, lines) for name, lines in zip(SECTIONS, chosen, strict=True))


def in_brief(
    ranked: Sequence[Sequence[str]], tokens: int, counter: TokenCounter = ESTIMATOR, *, whole: bool = False
) -> str:
    """Return the sections that have a line that fits, in about `tokens` tokens; "" if none has one.

    Lines are whole. If no decision fits, the first sentences or words of one are quoted; with `whole`, sentences only,
    and "" if none fits.
    """
    heading = max(counter.count(f"\n\n## {name}\n") for name in SECTIONS)
    chosen = _fitting(ranked, tokens, lambda line: counter.count(f"- {line}\n"), heading)
    first = next((n for n in SECTION_PRIORITY if ranked[n]), None)
    if first is not None and not chosen[first]:
        cuts = _cuts(ranked[first][0], whole)
        cut = next((one for one in cuts if heading + counter.count(f"- {one}\n") <= tokens), None)
        chosen = [[] for _ in SECTIONS]
        chosen[first] = [] if cut is None else [cut]
    pieces = zip(SECTIONS, chosen, strict=True)
    return "\n\n".join(section(name, lines) for name, lines in pieces if lines)


def _cuts(line: str, whole: bool) -> Iterator[str]:
    """Yield the line with ever fewer sentences, then, unless a sentence must be `whole`, with ever fewer words."""
    spoken = sentences(line)
    yield from (" ".join(spoken[:n]) + " …" for n in range(len(spoken) - 1, 0, -1))
    if not whole:
        yield from (quoted(line, n) for n in range(word_count(spoken[0]) if spoken else 0, LEAST_QUOTED, -1))


def section(name: str, lines: Sequence[str]) -> str:
    """Return a section with these lines under its heading."""
    return f"## {name}\n" + ("\n".join(f"- {line}" for line in lines) or NOTHING)


def sections_of(text: str) -> dict[str, list[str]]:
    """Return the lines of each section of a text; missing sections are empty."""
    out: dict[str, list[str]] = {name: [] for name in SECTIONS}
    lines: list[str] | None = None
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("#"):
            within = lines if stripped.startswith("###") else None
            lines = out.get(stripped.lstrip("#").strip().rstrip(":"), within)
        elif lines is not None and stripped and stripped != NOTHING:
            lines.append(stripped.removeprefix("- ").removeprefix("* "))
    return out


def word_count(text: str) -> int:
    """Return the number of words as the limit counts them: runs of characters between blanks."""
    return len(text.split())


def _earlier(summaries: Iterable[Summary]) -> list[list[str]]:
    """Return the lines of earlier summaries by section, the latest first."""
    out: list[list[str]] = [[] for _ in SECTIONS]
    for summary in summaries:
        for lines, said in zip(out, sections_of(summary.text).values(), strict=True):
            lines[:0] = said
    return out


def _files(messages: Sequence[Message]) -> list[str]:
    """Return the changed files, the latest first, then files that were only read."""
    touched = list(reversed(files_touched(messages).items()))
    changed = [described(path, ways) for path, ways in touched if set(ways) != {READ}]
    return changed + [described(path, ways) for path, ways in touched if set(ways) == {READ}]


def _decisions(messages: Sequence[Message], earlier: Sequence[str]) -> list[str]:
    """Return decisions by weight, among equals the latest first; those of an earlier summary are weighed alike."""
    found = [(decision_weight(line), line) for line in reversed(earlier)]
    found += list(decisions(messages))[-MOST_CANDIDATES:]
    order = sorted(range(len(found)), key=lambda n: (-found[n][0], -n))
    return list(dict.fromkeys(found[n][1] for n in order))


def _values(messages: Sequence[Message]) -> list[str]:
    """Return the values by weight and number of occurrences; a value that is part of another one is left out."""
    worth: dict[str, float] = {}
    last: dict[str, int] = {}
    for n, (one, value) in enumerate(values(messages)):
        worth[value] = max(worth.get(value, 0.0), one) + (0.5 if value in worth else 0.0)
        last[value] = n
    order = sorted(worth, key=lambda value: (-min(worth[value], 8.0), -last[value]))[:MOST_CANDIDATES]
    out: list[str] = []
    errors = 0
    for value in order:
        errors += worth[value] >= ERROR_WORTH
        if worth[value] >= ERROR_WORTH and errors > MOST_ERRORS:
            continue
        out.append(value)
    return [value for value in out if not any(value in other for other in out if other != value)]


def _as_said(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield the messages by who really speaks, without requests that the user took back at once.

    The summary with which an agent began its context is in the role of the user, but in the agent's words.
    """
    for n, message in enumerate(messages):
        text = text_of(message) if message.role == "user" else ""
        after = messages[n + 1] if n + 1 < len(messages) else None
        if after is not None and message.role == after.role == "user" and is_interruption(text_of(after)):
            continue
        yield replace(message, role="assistant") if is_continuation(text) else message


def _state(messages: Sequence[Message], earlier: Sequence[str], around: Surroundings) -> list[str]:
    """Return the task, the last action with its result, the next step, the last request and the last words.

    The task is the first request, or that of an earlier summary; other lines of an earlier state are outdated by later
    messages. It is left out if an earlier request stays, and the last request if later ones may stay.
    """
    if not messages:
        return list(earlier[-4:])
    requests = [said for m in messages if m.role == "user" and (said := said_by(m))]
    task = next((line for line in earlier if line.startswith(TASK)), "")
    if not task and len(requests) > 1 and not around.asked_before:
        task = f"{TASK}{quoted_whole(requests[0])}"
    out = [task] if task else []
    action = _last_action(messages)
    if action:
        out.append(f"Last action: {action}")
    last = next((m for m in reversed(messages) if m.role == "assistant" and said_by(m)), None)
    # Steps that the agent announced before its last words were done since, or given up.
    if last is not None and (steps := next_steps(last)):
        out.append(f"Next step: {steps[-1]}")
    if requests and not around.older_below:
        out.append(f"Last request: {quoted_whole(requests[-1])}")
    if last is not None:
        out.append(f"Last said: {quoted_whole(said_by(last)[-3:])}")
    return out


def _last_action(messages: Sequence[Message]) -> str:
    """Return the last call, its arguments and the first informative line of its result."""
    for n in range(len(messages) - 1, -1, -1):
        if not messages[n].calls:
            continue
        call = messages[n].calls[-1]
        text = next((r.text for m in messages[n:] for r in m.results if r.call_id == call.id), "")
        lines = error_lines(text)[:1] or ([] if is_confirmation(text) else sentences(text[:4_000])[:1])
        outcome = f" -> {quoted(lines[0])[:300]}" if lines else ""
        return f"{call.name} {' '.join(call.arguments.split())[:200]}{outcome}".strip()
    return ""


def _tasks(messages: Sequence[Message]) -> list[str]:
    return list(open_tasks(messages))[:MOST_CANDIDATES]


def _fitting(
    ranked: Sequence[Sequence[str]], room: int, cost: Callable[[str], int], heading: int
) -> list[list[str]]:
    """Return the lines of each section that fit, by rank.

    First the best line of each section, so that none disappears while there is room; then each section up to its share;
    then more lines of any section. `heading` is the cost of a section with at least one line.
    """
    costs = [[cost(line) for line in lines[:MOST_CANDIDATES]] for lines in ranked]
    taken: list[set[int]] = [set() for _ in ranked]
    left = room
    limits = [
        [1 if lines else 0 for lines in ranked],
        [int(room * share) for share in SHARES],
        [room] * len(ranked),
    ]
    for limit, by_count in zip(limits, (True, False, False), strict=True):
        for n in SECTION_PRIORITY:
            spent = sum(costs[n][i] for i in taken[n])
            for i, one in enumerate(costs[n]):
                price = one + (0 if taken[n] else heading)
                full = len(taken[n]) >= limit[n] if by_count else spent + one > limit[n]
                if i in taken[n] or full or price > left:
                    continue
                taken[n].add(i)
                spent += one
                left -= price
    return [[lines[i] for i in sorted(chosen)] for lines, chosen in zip(ranked, taken, strict=True)]
