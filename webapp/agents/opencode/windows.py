"""The windows that the user sets for models in OpenCode's configuration: `provider.<id>.models.<id>.limit.context`.

Files nearer to the session's folder have precedence over the user's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from scoring.models import name_at
from webapp.agents.opencode.files import config_folder
from webapp.agents.reading.finding import read_json_file
from webapp.agents.reading.rows import count_of, object_of

_NAMES = ("opencode.json", "opencode.jsonc")


def declared(env: Mapping[str, str], cwd: str | None) -> Iterator[tuple[str, int]]:
    """Yield the models with a window, and the window of each."""
    windows: dict[tuple[str, str], int] = {}
    for file in _files(env, cwd):
        config = object_of(read_json_file(file, commented=True))
        for provider, about in object_of(config.get("provider")).items():
            for model, one in object_of(object_of(about).get("models")).items():
                if window := count_of(object_of(object_of(one).get("limit")).get("context")):
                    windows[provider, model] = window
    yield from ((name_at(provider, model), window) for (provider, model), window in windows.items())


def _files(env: Mapping[str, str], cwd: str | None) -> Iterator[Path]:
    """Yield the files of the configuration, existing or not, the strongest last."""
    yield from (config_folder(env) / name for name in ("config.json", *_NAMES))
    if named := env.get("OPENCODE_CONFIG", "").strip():
        yield Path(named)
    folders = _folders(Path(cwd)) if cwd else []
    yield from (folder / name for folder in folders for name in _NAMES)
    yield from (folder / ".opencode" / name for folder in folders for name in _NAMES)
    if named := env.get("OPENCODE_CONFIG_DIR", "").strip():
        yield from (Path(named) / name for name in _NAMES)


def _folders(cwd: Path) -> list[Path]:
    """Return a session's folder and those above it in its project, a git repository, the topmost first."""
    above = [cwd, *cwd.parents]
    top = next((n for n, folder in enumerate(above) if (folder / ".git").exists()), len(above) - 1)
    return above[top::-1]
