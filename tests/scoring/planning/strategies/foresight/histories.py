"""A short history and its offers, for the tests of *Foresight*."""

from __future__ import annotations

from scoring.history import History
from scoring.messages import Message
from scoring.planning.strategies.foresight.offers import Offers
from scoring.planning.strategies.foresight.worth import Coverage
from scoring.settings import FORESIGHT
from tests.scoring.builders import calls, model, results, user

OUTPUT = "\n".join(
    "see utils_b.py here" if n == 20 else f"chatter, number {n}, of the build" for n in range(60)
)
SAID = [user("utils_b.py"), calls("1"), results("1", text=OUTPUT), model("main.py is one"), user("on")]


def offers_of(messages: list[Message]) -> tuple[Offers, Coverage, History]:
    """Return the offers of a history in which nothing is taken."""
    history = History.of(messages, settings=FORESIGHT)
    coverage = Coverage(history, FORESIGHT)
    return Offers(history, coverage, None, 0.8), coverage, history
