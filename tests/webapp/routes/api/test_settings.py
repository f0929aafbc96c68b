"""Settings and models, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tests.webapp.promises import Client


class TestSettings:
    """GET and PUT /api/settings, POST /api/settings/reset."""

    def test_have_everything_that_a_page_needs(self, client: Client) -> None:  # B16
        """They have defaults, presets, ranges of numbers and the current preset."""
        doc = client.get("/api/settings").json
        assert doc["settings"] == doc["defaults"]
        assert doc["preset"] in doc["presets"]
        assert doc["limits"]

    def test_are_saved_completely_or_not_at_all(self, client: Client) -> None:
        """Two wrong fields give two details, and the valid field is not saved."""
        before = client.get("/api/settings").json
        wrong = {"fresh_tail": 5, "target_percent": 900, "weights": {"recency": -5}}
        answer = client.put("/api/settings", json=wrong)
        fields = {one["field"] for one in answer.json["error"]["details"]}
        assert answer.status_code == 422
        assert {"target_percent", "weights.recency"} <= fields
        assert client.get("/api/settings").json == before

    def test_may_be_within_settings_but_not_both_there_and_beside(self, client: Client) -> None:
        """Nothing that was sent is ignored."""
        within = {"preset": "Blueprint", "settings": {"fresh_tail": 4}}
        assert client.put("/api/settings", json=within).json["settings"]["fresh_tail"] == 4
        answer = client.put("/api/settings", json={"settings": {"fresh_tail": 5}, "aim_percent": 1})
        assert [one["field"] for one in answer.json["error"]["details"]] == ["settings"]
        assert client.get("/api/settings").json["settings"]["fresh_tail"] == 4

    def test_can_be_reset(self, client: Client) -> None:
        """One request resets them."""
        changed = client.put("/api/settings", json={"fresh_tail": 5}).json
        assert (changed["settings"]["fresh_tail"], changed["preset"]) == (5, "custom")
        assert client.post("/api/settings/reset").json["settings"] == changed["defaults"]

    @pytest.mark.parametrize("body", [b"[]", b"5", b'"x"', b"null", b"[[1]]"])
    def test_are_an_object(self, client: Client, body: bytes) -> None:
        """Any other value is refused."""
        assert client.put("/api/settings", data=body, content_type="application/json").status_code == 422

    @pytest.mark.parametrize("preset", ["Magic", None, 5, [], {}])
    def test_refuse_an_unknown_preset(self, client: Client, preset: Any) -> None:
        """An unknown preset is refused as a wrong field."""
        answer = client.put("/api/settings", json={"preset": preset})
        assert [one["field"] for one in answer.json["error"]["details"]] == ["preset"]
        assert client.put("/api/settings", json={"preset": "Blueprint"}).json["preset"] == "Blueprint"


class TestSuggesting:
    """POST /api/settings/suggest."""

    def test_answers_with_numbers_and_a_reason(self, client: Client) -> None:  # X15
        """Nothing is saved."""
        before = client.get("/api/settings").json
        found = client.post("/api/settings/suggest", json={}).json
        assert found["present"] == before["settings"]["weights"]
        assert (found["weights"], found["before"], found["after"]) == (None, None, None)
        assert (found["held_out"], found["cases"]) == (0, 0)
        assert found["reason"]
        assert client.get("/api/settings").json == before

    def test_accepts_ids_of_sessions(self, client: Client, ids: list[str]) -> None:  # X15
        """An unknown session is 404; an unknown field is 422."""
        assert ids
        assert client.post("/api/settings/suggest", json={"sessions": ["a"]}).status_code == 200
        assert client.post("/api/settings/suggest", json={"sessions": ["nobody"]}).status_code == 404
        assert client.post("/api/settings/suggest", json={"session": "a"}).status_code == 422


class TestModels:
    """GET /api/models, PUT and DELETE /api/models/<name>."""

    def test_name_the_source_of_their_limits(self, client: Client) -> None:  # X10, B13
        """Each model has a source and a date."""
        rows = client.get("/api/models").json["models"]
        assert all(row["source"] for row in rows if not row.get("overridden"))

    def test_can_be_overridden_and_reset(self, client: Client) -> None:  # B13
        """Sessions of that model change, too, and a name may have slashes."""
        client.post("/api/sessions", json={"id": "a", "model": "my/model"})
        client.put("/api/models/my/model", json={"window": 50_000})
        assert client.get("/api/sessions/a").json["window"] == 50_000
        assert client.delete("/api/models/my/model").json == {"ok": True}
        assert client.get("/api/sessions/a").json["window"] != 50_000
        assert client.delete("/api/models/my/model").status_code == 404

    @pytest.mark.parametrize(
        "row",
        [{}, {"window": 0}, {"window": "5"}, {"window": 10, "input_limit": 20}, {"window": 5, "size": 5}],
    )
    def test_refuse_invalid_limits(self, client: Client, row: dict[str, Any]) -> None:
        """The answer is 422."""
        assert client.put("/api/models/x", json=row).status_code == 422
