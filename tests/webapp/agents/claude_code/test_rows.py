"""The API call that a row of Claude Code belongs to, and its usage."""

from __future__ import annotations

import pytest

from tests.webapp.agents.samples import fed
from webapp.agents.claude_code.decoder import Decoder
from webapp.agents.claude_code.rows import call_key, is_notification, usage_of
from webapp.agents.records import Usage


class TestACall:
    """The key and usage of an API call."""

    def test_is_named_by_message_and_request(self) -> None:
        """The key has both ids; a row without a message id is a call by itself."""
        assert call_key({"requestId": "r", "uuid": "u"}, {"id": "m"}) == "m:r"
        assert call_key({"uuid": "u"}, {"id": "m"}) == "m"
        assert call_key({"requestId": "r", "uuid": "u"}, {}) == "u"

    def test_has_the_real_size_of_its_input(self) -> None:
        """The input is the sum of sent, cached and newly cached tokens."""
        usage = {
            "input_tokens": 3, "cache_creation_input_tokens": 50, "cache_read_input_tokens": 900,
            "output_tokens": 7, "output_tokens_details": {"thinking_tokens": 4},
        }  # fmt: skip
        assert usage_of(usage) == Usage(953, 7, 900, 50, 4)

    def test_adds_up_what_was_cached_by_lifetime(self) -> None:
        """A gateway that leaves their sum out still reports all of the input."""
        parts = {"ephemeral_5m_input_tokens": 40, "ephemeral_1h_input_tokens": 10}
        assert usage_of({"input_tokens": 3, "cache_creation": parts}) == Usage(
            53, 0, 0, 50, cache_write_hour_tokens=10
        )
        zeros = dict.fromkeys(("input_tokens", "cache_creation_input_tokens", "output_tokens"), 0)
        assert usage_of({**zeros, "cache_creation": parts}) is None, (
            "they are repeated in a row without usage"
        )

    @pytest.mark.parametrize(
        ("said", "tier"),
        [
            ({}, ""),
            ({"service_tier": "batch"}, "batch"),
            ({"service_tier": "standard", "speed": "fast"}, "fast"),
            ({"service_tier": "standard", "inference_geo": "us"}, "us"),
            ({"service_tier": "batch", "inference_geo": "us"}, "batch us"),
            ({"service_tier": "standard", "speed": "fast", "inference_geo": "us"}, "fast us"),
            ({"service_tier": "standard", "inference_geo": "not_available"}, "standard"),
        ],
    )
    def test_has_the_service_that_the_provider_gave(self, said: dict[str, str], tier: str) -> None:  # X9
        """Its price depends on it."""
        found = usage_of({"input_tokens": 3, **said})
        assert found is not None
        assert found.tier == tier

    def test_may_have_no_usage(self) -> None:
        """Zeros, negative and broken counts are no usage."""
        assert usage_of({"input_tokens": 0, "output_tokens": -5}) is None
        assert usage_of({"input_tokens": "many"}) is None


def test_a_notification_is_no_message_of_the_user() -> None:
    """A notice that a task ended is a user row, but the user did not write it."""
    assert is_notification({"origin": {"kind": "task-notification"}})
    assert not is_notification({"origin": {"kind": "human"}})


@pytest.mark.parametrize(
    "kind",
    [
        "api-request",
        "api-request-blob",
        "api-request-shape",
        "api-request-resumed",
        "cost-state",
        "tools-used",
    ],
)
def test_a_copy_of_a_request_is_no_message_and_known(kind: str) -> None:
    """Newer versions write down each request and what it cost, beside the conversation."""
    row = {"type": kind, "sessionId": "s", "message": {"role": "user", "content": "said before"}}
    assert fed(Decoder(), [row]) == []
