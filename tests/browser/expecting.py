"""Playwright's `expect`, with a cheap wait for the element before each assertion.

While an assertion does not hold yet, Playwright describes the whole page for its message at every attempt, up to six
times in a quarter of a second, if the element is missing or hidden. On the page of a session one description takes
longer than drawing the page. Its own waiting for elements describes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, cast

import pytest
from playwright.sync_api import Locator, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

State = Literal["attached", "visible"]

# The state of an element that an assertion needs. Assertions that are not named here can hold without an element.
STATES: dict[str, State] = {
    "to_be_visible": "visible",
    **dict.fromkeys(
        (
            "to_be_attached", "to_be_checked", "to_be_disabled", "to_be_enabled", "to_be_focused",
            "to_be_in_viewport", "to_contain_text", "to_have_attribute", "to_have_class", "to_have_css",
            "to_have_text", "to_have_value",
        ),
        "attached",
    ),
}  # fmt: skip


class Waiting:
    """The assertions on an element; each that needs the element waits for it first."""

    def __init__(self, locator: Locator, assertions: object) -> None:
        self._locator, self._assertions = locator, assertions

    def __getattr__(self, name: str) -> Callable[..., None]:
        asserted = cast("Callable[..., None]", getattr(self._assertions, name))
        return self._after(STATES[name], asserted) if name in STATES else asserted

    def _after(self, state: State, asserted: Callable[..., None]) -> Callable[..., None]:
        def assert_then(*given: Any, **named: Any) -> None:
            several = bool(given) and isinstance(given[0], list)
            missing = named.get("visible") is False or named.get("attached") is False
            if not several and not missing:
                try:
                    self._locator.wait_for(state=state, timeout=named.get("timeout"))
                except PlaywrightTimeout:
                    named["timeout"] = 1  # fails, too, and says more
            asserted(*given, **named)

        return assert_then


@contextmanager
def waiting_for_elements() -> Iterator[None]:
    """Let `expect` wait for elements until the block ends."""
    owner = type(expect)
    own = owner.__call__

    def asserted_of(self: object, actual: object, message: str | None = None) -> object:
        assertions = own(self, actual, message)  # type: ignore[call-overload]
        return Waiting(actual, assertions) if isinstance(actual, Locator) else assertions

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, "__call__", asserted_of)
        yield
