"""`coppice sessions` and `coppice context`: the numbers of the dashboard in a terminal."""

from __future__ import annotations

import click
from rich.table import Table
from rich.text import Text

from scoring.counted import counted
from webapp.commands.common import (
    ago_text,
    find_session,
    opened,
    percent_text,
    title_text,
    tokens_text,
    write_json,
)
from webapp.commands.options import db_option, json_option
from webapp.commands.terminal import echo, out
from webapp.config import Database
from webapp.services.catalog.answers import Stats
from webapp.services.session.answers import Gauge, Session

BAR_WIDTH = 20
# Names of regions on pages, if they differ.
REGIONS = {"unseen": "not in the transcript", "tools": "tool definitions", "tool": "tool results"}


@click.command()
@db_option
@json_option
def sessions(db: Database | None, as_json: bool) -> None:
    """List the sessions, with tokens, limit and utilization."""
    with opened(db, create=False) as app:
        found = app.sessions.list()
    if as_json:
        write_json(found)
        return
    if not found:
        echo(
            "No sessions yet. `coppice serve` follows your agents; `coppice import FILE` reads a transcript."
        )
        return
    console, (table, least) = out(), table_of(found)
    console.width = max(console.width, least)
    console.print(table)


NAMES = ("id", "title", "source", "model", "tokens", "limit", "utilization", "last activity")
# Numbers are never cut; names are, where a terminal is narrow, but not to less than LEAST_NAME characters.
NUMBERS = NAMES[4:]
LEAST_NAME = 6


def table_of(found: list[Session]) -> tuple[Table, int]:
    """Return a table with one row for each session, those above their target marked, and its least width."""
    rows = [row_of(one) for one in found]
    table = Table(box=None, pad_edge=False, header_style="bold")
    least = 0
    for n, name in enumerate(NAMES):
        if name in NUMBERS:
            width = max(len(name), *(len(row[n]) for row in rows))
            table.add_column(name, justify="right", no_wrap=True, min_width=width)
        else:  # its cells say that they do not wrap: a column that says so does not shrink either
            width = LEAST_NAME
            table.add_column(name, overflow="ellipsis", max_width=60)
        least += width + 2
    for one, row in zip(found, rows, strict=True):
        cells = (Text(cell, no_wrap=True) for cell in row)
        table.add_row(*cells, style="bold" if one.state == "warning" else None)
    return table, least


def row_of(one: Session) -> list[str]:
    """Return the cells of one session."""
    gauge = one.main
    return [
        one.id,
        " ".join((one.title or "").split()),
        one.source,
        one.model or "unknown",
        tokens_text(gauge.tokens, gauge.certainty),
        f"{one.limit:,}",
        percent_text(gauge.utilization) + (" ▲" if one.state == "warning" else ""),
        ago_text(one.last_activity),
    ]


@click.command()
@click.argument("session")
@db_option
@json_option
def context(session: str, db: Database | None, as_json: bool) -> None:  # S7
    """Show how full a session's context is, by region.

    SESSION is an id, or enough of its beginning.
    """
    with opened(db, create=False) as app:
        stats = app.status.stats(find_session(app, session))
    if as_json:
        write_json(stats)
    else:
        for line in status_lines(stats):
            echo(line)


def status_lines(stats: Stats) -> list[str]:
    """Return the status view, line by line."""
    one = stats.session
    lines = [
        f"{title_text(one.title) or one.id} · {one.model or 'unknown model'} · {one.source}",
        limit_line(one),
        f"turns     {one.turns:,} with {counted(one.messages, 'message')}; {counted(one.prunes, 'prune')}",
    ]
    lines += gauge_lines("agent" if one.agent else "context", one.main, one)
    if one.agent and one.agent != one.pruned:
        lines += gauge_lines("pruned", one.pruned, one)
    lines += trigger_lines(stats)
    return [*lines, stats.line, *(f"note: {note}" for note in one.notes)]


def trigger_lines(stats: Stats) -> list[str]:
    """Return lines on tool definitions, the last summary, and the distance to the next one."""
    count = f" of {counted(stats.tool_count, 'tool')}" if stats.tool_count is not None else ""
    hidden = f", and {stats.unseen_tokens:,} not in the transcript" if stats.unseen_tokens else ""
    last, agents = stats.last_summary, stats.agent_summary
    said, since = "none yet", "so far"
    if agents:
        said, since = f"the agent's own, {ago_text(agents.at)}", "since the agent's compaction"
    elif last:
        said, since = f"{last.text}, {ago_text(last.at)}", "since the last summary"
    bars = [
        f"          {one.text} {since}"
        if one.percent is None
        else f"          {bar(one.percent, 100)} {one.text}"
        for one in stats.triggers
    ]
    return [
        f"tools     {counted(stats.tool_tokens, 'token')}{count}{hidden}; {stats.available:,} available for messages",
        f"summary   {stats.made}; {said}",
        *bars,
    ]


def gauge_lines(name: str, gauge: Gauge, one: Session) -> list[str]:
    """Return a bar and the regions it consists of."""
    shown = [region for region in gauge.regions if region.tokens]
    return [
        f"{name:<9} {bar(gauge.utilization, one.target_percent)} {figures(gauge, one)}",
        *(
            f"          {REGIONS.get(r.name, r.name):<21} {tokens_text(r.tokens, r.certainty):>12}"
            for r in shown
        ),
    ]


def limit_line(one: Session) -> str:
    """Return a line with the session's limit and target."""
    target = f"target {one.target_percent:g} % ({one.target_tokens:,})"
    return f"limit     {one.limit:,} tokens of a window of {one.window:,}; {target}"


def figures(gauge: Gauge, session: Session) -> str:
    """Return tokens of the limit, in percent, with their certainty."""
    tokens = tokens_text(gauge.tokens, gauge.certainty)
    return f"{tokens} / {session.limit:,} ({percent_text(gauge.utilization)}, {gauge.certainty})"


def bar(percent: float, target: float) -> str:
    """Return a bar with the target marked; it is full at 100 %, not before, and longer above that."""
    filled = round(percent / 100 * BAR_WIDTH)
    if percent != 100:
        filled = min(filled, BAR_WIDTH - 1) if percent < 100 else max(filled, BAR_WIDTH + 1)
    mark = min(BAR_WIDTH - 1, round(target / 100 * BAR_WIDTH))
    cells = [
        "█" if n < filled else ("|" if n == mark else "░")
        for n in range(max(BAR_WIDTH, min(filled, 2 * BAR_WIDTH)))
    ]
    return "".join(cells)
