"""Self-signed certificates for test servers with TLS."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def certificate_in(folder: Path, name: str) -> tuple[Path, Path]:
    """Return a certificate for a name or an address, signed by itself, and its key; skip the test without openssl."""
    if (openssl := shutil.which("openssl")) is None:
        pytest.skip("openssl, which makes the certificate, is not installed")
    certificate, key = folder / "fullchain.pem", folder / "privkey.pem"
    kind = "IP" if name.replace(".", "").isdigit() else "DNS"
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}",
         "-addext", f"subjectAltName={kind}:{name}", "-out", certificate, "-keyout", key],
        check=True, capture_output=True,
    )  # fmt: skip
    return certificate, key
