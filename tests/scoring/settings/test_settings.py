"""Settings and presets."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace
from typing import Any

import pytest

from scoring.errors import InvalidSettings
from scoring.settings.settings import BLUEPRINT, DEFAULT_PRESET, FORESIGHT, PRESETS, Settings, preset_of
from tests.scoring.builders import BALANCED


def weighed(settings: Settings) -> dict[str, float]:
    """Return the weights of the signals that count; another signal can be in the table at 0."""
    return {name: weight for name, weight in settings.weights.items() if weight}


class TestPresets:
    """Complete sets of settings under a name."""

    def test_blueprint_is_the_specified_one(self) -> None:  # B1, B6
        """40/30/25/5, no tail, no user words, target and aim 80 %, by score, its own windows, four characters."""
        assert weighed(BLUEPRINT) == {"recency": 40, "role": 30, "keywords": 25, "length": 5}
        assert (BLUEPRINT.fresh_tail, BLUEPRINT.user_words_tokens) == (0, 0)
        assert (BLUEPRINT.target_percent, BLUEPRINT.aim_percent) == (80, 80)
        assert (BLUEPRINT.strategy, BLUEPRINT.windows) == ("score", "blueprint")
        assert BLUEPRINT.counting == "four_characters"

    def test_foresight_is_the_default(self) -> None:  # X8, X9, B18
        """Its weights, tail, share of user words, target and aim are these, and it does not prune by itself."""
        default = PRESETS[DEFAULT_PRESET]
        assert default == FORESIGHT == Settings()
        assert default.strategy == "foresight"
        weights = {"recency": 35, "role": 25, "keywords": 20, "length": 5, "relevance": 15}
        assert weighed(default) == weights
        assert (default.fresh_tail, default.user_words_tokens, default.user_words_percent) == (0, 20_000, 30)
        assert (default.target_percent, default.aim_percent, default.automatic) == (80, 60, False)

    def test_know_their_names(self) -> None:
        """Settings equal to a preset are called by it, all others custom."""
        assert [preset_of(Settings.from_dict(p.to_dict())) for p in PRESETS.values()] == list(PRESETS)
        assert preset_of(replace(BLUEPRINT, fresh_tail=1)) == "custom"
        assert DEFAULT_PRESET in PRESETS

    @pytest.mark.parametrize("name", list(PRESETS))
    def test_survive_json(self, name: str) -> None:  # B16
        """Stored settings are read back to an equal value."""
        data = json.loads(json.dumps(PRESETS[name].to_dict()))
        assert Settings.from_dict(data) == PRESETS[name]


class TestFrozen:
    """Settings are values."""

    def test_cannot_be_changed_in_any_part(self) -> None:
        """Neither a field nor a weight inside one."""
        with pytest.raises(AttributeError):
            BLUEPRINT.fresh_tail = 3  # type: ignore[misc]
        with pytest.raises(TypeError, match="cannot be changed"):
            BLUEPRINT.weights["recency"] = 1

    def test_are_equal_hashed_and_copied_by_content(self) -> None:
        """They can be keys, and cross a process."""
        again = pickle.loads(pickle.dumps(BLUEPRINT))
        assert again == BLUEPRINT == copy.deepcopy(BLUEPRINT)
        assert len({again, BLUEPRINT, BALANCED}) == 2


class TestOverrides:
    """A dict on top of a base."""

    def test_change_what_they_name(self) -> None:  # B16
        """A single weight or role may be named; the rest stays the base's."""
        settings = Settings.from_dict({"weights": {"role": 50}, "cap_tokens": 90_000}, BLUEPRINT)
        assert dict(settings.weights) == {**BLUEPRINT.weights, "role": 50}
        assert replace(settings, weights=BLUEPRINT.weights, cap_tokens=None) == BLUEPRINT

    def test_of_the_target_take_the_aim_along(self) -> None:  # X9
        """Lowering the target below the aim lowers the aim; naming both the wrong way is refused."""
        assert Settings.from_dict({"target_percent": 50}).aim_percent == 50
        with pytest.raises(InvalidSettings, match="aim_percent: expected at most the target of 50 %, got 70"):
            Settings.from_dict({"target_percent": 50, "aim_percent": 70})

    def test_of_keywords_and_steps_replace_the_whole_list(self) -> None:  # B4, B5
        """Lists are edited as lists."""
        data: dict[str, Any] = {"keywords": [{"name": "a", "share": 0.5, "words": ["x"]}], "length_steps": []}
        settings = Settings.from_dict(data)
        assert [g.name for g in settings.keywords] == ["a"]
        assert settings.length_steps == ()


class TestRefusal:
    """Invalid settings, whose faults are all named at once."""

    @pytest.mark.parametrize(
        ("data", "fields"),
        [
            ({"weights": {"recency": -1, "role": float("nan"), "length": 101, "luck": 5}}, 4),
            ({"weights": {"recency": True, "role": "40", "keywords": None, "length": float("inf")}}, 4),
            ({"weights": [40, 30, 25, 5], "roles": 3}, 2),
            ({"target_percent": 0, "aim_percent": 101, "fresh_tail": 1.5, "user_words_percent": -1}, 4),
            ({"summary_percent": 0, "memory_percent": 0, "learnings_percent": 0}, 1),
            ({"fresh_tail": 10**400, "cap_tokens": 999, "response_reserve": -1}, 3),
            ({"automatic": 1, "strategy": "luck", "windows": None, "counting": ["tokenizer"]}, 4),
            ({"stage_duplicates": 1, "stage_superseded": "on", "stage_outputs": True}, 3),
            ({"keywords": "error"}, 1),
            ({"keywords": [{"name": "a"}, {"name": "", "share": 2, "words": ["", 3]}]}, 5),
            ({"keywords": [{"name": "a", "share": 1, "words": "error"}]}, 1),
            ({"length_steps": [[1_000, 0.5], [500, 1]]}, 1),
            ({"length_steps": [[0, 2], [5], "x"]}, 4),
            ({"length_steps": {}}, 1),
            ({"mood": "fine", 3: 4}, 2),
        ],
    )
    def test_names_every_wrong_field(self, data: dict[Any, Any], fields: int) -> None:  # B16
        """Negative, absurd, NaN, infinite, bool, string, unknown: one fault for each field, none guessed at."""
        with pytest.raises(InvalidSettings) as refused:
            Settings.from_dict(data)
        assert len({fault.field for fault in refused.value.faults}) == len(refused.value.faults) == fields
        assert all(fault.message.startswith(("expected", "unknown")) for fault in refused.value.faults)

    def test_says_what_was_expected_and_what_came(self) -> None:
        """The message is shown beside the field and is understood without other words."""
        with pytest.raises(InvalidSettings) as refused:
            Settings.from_dict({"weights": {"recency": -1}})
        (fault,) = refused.value.faults
        assert (fault.field, fault.message) == ("weights.recency", "expected a number from 0 to 100, got -1")

    def test_of_something_else_altogether(self) -> None:
        """A value that is no object is refused."""
        with pytest.raises(InvalidSettings, match='settings: expected an object, got "x"'):
            Settings.from_dict("x")  # type: ignore[arg-type]
