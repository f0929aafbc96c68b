"""A real PostgreSQL for tests: one cluster for all workers of a run, and a separate database for each test.

It listens on a free port of this machine, in a temporary folder, and runs as an unprivileged user. Databases are copied
from a template that has the schema. No write is synced to the disk.
"""

from __future__ import annotations

import fcntl
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from tests.ports import free_port
from tests.waiting import until
from webapp.config import PostgresqlAddress
from webapp.store.parts import PARTS

OPTIONS = (
    "fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=300", "shared_buffers=64MB",
    "listen_addresses=127.0.0.1", "unix_socket_directories=", "autovacuum=off", "jit=off",
)  # fmt: skip
TEMPLATE = "coppice_template"
PASSWORD = "a/secret:word"  # in addresses it is quoted
# Counts the connections to the same database that wait for a lock: other workers have their own databases. It does not
# ask for the activity of the server, which a transaction sees as it was at first.
WAITING = """
SELECT count(*) FROM pg_locks WHERE NOT granted AND pid IN (
    SELECT pid FROM pg_locks JOIN pg_database ON oid = database WHERE datname = current_database()
)
"""
_NUMBERS = count(1)
# Stops a server whose run was killed.
GUARD = """
while kill -0 {run} && kill -0 {server}; do sleep 1; done
kill -QUIT {server} && sleep 1 && rm -rf {folder}
"""


@cache
def programs() -> Path | None:
    """Return the folder of the server's programs: Debian's newest, or pg_config's."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    with suppress(OSError, subprocess.CalledProcessError):
        said = subprocess.run(["pg_config", "--bindir"], capture_output=True, text=True, check=True)
        found.insert(0, Path(said.stdout.strip()))
    return next((path for path in reversed(found) if (path / "initdb").exists()), None)


def why_not() -> str:
    """Return the reason why there is no PostgreSQL here, "" where there is one."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed (the extra `postgresql`)"
    return "" if programs() else "PostgreSQL is not installed (Debian: apt-get install postgresql)"


class Cluster:
    """A running server; `port` is where it listens."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._free: list[str] = []

    def server(self, name: str) -> PostgresqlAddress:
        """Return the address of a database."""
        return PostgresqlAddress(f"postgresql://postgres:a%2Fsecret%3Aword@127.0.0.1:{self.port}/{name}")

    def execute(self, *statements: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Run statements as another program would; return the rows of the last."""
        import psycopg

        rows: list[tuple[Any, ...]] = []
        with psycopg.connect(self.server(database).url, autocommit=True) as connection:
            for statement in statements:
                cursor = connection.execute(statement.encode())
                rows = cursor.fetchall() if cursor.description else []
        return rows

    @contextmanager
    def database(self) -> Iterator[PostgresqlAddress]:
        """Lend a database with an empty schema; after use it is emptied and lent again."""
        name = self._free.pop() if self._free else self._made()
        yield self.server(name)
        try:
            self.execute(self._emptying(), database=name)
        except Exception:  # noqa: BLE001  # a test has changed the schema
            self.execute(f"DROP DATABASE {name} WITH (FORCE)")
        else:
            self._free.append(name)

    def _made(self) -> str:
        name = f"t{os.getpid()}_{next(_NUMBERS)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
        return name

    def _emptying(self) -> str:
        """Return the statements that delete every row and restart every sequence."""
        names = sorted({part.table for part in PARTS} - {"access_tokens", "webhooks"})
        tables = [
            *names,
            "access_tokens",
            "webhooks",
            "revisions",
            "leases",
            "seals",
            "entry_words",
            "memory_words",
        ]
        counted = [f"{name}_id_seq" for name in ("memories", "webhooks", "webhook_deliveries")]
        counted += ["sessions_key_seq", "access_tokens_key_seq"]
        return "; ".join(
            ["BEGIN", *(f"DELETE FROM {name}" for name in tables),
             *(f"ALTER SEQUENCE {name} RESTART" for name in counted), "COMMIT"]
        )  # fmt: skip


@contextmanager
def cluster(shared: Path) -> Iterator[Cluster]:
    """Start the run's server, or use the one that another worker has started; the last worker stops it.

    `shared` is a folder that the workers of a run share.
    """
    note = shared / "postgresql"
    with locked(note):
        folder, port, users = note.read_text().split() if note.exists() else (*started(), "0")
        note.write_text(f"{folder} {port} {int(users) + 1}")
    try:
        yield Cluster(int(port))
    finally:
        with locked(note):
            *_, users = note.read_text().split()
            note.write_text(f"{folder} {port} {int(users) - 1}")
            if users == "1":
                stop(Path(folder))
                note.unlink()


@contextmanager
def locked(note: Path) -> Iterator[None]:
    """Keep other workers from a file until the block ends."""
    with note.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def started() -> tuple[str, str]:
    """Start a server with a template; return its folder and port."""
    found = programs()
    assert found is not None
    folder = Path(tempfile.mkdtemp(prefix="coppice-postgresql-"))
    who: dict[str, Any] = {}
    if os.getuid() == 0:  # it refuses to run as root
        user = next(entry for entry in pwd.getpwall() if entry.pw_name in ("postgres", "nobody"))
        os.chown(folder, user.pw_uid, user.pw_gid)
        who = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    (folder / "password").write_text(PASSWORD)
    (folder / "password").chmod(0o644)
    data = folder / "data"
    initdb: list[str | Path] = [
        found / "initdb", "--pgdata", data, "--username=postgres", "--auth=scram-sha-256", "--no-sync",
        "--encoding=UTF8", "--locale=C", f"--pwfile={folder / 'password'}",
    ]  # fmt: skip
    subprocess.run(initdb, check=True, capture_output=True, cwd=folder, **who)
    port = free_port()
    options = [part for option in (*OPTIONS, f"port={port}") for part in ("-c", option)]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [found / "postgres", "-D", data, *options], stdout=log, stderr=log, cwd=folder,
            start_new_session=True, **who,
        )  # fmt: skip
        guard = GUARD.format(run=run_process(), server=server.pid, folder=folder)
        subprocess.Popen(["sh", "-c", guard], stdout=log, stderr=log, start_new_session=True)
    made = Cluster(port)
    until(lambda: is_up(made))
    made.execute(f"CREATE DATABASE {TEMPLATE}")
    from webapp.store import Store

    Store(made.server(TEMPLATE)).close()
    return str(folder), str(port)


def run_process() -> int:
    """Return the process of the run: the parent of a worker."""
    return os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()


def is_up(made: Cluster) -> bool:
    """Return whether the server answers."""
    import psycopg

    with suppress(psycopg.OperationalError):
        return made.execute("SELECT 1") == [(1,)]
    return False


def stop(folder: Path) -> None:
    """Stop the server at once and remove its folder."""
    pid = int((folder / "data" / "postmaster.pid").read_text().split()[0])
    os.kill(pid, signal.SIGQUIT)
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)
    until(lambda: not (folder / "data" / "postmaster.pid").exists())
    shutil.rmtree(folder, ignore_errors=True)
