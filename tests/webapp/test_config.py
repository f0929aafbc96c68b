"""Start-up settings: their precedence, and invalid values."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from webapp.config import KEYS, Config, PostgresqlAddress
from webapp.errors import Invalid


class TestConfig:
    """Defaults, file, environment, command line."""

    def test_lets_the_nearer_source_win(self, tmp_path: Path) -> None:
        """The command line before the environment before the file before the defaults."""
        file = tmp_path / "c.toml"
        file.write_text(
            'host = "::1"\nport = 1\nallowed_hosts = ["box"]\nallowed_origins = ["HTTPS://Wiki.example:8443"]\n'
        )
        config = Config.load(file, {"COPPICE_PORT": "2", "COPPICE_DB": "/x/y.db"}, db=None)
        assert (config.host, config.port, config.database) == ("::1", 2, Path("/x/y.db"))
        assert Config.load(file, {"COPPICE_PORT": "2"}, port=3).port == 3
        assert config.allowed_hosts == ("box",)
        assert config.allowed_origins == ("https://wiki.example:8443",)
        assert Config.load(None, {}).host == "127.0.0.1"

    def test_can_read_every_field(self) -> None:
        """All but the environment itself can be set by the file."""
        assert {one.name for one in fields(Config)} == KEYS.keys() | {"env"}

    def test_makes_paths_absolute(self) -> None:
        """The working directory may change later."""
        config = Config.load(None, {}, watch=["a", "~/b"])
        assert all(path.is_absolute() for path in config.watch)

    @pytest.mark.parametrize(
        "text",
        [
            "port = 99999",
            'port = "x"',
            "nothing = 1",
            "host = 3",
            "not toml",
            'follow = "no"',
            'watch = "folder"',
            'allowed_hosts = "box"',
            "allowed_hosts = [1]",
            'allowed_origins = "https://wiki.example"',
            'allowed_origins = ["*"]',
            'queue = "box:6379"',
            'queue = "redis://[box"',
            'queue = "redis://box:99999"',
            'queue = "redis://:6379"',
            'allowed_origins = ["https://wiki.example/page"]',
            "watch = [1]",
            "port = true",
            "busy_seconds = -1",
            'busy_seconds = "5"',
            "db = 3",
            'db = ""',
            'host = ""',
            'db = "sqlite:///c.db"',
            'watch = [""]',
            'tls_cert = ""',
            'db = "~nobody-of-this-name/x.db"',
            'watch = ["~nobody-of-this-name"]',
            'watch = ["a\\u0000b"]',
            pytest.param("port = " + "9" * 5_000, id="a number of 5,000 digits"),
            pytest.param("watch = " + "[" * 10_000, id="lists in lists"),
        ],
    )
    def test_refuses_what_it_does_not_know(self, tmp_path: Path, text: str) -> None:
        """There is one clear message."""
        file = tmp_path / "c.toml"
        file.write_text(text)
        with pytest.raises(Invalid):
            Config.load(file, {})

    def test_names_an_unreadable_file_once(self, tmp_path: Path) -> None:
        """A folder in its place has a reason of the system, without the path and a number."""
        with pytest.raises(Invalid) as refused:
            Config.load(tmp_path, {})
        assert str(refused.value) == f"cannot read the configuration {tmp_path}: Is a directory"

    def test_reads_a_file_with_a_byte_order_mark(self, tmp_path: Path) -> None:
        """Editors of Windows write one, and their ends of lines."""
        file = tmp_path / "c.toml"
        file.write_bytes(b"\xef\xbb\xbfport = 5005\r\n")
        assert Config.load(file, {}).port == 5005

    def test_follows_nothing_when_told_so(self) -> None:
        """An environment variable switches following off."""
        assert Config.load(None, {"COPPICE_NO_WATCH": "1"}).follow is False

    @pytest.mark.parametrize(
        ("said", "is_on"),
        [("1", True), ("true", True), ("On", True), ("0", False), ("no", False), ("off", False)],
    )
    def test_reads_switches_of_the_environment(self, said: str, is_on: bool, tmp_path: Path) -> None:
        """A variable that says no switches nothing on, and wins over the file as every variable does."""
        file = tmp_path / "c.toml"
        file.write_text(f"redact = {str(not is_on).lower()}\nfollow = {str(is_on).lower()}")
        config = Config.load(file, {"COPPICE_NO_WATCH": said, "COPPICE_REDACT": said})
        assert (config.redact, config.follow) == (is_on, not is_on)
        assert Config.load(file, {"COPPICE_REDACT": ""}).redact is not is_on

    def test_refuses_a_switch_that_is_neither(self) -> None:
        """The error names the variable."""
        with pytest.raises(Invalid, match='bad value for COPPICE_REDACT; expected 1 or 0, got "maybe"'):
            Config.load(None, {"COPPICE_REDACT": "maybe"})


class TestMasked:
    """Errors about a PostgreSQL database, without its password."""

    @pytest.mark.parametrize(
        ("password", "text", "shown"),
        [
            ("p", "connection to port 1 failed", "connection to port 1 failed"),
            ("p", "no postgresql://u:p@host/p?password=p", "no postgresql://u:•••@host/p?password=•••"),
            ("port", "port 1 in support of :port@host failed", "••• 1 in support of :•••@host failed"),
            ("a%2Fb%21", "a/b! and a%2Fb%21, as in a/b!c", "••• and •••, as in •••c"),
        ],
    )
    def test_have_it_in_an_address_or_as_a_word(self, password: str, text: str, shown: str) -> None:
        """A short one says nothing as a word, and would take a part of any other."""
        assert PostgresqlAddress(f"postgresql://u:{password}@host/name").masked(text) == shown
