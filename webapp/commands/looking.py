"""`coppice sessions` and `coppice context`: the figures of the dashboard, in a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.table import Table

from webapp.commands.common import (
    ago_text,
    db_option,
    find_session,
    json_option,
    main_gauge,
    opened,
    out,
    percent_text,
    tokens_text,
    write_json,
)

BAR_WIDTH = 20


@click.command()
@db_option
@json_option
def sessions(db: Path | None, as_json: bool) -> None:
    """List the sessions: id, title, source, model, tokens, window, utilization, last activity."""
    with opened(db) as app:
        found = app.sessions.list()
    if as_json:
        write_json(found)
        return
    if not found:
        click.echo(
            "No sessions yet. `coppice serve` follows your agents; `coppice import FILE` reads a transcript."
        )
        return
    out().print(table_of(found))


def table_of(found: list[dict[str, Any]]) -> Table:
    """One row a session; what is above its target is marked."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, justify in (
        ("id", "left"),
        ("title", "left"),
        ("source", "left"),
        ("model", "left"),
        ("tokens", "right"),
        ("window", "right"),
        ("utilization", "right"),
        ("last activity", "right"),
    ):
        table.add_column(name, justify=justify, overflow="ellipsis", no_wrap=True, max_width=40)  # type: ignore[arg-type]
    for one in found:
        gauge = main_gauge(one)
        fill = percent_text(gauge["utilization"])
        table.add_row(
            one["id"],
            " ".join((one["title"] or "").split()),
            one["source"],
            one["model"] or "unknown",
            tokens_text(gauge["tokens"], gauge["certainty"]),
            f"{one['window']:,}",
            f"[bold]{fill} ▲[/bold]" if one["state"] == "warning" else fill,
            ago_text(one["last_activity"]),
        )
    return table


@click.command()
@click.argument("session")
@db_option
@json_option
def context(session: str, db: Path | None, as_json: bool) -> None:  # S7
    """Show how full a session's context is, and with what.

    SESSION is an id, or enough of its beginning.
    """
    with opened(db) as app:
        stats = app.sessions.stats(find_session(app, session)["id"])
    if as_json:
        write_json(stats)
    else:
        for line in status_lines(stats):
            click.echo(line)


def status_lines(stats: dict[str, Any]) -> list[str]:
    """The status view, line by line."""
    one = stats["session"]
    lines = [
        f"{one['title'] or one['id']} · {one['model'] or 'unknown model'} · {one['source']}",
        limit_line(one),
        f"turns     {one['turns']:,} with {one['messages']:,} messages; {one['prunes']} prunes",
    ]
    for name, gauge in (
        ("agent", one["agent"]),
        ("context" if not one["agent"] else "pruned", one["pruned"]),
    ):
        if gauge:
            lines.append(
                f"{name:<9} {bar(gauge['utilization'], one['target_percent'])} {figures(gauge, one)}"
            )
            lines += [
                f"          {region['name']:<10} {tokens_text(region['tokens'], region['certainty']):>12}"
                for region in gauge["regions"]
                if region["tokens"]
            ]
    return [*lines, summary_line(stats), *(f"note: {note}" for note in one.get("notes") or [])]


def limit_line(one: dict[str, Any]) -> str:
    """What the session may hold, and where it is warned."""
    target = f"target {one['target_percent']:g} % ({one['target_tokens']:,})"
    return f"limit     {one['limit']:,} tokens of a window of {one['window']:,}; {target}"


def figures(gauge: dict[str, Any], session: dict[str, Any]) -> str:
    """Tokens of the limit, in percent, and how sure that is."""
    tokens = tokens_text(gauge["tokens"], gauge["certainty"])
    return f"{tokens} / {session['limit']:,} ({percent_text(gauge['utilization'])}, {gauge['certainty']})"


def bar(percent: float, target: float) -> str:
    """A bar of fixed width with the target marked; what is above 100 % runs over."""
    filled = round(percent / 100 * BAR_WIDTH)
    mark = min(BAR_WIDTH - 1, round(target / 100 * BAR_WIDTH))
    cells = [
        "█" if n < filled else ("|" if n == mark else "░")
        for n in range(max(BAR_WIDTH, min(filled, 2 * BAR_WIDTH)))
    ]
    return "".join(cells)


def summary_line(stats: dict[str, Any]) -> str:
    """The one line: `tokens: 45,000 msgs + 12,450 tools | context: 57,450 / 200,000 (28.7 %)`."""
    tools = sum(region["tokens"] for region in stats["regions"] if region["name"] == "tools")
    total = stats["tokens"]
    return (
        f"tokens: {total - tools:,} msgs + {tools:,} tools | "
        f"context: {total:,} / {stats['limit']:,} ({percent_text(stats['utilizationPercent'])})"
    )


COMMANDS = {"sessions": sessions, "context": context}
