"""Posts a signed message to a webhook, in the scheme of Standard Webhooks (standardwebhooks.com).

A request follows no redirect, reads only the status and headers of the answer, and ends within `SECONDS`. It may go to
this machine and its local networks, where most receivers run. It never goes to an address where cloud machines get
their credentials, nor to one that belongs to no host. If the environment names a proxy, the proxy resolves names.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import ipaddress
import re
import secrets
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from webapp.config import is_loopback
from webapp.errors import Invalid

if TYPE_CHECKING:
    import httpx

PREFIX = "whsec_"
SECRET_BYTES = 32
SECONDS = 15.0
LONGEST_URL = 2_000
LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
THIS_NETWORK = ipaddress.ip_network("0.0.0.0/8")
# Addresses, besides link-local ones, where machines get credentials: AWS, Google, Alibaba, Oracle, Azure.
CLOUD_ADDRESSES = frozenset(
    map(
        ipaddress.ip_address,
        ("fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "192.0.0.192", "168.63.129.16"),
    )
)
# IPv6 networks whose last 32 bits are an IPv4 address (RFC 4291, RFC 6052, RFC 8215).
WITH_IPV4 = tuple(map(ipaddress.IPv6Network, ("::/96", "64:ff9b::/96", "64:ff9b:1::/48")))

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one attempt: the HTTP status (None without an answer) and the problem ("" for a success).

    `wait_seconds` is the wait that the receiver asks for. With `gone` it wants no more messages.
    """

    status: int | None = None
    problem: str = ""
    wait_seconds: float | None = None
    gone: bool = False


class _ForbiddenAddress(Exception):
    """A host name that resolved to a forbidden address."""


def new_secret() -> str:
    """Return a random secret of 256 bits in the form that receivers' libraries expect."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def sign(secret: str, message_id: str, at: int, body: bytes) -> str:
    """Return the signature of a message sent at `at`, in seconds since 1970."""
    key = base64.b64decode(secret.removeprefix(PREFIX))
    said = b".".join((message_id.encode(), str(at).encode(), body))
    return "v1," + base64.b64encode(hmac.digest(key, said, hashlib.sha256)).decode()


def check_secret(secret: str) -> str:
    """Return a valid signing secret.

    Raises:
        Invalid: it does not begin with whsec_, or does not hold 24 to 64 bytes.
    """
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not secret.startswith(PREFIX) or not 24 <= len(key) <= 64:
        raise Invalid("expected whsec_ and 24 to 64 bytes in base64", "secret")
    return secret


def check_url(url: str) -> str:
    """Return an address to which messages can be sent.

    Raises:
        Invalid: it is not an HTTP address, holds a password, or is a forbidden address.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        raise Invalid("expected an address that begins with http:// or https://", "url") from None
    if parts.scheme not in ("http", "https") or not host or len(url) > LONGEST_URL or not url.isprintable():
        raise Invalid("expected an address that begins with http:// or https://", "url")
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise Invalid(f"expected a port from 1 to 65535, got {parts.netloc.rpartition(':')[2]}", "url")
    if parts.username is not None or parts.fragment:
        raise Invalid("expected an address without a user, password or #fragment", "url")
    if address_of(host) is None and (parts.netloc.startswith("[") or not is_name(host)):
        raise Invalid(
            f"expected the name of a host, or an address like 127.0.0.1 or [::1], got {host}", "url"
        )
    if refused(host):
        message = (
            f"nothing is sent to {host}: it is a link-local, multicast or reserved address, or a cloud's own"
        )
        raise Invalid(message, "url")
    return url


def address_of(host: str) -> Address | None:
    """Return a host as an IP address; None if it is not one in standard notation."""
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None


def is_name(host: str) -> bool:
    """Return whether a host can be a name. Its end must not be a number: resolvers read 0x7f.1 as an address."""
    try:
        plain = host.encode("idna").decode().lower().removesuffix(".")
    except UnicodeError:
        return False
    labels = plain.split(".")
    return all(map(LABEL.fullmatch, labels)) and not NUMBER.fullmatch(labels[-1])


def refused(host: str) -> bool:
    """Return whether a host is a forbidden IP address, or holds one."""
    found = address_of(host)
    return found is not None and any(map(_is_forbidden, (found, *_embedded(found))))


def _is_forbidden(address: Address) -> bool:
    """Return whether an address belongs to no host, or to a cloud's service for its machines."""
    if address.is_loopback:
        return False
    return (
        address.is_link_local
        or address.is_multicast
        or address.is_unspecified
        or address in THIS_NETWORK
        or address in CLOUD_ADDRESSES
        or (address.version == 4 and address.is_reserved)
    )


def _embedded(address: Address) -> Iterator[Address]:
    """Yield the IPv4 addresses embedded in an IPv6 address, to which routers may send."""
    if isinstance(address, ipaddress.IPv6Address):
        yield from filter(None, (address.ipv4_mapped, address.sixtofour, *(address.teredo or ())))
        if not address.is_loopback and any(address in network for network in WITH_IPV4):
            yield ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)


async def post(url: str, secret: str, message_id: str, at: int, body: bytes) -> Outcome:
    """Post a message and return the outcome. Never raises."""
    import httpx  # only a process that posts loads it

    try:
        signature = sign(secret, message_id, at, body)
    except ValueError:
        return Outcome(problem="its secret is damaged; give it a new one")
    headers = {
        "content-type": "application/json",
        "user-agent": "coppice",
        "webhook-id": message_id,
        "webhook-timestamp": str(at),
        "webhook-signature": signature,
    }
    local = is_loopback(urlsplit(url).hostname or "")
    try:
        async with (
            asyncio.timeout(SECONDS),
            httpx.AsyncClient(timeout=SECONDS, trust_env=not local) as client,
            client.stream(
                "POST", url, content=body, headers=headers, extensions={"trace": _refuse_address}
            ) as answer,
        ):
            return _outcome(answer)
    except (TimeoutError, httpx.TimeoutException):
        return Outcome(problem=f"no answer within {SECONDS:g} seconds")
    except _ForbiddenAddress as error:
        return Outcome(problem=str(error))
    except httpx.ConnectError as error:
        untrusted = isinstance(error.__cause__, ssl.SSLError) or "CERTIFICATE" in str(error)
        return Outcome(problem="certificate not trusted" if untrusted else "no connection")
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, ValueError, OSError) as error:
        return Outcome(problem=f"the connection failed: {type(error).__name__}")


def _outcome(answer: httpx.Response) -> Outcome:
    status = answer.status_code
    if 200 <= status < 300:
        return Outcome(status)
    asked = answer.headers.get("retry-after", "")
    wait = float(asked) if asked.isdecimal() and len(asked) < 7 else None
    return Outcome(status, f"the receiver answers {status}", wait, status == 410)


async def _refuse_address(event: str, said: dict[str, Any]) -> None:
    """Close a connection to a forbidden address before anything is sent: a name can resolve to any address."""
    if event != "connection.connect_tcp.complete":
        return
    stream = said["return_value"]
    host = str(stream.get_extra_info("server_addr")[0])
    if refused(host):
        await stream.aclose()
        raise _ForbiddenAddress(f"nothing is sent to {host}, to which the name leads")
