"""Rules for committed files: no paths of a machine, no registry addresses, no secrets, nothing large.

Forbidden names are put together from halves here, so that this file does not contain them.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.shared import ROOT

LARGEST_BYTES = 1024 * 1024

# The hosts of package registries. The machine that installs decides which one is used.
REGISTRY_HOSTS = (
    "pypi" + ".org",
    "python" + "hosted.org",
    "registry." + "npmjs",
    "deb." + "debian" + ".org",
    "security." + "debian" + ".org",
    "registry." + "yarnpkg",
)
FORBIDDEN: dict[str, re.Pattern[str]] = {
    "a registry's address": re.compile("|".join(map(re.escape, REGISTRY_HOSTS))),
    "a path of one machine": re.compile(r"(?<![\w.*-])/(?:wor" + r"k|root|Users/(?!me\b)\w+)/"),
    "a private key": re.compile("-----BEGIN [A-Z ]*PRIVATE " + "KEY-----"),
    "a secret token": re.compile(
        r"\b(?:sk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,}|gh[pousr]_\w{30,}|AKIA[0-9A-Z]{16})"
    ),
    "a person's address": re.compile(r"\b[\w.+-]+@(?!example\.)[\w-]+\.(?:com|net|org|io|dev)\b"),
}
LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-build.lock")


def committed() -> list[Path]:
    """Return the committed files, relative to the root; skip the test without git or a repository."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("not a git repository, or no git")
    listed = subprocess.run(
        [git, "ls-files", "-z", "--cached"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return [Path(name) for name in listed.split("\0") if name and (ROOT / name).is_file()]


def offences(text: str) -> Iterator[str]:
    """Yield the parts of a text that must not be committed, each with its line."""
    for number, line in enumerate(text.splitlines(), start=1):
        for what, pattern in FORBIDDEN.items():
            if found := pattern.search(line):
                yield f"{number}: {what}: {found.group()}"


def pins(lock: str) -> dict[str, str]:
    """Return package -> the rest of its line, from a lock file."""
    text = (ROOT / lock).read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9][a-z0-9._-]*)(?:\[[^\]]*\])?(==.*)$", text, re.MULTILINE))


class TestCommittedFiles:
    """Every file that a clone brings."""

    def test_hold_nothing_of_one_machine_and_no_secret(self) -> None:
        """No registry address, machine path, key, token or e-mail address is committed."""
        lines = []
        for path in committed():
            data = (ROOT / path).read_bytes()
            if b"\0" not in data:
                lines += [f"{path}:{found}" for found in offences(data.decode("utf-8", "replace"))]
        assert not lines, "\n".join(["take out addresses, paths of one machine and secrets:", *lines])

    def test_are_small(self) -> None:
        """Nothing above a megabyte is committed: data lies beside the repository, libraries are installed."""
        sizes = {path.as_posix(): (ROOT / path).stat().st_size for path in committed()}
        large = [path for path, size in sizes.items() if size > LARGEST_BYTES]
        assert large == [], "keep these files outside the repository, or install them"

    @pytest.mark.parametrize(
        "line",
        [
            "see https://" + REGISTRY_HOSTS[0] + "/project/x",
            "cd /wor" + "k/main",
            "AKIA" + "ABCDEFGHIJKLMNOP",
            "someone@" + "gmail.com",
        ],
    )
    def test_an_offence_is_seen(self, line: str) -> None:
        """Each kind of offence is reported once, with its line."""
        assert [found.partition(":")[0] for found in offences("\n" + line)] == ["2"]

    @pytest.mark.parametrize(
        "line", ["me@example.com", "homework/x", "scripts/work/x", "/home/me/x", "@pytest.io"]
    )
    def test_what_only_looks_like_one_passes(self, line: str) -> None:
        """Made-up addresses and relative paths are fine."""
        assert list(offences(line)) == []


class TestPythonLocks:
    """The lock files of pip."""

    @pytest.mark.parametrize("lock", LOCKS)
    def test_pin_everything_by_hash_and_name_no_source(self, lock: str) -> None:
        """Every requirement has one version and a hash, and no line says where it comes from."""
        text = (ROOT / lock).read_text(encoding="utf-8")
        entries = re.split(r"\n(?=\S)", text.strip())
        assert [
            entry.splitlines()[0] for entry in entries if "==" not in entry or "--hash=sha256:" not in entry
        ] == []
        assert "://" not in text

    def test_hold_every_dependency_of_the_package(self) -> None:
        """Every dependency of pyproject.toml is locked: `make lock` was run after the last change."""
        with (ROOT / "pyproject.toml").open("rb") as file:
            wanted = tomllib.load(file)["project"]["dependencies"]
        names = {canonicalize_name(Requirement(line).name) for line in wanted}
        assert names - set(pins("requirements.lock")) == set(), "run `make lock`"

    @pytest.mark.parametrize("lock", ["requirements.lock", "requirements-build.lock"])
    def test_agree_with_what_is_tested(self, lock: str) -> None:
        """The server's versions are those of the tests."""
        tested = pins("requirements-dev.lock")
        assert {name: pin for name, pin in pins(lock).items() if tested.get(name) != pin} == {}, (
            "run `make lock`"
        )


class TestNpmLock:
    """The lock file of npm."""

    def test_has_a_hash_for_everything_and_names_no_source(self) -> None:
        """Every package has its integrity, and none says where it comes from."""
        packages = json.loads((ROOT / "package-lock.json").read_text(encoding="utf-8"))["packages"]
        installed = {name: package for name, package in packages.items() if name}
        assert [name for name, package in installed.items() if "integrity" not in package] == []
        assert [name for name, package in installed.items() if "resolved" in package] == []

    def test_holds_what_package_json_asks_for(self) -> None:
        """The exact versions of package.json are the locked ones."""
        wanted = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
        packages = json.loads((ROOT / "package-lock.json").read_text(encoding="utf-8"))["packages"]
        for name, version in {**wanted["dependencies"], **wanted["devDependencies"]}.items():
            assert packages[f"node_modules/{name}"]["version"] == version
