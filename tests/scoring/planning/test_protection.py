"""The units that a plan may not drop."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scoring.formats import decode
from scoring.history import History
from scoring.planning.protection import REASONS, always_tokens, protect
from scoring.settings import BLUEPRINT, FORESIGHT, Settings
from tests.scoring.builders import BALANCED, calls, history_of, in_letters, results, system, user


class TestCauses:
    """The causes of protection."""

    def test_have_an_order_of_precedence(self) -> None:  # B7, X3
        """A unit has the first cause that applies."""
        history = history_of(in_letters("suaau"))
        history.pinned |= {0, 2, 4}
        causes = protect(history, replace(BLUEPRINT, fresh_tail=2), 1_000, spare={3}).causes
        assert causes == {0: "system", 2: "pinned", 3: "spared", 4: "last_unit"}

    def test_have_words(self) -> None:  # X3
        """Each cause can be shown."""
        assert all(reason.startswith("protected: ") for reason in REASONS.values())

    def test_hold_whole_units(self) -> None:  # M4
        """A fresh tail never begins with an orphan tool result."""
        history = history_of([user(), calls("1", "2"), results("1"), results("2"), user()])
        settings = replace(BLUEPRINT, fresh_tail=2)
        protection = protect(history, settings, 1_000)
        assert protection.causes[1] == "fresh_tail"
        assert protection.always_tokens == always_tokens(history, settings) == sum(history.tokens[1:])

    def test_of_the_tail_count_messages(self) -> None:  # M4
        """The most recent 16, or all if there are fewer."""
        history = history_of([user()] * 40)
        assert len(protect(history, replace(BLUEPRINT, fresh_tail=16), 1_000).causes) == 16
        assert len(protect(history, replace(BLUEPRINT, fresh_tail=99), 1_000).causes) == 40

    @pytest.mark.parametrize(
        ("wire_format", "item"),
        [
            ("responses", {"type": "compaction", "id": "c", "encrypted_content": "gAAA"}),
            (
                "anthropic",
                {"role": "assistant", "content": [{"type": "compaction", "content": "What was done."}]},
            ),
        ],
    )
    @pytest.mark.parametrize("settings", [BLUEPRINT, FORESIGHT], ids=["Blueprint", "Foresight"])
    def test_include_what_a_provider_compacted(
        self, wire_format: str, item: dict[str, object], settings: Settings
    ) -> None:
        """Only the newest: it stands for all before it, an older compaction included."""
        asked = {"role": "user", "content": "and now the next one, please"}
        said = {"role": "assistant", "content": "It is done."}
        wire = [asked, item, asked, item, *[asked, said] * 20, asked]
        history = History.of(decode(wire, wire_format).messages, settings=settings)
        causes = protect(history, replace(settings, fresh_tail=0), 1_000).causes
        assert causes[3] == "compaction"
        assert causes.get(1) != "compaction"

    def test_take_a_dropped_message_out_of_the_tail(self) -> None:  # X5
        """A drop by hand overrides the tail, but not a system message, the last unit or a pin."""
        history = history_of(in_letters("suuu"))
        history.pinned.add(1)
        causes = protect(history, replace(BLUEPRINT, fresh_tail=3), 1_000, drop={0, 1, 2, 3}).causes
        assert causes == {0: "system", 1: "pinned", 3: "last_unit"}


class TestTokens:
    """The tokens of protected units."""

    def test_are_counted_once(self) -> None:
        """A unit with two causes counts once; units that are always kept have their own sum."""
        messages = [system("x" * 40), user("y" * 40), *in_letters("aa"), user("z" * 40)]
        protection = protect(history_of(messages), replace(BALANCED, fresh_tail=1), 1_000)
        assert protection.always_tokens == 20
        assert protection.tokens == 30
        assert protection.causes[1] == "user_words"
