"""Made-up sessions in which a question shows what is needed, or nothing does."""

from __future__ import annotations

from zlib import crc32

from scoring.history import Features, analyse
from scoring.learning import Case, case_at
from scoring.messages import Message
from scoring.settings import FORESIGHT, lexicon_of
from scoring.tokens import FOUR_CHARACTERS, estimate_message_tokens
from tests.scoring.builders import model, user

TOPICS = "harbour violin glacier pepper lantern meadow anchor saddle copper walnut thunder candle".split()  # noqa: SIM905
STATEMENTS = 36


def features_of(*messages: Message) -> list[Features]:
    """Return the features of these messages."""
    lexicon = lexicon_of(FORESIGHT.keywords)
    return [analyse(m, estimate_message_tokens(m, FOUR_CHARACTERS), lexicon, content=True) for m in messages]


def talk(session: int, question: str, answer: int) -> list[Features]:
    """Statements, each with a topic and a name of its own; then a question, and an answer with one of the names."""
    said = [
        (model if n % 2 else user)(f"For the {topic_of(n)} we settled on {name_of(session, n)} in the end.")
        for n in range(STATEMENTS)
    ]
    return features_of(*said, user(question), model(f"That is {name_of(session, answer)}."))


def topic_of(n: int) -> str:
    """The topic of the n-th statement; two words, so that no other has both."""
    return f"{TOPICS[n % len(TOPICS)]} {TOPICS[(n // len(TOPICS) + n + 1) % len(TOPICS)]}"


def name_of(session: int, n: int) -> str:
    """The name in the n-th statement of a session."""
    return f"code_{session}_{n}"


def asking(sessions: int) -> list[Case]:
    """One case for each session: the last question names what is needed."""
    return [_case(k, f"What did we settle on for the {topic_of(_any(k))}?") for k in range(sessions)]


def muttering(sessions: int) -> list[Case]:
    """The same needs, but no message names them."""
    return [_case(k, "And now?") for k in range(sessions)]


def _case(k: int, question: str) -> Case:
    found = case_at(f"session {k}", talk(k, question, _any(k)), STATEMENTS + 1)
    assert found is not None
    return found


def _any(k: int) -> int:
    return crc32(b"%d" % k) % STATEMENTS
