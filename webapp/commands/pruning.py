"""`coppice prune`: prunes a message list outside any store; the list goes to stdout, the report to stderr."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import orjson

from scoring.counted import counted
from scoring.formats import FORMATS, Decoded, decode
from scoring.history import History
from scoring.lists import Pruning
from scoring.lists import prune as prune_messages
from scoring.models import family_of, find_model
from scoring.settings import AUTO, DEFAULT_PRESET, PRESETS, STRATEGY_NAMES, TASK_TYPE_CHOICES
from scoring.tokens import ModelCounter
from webapp.commands.options import PathType, output_option
from webapp.commands.terminal import echo
from webapp.config import Config
from webapp.errors import Invalid, Malformed
from webapp.services.planning.cause_labels import label_of
from webapp.services.session.codec import read_json
from webapp.store.private import replacing
from webapp.tokenizers import Tokenizers

# The row of the table for a model that nobody named.
UNNAMED = "default"


@dataclass(frozen=True)
class Pruned:
    """The result: the value to write, in the shape of the input, and the applied prune."""

    value: Any
    done: Pruning
    format: str


@click.command()
@click.argument("file", type=PathType(path_type=Path, allow_dash=True))
@click.option("--model", default=UNNAMED, show_default=True, help="The model whose window counts.")
@click.option(
    "--max-tokens",
    type=click.IntRange(min=0),
    metavar="N",
    help="The tokens to cut to; by default 60 % of the model's input limit.",
)
@click.option(
    "--strategy",
    metavar="NAME",
    help=f"The strategy: {', '.join(STRATEGY_NAMES)}; by default {PRESETS[DEFAULT_PRESET].strategy}.",
)
@click.option(
    "--task-type",
    type=click.Choice(TASK_TYPE_CHOICES),
    default=AUTO,
    show_default=True,
    help="The type whose weights and keywords are used; auto recognises it, any uses the common ones.",
)
@click.option(
    "--format",
    "wire_format",
    default="auto",
    show_default=True,
    help=f"{', '.join(FORMATS)}, or auto.",
)
@click.option("--dry-run", is_flag=True, help="Only report; write no list.")
@output_option
def prune(
    file: Path,
    model: str,
    max_tokens: int | None,
    strategy: str | None,
    task_type: str,
    wire_format: str,
    dry_run: bool,
    output: Path | None,
) -> None:
    """Prune the message list in FILE (- reads stdin).

    Messages that belong together are kept or dropped together. FILE holds a list of messages or a request body as
    JSON, or one message per line. The result is in the same format; messages that stay are unchanged.
    """
    value, lines = read_list(file)
    known = None if wire_format == "auto" else wire_format
    done = prune_value(value, model, max_tokens, strategy, known, task_type)
    if max_tokens is None and model != UNNAMED and not find_model(model).known:
        echo(assumption(model), err=True)
    for line in report(done):
        echo(line, err=True)
    if not dry_run:
        write_list(done.value, lines, output)


def read_list(file: Path) -> tuple[Any, bool]:
    """Return the value in a file, and True if it had one message per line. Half a surrogate pair becomes U+FFFD.

    Raises:
        Malformed: it is empty, not UTF-8 or not JSON; the message names file and line.
    """
    data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data.strip():
        raise Malformed(f"{file} is empty; expected a list of messages")
    try:
        return read_json(data), False
    except orjson.JSONDecodeError as error:
        lines = [(n, line) for n, line in enumerate(data.splitlines(), 1) if line.strip()]
        if len(lines) < 2 or not lines[0][1].lstrip().startswith(b"{"):
            raise Malformed(f"{file}: line {error.lineno} is not JSON: {error.msg}") from None
    return [read_line(file, n, line) for n, line in lines], True


def read_line(file: Path, number: int, line: bytes) -> Any:
    """Return the message in one line."""
    try:
        return read_json(line)
    except orjson.JSONDecodeError as error:
        raise Malformed(f"{file}: line {number} is not JSON: {error.msg}") from None


def prune_value(
    value: Any,
    model: str,
    max_tokens: int | None,
    strategy: str | None,
    wire_format: str | None,
    task_type: str,
) -> Pruned:
    """Prune a list or request body.

    Raises:
        ScoringError: the format of the list, or the strategy, is unknown.
        Invalid: the list is empty.
    """
    decoded = decode(value, wire_format)
    if not decoded.messages:
        raise Invalid("there are no messages in the list")
    settings = replace(
        PRESETS[DEFAULT_PRESET], task_type=task_type, strategy=strategy or PRESETS[DEFAULT_PRESET].strategy
    )
    limits = find_model(model)
    tokenizer = Tokenizers(enabled=Config.load().tokenizer).counter(limits.encoding)
    # Sessions of the model are counted the same way.
    counter = ModelCounter(tokenizer, family_of(model), limits.token_factor)
    history = History.of(decoded.messages, counter, settings)
    budget = max_tokens
    if budget is None:
        budget = int((limits.input_limit or limits.window) * settings.aim_percent / 100)
    done = prune_messages(
        history, decoded.messages, settings, budget, wire_format=decoded.format, model=model, counter=counter
    )
    return Pruned(_as_it_came(value, decoded, done), done, decoded.format)


def _as_it_came(value: Any, decoded: Decoded, done: Pruning) -> Any:
    """Return the kept messages in the shape of the input."""
    messages = done.wire(decoded.messages, decoded.format)
    if not isinstance(value, dict):
        return messages
    key = next(key for key in value if key not in decoded.envelope)
    return {**value, key: messages}


def report(pruned: Pruned) -> list[str]:
    """Return the lines of a report: what was done, and why."""
    done, plan = pruned.done, pruned.done.plan
    stays, shortened = len(done.kept), sorted(done.fitted.replaced)
    before = f"{counted(stays + len(plan.removed), 'message')}, {counted(plan.tokens_before, 'token')}"
    after = f"{counted(stays, 'message')}, {counted(done.tokens, 'token')}"
    lines = [f"{pruned.format}: {before} -> {after} (at most {done.max_tokens:,})"]
    if done.over_budget:
        lines.append(f"over budget: {done.over_budget}")
    if not plan.removed and not shortened:
        lines.append(
            "nothing is dropped: the list is within the budget"
            if not done.over_budget
            else "nothing more can be dropped"
        )
    lines += [f"problem: {problem}" for problem in plan.problems]
    causes = Counter(plan.cause(position) for position in plan.removed)
    for cause, count in causes.most_common():
        lines.append(f"{count:>6,} dropped: {label_of(cause, 'goes').removeprefix('dropped ')}")
    if done.summary is not None:
        lines.append(f"       a summary of {done.summary.tokens:,} tokens replaces what is summarised")
    causes = Counter(plan.cause(position) for position in shortened)
    for cause, count in causes.most_common():
        lines.append(f"{count:>6,} shortened: {label_of(cause, 'shortened')}")
    return lines


def assumption(model: str) -> str:
    """Return a note on the window of a model that is not in the table."""
    window = find_model(model).window
    return (
        f"model {model} is not in the table: a window of {window:,} tokens is assumed; correct the name, or give "
        "--max-tokens"
    )


def write_list(value: Any, as_lines: bool, output: Path | None) -> None:
    """Write the list in the shape it was read in."""
    if as_lines:
        data = b"".join(orjson.dumps(one) + b"\n" for one in value)
    else:
        data = orjson.dumps(value, option=orjson.OPT_INDENT_2) + b"\n"
    with nullcontext(sys.stdout.buffer) if output is None else replacing(output) as target:
        target.write(data)
        target.flush()
