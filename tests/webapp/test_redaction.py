"""Redaction: credentials are removed before anything is stored; everything else stays."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.webapp.building import call, entry, followed, managed, result, user, wire
from webapp.agents.records import Meta
from webapp.app import App
from webapp.bodies import MessagesQuery
from webapp.config import Config
from webapp.redaction import Redactor, redactor
from webapp.wiring import build

# Made up, in the shape of real ones, and put together here so that no scanner of sources finds them.
AWS = "AKIA" + "QWERTYUIOPASDFGH"
GITHUB = "ghp_" + "a1B2c3D4e5" * 3 + "F6g7H8"
KEY = "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nabcd\n-----END RSA PRIVATE KEY-----"
SECRETS = {"AWS Access Key": AWS, "GitHub Token": GITHUB, "Private Key": KEY}


SECRET = "x9Y8z7W6v5U4t3S2r1Q0"
ALL_KINDS = {
    "JSON Web Token": f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0{SECRET}.{SECRET}",
    "NPM tokens": f"//packages.example/:_authToken=npm_{SECRET}",
    "OpenAI Token": f"sk-{SECRET}T3Blbk" + f"FJ{SECRET}",
}
# Beginnings of credentials that never end.
BAIT = [
    *(("JSON Web Token", piece) for piece in ("eyJ", "eyJa=", "=eyJ", "eyJ.")),
    *(("NPM tokens", piece) for piece in ("/", "//a", "/:_authToken=", "//a/:_authToken= ")),
    *(("OpenAI Token", piece) for piece in ("sk-", "a", "sk-T3BlbkFJ")),
]


EVERY = redactor()


def only(kind: str, pattern: str = "") -> Redactor:
    """Return a redactor that looks for one kind."""
    return Redactor([SimpleNamespace(secret_type=kind, denylist=[re.compile(pattern)])])


class Noted:
    """A pattern that notes the longest text it is given."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern, self.longest = pattern, 0

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Find as the pattern does."""
        self.longest = max(self.longest, len(text))
        return self._pattern.finditer(text)


@pytest.fixture
def app(config: Config) -> Iterator[App]:
    """The services with redaction on."""
    made = build(replace(config, redact=True))
    yield made
    made.close()


def on_disk(path: Path) -> bytes:
    """Everything that the store has written."""
    return b"".join(file.read_bytes() for file in path.parent.glob(path.name + "*"))


class TestRedaction:
    """With `redact`."""

    @pytest.mark.parametrize("kind", SECRETS)
    def test_keeps_a_credential_from_the_disk(self, app: App, kind: str) -> None:
        """Wherever it stands: text, arguments, outputs, the row as it arrived; it is counted and shown."""
        secret = SECRETS[kind]
        said = [
            user(f"use {secret} here"),
            call("c", arguments=json.dumps({"command": f"login {secret}"})),
            result("c", f"done with {secret}."),
        ]
        followed(app)
        raw = json.dumps({"text": secret}).encode()
        app.ingest.append_records("s", [entry(n, one, raw=raw) for n, one in enumerate(said)])
        managed(app, wire("user", f"and {secret}"), id="m")
        app.store.db.checkpoint()
        if isinstance(app.config.database, Path):
            for line in secret.splitlines()[1:-1] or [secret]:
                assert line.encode() not in on_disk(app.config.database)
        page = app.messages.page("s", MessagesQuery(sort="oldest"))
        assert page.messages[0].text == f"use [redacted: {kind}] here"
        assert app.sessions.get("s").notes == [
            f"3 credentials were redacted before anything was stored: {kind}"
        ]
        assert app.context.get("m", "openai").messages[0]["content"] == f"and [redacted: {kind}]"
        assert list(app.verify()) == []

    @pytest.mark.parametrize("said", ALL_KINDS.values(), ids=ALL_KINDS)
    def test_finds_a_credential_however_it_is_glued(self, said: str) -> None:  # X1
        """Behind an escape, an assignment, or another credential."""
        for before in ("", "token=", "\\n", "abc", '"', f"{said} "):
            found: Counter[str] = Counter()
            assert SECRET not in redactor().redact_text(f"{before}{said}\n", found)
            assert found.total() >= 1

    @pytest.mark.parametrize(("kind", "piece"), BAIT)
    def test_takes_time_that_grows_with_the_text_and_not_faster(self, kind: str, piece: str) -> None:  # X1
        """With the square of it, as by the library's patterns, any of these would take an hour."""
        text = piece * (1_000_000 // len(piece))
        assert only(kind).redact_text(text, Counter()) == text

    @pytest.mark.parametrize("filling", ["x", "word ", "line\n"])
    def test_searches_a_long_text_in_pieces(self, filling: str) -> None:  # X1
        """While a pattern searches, every other thread of the server waits."""
        text = filling * (3_000_000 // len(filling))
        noted = Noted(re.compile("never"))
        watched = Redactor([SimpleNamespace(secret_type="key", denylist=[noted])])
        assert watched.redact_text(text, Counter()) == text
        assert noted.longest <= 64_000

    @pytest.mark.parametrize("filling", ["x", "word ", "line\n"])
    def test_finds_every_credential_of_a_long_text(self, filling: str) -> None:  # X1
        """Wherever the text is cut; each is counted once."""
        found: Counter[str] = Counter()
        text = "".join(f"{filling * (n % 3_000)}AKIA{n:016d}" for n in range(1_000))
        assert "AKIA" not in only("key", r"AKIA\d{16}").redact_text(text, found)
        assert found == {"key": 1_000}

    @given(st.data())
    def test_finds_in_pieces_what_it_finds_in_the_whole(self, data: st.DataObject) -> None:  # X1
        """Credentials of any kind between any texts, wherever a piece ends."""
        filling = st.text("a/=-_.\n é", max_size=120)
        parts = st.lists(
            st.tuples(filling, st.sampled_from([*ALL_KINDS.values(), AWS, GITHUB]), filling), max_size=6
        )
        text = "".join(f"{before} {said}\n{after}" for before, said, after in data.draw(parts))
        whole, pieces = Counter[str](), Counter[str]()
        expected = EVERY.redact_text(text, whole)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("webapp.redaction.PIECE_CHARS", data.draw(st.integers(1, 60)))
            patch.setattr("webapp.redaction.RUN_CHARS", data.draw(st.integers(1, 60)))
            patch.setattr("webapp.redaction.BEYOND_CHARS", 200)  # longer than each of them
            assert (EVERY.redact_text(text, pieces), pieces) == (expected, whole)

    def test_redacts_keys_to_their_own_ends(self) -> None:  # X1
        """A key that another text is glued to, several in one text, and one that was cut off."""
        found: Counter[str] = Counter()
        other = KEY.replace("RSA", "EC")
        said = only("none", "never").redact_text(f"a{KEY}b{other}c{KEY[:60]}", found)
        assert said == "a[redacted: Private Key]b[redacted: Private Key]c[redacted: Private Key]"
        assert found == {"Private Key": 3}

    def test_takes_thousands_of_credentials(self) -> None:  # X1
        """Each of them once; a pass over the text for each would take minutes."""
        found: Counter[str] = Counter()
        text = " ".join(f"AKIA{n:016d}" for n in range(40_000))
        assert "AKIA" not in only("key", r"AKIA\d{16}").redact_text(text, found)
        assert found == {"key": 40_000}

    def test_keeps_a_credential_from_titles(self, app: App) -> None:
        """Agents make them of the first message."""
        app.ingest.ensure("s", "claude-code", title=f"use {GITHUB}")
        assert app.sessions.get("s").title == "use [redacted: GitHub Token]"
        app.ingest.append_records("s", [Meta(title=f"push with {GITHUB}"), entry(0, user("go"))])
        assert app.sessions.get("s").title == "push with [redacted: GitHub Token]"

    def test_leaves_what_is_no_credential(self, app: App) -> None:
        """Hashes, ids, words like password, code."""
        text = (
            "password = os.environ['X']; sha 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
        )
        managed(app, wire("user", text), id="m")
        assert app.context.get("m", "openai").messages[0]["content"] == text
        assert app.sessions.get("m").notes == []

    def test_knows_a_message_again(self, app: App) -> None:
        """The same list twice adds nothing, although it was stored otherwise."""
        data = json.dumps([wire("user", f"use {AWS}")]).encode()
        assert [app.importing.import_file("a.json", data)[0].added for _ in range(2)] == [1, 0]
