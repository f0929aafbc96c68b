"""The windows of the models that OpenCode's user defines or changes in its configuration, such as local ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from webapp.agents.reading.finding import read_json_file
from webapp.agents.reading.rows import count_of, object_of

_NAMES = ("opencode.json", "opencode.jsonc")


def window_of(store: Path, directory: str | None, provider: str, model: str) -> int | None:
    """Return the window that the user gave a model, None if there is none.

    `store` is the database or file of a session, `directory` the folder that it works in, whose configuration comes
    before that of the user.
    """
    for path in _configurations(store, directory):
        said = object_of(read_json_file(path, commented=True))
        for name in ("provider", provider, "models", model, "limit"):
            said = object_of(said.get(name))
        if window := count_of(said.get("context")):
            return window
    return None


def _configurations(store: Path, directory: str | None) -> Iterator[Path]:
    """Yield the configurations of the project, up to its repository's folder, and of the user; the first decides."""
    for folder in [Path(directory), *Path(directory).parents] if directory else []:
        yield from (place / name for place in (folder / ".opencode", folder) for name in _NAMES[::-1])
        if (folder / ".git").exists():
            break
    # The data are in `~/.local/share/opencode`, unless a variable moves them.
    home = next(
        (p.parents[2] for p in store.parents if p.parts[-3:] == (".local", "share", "opencode")), None
    )
    if home is not None:
        yield from (home / ".config" / "opencode" / name for name in (*_NAMES[::-1], "config.json"))
