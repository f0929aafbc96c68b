"""Topics of statements, and their cues of order, of revising and of permitting."""

from __future__ import annotations

import pytest

from scoring.history.cues import Cues, cues_of
from scoring.history.cues.topics import MOST_CODES, ORDERED, PERMITTING, REVISING, cues_of_topic
from scoring.messages import Message, ToolCall, message
from tests.scoring.builders import model, results, user


def cues(said: str, kinds: str = ORDERED + REVISING + PERMITTING) -> str:
    """Return the cues of a statement."""
    return cues_of_topic(said, kinds)[0]


def topic(said: str) -> set[str]:
    """Return what a statement is about."""
    return set(cues_of_topic(said)[1])


class TestOrder:
    """Statements that tell steps in an order."""

    @pytest.mark.parametrize(
        "said",
        [
            "I take the index first and the pages next.",
            "Zuerst der Index, danach die Seiten.",
            "Primero el índice, luego las páginas.",
            "D'abord l'index, puis les pages.",
            "Primeiro o índice, depois as páginas.",
            "Сначала индекс, потом страницы.",
            "まず索引、次にページです。",
            "首先索引，然后页面。",
            "The order:\n1. the index\n2. the pages",
            "The order: 1) the index, 2) the pages",
            "index -> pages -> covers",
        ],
    )
    def test_is_told_by_two_words_or_by_a_list(self, said: str) -> None:
        """In eight languages, in lines or in one, or with arrows."""
        assert ORDERED in cues(said)

    @pytest.mark.parametrize(
        "said",
        [
            "The first page is done.",
            "Version 1.2 comes with 2.3 of the other.",
            "Flights:\n1. **HAT052**\n   - at noon\n2. **HAT102**\n   - at night",
        ],
    )
    def test_is_not_told_by_one_word_or_by_a_list_of_records(self, said: str) -> None:
        """Numbers of versions tell none, and records have more lines for each number."""
        assert ORDERED not in cues(said)


class TestRevising:
    """Statements that may revise an earlier one."""

    @pytest.mark.parametrize(
        "said",
        """The lock is innocent, the clock is wrong.|I previously blamed the lock.|Der Grund ist tatsächlich die Uhr.
        La causa real es el reloj.|La vraie cause est l'horloge.|A causa verdadeira é o relógio.
        На самом деле виноваты часы.|本当の原因は時計です。|真正的原因是时钟。""".replace("\n", "|").split(
            "|"
        ),
    )
    def test_have_a_word_of_it(self, said: str) -> None:
        """In eight languages."""
        assert REVISING in cues(said.strip())

    def test_say_so_at_their_beginning(self) -> None:
        """A long report says many things."""
        assert REVISING not in cues("The lock holds. " * 60 + "The clock is wrong.")


class TestPermitting:
    """Statements that may lift a ban."""

    @pytest.mark.parametrize(
        "said",
        """You may restart it.|Do it whenever you like.|Du darfst das neu starten.|Puedes reiniciarlo.
        Leg los, starte das neu.|Adelante, reinícialo.|Vas-y, redémarre-le.|Allez-y, redémarrez-le.
        Tu peux le redémarrer.|Você pode reiniciar.|Vai em frente, reinicia.|Его можно перезапускать.
        再起動して構いません。|随时可以重启。""".replace("\n", "|").split("|"),
    )
    def test_have_a_word_of_it(self, said: str) -> None:
        """In eight languages."""
        assert PERMITTING in cues(said.strip())

    def test_are_no_orders(self) -> None:
        """An order may be a ban said again."""
        assert PERMITTING not in cues("Mach das nicht. Allez dans le dossier du projet. A pasta em frente.")

    def test_are_no_requests(self) -> None:
        """The same word asks for something before its subject."""
        assert PERMITTING not in cues("Can you restart it for me.")


class TestTopics:
    """Codes of the words that tell what a statement is about."""

    def test_are_those_of_words_whatever_their_ending(self) -> None:
        """Short words and words that are cues tell nothing."""
        assert topic("We are restarting the importers first.") == topic("Then restart an importer!")

    def test_are_found_in_writing_without_blanks(self) -> None:
        """Pairs of characters are words; Hiragana is grammar."""
        assert topic("索引を保存します") == topic("保存と索引だ")
        assert topic("これはそれです") == set()

    def test_are_limited(self) -> None:
        """A statement shows at its beginning what it is about."""
        assert len(topic(" ".join(f"w{number}ord" for number in range(900)))) <= MOST_CODES

    def test_are_not_those_of_code(self) -> None:
        """A block of code is more than words."""
        assert cues_of_topic("First the index, then this:\n```\nmake\n```", ORDERED) == (
            "",
            cues_of_topic("")[1],
        )


class TestMessagesWithATopic:
    """Messages of words alone, which a later one can replace."""

    @staticmethod
    def of(said: Message) -> Cues:
        """Return the cues of a message."""
        return cues_of(said, [{} for _ in said.calls])

    def test_are_statements_of_the_model(self) -> None:
        """A call and its output are acts; they stay true."""
        said = "First the index, then the pages."
        assert self.of(model(said)).topic
        assert not self.of(message("assistant", said, ToolCall("1", "bash", "{}"))).topic
        assert not self.of(results("1", text=said)).topic

    def test_are_rules_and_what_may_lift_them(self) -> None:
        """Other messages of users have no topic, and a question lifts nothing."""
        assert self.of(user("Never restart the importer.")).topic
        assert self.of(user("The importer is free again.")).topic
        assert not self.of(user("The importer is a large program.")).topic
        assert not self.of(user("Is the importer free again?")).topic

    def test_are_stored_with_it(self) -> None:
        """Cues without a topic are stored as before."""
        cues = self.of(model("First the index, then the pages."))
        assert Cues.from_list(cues.to_list()) == cues
        assert len(self.of(user("hello")).to_list()) == 3
