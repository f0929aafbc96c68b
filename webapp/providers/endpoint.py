"""The endpoint of the model that writes summaries, configured by environment variables.

`COPPICE_SUMMARY_URL` and `COPPICE_SUMMARY_MODEL` are required; `COPPICE_SUMMARY_KEY` if the endpoint needs a key, and
`COPPICE_SUMMARY_API` ("openai" or "anthropic") if the address does not show it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from scoring.errors import json_string
from webapp.config import host_of, is_loopback
from webapp.errors import Invalid

Api = Literal["openai", "anthropic"]
PREFIX = "COPPICE_SUMMARY_"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One model at one address. `timeout_seconds` limits a whole attempt."""

    url: str
    model: str
    api: Api = "openai"
    key: str = field(default="", repr=False)
    timeout_seconds: float = 120.0

    @classmethod
    def from_environment(cls, env: Mapping[str, str]) -> Endpoint | None:
        """Return the configured endpoint, or None.

        Raises:
            Invalid: the configuration is incomplete or wrong.
        """
        url, model = env.get(PREFIX + "URL", "").strip(), env.get(PREFIX + "MODEL", "").strip()
        if not url and not model:
            return None
        host = host_of(url)
        if not host:
            raise Invalid(
                f"{PREFIX}URL: expected an http or https address, got {json_string(url)}", PREFIX + "URL"
            )
        parts = urlsplit(url)
        if parts.username or parts.password:
            raise Invalid(f"{PREFIX}URL: expected no password in it; set {PREFIX}KEY", PREFIX + "URL")
        if not model:
            raise Invalid(f"{PREFIX}MODEL: expected the name of a model", PREFIX + "MODEL")
        named = env.get(PREFIX + "API", "").strip().lower()
        if named not in ("", "openai", "anthropic"):
            raise Invalid(
                f"{PREFIX}API: expected openai or anthropic, got {json_string(named)}", PREFIX + "API"
            )
        api: Api = "anthropic" if named == "anthropic" or (not named and "anthropic" in host) else "openai"
        return cls(url.rstrip("/"), model, api, env.get(PREFIX + "KEY", "").strip(), _seconds(env))

    @property
    def address(self) -> str:
        """Return the URL to which requests are posted."""
        if self.api == "openai":
            return self.url if self.url.endswith("/chat/completions") else self.url + "/chat/completions"
        if self.url.endswith("/messages"):
            return self.url
        return self.url + ("/messages" if self.url.endswith("/v1") else "/v1/messages")

    @property
    def is_local(self) -> bool:
        """Return whether it is on this machine; then no proxy is used."""
        return is_loopback(urlsplit(self.url).hostname or "")

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers of a request."""
        if self.api == "anthropic":
            return {"anthropic-version": "2023-06-01", **({"x-api-key": self.key} if self.key else {})}
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}


def _seconds(env: Mapping[str, str]) -> float:
    text = env.get(PREFIX + "TIMEOUT", "").strip() or "120"
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 3_600:
        raise Invalid(
            f"{PREFIX}TIMEOUT: expected seconds from 1 to 3,600, got {json_string(text)}", PREFIX + "TIMEOUT"
        )
    return seconds
