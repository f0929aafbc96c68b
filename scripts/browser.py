"""Finds a Chromium for the tests and screenshots, and installs one on a machine without.

In this order: the one that COPPICE_CHROMIUM names, the system's, apt's (as root, where apt is), Playwright's
own. Playwright's `--with-deps` is never used: it asks for packages that not every Debian has.

The headless shell is preferred: the same browser without windows and controls, which nobody sees in a test. The
browser tests take a quarter less processor time with it. Playwright's own is a headless shell as well.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

VARIABLE = "COPPICE_CHROMIUM"
SYSTEM_NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
# Debian's; where there is no package of the first name, the second is taken.
PACKAGES = ("chromium-headless-shell", "chromium")

# Chromium takes the last list of features to leave out, so ours repeats Playwright's and adds two: a page and a process
# that are kept ready for a next one, which cost a tenth of the time of a test.
DISABLED_FEATURES = (
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
    "PreloadTopChromeWebUI",
    "SpareRendererForSitePerProcess",
)
# Nothing but our own server is ever asked: no update check, no sync, no field trial, no component download.
FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
    "--disable-gpu",
    "--force-prefers-reduced-motion",  # of its own window, which is drawn although nobody sees it
    "--disable-smooth-scrolling",  # now and then it loses a key that is pressed as an animation ends
    f"--disable-features={','.join(DISABLED_FEATURES)}",
)


class NoBrowserError(Exception):
    """There is no Chromium and none could be installed; the message says what was tried."""


def is_root() -> bool:
    """Return whether this process is root, for whom Chromium's sandbox does not start."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def launch_arguments() -> list[str]:
    """Return the command-line flags that a test's Chromium starts with."""
    return [*FLAGS, *(["--no-sandbox"] if is_root() else [])]


def named_or_system() -> str | None:
    """Return COPPICE_CHROMIUM, else the system's Chromium, else None. Raises NoBrowserError on a wrong name."""
    named = os.environ.get(VARIABLE)
    if named:
        found = shutil.which(named)
        if not found:
            raise NoBrowserError(f"{VARIABLE} names {named}, which is no program; correct or unset it")
        return found
    return next((path for name in SYSTEM_NAMES if (path := shutil.which(name))), None)


@contextmanager
def launched(*flags: str) -> Iterator[Browser]:
    """Yield the Chromium of the tests, started with these further flags. Raises NoBrowserError on a wrong name."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=named_or_system(), args=[*launch_arguments(), *flags]
        )
        try:
            yield browser
        finally:
            browser.close()


def playwrights_own() -> str | None:
    """Return the Chromium that Playwright downloaded earlier, or None."""
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def find() -> str | None:
    """Return the path of a Chromium on this machine, or None. Raises NoBrowserError on a wrong COPPICE_CHROMIUM."""
    return named_or_system() or playwrights_own()


def _run(*command: str) -> bool:
    """Run a command with its output on stderr, because set-up is quiet on stdout; return whether it worked."""
    silent = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    return subprocess.run(command, stdout=sys.stderr, env=silent, check=False).returncode == 0


def install() -> str:
    """Install a Chromium and return its path. Raises NoBrowserError with the steps to do by hand."""
    if is_root() and shutil.which("apt-get"):
        print("set-up: installing chromium with apt-get", file=sys.stderr)
        if _run("apt-get", "update", "-qq"):
            any(_run("apt-get", "install", "-y", "-qq", "--no-install-recommends", name) for name in PACKAGES)
        if found := named_or_system():
            return found
    print("set-up: installing Playwright's own Chromium", file=sys.stderr)
    _run(sys.executable, "-m", "playwright", "install", "chromium")
    if found := playwrights_own():
        return found
    raise NoBrowserError(
        f"no Chromium found and none could be installed; install your system's, or name one in {VARIABLE}"
    )


def main() -> int:
    """Print the path of a Chromium, installing one if needed; return 1 if none can be installed."""
    try:
        print(find() or install())
    except NoBrowserError as error:
        print(f"set-up: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
