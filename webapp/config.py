"""Start-up settings: defaults, then a TOML file, then the environment, then what was given on the command line.

What a user changes while it runs (weights, targets …) is not here but in the store. Paths are made absolute.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import platformdirs

from webapp.errors import Invalid

NAME = "coppice"


@dataclass(frozen=True, slots=True)
class Config:
    """Where data lies, what is followed, where it is served.

    `db` None means the platform's data folder. `watch` are folders followed besides the agents' usual places;
    `follow` False follows nothing. `env` is what `CLAUDE_CONFIG_DIR`, `CODEX_HOME` and the home are read from.
    `busy_seconds` is how long a write waits for another process; `durable` trades speed for surviving a power cut
    with the very last append (SQLite `synchronous=FULL`). `token`, where set, is asked of every program, and of
    every page for its data.
    """

    db: Path | None = None
    host: str = "127.0.0.1"
    port: int = 5000
    watch: tuple[Path, ...] = ()
    follow: bool = True
    demo: bool = False
    tokenizer: bool = True
    durable: bool = False
    busy_seconds: float = 5.0
    allowed_hosts: tuple[str, ...] = ()
    token: str | None = None
    env: Mapping[str, str] | None = None

    @property
    def database(self) -> Path:
        """The database file."""
        return self.db or Path(platformdirs.user_data_dir(NAME, appauthor=False)) / "coppice.db"

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment that agents' folders are looked up in."""
        return os.environ if self.env is None else self.env

    @classmethod
    def load(cls, file: Path | None = None, env: Mapping[str, str] | None = None, **given: Any) -> Config:
        """Defaults <- file <- environment <- `given` (None in `given` means: not given).

        Raises:
            Invalid: the file is not TOML, or a value has the wrong kind; the message names file and key.
        """
        env = os.environ if env is None else env
        file = file or _named(env.get("COPPICE_CONFIG"))
        values = {**_from_file(file), **_from_environment(env)}
        values.update({k: v for k, v in given.items() if v is not None})
        return replace(cls(), **{name: _convert(name, value) for name, value in values.items()})


def _named(path: str | None) -> Path | None:
    default = Path(platformdirs.user_config_dir(NAME, appauthor=False)) / "config.toml"
    return Path(path) if path else (default if default.is_file() else None)


def _from_file(file: Path | None) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        values = tomllib.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Invalid(f"cannot read the configuration {file}: {error}") from error
    known = {f.name for f in fields(Config)} - {"env"}
    unknown = sorted(set(values) - known)
    if unknown:
        raise Invalid(
            f"{file}: unknown key {unknown[0]}; expected one of {', '.join(sorted(known))}", unknown[0]
        )
    return values


def _from_environment(env: Mapping[str, str]) -> dict[str, Any]:
    names = {name: f"COPPICE_{name.upper()}" for name in ("db", "host", "port", "watch", "token")}
    values: dict[str, Any] = {name: env[key] for name, key in names.items() if env.get(key)}
    if isinstance(values.get("watch"), str):
        values["watch"] = values["watch"].split(os.pathsep)
    if env.get("COPPICE_NO_WATCH"):
        values["follow"] = False
    return values


def _convert(name: str, value: Any) -> Any:
    try:
        if name == "db":
            return Path(value).expanduser().absolute()
        if name == "port":
            number = int(value)
            if not 0 <= number <= 65535:
                raise ValueError
            return number
        if name == "watch":
            return tuple(Path(one).expanduser().absolute() for one in value)
        if name == "allowed_hosts":
            return tuple(value)
    except (TypeError, ValueError) as error:
        raise Invalid(f"bad value for {name}: {value!r}", name) from error
    expected = {
        "host": str,
        "token": str,
        "follow": bool,
        "demo": bool,
        "tokenizer": bool,
        "durable": bool,
    }.get(name)
    if expected and not isinstance(value, expected):
        raise Invalid(f"bad value for {name}; expected {expected.__name__}, got {value!r}", name)
    return value
