"""The table of signals, which settings, plans and documents read."""

from __future__ import annotations

import pytest

from scoring.errors import InvalidSettings
from scoring.history import History
from scoring.planning import PrunePlan, plan_prune
from scoring.settings import BLUEPRINT, DEFAULT_PRESET, FORESIGHT, PRESETS, Settings
from scoring.signals import SIGNALS, Messages, Options, Signal, weights_of
from scripts import document_settings
from tests.scoring.builders import model, user

TALK = [user("start"), *(model(f"step_{n} was taken in part_{n}") for n in range(12)), user("go on")]


def rate_third(history: Messages, _: Options) -> list[float]:
    """Rate the fourth message 1, all others 0."""
    return [float(position == 3) for position in range(len(history))]


@pytest.fixture
def third(monkeypatch: pytest.MonkeyPatch) -> Signal:
    """A made-up signal, registered in the table."""
    signal = Signal("third", "Third", "the third message after the first", rate_third, {"Foresight": 7})
    monkeypatch.setitem(SIGNALS, signal.name, signal)
    return signal


def plan_with(weight: float, base: Settings) -> PrunePlan:
    """Return a plan that has room for some of the talk, with the made-up signal at a weight."""
    weights = {**dict.fromkeys(SIGNALS, 0), "recency": 10, "third": weight}
    settings = Settings.from_dict({"weights": weights, "task_type": "any"}, base=base)
    return plan_prune(History.of(TALK, settings=settings), settings, 60)


class TestANewSignal:
    """One row added to the table."""

    @pytest.mark.parametrize("base", [FORESIGHT, BLUEPRINT], ids=["Foresight", "Blueprint"])
    def test_changes_the_plans_of_both_strategies_with_its_weight(
        self, base: Settings, third: Signal
    ) -> None:
        """Without a weight the message goes; with one it stays, and its score has a part from the signal."""
        without, weighed = plan_with(0, base), plan_with(100, base)
        assert 3 in without.removed
        assert 3 in weighed.kept
        assert weighed.parts[third.name][3] > 0

    def test_has_the_words_of_the_contents_that_it_reads(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """It has them whatever the last message is; here it is a model's long answer."""

        def rate_words(history: Messages, _: Options) -> list[float]:
            return [min(1.0, one.content.words / 100) if one.content else 0.0 for one in history.features]

        signal = Signal("words", "Words", "how many words it has", rate_words, {}, reads_content=True)
        monkeypatch.setitem(SIGNALS, signal.name, signal)
        talk = [*TALK, model("and so on " * 40)]
        settings = Settings.from_dict({"weights": {"words": 50}}, base=BLUEPRINT)
        assert signal.rate(History.of(talk, settings=settings), settings)[-1] == 1

    def test_is_a_setting_with_its_default_range_and_presets(self, third: Signal) -> None:
        """Its weight can be set like any other; a preset that does not name it has it at 0."""
        assert Settings().weights[third.name] == Settings().to_dict()["weights"][third.name] == 7
        assert PRESETS["Blueprint"].to_dict()["weights"][third.name] == 0
        assert Settings.from_dict({"weights": {third.name: 40}}, base=BLUEPRINT).weights[third.name] == 40
        with pytest.raises(InvalidSettings, match=r"weights\.third: expected a number from 0 to 100"):
            Settings.from_dict({"weights": {third.name: 101}})

    def test_is_refused_without_its_row(self) -> None:
        """The error names the signals that there are."""
        with pytest.raises(InvalidSettings, match=r"weights\.third: unknown; expected one of recency, "):
            Settings.from_dict({"weights": {"third": 40}})

    def test_is_documented(self, third: Signal) -> None:
        """The generated page has its label, its meaning and its default."""
        page = document_settings.page()
        assert f"| {third.label} | {third.meaning} |" in page
        assert "third 7" in page


class TestTheTable:
    """The signals that we ship."""

    def test_adds_up_to_a_hundred_points_in_both_presets(self) -> None:  # B1
        """Scores then reach from 0 to 100 without being cut off."""
        assert sum(weights_of(DEFAULT_PRESET).values()) == sum(weights_of("Blueprint").values()) == 100

    def test_has_words_for_every_signal(self) -> None:
        """The settings page shows a label and a meaning beside each slider."""
        for name, signal in SIGNALS.items():
            assert signal.to_dict()["name"] == name
            assert all(signal.to_dict().values())
