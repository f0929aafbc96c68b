"""Redaction: credentials in what arrives are replaced before anything is stored, by detect-secrets' patterns.

Off unless asked for (`redact` in the configuration, COPPICE_REDACT). Patterns of known kinds of credentials only: what
merely looks random, or stands behind a word like "password", is in every program text and stays. Nothing is verified,
so nothing leaves this machine.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Protocol

from scoring.messages import Message, message_from_dict, message_to_dict
from webapp.errors import Invalid

# A detector names a private key by its first line; the key is what follows.
_KEY = re.compile(r"-----BEGIN ([A-Z ]*PRIVATE KEY)-----.*?(?:-----END \1-----|\Z)", re.DOTALL)
_KEY_KIND = "Private Key"
LEAST_CHARS = 8  # a shorter group of a pattern is the mark of a kind, not a credential
# Modules of detect_secrets.plugins; each has one detector of a kind of credential.
PLUGINS = (
    "artifactory", "aws", "azure_storage_key", "basic_auth", "cloudant", "discord", "github_token", "gitlab_token",
    "ibm_cloud_iam", "ibm_cos_hmac", "jwt", "mailchimp", "npm", "openai", "pypi_token", "sendgrid", "slack",
    "softlayer", "square_oauth", "stripe", "telegram_token", "twilio",
)  # fmt: skip


class Detector(Protocol):
    """A detector of detect-secrets: what it finds, and its patterns."""

    @property
    def secret_type(self) -> str:
        """Return the name of the kind."""

    @property
    def denylist(self) -> Iterable[re.Pattern[str]]:
        """Return its patterns."""


class Redactor:
    """Replaces credentials by the name of their kind."""

    def __init__(self, detectors: Iterable[Detector]) -> None:
        self._detectors = list(detectors)

    def text(self, text: str, found: Counter[str]) -> str:
        """Return a text without credentials; they are counted by kind."""

        def key(_: re.Match[str]) -> str:
            found[_KEY_KIND] += 1
            return f"[redacted: {_KEY_KIND}]"

        if "PRIVATE KEY-----" in text:
            text = _KEY.sub(key, text)
        for detector in self._detectors:
            kind = detector.secret_type
            for secret in {_secret(match) for one in detector.denylist for match in one.finditer(text)}:
                found[kind] += text.count(secret)
                text = text.replace(secret, f"[redacted: {kind}]")
        return text

    def message(self, message: Message) -> tuple[Message, Counter[str]]:
        """Return a message without credentials in anything it says, and how many there were of which kind."""
        found: Counter[str] = Counter()
        data = _strings(message_to_dict(message), lambda text: self.text(text, found))
        return (replace(message_from_dict(data), wire=message.wire) if found else message), found

    def raw(self, raw: bytes) -> bytes:
        """Return the bytes of a row without credentials."""
        text = raw.decode("utf-8", "surrogateescape")
        return self.text(text, Counter()).encode("utf-8", "surrogateescape")


def _secret(match: re.Match[str]) -> str:
    """Return the credential in a match: the part that a pattern names, unless that is the beginning of it only."""
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
    """Return the redactor over detect-secrets' patterns.

    Raises:
        Invalid: the library is not installed.
    """
    try:
        from importlib import import_module

        from detect_secrets.plugins.base import RegexBasedDetector
    except ImportError as error:
        raise Invalid("redact needs a library: pip install 'coppice[redact]'", "redact") from error
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
