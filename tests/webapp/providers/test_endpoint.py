"""The configuration of the model's endpoint."""

from __future__ import annotations

import pytest

from webapp.errors import Invalid
from webapp.providers.endpoint import PREFIX, Endpoint


def env(**values: str) -> dict[str, str]:
    """Return an environment with these variables of Coppice."""
    return {PREFIX + name: value for name, value in values.items()}


class TestTheEnvironment:
    """Reading it from the environment."""

    def test_names_address_model_and_key(self) -> None:  # S4
        """The key is hidden in text."""
        made = Endpoint.from_environment(env(URL="http://localhost:8080/v1/", MODEL="m", KEY="secret"))
        assert made == Endpoint("http://localhost:8080/v1", "m", "openai", "secret")
        assert "secret" not in repr(made)
        assert made.is_local

    def test_without_variables_has_no_endpoint(self) -> None:
        """The built-in summariser is then used."""
        assert Endpoint.from_environment({}) is None

    def test_derives_the_api_from_the_address(self) -> None:
        """A variable can name the API instead."""
        made = Endpoint.from_environment(env(URL="https://api.anthropic.com", MODEL="m"))
        assert made is not None
        assert (made.api, made.address) == ("anthropic", "https://api.anthropic.com/v1/messages")
        said = Endpoint.from_environment(env(URL="http://gateway/v1", MODEL="m", API="anthropic"))
        assert said is not None
        assert said.address == "http://gateway/v1/messages"

    @pytest.mark.parametrize(
        ("values", "wrong"),
        [
            (env(URL="file:///etc", MODEL="m"), "URL"),
            (env(URL="http://", MODEL="m"), "URL"),
            (env(URL="http://[x", MODEL="m"), "URL"),
            (env(URL="http://host:port", MODEL="m"), "URL"),
            (env(URL="http://me:pw@host/v1", MODEL="m"), "URL"),
            (env(MODEL="m"), "URL"),
            (env(URL="http://host"), "MODEL"),
            (env(URL="http://host", MODEL="m", API="other"), "API"),
            (env(URL="http://host", MODEL="m", TIMEOUT="soon"), "TIMEOUT"),
            (env(URL="http://host", MODEL="m", TIMEOUT="0"), "TIMEOUT"),
        ],
    )
    def test_is_refused_if_invalid(self, values: dict[str, str], wrong: str) -> None:
        """The error names the variable."""
        with pytest.raises(Invalid, match=PREFIX + wrong):
            Endpoint.from_environment(values)

    def test_sends_no_header_without_a_key(self) -> None:
        """Endpoints on this machine often need no key."""
        assert Endpoint("http://h", "m").headers == {}
        assert "x-api-key" not in Endpoint("http://h", "m", "anthropic").headers
