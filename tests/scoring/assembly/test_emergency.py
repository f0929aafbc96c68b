"""The emergency path: in order, whole units, within the budget."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from scoring.assembly import emergency
from scoring.assembly.emergency import NoUserMessageFits, SystemTooLarge, relieve
from scoring.formats import decode, encode, repair
from scoring.messages import Media, Message, Text, ToolCall, ToolResult, has_own_words, message
from scoring.summary import Summary
from scoring.tokens import estimate_message_tokens
from tests.scoring.builders import calls, in_letters, model, results, system, user

LONG = "word " * 3_000


def image(text: str = "look") -> Message:
    """A user message with a picture."""
    return Message("user", (Text(text), Media("image")))


def costs(*messages: Message) -> int:
    """Return what some messages take."""
    return sum(map(estimate_message_tokens, messages))


def unit_with_words(arguments: str) -> list[Message]:
    """A call, and its result in one message with the user's words, as Anthropic has it."""
    said = Message("user", (ToolResult("x", "out"), Text("Delete nothing, please.")))
    return [message("assistant", "", ToolCall("x", "write", arguments)), said]


class TestTruncation:
    """The steps of the emergency path, each only until the list fits."""

    def test_does_nothing_if_everything_fits(self) -> None:
        """It returns the same objects and no note."""
        given = in_letters("suau")
        done = relieve(given, 10_000)
        assert done.nothing_done
        assert all(a is b for a, b in zip(done.messages, given, strict=True))
        assert done.note == ""

    def test_strips_images_in_the_middle_first(self) -> None:  # S5
        """The newest messages keep their images."""
        given = [image(), *[model() for _ in range(3)], image("new")]
        done = relieve(given, costs(*given) - 100, min_recent=2)
        assert done.images == (0,)
        assert done.messages[0].text == "look\n[image left out]"
        assert done.messages[-1].media
        assert not done.dropped

    def test_then_cuts_large_contents_in_the_middle(self) -> None:  # S5
        """The first 1,000 and the last 500 characters stay."""
        given = [user(), message("assistant", "a" * 5_000 + "z" * 5_000), *in_letters("uaua")]
        done = relieve(given, costs(*given) - 200, min_recent=4)
        assert done.shortened == (1,)
        assert done.messages[1].text.startswith("a" * 1_000 + "\n[8,500 of 10,000 characters left out]\n")
        assert done.messages[1].text.endswith("\n" + "z" * 500)

    def test_then_drops_the_oldest_units_whole(self) -> None:  # S5, P4
        """A call is dropped together with its results."""
        given = [user("first question"), calls("1", "2"), results("1"), results("2"), *in_letters("uaua")]
        done = relieve(given, costs(*given[4:]) + costs(given[0]) - 1, min_recent=4)
        assert done.dropped == (0, 1, 2, 3)
        assert not done.cut_protected

    def test_keeps_system_summary_pinned_and_recent(self) -> None:  # S5, B7
        """Protected messages stay as long as any other can be dropped."""
        given: list[Message | Summary] = [
            system(),
            Summary("s", "what was"),
            user("pinned"),
            *in_letters("uauauaua"),
        ]
        done = relieve(given, 120, pinned={2}, min_recent=4)
        assert {0, 1, 2, 7, 8, 9, 10} <= set(done.kept)

    def test_cuts_protected_messages_last_and_reports_it(self) -> None:  # S5
        """Conformance example 14: six recent messages of 3,000 tokens, a window of 8,192."""
        given = [message("user" if n % 2 == 0 else "assistant", LONG) for n in range(6)]
        done = relieve(given, 8_192 - 4_096)
        assert done.tokens <= 8_192 - 4_096
        assert done.cut_protected
        assert len(done.kept) == 6

    def test_keeps_the_last_words_of_the_user_to_the_end(self) -> None:  # P6, X6
        """If nothing else is left, they are cut to fit."""
        given = [
            system("be brief"),
            message("user", LONG),
            *[m for n in range(30) for m in (calls(str(n)), results(str(n)))],
        ]
        done = relieve(given, 60)
        assert done.tokens <= 60
        assert [m.role for m in done.messages][:2] == ["system", "user"]

    def test_drops_a_summary_that_is_too_large(self) -> None:  # C5
        """It is protected from pruning, not from the emergency path, and never cut: a stored one has one form."""
        done = relieve([Summary("s", LONG), user("now")], 1_000)
        assert (done.messages, done.changed) == ((user("now"),), {})

    def test_may_drop_the_last_unit_whole(self) -> None:  # P6
        """The arguments of its call cannot be cut, so the whole unit goes."""
        unit = [
            message("assistant", "", ToolCall("1", "write", LONG)),
            message("tool", "", ToolResult("1", "ok")),
        ]
        done = relieve([user("please"), *unit], 50)
        assert [m.role for m in done.messages] == ["user"]

    def test_refuses_only_a_system_prompt_that_is_too_large(self) -> None:  # C5
        """The error has both numbers."""
        with pytest.raises(
            SystemTooLarge, match=r"the system prompt alone takes 3,\d+ tokens, .* 1,000 available"
        ):
            relieve([system(LONG), user()], 1_000)

    def test_drops_first_what_could_never_stay(self) -> None:  # S5, X6
        """A unit whose arguments can never fit goes first, though it has the user's last words; others stay whole."""
        given = [system("be brief"), *in_letters("uauau"), *unit_with_words("word " * 3_000)]
        done = relieve(given, 2_000)
        assert done.kept == (0, 1, 2, 3, 4, 5)
        assert not done.changed
        assert done.cut_protected
        assert done.note == "Emergency compression dropped 2 oldest messages"

    @pytest.mark.parametrize("overflow", [False, True])
    @pytest.mark.parametrize("available", [20, 60, 2_000])
    def test_keeps_an_earlier_user_message_if_the_last_cannot_stay(
        self, available: int, overflow: bool
    ) -> None:  # X6, P6
        """It is cut if necessary."""
        given = [message("user", "start " * 50), *unit_with_words("word " * 3_000)]
        done = relieve(given, available, overflow=overflow)
        assert done.kept == (0,)
        assert done.messages[0].text.startswith("start")

    def test_keeps_words_before_outputs_in_one_message(self) -> None:  # X6
        """The output of the message goes first; the user's words beside it are cut to the few tokens left."""
        said = Message("user", (ToolResult("1", "so it said " * 400), Text("Delete nothing, please. " * 9)))
        bare = Message("user", (ToolResult("1", ""), Text("[cut]")))
        given = [Message("user", (Text("start"),)), calls("1"), said]
        done = relieve(given, costs(calls("1"), bare))
        assert done.messages == (calls("1"), bare)

    def test_cuts_all_of_the_last_words_unit(self) -> None:  # S5
        """The model's words beside a call are cut before the message is dropped."""
        call = message("assistant", LONG, ToolCall("1", "read", "{}"))
        said = Message("user", (ToolResult("1", LONG), Text("Delete nothing.")))
        done = relieve([user("start"), call, said], 100)
        assert {1, 2} <= set(done.kept)
        assert done.tokens <= 100
        assert has_own_words(done.messages[-1])

    def test_refuses_to_drop_every_user_message(self) -> None:  # X6
        """The error has the numbers; a list without a user message may become empty."""
        with pytest.raises(
            NoUserMessageFits, match=r"fits in the 4 tokens that .* leaves of the \d+ available"
        ):
            relieve([system(), user("word " * 50)], costs(system()) + 4)
        assert relieve([system(), model("word " * 50)], costs(system()) + 4).kept == (0,)

    def test_uses_known_costs(self) -> None:
        """Token counts from the time of the append are used as they are."""
        done = relieve(in_letters("uaua"), 25, tokens=[10, 10, 10, 10], min_recent=1)
        assert done.dropped == (0, 1)

    def test_leaves_room_for_what_repairs_will_add(self) -> None:  # X6
        """An open call gets a placeholder result when the list is written, which needs tokens."""
        given = [user("go on"), *(calls(str(n)) for n in range(20))]
        done = relieve(given, costs(*given))
        assert done.tokens < costs(*given)

    def test_needs_a_few_tries_however_much_repairs_add(self, monkeypatch: pytest.MonkeyPatch) -> None:  # S5
        """Each of thousands of open calls costs more with its placeholder; the number of tries stays small."""
        tried: list[int] = []

        def counting(messages: Sequence[Message], model: str | None) -> tuple[list[Message], list[str]]:
            tried.append(len(messages))
            return repair(messages, model)

        monkeypatch.setattr(emergency, "repair", counting)
        given = [user("go on"), *(one for n in range(3_000) for one in (calls(str(n)), user(f"and {n}")))]
        done = relieve(given, costs(*given))
        assert costs(*repair(done.messages)[0]) <= costs(*given)
        assert len(tried) <= 6
        assert len(done.kept) > 1_500

    @pytest.mark.parametrize("name", ["anthropic", "gemini"])
    def test_fits_with_its_repairs(self, name: str) -> None:  # S5, X6
        """The opening message and the placeholders that repairs add are within the budget too."""
        output = "error decide 日本語 created /src/app.py failed because value=12\n" * 60
        said = Message("user", (ToolResult("1", output), Text("Go on, please. " * 20)))
        sent = decode(encode([user("start"), calls("1"), said], name), name).messages
        fits = {n: costs(*repair(relieve(sent, n, min_recent=1).messages)[0]) <= n for n in range(60, 400, 4)}
        assert all(fits.values())


class TestOverflow:
    """The emergency path after a provider refused a list as too long."""

    def test_drops_the_oldest_half_of_the_turns(self) -> None:  # P6
        """Two of four turns go, even if the estimate says that the list fits."""
        done = relieve(in_letters("suactauaua"), 100_000, overflow=True)
        assert done.dropped == (1, 2, 3, 4, 5)
        assert done.kept[0] == 0

    def test_keeps_the_user_message_of_a_single_turn(self) -> None:  # P6
        """All other messages of the turn go."""
        done = relieve(in_letters("suctcta"), 100_000, overflow=True)
        assert [m.role for m in done.messages] == ["system", "user"]

    def test_notes_the_number_of_dropped_messages(self) -> None:  # P6
        """The number of dropped messages is in the note for the summary."""
        done = relieve(in_letters("uauaua"), 100_000, overflow=True)
        assert done.note == "Emergency compression dropped 2 oldest messages"
        assert not any("Emergency" in m.text for m in done.messages)
        assert (
            relieve(in_letters("uu"), 100_000, overflow=True).note
            == "Emergency compression dropped 1 oldest message"
        )

    def test_keeps_media_of_what_is_kept(self) -> None:  # P6
        """No image is removed if dropping half of the turns is enough."""
        done = relieve([user(), model(), image(), model()], 100_000, overflow=True)
        assert done.messages[0].media

    def test_never_tears_a_unit_at_the_boundary(self) -> None:  # P4
        """A call before the boundary with its result behind it stays."""
        given = [user(), calls("1"), user(), results("1"), user(), model()]
        done = relieve(given, 100_000, overflow=True)
        assert done.kept == (1, 2, 3, 4, 5)

    def test_keeps_summaries_and_pins(self) -> None:  # B7
        """Summaries and pinned messages belong to no turn."""
        given: list[Message | Summary] = [Summary("s", "what was"), user("pinned"), model(), user(), model()]
        assert relieve(given, 100_000, pinned={1}, overflow=True).kept == (0, 1, 3, 4)

    @pytest.mark.parametrize(
        ("wire_format", "item"),
        [
            ("responses", {"type": "compaction", "id": "c", "encrypted_content": "gAAA" * 500}),
            (
                "anthropic",
                {
                    "role": "assistant",
                    "content": [{"type": "compaction", "content": "What was done. " * 200}],
                },
            ),
        ],
    )
    def test_keeps_the_newest_compaction_of_the_provider(
        self, wire_format: str, item: dict[str, object]
    ) -> None:
        """It stands for all that came before, so it belongs to no turn and is dropped after the other messages."""
        asked, said = {"role": "user", "content": "go on"}, {"role": "assistant", "content": "done " * 200}
        given = decode([asked, item, asked, item, *[asked, said] * 6], wire_format).messages
        done = relieve(given, 100_000, overflow=True)
        assert done.kept[0] == 3
        assert done.dropped[:3] == (0, 1, 2)
        tight = relieve(given, costs(given[3], *given[-2:]) + 40, min_recent=1)
        assert tight.kept[0] == 3
        assert encode(tight.messages, wire_format)[-3:] == [item, asked, said]

    def test_without_a_user_falls_back_to_truncation(self) -> None:  # P2
        """Without a user message there are no turns to halve."""
        assert relieve([model(), model()], 100_000, overflow=True).nothing_done
