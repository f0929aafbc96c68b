"""Redaction: credentials in new messages are replaced before anything is stored, by detect-secrets' patterns.

Off by default (`redact` in the configuration, or COPPICE_REDACT). Only patterns of known kinds of credentials are used:
random-looking strings, and strings after a word like "password", are common in source code and stay. No credential is
verified, so nothing leaves this machine.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import islice
from typing import Any, Protocol

from scoring.messages import Message, message_from_dict, message_to_dict
from webapp.errors import Invalid, install_command

# The detector for private keys finds only their first line; this is where a whole key begins.
_KEY = re.compile(r"-----BEGIN ([A-Z ]{0,40}PRIVATE KEY)-----")
_KEY_KIND = "Private Key"
# A pattern may match a credential only with its context. Up to this many are then also replaced everywhere else in the
# text, at the cost of one pass over the text each.
ALSO_ALONE = 100
# Replacements for patterns that take quadratic time: hours for 16 MiB of slashes. They find the same credentials, but
# begin at the start of a run of letters and do not backtrack within it.
LINEAR = {
    "JSON Web Token": (
        re.compile(
            r"(?<![A-Za-z0-9_=-])(?:(?!eyJ)[A-Za-z0-9_=-])*+(eyJ[A-Za-z0-9_=-]++\.[A-Za-z0-9_=-]++(?:\.[A-Za-z0-9_=-]*+)?)"
        ),
    ),
    "NPM tokens": (re.compile(r"/:_authToken=\s*+(npm_.+|[A-Fa-f0-9-]{36})"),),
    "OpenAI Token": (
        re.compile(
            r"(?<![A-Za-z0-9_-])(?:(?!sk-)[A-Za-z0-9_-])*+(sk-[A-Za-z0-9_-]*[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20})"
        ),
    ),
}
# No other thread runs while a pattern searches, so a long text is searched in pieces. A piece ends at a blank if one
# comes soon, and a match may reach into the next one by this much: no credential is longer.
PIECE_CHARS = 16 * 1024
BEYOND_CHARS = 2 * 1024
RUN_CHARS = 16 * 1024
_BLANK = re.compile(r"\s")
LEAST_CHARS = 8  # a shorter group of a pattern is a prefix, not a credential
# Modules of detect_secrets.plugins, with one detector each.
PLUGINS = (
    "artifactory", "aws", "azure_storage_key", "basic_auth", "cloudant", "discord", "github_token", "gitlab_token",
    "ibm_cloud_iam", "ibm_cos_hmac", "jwt", "mailchimp", "npm", "openai", "pypi_token", "sendgrid", "slack",
    "softlayer", "square_oauth", "stripe", "telegram_token", "twilio",
)  # fmt: skip


class Detector(Protocol):
    """A detector of detect-secrets, for one kind of credential."""

    @property
    def secret_type(self) -> str:
        """Return the name of the kind of credential."""

    @property
    def denylist(self) -> Iterable[re.Pattern[str]]:
        """Return its patterns."""


class Redactor:
    """Replaces each credential by the name of its kind."""

    def __init__(self, detectors: Iterable[Detector]) -> None:
        self._detectors = list(detectors)

    def redact_text(self, text: str, found: Counter[str]) -> str:
        """Return a text without credentials; count those by kind in `found`."""
        if "PRIVATE KEY-----" in text:
            text = _without_keys(text, found)
        for detector in self._detectors:
            kind = detector.secret_type
            for pattern in LINEAR.get(kind, detector.denylist):
                text = _without(text, pattern, kind, found)
        return text

    def redact_message(self, message: Message) -> tuple[Message, Counter[str]]:
        """Return a message without credentials, and the number removed of each kind."""
        found: Counter[str] = Counter()
        data = _strings(message_to_dict(message), lambda text: self.redact_text(text, found))
        return (replace(message_from_dict(data), wire=message.wire) if found else message), found

    def redact_bytes(self, raw: bytes) -> bytes:
        """Return the raw bytes of a message without credentials."""
        text = raw.decode("utf-8", "surrogateescape")
        return self.redact_text(text, Counter()).encode("utf-8", "surrogateescape")


def _without_keys(text: str, found: Counter[str]) -> str:
    """Return a text without private keys; one without an end goes to the end of the text."""
    kept, at = [], 0
    while (begin := _KEY.search(text, at)) is not None:
        found[_KEY_KIND] += 1
        kept += [text[at : begin.start()], f"[redacted: {_KEY_KIND}]"]
        last_line = f"-----END {begin[1]}-----"
        end = text.find(last_line, begin.end())
        at = len(text) if end < 0 else end + len(last_line)
    return "".join([*kept, text[at:]])


def _without(text: str, pattern: re.Pattern[str], kind: str, found: Counter[str]) -> str:
    """Return a text without the credentials that a pattern finds, also where the first ALSO_ALONE appear elsewhere."""
    secrets: dict[str, None] = {}
    kept: list[str] = []
    at = 0
    while at < len(text):
        own = _cut(text, at + PIECE_CHARS) - at
        piece = text[at : _cut(text, at + own + BEYOND_CHARS)]
        done = 0
        for match in pattern.finditer(piece):
            if match.start() >= own:
                break
            secret, said = _secret(match), match.group()
            secrets[secret] = None
            found[kind] += said.count(secret)
            kept += [piece[done : match.start()], said.replace(secret, f"[redacted: {kind}]")]
            done = match.end()
        kept.append(piece[done:own])
        at += max(done, own)
    text = "".join(kept)
    for secret in islice(secrets, ALSO_ALONE):
        found[kind] += text.count(secret)
        text = text.replace(secret, f"[redacted: {kind}]")
    return text


def _cut(text: str, at: int) -> int:
    """Return where to cut a text: at the first blank from `at` on, or RUN_CHARS later at the latest."""
    blank = _BLANK.search(text, at, at + RUN_CHARS)
    return blank.start() if blank else min(len(text), at + RUN_CHARS)


def _secret(match: re.Match[str]) -> str:
    """Return the credential in a match: the longest group, if one is long enough, otherwise the whole match."""
    named = [one for one in match.groups() if one and len(one) >= LEAST_CHARS]
    return max(named, key=len) if named else match.group().strip(" \t\r\n=:\"'")


def _strings(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_strings(one, change) for one in value]
    if isinstance(value, dict):
        return {name: _strings(one, change) for name, one in value.items()}
    return value


def redactor() -> Redactor:
    """Return a redactor with detect-secrets' patterns.

    Raises:
        Invalid: the library is not installed.
    """
    try:
        from importlib import import_module

        from detect_secrets.plugins.base import RegexBasedDetector
    except ImportError as error:
        raise Invalid(f"redact needs a library: {install_command('redact')}", "redact") from error
    found: list[Detector] = []
    for name in PLUGINS:
        module = import_module(f"detect_secrets.plugins.{name}")
        found += [
            one()
            for one in vars(module).values()
            if isinstance(one, type)
            and issubclass(one, RegexBasedDetector)
            and one.__module__ == module.__name__
        ]
    return Redactor(found)
