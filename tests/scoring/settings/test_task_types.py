"""Task types: their own weights and keywords, as settings."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from scoring.errors import InvalidSettings
from scoring.settings import BLUEPRINT, FORESIGHT, PRESETS, TASK_TYPE_CHOICES, Settings
from scoring.settings.task_types import (
    DEFAULT_TASK_TYPES,
    NOTHING,
    TASK_TYPES,
    TaskTypes,
    TypeOverrides,
)

WORDS = [{"name": "fruit", "share": 0.5, "words": ["apple", "pear"]}]


def faults_of(data: dict[str, Any]) -> dict[str, str]:
    """The faults of settings, by field."""
    with pytest.raises(InvalidSettings) as refused:
        Settings.from_dict(data)
    return {fault.field: fault.message for fault in refused.value.faults}


class TestTaskTypes:
    """The task types that Coppice has."""

    def test_are_coding_support_research_and_chat(self) -> None:  # B18
        """The four types, each with what distinguishes it; beside them "any" and "auto" can be chosen."""
        assert list(TASK_TYPES) == list(TaskTypes()) == ["coding", "support", "research", "chat"]
        assert all(TASK_TYPES.values())
        assert list(TASK_TYPE_CHOICES) == ["any", "auto", *TASK_TYPES]

    def test_have_their_own_words_but_coding(self) -> None:  # B18, B4
        """Coding follows the common list; the other types have words of their field."""
        words = {
            name: {word for group in own.keywords or () for word in group.words}
            for name in DEFAULT_TASK_TYPES
            for own in [DEFAULT_TASK_TYPES.of(name)]
        }
        assert words["coding"] == set()
        assert words["support"] >= {"refund", "order", "cancelled", "confirmed"}
        assert words["research"] >= {"source", "found", "according", "figure"}
        assert words["chat"] >= {"decided", "prefer", "remember"}

    def test_have_the_common_weights_but_support(self) -> None:  # B18
        """Weights differ only if they were measured to keep more."""
        own = {name: DEFAULT_TASK_TYPES.of(name).weights for name in DEFAULT_TASK_TYPES}
        assert [name for name, weights in own.items() if weights is not None] == ["support"]
        assert set(own["support"] or ()) == set(FORESIGHT.weights)

    def test_of_another_name_have_nothing(self) -> None:
        """For "any" the common settings hold."""
        assert DEFAULT_TASK_TYPES.of("any") == NOTHING

    def test_are_recognised_unless_a_preset_says_otherwise(self) -> None:  # B6, B18
        """*Blueprint* treats all sessions alike; the default does not."""
        assert BLUEPRINT.task_type == "any"
        assert {preset.task_type for name, preset in PRESETS.items() if name != "Blueprint"} == {"auto"}


class TestSettings:
    """Types as part of the settings."""

    def test_survive_json(self) -> None:  # B16
        """Stored task types are read back to an equal value, whether they follow the common settings or not."""
        chat = TypeOverrides(FORESIGHT.weights, ())
        settings = replace(FORESIGHT, task_type="chat", task_types=TaskTypes(support=NOTHING, chat=chat))
        written = json.loads(json.dumps(settings.to_dict()))
        assert Settings.from_dict(written) == settings
        assert Settings.from_dict(written, base=BLUEPRINT) == settings
        assert hash(Settings.from_dict(written)) == hash(settings)

    def test_may_name_some_types_and_some_of_theirs(self) -> None:  # B16
        """Other types and fields stay; None restores the common settings."""
        data = {"task_types": {"chat": {"keywords": WORDS}, "support": {"weights": None}}}
        types = Settings.from_dict(data).task_types
        assert types.chat.keywords is not None
        assert types.chat.keywords[0].words == ("apple", "pear")
        assert types.chat.weights is None
        assert types.support == TypeOverrides(None, DEFAULT_TASK_TYPES.support.keywords)
        assert (types.coding, types.research) == (DEFAULT_TASK_TYPES.coding, DEFAULT_TASK_TYPES.research)

    def test_fill_in_weights_from_their_own_or_from_the_common_ones(self) -> None:  # B16
        """Some weights of a type are enough; the rest are those that held for it, as saved along with them."""
        data: dict[str, Any] = {"task_types": {"chat": {"weights": {"role": 1}}}, "weights": {"recency": 11}}
        chat = Settings.from_dict(data).task_types.chat.weights
        assert chat is not None
        assert (chat["role"], chat["recency"], chat["length"]) == (1, 11, FORESIGHT.weights["length"])
        again = Settings.from_dict(
            {"task_types": {"chat": {"weights": {"length": 2}}}}, Settings.from_dict(data)
        )
        assert again.task_types.chat.weights is not None
        assert (again.task_types.chat.weights["role"], again.task_types.chat.weights["length"]) == (1, 2)

    def test_have_their_faults_at_their_fields(self) -> None:  # B16
        """Every wrong value is named by its path, all at once."""
        data: dict[str, Any] = {
            "task_type": "gardening",
            "task_types": {
                "gardening": {},
                "chat": {"weights": {"role": 900, "taste": 1}, "keywords": [{"name": "a"}]},
                "support": {"keywords": [{**WORDS[0], "share": 2}], "roles": {}},
                "coding": [],
                "research": {"weights": 3, "keywords": "words"},
            },
        }
        found = faults_of(data)
        assert set(found) == {
            "task_type",
            "task_types.gardening",
            "task_types.chat.weights.role",
            "task_types.chat.weights.taste",
            "task_types.chat.keywords.0",
            "task_types.support.keywords.0.share",
            "task_types.support.roles",
            "task_types.coding",
            "task_types.research.weights",
            "task_types.research.keywords",
        }
        assert "any, auto, coding" in found["task_type"]
        assert "900" in found["task_types.chat.weights.role"]

    def test_are_refused_if_they_are_no_object(self) -> None:
        """A list of types is refused."""
        assert "object" in faults_of({"task_types": ["chat"]})["task_types"]
