"""Callers of the proxy: the names of their sessions, and the kinds of their keys."""

from __future__ import annotations

import pytest

from webapp.proxy.callers import caller_of, is_subscription


class TestTheSession:
    """The name of a session."""

    @pytest.mark.parametrize(
        ("headers", "named", "body", "name"),
        [
            ({"x-claude-code-session-id": "s1"}, "", {}, "proxy-s1"),
            ({"x-claude-code-session-id": "s1", "x-claude-code-agent-id": "a1"}, "", {}, "proxy-s1.a1"),
            ({"session-id": "s2", "x-client-request-id": "s2"}, "", {}, "proxy-s2"),
            ({"session_id": "s2", "conversation_id": "s2"}, "", {}, "proxy-s2"),
            ({"x-session-id": "ses_3"}, "", {}, "proxy-ses_3"),
            ({"session-id": "s2", "thread-id": "s2"}, "", {}, "proxy-s2"),
            ({"session-id": "s2", "thread-id": "t2"}, "", {}, "proxy-t2"),
            ({"session-id": "s2", "thread-id": "t2"}, "mine", {}, "proxy-mine.t2"),
            ({"session-id": "s2", "thread-id": "s2", "x-coppice-session": "mine"}, "", {}, "proxy-mine"),
            ({"session-id": "s2"}, "mine", {}, "proxy-mine"),
            ({}, "", {"metadata": {"user_id": '{"device_id":"d","session_id":"s4"}'}}, "proxy-s4"),
            ({}, "", {"metadata": {"session_id": "s5"}}, "proxy-s5"),
            ({}, "", {"metadata": {"user_id": "somebody"}}, ""),
            ({}, "", {"metadata": None}, ""),
            ({"session-id": "../../etc"}, "", {}, "proxy-..-..-etc"),
        ],
    )
    def test_is_named_by_path_header_or_body(
        self, headers: dict[str, str], named: str, body: dict[str, object], name: str
    ) -> None:  # X13
        """The path comes first, then a header, then the body; otherwise the session has no name."""
        assert caller_of(headers, named, body).name == name

    @pytest.mark.parametrize(
        ("headers", "named", "parent"),
        [
            ({"x-claude-code-session-id": "s1"}, "", None),
            ({"x-claude-code-session-id": "s1", "x-claude-code-agent-id": "a1"}, "", "proxy-s1"),
            ({"x-claude-code-agent-id": "a1"}, "", None),
            ({"session-id": "s2", "thread-id": "s2"}, "", None),
            ({"session-id": "s2", "thread-id": "t2"}, "", "proxy-s2"),
            ({"session-id": "s2", "thread-id": "t3", "x-codex-parent-thread-id": "t2"}, "", "proxy-t2"),
            ({"session-id": "s2", "thread-id": "t2"}, "mine", "proxy-mine"),
        ],
    )
    def test_of_a_sub_agent_is_below_the_one_that_started_it(
        self, headers: dict[str, str], named: str, parent: str | None
    ) -> None:  # X13
        """Claude Code names the sub-agent in its session, Codex the sub-agent's own session and the parent."""
        assert caller_of(headers, named, {}).parent == parent


class TestTheKey:
    """API keys, and tokens of subscriptions."""

    @pytest.mark.parametrize(
        ("provider", "headers", "expected"),
        [
            ("anthropic", {"x-api-key": "sk-ant-api03-x"}, False),
            ("anthropic", {"authorization": "Bearer sk-ant-api03-x"}, False),
            ("anthropic", {"authorization": "Bearer sk-ant-oat01-x"}, True),
            ("anthropic", {"authorization": "Bearer something"}, True),
            ("anthropic", {"x-api-key": "k", "anthropic-beta": "a,oauth-2025-04-20"}, True),
            ("openai", {"authorization": "Bearer sk-proj-x"}, False),
            ("openai", {"authorization": "Bearer eyJhbGciOi"}, True),
            ("openai", {"authorization": "Bearer sk-x", "chatgpt-account-id": "a"}, True),
        ],
    )
    def test_is_recognised(self, provider: str, headers: dict[str, str], expected: bool) -> None:  # X13
        """The token of a subscription is distinguished from an API key."""
        assert is_subscription(provider, headers) is expected
