"""The schema, as numbered steps. Append a step, never edit one that was released.

A step that changes sealed rows, or adds a column to a sealed part, names the part in `RESEALED`.

Times are INTEGER milliseconds since 1970 UTC. `session` is the session's own number (`sessions.key`), never its id.
`key` is `session · 2³² + n`, see keys.py. JSON columns hold compact UTF-8 text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

import orjson
from sqlite_utils import Database, Migrations

from scoring.history import Features, TaskCounts
from scoring.messages import Message, part_from_dict
from webapp.store.indexed_text import indexed
from webapp.store.keys import bounds
from webapp.store.parts import PARTS
from webapp.store.search_index import in_pairs
from webapp.store.sqlite.seals import SCHEMA as SEALS
from webapp.store.verify import BROKEN

migrations = Migrations("coppice")

# Every part is sealed again after this step and those before it; after a later one only the parts that it changes,
# because a new seal would hide what another program has changed.
SEALED_SINCE = "m012_seal_of_the_list"
RESEALED = {"m014_service_tiers": ("calls",)}

SCHEMA = """
-- One conversation. `settings` holds only what it overrides. `automatic` null: as the settings say.
-- `version` grows by one with every commit that changes log or context; a plan is made for one version.
-- `tail_hash` is the synthetic source id of the last list message (imports find their session by it).
-- `state` is what the services carry from append to append (calibration, trail, arming): bounded in size.
-- `deleted_at` is set on the marker that a deleted followed session leaves.
CREATE TABLE sessions (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    title TEXT,
    source TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('followed', 'managed')),
    model TEXT,
    parent_id TEXT,
    agent_type TEXT,
    path TEXT,
    cwd TEXT,
    wire_format TEXT,
    envelope TEXT,
    created_at INTEGER NOT NULL,
    last_activity_at INTEGER NOT NULL,
    version INTEGER NOT NULL DEFAULT 0,
    next_seq INTEGER NOT NULL DEFAULT 0,
    next_no INTEGER NOT NULL DEFAULT 1,
    next_operation INTEGER NOT NULL DEFAULT 1,
    next_sample INTEGER NOT NULL DEFAULT 0,
    last_entry_id BLOB,
    tail_hash TEXT,
    automatic INTEGER,
    settings TEXT NOT NULL DEFAULT '{}',
    window INTEGER,
    turns INTEGER NOT NULL DEFAULT 0,
    prunes INTEGER NOT NULL DEFAULT 0,
    operations INTEGER NOT NULL DEFAULT 0,
    malformed INTEGER NOT NULL DEFAULT 0,
    unknown INTEGER NOT NULL DEFAULT 0,
    notes TEXT NOT NULL DEFAULT '[]',
    state TEXT NOT NULL DEFAULT '{}',
    deleted_at INTEGER
);
CREATE INDEX sessions_parent ON sessions (parent_id) WHERE parent_id IS NOT NULL;

-- The log: a row or block as it arrived, never changed. n = seq. `id` is the hash of the entry before and of this one.
-- `raw` is what arrived, packed; null where `parts` says it all. `supersedes` is the seq of the entry it replaces.
CREATE TABLE entries (
    key INTEGER PRIMARY KEY,
    id BLOB NOT NULL,
    message_no INTEGER NOT NULL,
    source_id TEXT,
    parent_source_id TEXT,
    group_key TEXT,
    kind TEXT NOT NULL,
    role TEXT NOT NULL,
    name TEXT NOT NULL DEFAULT '',
    parts TEXT NOT NULL,
    raw BLOB,
    format TEXT,
    at INTEGER,
    model TEXT,
    supersedes INTEGER
);
-- Asked at every ingest: is this id known? Also finds the session that an imported list belongs to.
CREATE UNIQUE INDEX entries_source ON entries (source_id, key >> 32) WHERE source_id IS NOT NULL;

-- Derived from the entries, one row a message: what lists and plans need without opening the log. n = no.
-- `out_operation` is the operation that took it out of the pruned view, null while it is in.
CREATE TABLE messages (
    key INTEGER PRIMARY KEY,
    role TEXT NOT NULL,
    kind TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    chars INTEGER NOT NULL,
    features TEXT NOT NULL,
    card TEXT NOT NULL,
    is_error INTEGER NOT NULL DEFAULT 0,
    pinned INTEGER NOT NULL DEFAULT 0,
    drop_first INTEGER NOT NULL DEFAULT 0,
    turn INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    group_key TEXT,
    at INTEGER,
    id BLOB NOT NULL,
    out_operation INTEGER
);
CREATE INDEX messages_out ON messages (key) WHERE out_operation IS NOT NULL;

-- What the model is sent, in order. `view` 0 is the agent's own context, 1 the pruned view (of a managed session: the
-- context). `position` is the seq of the message's first entry. `kind` 0 message, 1 summary; `ref` its number.
-- `stand_in` is the replacement of the message's tool outputs, null while they are unchanged.
CREATE TABLE context_items (
    session INTEGER NOT NULL,
    view INTEGER NOT NULL,
    position INTEGER NOT NULL,
    kind INTEGER NOT NULL DEFAULT 0,
    ref INTEGER NOT NULL,
    stand_in TEXT,
    PRIMARY KEY (session, view, position)
) WITHOUT ROWID;

-- Running sums of estimated tokens and of messages, kept in the transaction that changes the context.
CREATE TABLE totals (
    session INTEGER NOT NULL,
    view INTEGER NOT NULL,
    region TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    PRIMARY KEY (session, view, region)
) WITHOUT ROWID;

-- Real usage, once a call. `seq` is where in the log the call was reported, `estimated` our estimate just before.
CREATE TABLE calls (
    session INTEGER NOT NULL,
    call_key TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER,
    model TEXT,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    reasoning_tokens INTEGER NOT NULL DEFAULT 0,
    estimated INTEGER,
    PRIMARY KEY (session, call_key)
) WITHOUT ROWID;

-- Everything that changed the context. n counts from 1. `undone_at` is when it was taken back, null while it holds.
CREATE TABLE operations (
    key INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    actor TEXT NOT NULL,
    reason TEXT NOT NULL,
    at INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    tokens_before INTEGER NOT NULL,
    tokens_after INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    plan TEXT NOT NULL DEFAULT '{}',
    undone_at INTEGER
);
-- What an operation did to which message, and the reason given at the time. `change` is one of
-- out, in, shortened, pinned, unpinned, drop_first, not_drop_first; `before` what undo puts back. With summary_in
-- and summary_out `no` is a summary's number.
CREATE TABLE operation_items (
    operation INTEGER NOT NULL,
    no INTEGER NOT NULL,
    change TEXT NOT NULL,
    before TEXT,
    detail TEXT,
    PRIMARY KEY (operation, no, change)
) WITHOUT ROWID;

-- The chart: gauges after each message. n counts from 0.
CREATE TABLE samples (
    key INTEGER PRIMARY KEY,
    at INTEGER,
    no INTEGER NOT NULL,
    agent_tokens INTEGER,
    view_tokens INTEGER NOT NULL
);

-- How far a followed file was read.
CREATE TABLE files (
    path TEXT PRIMARY KEY,
    session_id TEXT,
    position TEXT NOT NULL,
    looked_at INTEGER NOT NULL
);

-- Answers to appends that carried an idempotency key.
CREATE TABLE idempotency (
    session INTEGER NOT NULL,
    name TEXT NOT NULL,
    digest BLOB NOT NULL,
    answer TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (session, name)
) WITHOUT ROWID;

CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE model_overrides (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE revisions (room TEXT PRIMARY KEY, revision INTEGER NOT NULL);

-- Words of every entry; rowid = entries.key. Holds no text of its own: snippets are cut from the log.
CREATE VIRTUAL TABLE entry_words USING fts5 (text, content = '', tokenize = 'unicode61');
-- Segments are merged by the upkeep thread, not by the append that happens to be the sixteenth.
INSERT INTO entry_words (entry_words, rank) VALUES ('automerge', 0);
INSERT INTO entry_words (entry_words, rank) VALUES ('crisismerge', 1000);
"""


@migrations()
def m001_initial(db: Database) -> None:
    """Create sessions, log, contexts, operations, samples, settings and search."""
    for statement in _statements(SCHEMA):
        db.execute(statement)


def _statements(script: str) -> list[str]:
    lines = [line for line in script.splitlines() if not line.lstrip().startswith("--")]
    return [one.strip() for one in "\n".join(lines).split(";") if one.strip()]


# A statement a string: triggers hold semicolons of their own.
SUMMARIES_AND_MEMORY = (
    # Summaries of messages or of other summaries. n counts from 1. `covers` lists [kind, number], 0 a message and
    # 1 a summary; `position` is half a place before the first message it covers, so that it never stands where a
    # message does; `replaced_tokens` is what it stands for, `until_no` the
    # session's last message when it was made: what came later counts towards the next one. `level` says who wrote it.
    """
    CREATE TABLE summaries (
        key INTEGER PRIMARY KEY,
        text TEXT NOT NULL,
        depth INTEGER NOT NULL,
        messages INTEGER NOT NULL,
        tokens INTEGER NOT NULL,
        replaced_tokens INTEGER NOT NULL,
        first_at INTEGER,
        last_at INTEGER,
        note TEXT NOT NULL DEFAULT '',
        level TEXT NOT NULL,
        model TEXT,
        cost REAL,
        covers TEXT NOT NULL,
        position REAL NOT NULL,
        until_no INTEGER NOT NULL,
        at INTEGER NOT NULL
    )
    """,
    # `kind` is memory or learning. `session_id` and `message_id` say where it was recorded, null where it was written.
    """
    CREATE TABLE memories (
        id INTEGER PRIMARY KEY,
        kind TEXT NOT NULL CHECK (kind IN ('memory', 'learning')),
        text TEXT NOT NULL,
        session_id TEXT,
        message_id TEXT,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL
    )
    """,
    "CREATE INDEX memories_kind ON memories (kind, updated_at)",
    """
    CREATE VIRTUAL TABLE memory_words USING fts5
        (text, content = 'memories', content_rowid = 'id', tokenize = 'unicode61')
    """,
    """
    CREATE TRIGGER memories_added AFTER INSERT ON memories BEGIN
        INSERT INTO memory_words (rowid, text) VALUES (new.id, new.text);
    END
    """,
    """
    CREATE TRIGGER memories_removed AFTER DELETE ON memories BEGIN
        INSERT INTO memory_words (memory_words, rowid, text) VALUES ('delete', old.id, old.text);
    END
    """,
    """
    CREATE TRIGGER memories_changed AFTER UPDATE OF text ON memories BEGIN
        INSERT INTO memory_words (memory_words, rowid, text) VALUES ('delete', old.id, old.text);
        INSERT INTO memory_words (rowid, text) VALUES (new.id, new.text);
    END
    """,
    # The summaries of a session go with it, whether it leaves a marker or not.
    """
    CREATE TRIGGER sessions_removed AFTER DELETE ON sessions BEGIN
        DELETE FROM summaries WHERE key BETWEEN (old.key << 32) AND ((old.key << 32) | 4294967295);
    END
    """,
    """
    CREATE TRIGGER sessions_marked AFTER UPDATE OF deleted_at ON sessions WHEN new.deleted_at IS NOT NULL BEGIN
        DELETE FROM summaries WHERE key BETWEEN (old.key << 32) AND ((old.key << 32) | 4294967295);
    END
    """,
)


@migrations()
def m002_summaries_and_memory(db: Database) -> None:
    """Create summaries, and memories and learnings with their index."""
    for statement in SUMMARIES_AND_MEMORY:
        db.execute(statement)


@migrations()
def m003_facts_for_task_types(db: Database) -> None:
    """Count, for existing sessions, the facts by which a task type is recognised."""
    for key, text in db.execute("SELECT key, state FROM sessions").fetchall():
        counts, state = TaskCounts(), orjson.loads(text)
        for (features,) in db.execute("SELECT features FROM messages WHERE key BETWEEN ? AND ?", bounds(key)):
            counts.add(Features.from_dict(orjson.loads(features)))
        if "facts" not in state and counts != TaskCounts():
            state["facts"] = counts.to_dict()
            db.execute("UPDATE sessions SET state = ? WHERE key = ?", (orjson.dumps(state).decode(), key))


@migrations()
def m004_session_numbers_for_ever(db: Database) -> None:
    """Keep the numbers of deleted sessions, because other processes may remember them."""
    found = db.execute(
        "SELECT sql FROM sqlite_master WHERE tbl_name = 'sessions' AND sql IS NOT NULL ORDER BY rowid"
    )
    table, *rest = [sql for (sql,) in found.fetchall()]
    numbered = "key INTEGER PRIMARY KEY AUTOINCREMENT"
    db.execute(table.replace("key INTEGER PRIMARY KEY", numbered, 1).replace("sessions", "sessions_anew", 1))
    db.execute("INSERT INTO sessions_anew SELECT * FROM sessions")
    db.execute("DROP TABLE sessions")
    db.execute("ALTER TABLE sessions_anew RENAME TO sessions")
    for sql in rest:
        db.execute(sql)


@migrations()
def m005_parents_without_circles(db: Database) -> None:
    """Remove one parent of each circle, so that its sessions are found from the top again."""
    parents = dict(db.execute("SELECT id, parent_id FROM sessions ORDER BY key").fetchall())
    for session, parent in parents.items():
        above = parent
        for _ in parents:
            if above is None or above == session:
                break
            above = parents.get(above)
        if above == session:
            parents[session] = None
            db.execute("UPDATE sessions SET parent_id = NULL WHERE id = ?", (session,))


@migrations()
def m006_words_of_calls(db: Database) -> None:
    """Index calls by the words of their arguments instead of by their JSON text."""
    _index_again(db, lambda message: (indexed(message, lambda arguments: [arguments]), indexed(message)))


@migrations()
def m007_seals(db: Database) -> None:
    """Create seals over every part of a session; existing sessions are sealed after the last step."""
    db.execute(SEALS)


@migrations()
def m008_copies(db: Database) -> None:
    """Add pruned copies of sessions, from which an agent resumes; `session_id` may not have been seen yet."""
    db.execute(
        """
        CREATE TABLE copies (
            session_id TEXT PRIMARY KEY,
            origin_id TEXT NOT NULL,
            title TEXT NOT NULL,
            at INTEGER NOT NULL,
            tokens_before INTEGER NOT NULL,
            tokens_promised INTEGER NOT NULL
        )
        """
    )
    db.execute("CREATE INDEX copies_origin ON copies (origin_id, at)")


@migrations()
def m009_access(db: Database) -> None:
    """Add tokens, and the sessions of browsers that were opened with one; of both only hashes are kept."""
    db.execute(
        """CREATE TABLE access_tokens (
            key INTEGER PRIMARY KEY AUTOINCREMENT,
            hash BLOB NOT NULL UNIQUE,
            name TEXT NOT NULL,
            role TEXT NOT NULL CHECK (role IN ('viewer', 'operator')),
            created_at INTEGER NOT NULL,
            revoked_at INTEGER
        )"""
    )
    # `token` is null for the one that the configuration names; `proof` binds the session to that one.
    db.execute(
        """CREATE TABLE access_sessions (
            hash BLOB PRIMARY KEY,
            token INTEGER REFERENCES access_tokens (key) ON DELETE CASCADE,
            proof BLOB,
            server TEXT NOT NULL,
            expires_at INTEGER NOT NULL
        ) WITHOUT ROWID"""
    )


@migrations()
def m010_money_of_calls(db: Database) -> None:
    """Store the tokens cached for an hour, and the least an answer has where its report is partial."""
    for column in ("cache_write_hour_tokens", "answer_tokens"):
        db.execute(f"ALTER TABLE calls ADD COLUMN {column} INTEGER DEFAULT 0")


@migrations()
def m011_webhooks(db: Database) -> None:
    """Add the addresses that get events, and the log of what was sent to them."""
    db.execute(
        """CREATE TABLE webhooks (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            url TEXT NOT NULL,
            secret TEXT NOT NULL,
            events TEXT NOT NULL,
            active INTEGER NOT NULL,
            created_at INTEGER NOT NULL
        )"""
    )
    db.execute(
        """CREATE TABLE webhook_deliveries (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            webhook INTEGER NOT NULL REFERENCES webhooks (id),
            message_id TEXT NOT NULL,
            event TEXT NOT NULL,
            session_id TEXT,
            at INTEGER NOT NULL,
            body TEXT NOT NULL,
            tries INTEGER NOT NULL,
            next_at INTEGER,
            status INTEGER,
            problem TEXT NOT NULL,
            tried_at INTEGER
        )"""
    )
    db.execute("CREATE INDEX webhook_deliveries_of ON webhook_deliveries (webhook, id)")
    db.execute(
        "CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_at) WHERE next_at IS NOT NULL"
    )


@migrations()
def m012_seal_of_the_list(db: Database) -> None:
    """Change no table; all is sealed again, because one seal now covers the list of sessions, not all their rows."""


@migrations()
def m013_senders(db: Database) -> None:
    """Allow tokens of senders, which only hand over calls and lines of transcripts."""
    [(table,)] = db.execute("SELECT sql FROM sqlite_master WHERE name = 'access_tokens'").fetchall()
    sessions = db.execute("SELECT * FROM access_sessions").fetchall()  # they go with the old table
    roles = "('viewer', 'operator', 'sender')"
    db.execute(
        table.replace("('viewer', 'operator')", roles).replace("access_tokens", "access_tokens_anew", 1)
    )
    db.execute("INSERT INTO access_tokens_anew SELECT * FROM access_tokens")
    db.execute("DROP TABLE access_tokens")
    db.execute("ALTER TABLE access_tokens_anew RENAME TO access_tokens")
    for session in sessions:
        db.execute("INSERT OR IGNORE INTO access_sessions VALUES (?, ?, ?, ?, ?)", session)


@migrations()
def m014_service_tiers(db: Database) -> None:
    """Store the provider's service of each call, which decides its price."""
    db.execute("ALTER TABLE calls ADD COLUMN service_tier TEXT DEFAULT ''")


LEASES = """CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    until INTEGER NOT NULL,
    cancelled INTEGER NOT NULL
) WITHOUT ROWID"""


@migrations()
def m015_leases(db: Database) -> None:
    """Store which of several workers does what only one may do."""
    db.execute(LEASES)


@migrations()
def m016_rows_by_zstd(db: Database) -> None:
    """Index the newest sessions of an agent, and keep earlier versions away: they cannot read rows of this one."""
    db.execute(
        "CREATE INDEX sessions_source ON sessions (source, last_activity_at DESC, id) WHERE deleted_at IS NULL"
    )


@migrations()
def m017_words_in_pairs(db: Database) -> None:
    """Index texts of scripts without spaces by pairs of letters; the index of memories holds texts of its own."""
    for name in ("added", "removed", "changed"):
        db.execute(f"DROP TRIGGER IF EXISTS memories_{name}")
    db.execute("DROP TABLE IF EXISTS memory_words")
    db.execute("CREATE VIRTUAL TABLE memory_words USING fts5 (text, tokenize = 'unicode61')")
    for row, text in db.execute("SELECT id, text FROM memories").fetchall():
        db.execute("INSERT INTO memory_words (rowid, text) VALUES (?, ?)", (row, in_pairs(text)))
    _index_again(db, lambda message: (indexed(message), in_pairs(indexed(message))))


AFTERMATHS = """CREATE TABLE aftermaths (
    session INTEGER NOT NULL,
    event TEXT NOT NULL,
    operation INTEGER NOT NULL,
    windows INTEGER NOT NULL,
    steps INTEGER NOT NULL,
    files INTEGER NOT NULL,
    commands INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    said INTEGER NOT NULL,
    worked INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    complete INTEGER NOT NULL,
    PRIMARY KEY (session, event, operation)
) WITHOUT ROWID"""


@migrations()
def m018_aftermaths(db: Database) -> None:
    """Add what was done again after each event of a session; `operation` 0 is no operation's."""
    db.execute(AFTERMATHS)


def _index_again(db: Database, words: Callable[[Message], tuple[str, str]]) -> None:
    """Replace the indexed words of each entry; `words` returns those that are there, and those to come."""
    sql = "SELECT key, parts FROM entries WHERE key BETWEEN ? AND ? AND message_no > 0"
    for (session,) in db.execute("SELECT key FROM sessions").fetchall():
        for key, parts in db.execute(sql, bounds(session)):
            with suppress(*BROKEN):  # a damaged entry keeps its words, and `verify` reports it
                before, now = words(Message("user", tuple(map(part_from_dict, orjson.loads(parts)))))
                if before != now:
                    db.execute(
                        "INSERT INTO entry_words (entry_words, rowid, text) VALUES ('delete', ?, ?)",
                        (key, before),
                    )
                    db.execute("INSERT INTO entry_words (rowid, text) VALUES (?, ?)", (key, now))


def step_names() -> set[str]:
    """Return the names of all steps of this version."""
    return {step.name for step in migrations.pending(Database(memory=True))}


def parts_to_seal(steps: Sequence[str]) -> set[str]:
    """Return the names of the parts to seal again after these steps."""
    if any(step <= SEALED_SINCE for step in steps):
        return {part.name for part in PARTS}
    return {part for step in steps for part in RESEALED.get(step, ())}
