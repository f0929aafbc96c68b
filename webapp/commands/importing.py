"""`coppice import`: reads transcripts and message lists into the store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from rich.progress import DownloadColumn, Progress, TaskID, TimeRemainingColumn

from scoring.counted import counted
from webapp.agents import AGENTS
from webapp.agents.reading import packed
from webapp.agents.reading.finding import leads_out
from webapp.agents.recognise import IMPORTS
from webapp.app import App
from webapp.commands.common import opened, progress, title_text
from webapp.commands.import_processes import (
    ImportOptions,
    Outcome,
    imported,
    imported_together,
    worth_two_processes,
)
from webapp.commands.options import PathType, db_option
from webapp.commands.terminal import echo
from webapp.config import Database
from webapp.services.transfer.answers import ImportedSession
from webapp.services.transfer.importing import NAMES

SUFFIXES = (".jsonl", ".json")
READ = (*SUFFIXES, *(f"{suffix}{packed.ENDING}" for suffix in SUFFIXES))
COMPRESSED = tuple(f"{suffix}.gz" for suffix in SUFFIXES)  # not read
COMPANION = ".meta.json"  # facts about the sub-agent's transcript beside it; read together with that
PROBLEMS_SHOWN = 5


@click.command("import")
@click.argument("paths", nargs=-1, required=True, metavar="FILE|DIR …", type=PathType(path_type=Path))
@click.option(
    "--format",
    "file_format",
    type=click.Choice(NAMES),
    default="auto",
    show_default=True,
    help="What the files hold; by default recognised by content.",
)
@click.option("--model", help="The model, where a file does not name it.")
@db_option
def import_files(paths: tuple[Path, ...], file_format: str, model: str | None, db: Database | None) -> int:
    """Import transcripts and message lists.

    Of a folder, every .jsonl and .json file is imported, also if it is compressed with zstd (.zst). The same file
    twice adds nothing; a longer version adds the rest. Lines and messages that cannot be read are listed with their
    numbers, and the others are imported. Two processes import folders of 150 MB and more. Exits with 1 if some files
    could not be read, with 2 if none could.
    """
    files, homes = list(files_in(paths)), [path for path in paths if archives_at(path)]
    left_out = compressed_text(list(compressed_in(paths)))
    if not files and not homes:
        none = f"no {' or '.join(SUFFIXES)} file in {', '.join(map(str, paths))}"
        raise click.UsageError("; ".join(filter(None, [none, left_out])))
    if homes and file_format not in ("auto", *(agent.source for agent in AGENTS.values() if agent.archives)):
        raise click.UsageError(f"--format {file_format} does not fit {homes[0]}; leave it out")
    named = {path for path in paths if not path.is_dir()}
    failed: list[Path] = []
    with opened(db) as app, progress(DownloadColumn(), TimeRemainingColumn()) as bar:
        task = bar.add_task("importing", total=sum(size_of(file) for file in files))
        failed += [home for home in homes if not import_archive(app, home, model)]
        how = ImportOptions(db, file_format, model)
        together = worth_two_processes([size_of(file) for file in files])
        outcomes = imported_together(files, how) if together else one_by_one(app, files, how, bar, task)
        done = 0.0
        for file, outcome in outcomes:
            print_outcome(file, outcome)
            if outcome.failure and (file in named or size_of(file)):  # agents leave empty files behind
                failed.append(file)
            done += size_of(file)
            bar.update(task, completed=done)
    if left_out:
        echo(f"coppice: {left_out}", err=True)
    tried = len(files) + len(homes)
    if failed and tried > 1:
        echo(f"coppice: {len(failed)} of {tried} files could not be imported", err=True)
    if not failed:
        return 0
    return 2 if len(failed) == tried else 1


def import_archive(app: App, home: Path, model: str | None) -> bool:
    """Import the sessions of a folder or database that holds several, and return whether there are any."""
    empty = True
    for file, one in app.importing.import_sessions(home, model):
        print_session(file, one)
        empty = False
    if empty:
        labels = " or ".join(agent.label for agent in AGENTS.values() if agent.archives)
        echo(f"coppice: {home}: no sessions of {labels} can be read in it", err=True)
    return not empty


def one_by_one(
    app: App, files: Sequence[Path], how: ImportOptions, bar: Progress, task: TaskID
) -> Iterator[tuple[Path, Outcome]]:
    """Import files in this process and yield each with its result; the bar moves within a file.

    Raises:
        StoreError: the database cannot be written.
    """
    for file in files:
        bar.update(task, description=file.name[:40])
        start = bar.tasks[task].completed

        def progress_to(done: int, _size: int, start: float = start) -> None:
            bar.update(task, completed=start + done)

        yield file, imported(app, file, how, progress_to)


def print_outcome(file: Path, outcome: Outcome) -> None:
    """Print the result of importing one file, or the reason if nothing in it can be read."""
    if outcome.failure:
        echo(f"coppice: {file}: {outcome.failure}", err=True)
    elif outcome.nothing:
        echo(outcome.nothing)
    for one in outcome.sessions:
        print_session(file, one)


def print_session(file: Path, one: ImportedSession) -> None:
    """Print the result of importing one session."""
    echo(f"{one.session_id}  {added_text(one)}  {title_text(one.title)}".rstrip())
    for problem in one.problems[:PROBLEMS_SHOWN]:
        echo(f"{file}: {problem}", err=True)
    more = len(one.problems) - PROBLEMS_SHOWN
    if more > 0:
        echo(f"{file}: {more} more like these", err=True)


def added_text(one: ImportedSession) -> str:
    """Return what was added, in words."""
    words = [f"{counted(one.added, 'message')} added"]
    if one.known:
        words.append(f"{one.known:,} known")
    if one.skipped:
        words.append(f"{one.skipped:,} skipped")
    return ", ".join(words)


def files_in(paths: tuple[Path, ...]) -> Iterator[Path]:
    """Yield the named files and those in the named folders, sorted.

    Links, parts of an archive and files that another file in the folder continues are left out.
    """
    for path in paths:
        archives = archives_at(path)
        if path.is_dir():
            found = (file for file in path.rglob("*") if file.name.endswith(READ) and file.is_file())
            wanted = (file for file in found if not file.name.endswith(COMPANION))
            own = (file for file in wanted if not any(map(file.is_relative_to, archives)))
            inside = sorted(file for file in own if not (leads_out(file, path) or file.is_symlink()))
            left_out = {file for each in IMPORTS.values() if each.replaced for file in each.replaced(inside)}
            yield from (file for file in inside if file not in left_out)
        elif not archives:
            yield path


def compressed_in(paths: tuple[Path, ...]) -> Iterator[Path]:
    """Yield the transcripts in the named folders whose compression cannot be read, sorted, without links."""
    for path in filter(Path.is_dir, paths):
        found = (file for file in path.rglob("*") if file.name.endswith(COMPRESSED) and file.is_file())
        yield from sorted(file for file in found if not (leads_out(file, path) or file.is_symlink()))


def compressed_text(files: Sequence[Path]) -> str:
    """Return in words that files are left out because they are compressed; "" for none."""
    if not files:
        return ""
    more = f", as {'is' if len(files) == 2 else 'are'} {len(files) - 1:,} more" if len(files) > 1 else ""
    return f"{files[0]} is compressed and left out{more}; unpack it first (`gunzip {files[0].name}`)"


def archives_at(path: Path) -> list[Path]:
    """Return the databases and trees of files at or below a path, whose sessions are imported together."""
    found = [place for agent in AGENTS.values() if agent.archives for place in agent.archives.find(path)]
    return [place for place in found if not leads_out(place, path)]


def size_of(file: Path) -> int:
    """Return the size in bytes, 0 for a missing file."""
    try:
        return file.stat().st_size
    except OSError:
        return 0
