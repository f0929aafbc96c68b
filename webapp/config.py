"""Start-up settings: defaults, overridden by a TOML file, the environment and then the command line.

Settings that a user changes while the server runs (weights, targets …) are in the store. Paths are made absolute.
"""

from __future__ import annotations

import ipaddress
import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

import platformdirs

from scoring.errors import json_string, shown
from webapp.errors import Invalid

NAME = "coppice"
DEFAULT_PORT = 5000
# Long enough for the transactions of another Coppice, short enough for a waiting user.
BUSY_SECONDS = 1.0
SCHEMES = ("postgresql", "postgres")
MOST_WORKERS, MOST_PROXIES = 64, 9
# The variables that switch a setting: its name, and its value if the variable is on.
_SWITCHES = {"COPPICE_NO_WATCH": ("follow", False), "COPPICE_REDACT": ("redact", True)}
_ON, _OFF = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}
ORIGIN = re.compile(r"https?://(\[[0-9a-f:.]+\]|[^:/?#@\s\[\]*]+)(:\d+)?")
HTTP, REDIS = ("http", "https"), ("redis", "rediss")
WORD_CHARS = 4  # a shorter password is masked in addresses only: in a text it may be a part of anything
ADDRESS = re.compile(r"[A-Za-z][\w+.-]*://")
PREFIX = re.compile(r"(/[\w.~-]+)*")


def default_folder() -> Path:
    """Return the default folder of the database, which only Coppice uses."""
    return platformdirs.user_data_path(NAME, appauthor=False)


@dataclass(frozen=True, slots=True, repr=False)
class PostgresqlAddress:
    """The address of a PostgreSQL database. As text, in messages and logs, it is without its password."""

    url: str

    def __post_init__(self) -> None:
        """Check the address.

        Raises:
            ValueError: it is not an address of PostgreSQL.
        """
        parts = urlsplit(self.url)
        if parts.scheme not in SCHEMES or parts.port == 0:
            raise ValueError

    def __repr__(self) -> str:
        parts = urlsplit(self.url)
        user, _, host = parts.netloc.rpartition("@")
        name = user.partition(":")[0]
        query = urlencode([(key, value) for key, value in parse_qsl(parts.query) if "password" not in key])
        netloc = f"{name}@{host}" if name else host
        return urlunsplit((parts.scheme, netloc, parts.path, query, ""))

    def masked(self, text: str) -> str:
        """Return a text, such as an error's, without the password in an address, or as a word if it is not short."""
        parts = urlsplit(self.url)
        found = [parts.netloc.rpartition("@")[0].partition(":")[2]]
        found += [value for key, value in parse_qsl(parts.query) if "password" in key]
        secrets = {one for said in found for one in (said, unquote(said))} - {""}
        for secret in sorted(secrets, key=len, reverse=True):
            text = re.sub(_pattern_of(secret), "•••", text)
        return text


def _pattern_of(password: str) -> str:
    """Return the pattern of a password in an address, and of one of WORD_CHARS and more as whole words."""
    escaped = re.escape(password)
    end = r"(?!\w)" if re.match(r"\w", password[-1]) else ""
    found = rf"(?<=:){escaped}(?=@)|(?<=password=){escaped}{end}"
    if len(password) < WORD_CHARS:
        return found
    begin = r"(?<!\w)" if re.match(r"\w", password[0]) else ""
    return rf"{found}|{begin}{escaped}{end}"


# The place of a store: a file of SQLite, or a database of PostgreSQL.
Database = Path | PostgresqlAddress


def database(name: str | Path | PostgresqlAddress) -> Database:
    """Return a store's place by its path or address; a path is made absolute.

    Raises:
        ValueError: it is empty, or an address of something else than PostgreSQL.
    """
    if isinstance(name, str) and (not name or ADDRESS.match(name)):
        return PostgresqlAddress(name)
    return name if isinstance(name, PostgresqlAddress) else Path(name).expanduser().absolute()


def host_of(url: str, schemes: Sequence[str] = HTTP) -> str | None:
    """Return the host of an address with one of these schemes; None for any other text."""
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in schemes and parts.port != 0
    except ValueError:  # brackets without an address, or a port that is none
        return None
    return parts.hostname if is_valid else None


def is_loopback(host: str) -> bool:
    """Return whether a host name or address is a loopback one."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


@dataclass(frozen=True, slots=True)
class Config:
    """The start-up settings: storage, followed files, and the server's address and access."""

    db: Database | None = None
    """A path or an address; None for a file in the platform's data folder."""
    host: str = "127.0.0.1"
    port: int | None = None
    """None takes the default port or, where that is in use, the next free one."""
    watch: tuple[Path, ...] = ()
    """The folders that are followed besides the agents' usual ones."""
    follow: bool = True
    """False follows nothing."""
    demo: bool = False
    tokenizer: bool = True
    durable: bool = False
    """Write more slowly, so that even the last append survives a power cut (SQLite `synchronous=FULL`)."""
    busy_seconds: float = BUSY_SECONDS
    """The time that a write waits for another process."""
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    """The origins, such as "https://wiki.example", whose pages may embed the widget, which reads and prunes."""
    token: str | None = None
    """A token that programs and pages need, unless they have one that `coppice token` made."""
    tls_cert: Path | None = None
    """The certificate chain and its key (`tls_key`), as PEM files."""
    tls_key: Path | None = None
    prefix: str = ""
    """The path below which a reverse proxy serves: "" or like "/coppice"."""
    proxies: int = 0
    """The number of trusted reverse proxies in front."""
    queue: str | None = None
    """The address of a Redis by which workers tell each other of changes."""
    workers: int = 1
    """The number of processes that serve one store."""
    env: Mapping[str, str] | None = None
    """The environment with the locations of the agents' folders; None for that of this process."""
    redact: bool = False
    """Replace credentials in new messages."""
    max_message: float = 16.0
    """The most MiB of a message; 0 sets no limit, here and below."""
    max_session: float = 4096.0
    """The most MiB of a session's log."""
    max_store: float = 0.0
    """The most MiB of the store."""

    @property
    def database(self) -> Database:
        """Return where the store is."""
        return self.db or default_folder() / "coppice.db"

    @property
    def folder(self) -> Path:
        """Return the folder of what is stored beside the database."""
        return self.database.absolute().parent if isinstance(self.database, Path) else default_folder()

    @property
    def is_reachable(self) -> bool:
        """Return whether other machines can reach the server, directly or through a proxy."""
        return self.proxies > 0 or not is_loopback(self.host)

    @property
    def environment(self) -> Mapping[str, str]:
        """Return the environment with the locations of the agents' folders."""
        return os.environ if self.env is None else self.env

    @classmethod
    def load(cls, file: Path | None = None, env: Mapping[str, str] | None = None, **given: Any) -> Config:
        """Return the defaults, overridden by the file, the environment, and then by `given` where it is not None.

        Raises:
            Invalid: the file is not TOML, or a value has the wrong kind; the message names file, variable or key.
        """
        env = os.environ if env is None else env
        file = file or _config_file(env.get("COPPICE_CONFIG"))
        values = {**_from_file(file), **_from_environment(env)}
        values.update({k: v for k, v in given.items() if v is not None})
        return replace(cls(), **{name: _convert(name, value) for name, value in values.items()})


def _config_file(path: str | None) -> Path | None:
    default = platformdirs.user_config_path(NAME, appauthor=False) / "config.toml"
    return Path(path) if path else (default if default.is_file() else None)


def _from_file(file: Path | None) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        values = tomllib.loads(file.read_text("utf-8-sig"))  # some editors begin a file with a mark
    except (OSError, ValueError, RecursionError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise Invalid(f"cannot read the configuration {file}: {reason}") from error
    unknown = sorted(values.keys() - KEYS.keys())
    if unknown:
        raise Invalid(
            f"{file}: unknown key {unknown[0]}; expected one of {', '.join(sorted(KEYS))}", unknown[0]
        )
    return values


def _from_environment(env: Mapping[str, str]) -> dict[str, Any]:
    names = {name: f"COPPICE_{name.upper()}" for name, key in KEYS.items() if key.has_variable}
    values: dict[str, Any] = {name: env[variable] for name, variable in names.items() if env.get(variable)}
    if isinstance(values.get("watch"), str):
        values["watch"] = values["watch"].split(os.pathsep)
    for key, (name, when_on) in _SWITCHES.items():
        said = env.get(key, "").strip().lower()
        if said in _ON | _OFF:
            values[name] = when_on == (said in _ON)
        elif said:
            raise Invalid(f"bad value for {key}; expected 1 or 0, got {json_string(env[key])}", name)
    return values


def _convert(name: str, value: Any) -> Any:
    key = KEYS[name]
    try:
        return key.read(value)
    except (TypeError, ValueError, RuntimeError) as error:  # the last for a user without a home
        got = (
            "" if name in ("db", "queue") else f", got {shown(value)}"
        )  # an address may have a password in it
        raise Invalid(f"bad value for {name}; expected {key.expected}{got}", name) from error


class Key(NamedTuple):
    """One setting. `read` returns the value of its field; it raises TypeError or ValueError if the value is invalid.

    `expected` is the valid value in words. `has_variable`: the environment can set it, as text.
    """

    expected: str
    read: Callable[[Any], Any]
    has_variable: bool = True


def _checked(value: Any, valid: bool) -> Any:
    if not valid:
        raise ValueError
    return value


def _text(value: Any) -> str:
    return str(_checked(value, isinstance(value, str)))


def _path(value: Any) -> Path:
    return Path(_checked(value, value != "" and "\0" not in str(value))).expanduser().absolute()


def _origin(value: Any) -> str:
    origin = str(value).lower()
    return str(_checked(origin, ORIGIN.fullmatch(origin) is not None))


def _prefix(value: Any) -> str:
    path = _text(value).rstrip("/")
    return str(_checked(path, PREFIX.fullmatch(path) is not None))


def _queue(value: Any) -> str:
    url = _text(value)
    return str(_checked(url, url.startswith("unix://") or bool(host_of(url, REDIS))))


def _seconds(value: Any) -> float:
    return float(_checked(value, type(value) in (int, float) and 0 <= value < float("inf")))


def _each(read: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    def elements(value: Any) -> tuple[Any, ...]:
        if isinstance(value, str) or not all(isinstance(one, str | Path) for one in value):
            raise TypeError
        return tuple(read(one) for one in value)

    return elements


def _whole(least: int, most: int) -> Key:
    def number(value: Any) -> int:
        found = int(_checked(value, isinstance(value, int | str) and not isinstance(value, bool)))
        return int(_checked(found, least <= found <= most))

    return Key(f"a whole number from {least} to {most}", number)


_SIZE = Key(
    "a number of MiB, 0 or more",
    lambda value: _checked(float(value), not isinstance(value, bool) and 0 <= float(value) < float("inf")),
)
_SWITCH = Key("true or false", lambda value: _checked(value, isinstance(value, bool)), has_variable=False)
KEYS: Mapping[str, Key] = {
    "db": Key("a path, or an address like postgresql://user:password@host/name", database),
    "host": Key("a name or an address like 127.0.0.1", lambda value: _checked(_text(value), value != "")),
    "port": _whole(0, 65535),
    "watch": Key("a list of folders", _each(_path)),
    "token": Key("a string", _text),
    "tls_cert": Key("a path", _path),
    "tls_key": Key("a path", _path),
    "prefix": Key("a path like /coppice", _prefix),
    "proxies": _whole(0, MOST_PROXIES),
    "queue": Key("an address like redis://127.0.0.1:6379/0", _queue),
    "workers": _whole(1, MOST_WORKERS),
    **dict.fromkeys(("max_message", "max_session", "max_store"), _SIZE),
    "allowed_hosts": Key("a list of names", _each(str), has_variable=False),
    "allowed_origins": Key(
        "a list of origins like https://wiki.example, without a path", _each(_origin), has_variable=False
    ),
    "busy_seconds": Key("a number of seconds, 0 or more", _seconds, has_variable=False),
    **dict.fromkeys(("follow", "demo", "tokenizer", "durable", "redact"), _SWITCH),
}
