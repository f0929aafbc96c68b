"""Reasons in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scoring.history import History
from scoring.messages import Message
from scoring.planning.plan import PrunePlan, plan_prune
from scoring.settings import FORESIGHT
from tests.scoring.builders import model, user
from tests.scoring.planning.stages.sessions import ran

PLAIN = replace(FORESIGHT, user_words_tokens=0, guarded_percent=0.0, counting="four_characters")
WORDS = "so it is\n" * 30


def planned(messages: list[Message], tokens: int) -> PrunePlan:
    """Return a plan for messages."""
    return plan_prune(History.of(messages, settings=PLAIN), PLAIN, tokens)


class TestReasons:
    """Reasons in words, with their causes."""

    @pytest.mark.parametrize(
        ("said", "cause", "reason"),
        [
            (model("get_it"), "names", "kept: the only message that names `get_it`, which the agent itself named"),
            (user("HAT271"), "names", "kept: the only message that names `HAT271`, which the user named"),
            (model("ok"), "room", "kept: there is room for it, though others say the same"),
        ],
    )  # fmt: skip
    def test_of_kept_units(self, said: Message, cause: str, reason: str) -> None:  # X3
        """The reason has the names that the message brings, and who named them."""
        plan = planned([user("begin"), model("so"), said, model(f"old_name.py {WORDS * 8}"), user("on")], 60)
        assert (plan.cause(2), plan.reason(2)) == (cause, reason)

    @pytest.mark.parametrize(
        ("text", "cause", "reason"),
        [
            (WORDS, "empty", "dropped: it names nothing that could be needed again"),
            (f"main.py {WORDS}", "covered", "dropped: said again in later messages"),
            (f"only_here {WORDS * 9}", "too_large", "dropped: to make room for"),
        ],
    )  # fmt: skip
    def test_of_dropped_units(self, text: str, cause: str, reason: str) -> None:  # X3
        """Others have its content, nobody named it again, or it is too large."""
        plan = planned([user("main.py"), model(text), model("main.py"), user("on")], 40)
        assert (plan.cause(1), plan.reason(1)[: len(reason)]) == (cause, reason)

    def test_point_to_no_message(self) -> None:
        """A message that they point to might be dropped later."""
        said = [user("see main.py"), *(model(f"main.py and part_{n} {WORDS}") for n in range(9)), user("on")]
        plan = planned(said, 250)
        assert not any("#" in plan.reason(i) or "message 1" in plan.reason(i) for i in range(len(said)))

    def test_never_speak_of_a_cut(self) -> None:  # X3
        """There is no single cut: each choice depends on the earlier ones."""
        said = [user("see main.py"), *(model(f"main.py and part_{n} {WORDS}") for n in range(9)), user("on")]
        plan = planned(said, 250)
        assert not any("cut at" in plan.reason(i) for i in range(len(said)))

    def test_say_only_of_every_name_that_they_list(self) -> None:  # X3
        """The sentence of the call is in no other message, but the names of its output are, in one that goes."""
        log = "\n".join(f"worker node_{n} of pool is ready" for n in range(1, 9))
        earlier, later = (
            ran("1", "w", f"{log}\n{WORDS * 3}"),
            ran("2", "deploy all that is finished today", log),
        )
        plan = plan_prune([user("begin"), *earlier, *later, user("on")], PLAIN, 150)
        assert plan.removed == (1, 2)
        assert plan.reason(3) == "kept: the only message left that names `node_1`, `node_2`, `node_3`"

    def test_clip_long_names(self) -> None:
        """A reason is a line."""
        plan = planned([user("go"), model("n_" * 100), model(WORDS * 8), user("on")], 90)
        assert "…`" in plan.reason(1)
        assert len(plan.reason(1)) < 160
