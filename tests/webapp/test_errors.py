"""Errors: one table from class to status, one shape."""

from __future__ import annotations

import inspect
import shlex
import sys

import pytest

import scoring.errors
import webapp.errors
from scoring.errors import Fault, InvalidList, InvalidSettings, MalformedMessage, ScoringError, UnknownFormat
from webapp.errors import (
    BusyStore,
    Conflict,
    CoppiceError,
    Invalid,
    LostStore,
    Malformed,
    NotFound,
    StalePlan,
    install_command,
    status_of,
    to_json,
)


def classes() -> list[type[Exception]]:
    """Every error class of ours that is raised."""
    found = [c for m in (scoring.errors, webapp.errors) for _, c in inspect.getmembers(m, inspect.isclass)]
    bases = {ScoringError, CoppiceError}
    return [c for c in dict.fromkeys(found) if issubclass(c, (ScoringError, CoppiceError)) and c not in bases]


class TestStatus:
    """Each class has its status."""

    @pytest.mark.parametrize(("error", "status"), [
        (NotFound("session", "x"), 404), (StalePlan("x"), 409), (Conflict("x"), 409), (Invalid("x"), 422),
        (BusyStore("x"), 503), (LostStore("x"), 503), (InvalidSettings([]), 422), (ValueError("x"), 500),
        (Malformed("x"), 400),
        (MalformedMessage(0, "x"), 400), (UnknownFormat("x"), 400), (InvalidList([]), 422),
    ])  # fmt: skip
    def test_is_that_of_the_nearest_class(self, error: Exception, status: int) -> None:
        """A child's own line counts before its parent's; strangers are our fault."""
        assert status_of(error) == status

    @pytest.mark.parametrize("cls", classes(), ids=lambda c: c.__name__)
    def test_stands_in_the_table_for_every_class(self, cls: type[Exception]) -> None:
        """No error of ours falls through."""
        assert any(issubclass(cls, known) for known, _, _ in webapp.errors.STATUS)


class TestShape:
    """Errors as a client reads them."""

    def test_has_one_detail_a_wrong_field(self) -> None:
        """Each detail has field and message, for settings, messages and lists."""
        faults = InvalidSettings([Fault("weights.role", "too large"), Fault("aim_percent", "too small")])
        assert [d["field"] for d in to_json(faults)["error"]["details"]] == ["weights.role", "aim_percent"]
        assert to_json(MalformedMessage(3, "no role"))["error"]["details"][0]["field"] == "messages.3"
        assert len(to_json(InvalidList(["a", "b"]))["error"]["details"]) == 2
        assert to_json(Invalid("bad", "sort"))["error"]["details"] == [{"field": "sort", "message": "bad"}]

    def test_tells_nothing_of_the_inside(self) -> None:
        """The text of an unexpected error is not shown."""
        assert "secret" not in str(to_json(ValueError("secret")))


class TestTheCommandThatInstalls:
    """The command in errors about packages that an option needs."""

    def test_installs_for_this_python(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Another `pip` would install them elsewhere, and could not find this package."""
        monkeypatch.setattr(sys, "executable", "/home/me/my tools/.venv/bin/python")
        words = shlex.split(install_command("redis").strip("`"))
        assert words == [sys.executable, "-m", "pip", "install", "coppice[redis]"]
