"""Proposed learnings: decisions, preferences and facts of a turn that may hold in other sessions, too.

Some are proposed after a turn that used tools; one is stored only if the user accepts it. A dismissed text is not
proposed again in any session. Nothing here changes a session.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from scoring.messages import REMINDER, Message
from scoring.summary import decisions
from webapp.events import MemoriesChanged
from webapp.services.context.answers import Proposal
from webapp.services.context.memory import LONGEST
from webapp.services.session.environment import Environment
from webapp.services.session.labels import shown_title
from webapp.services.session.times import iso
from webapp.store.log import MessageRow
from webapp.store.memories import LEARNING
from webapp.store.sessions import SessionRow

PROPOSED = 3
# A decision counts if it is a refusal or gives a reason; every request of a user already weighs two.
AGENT_WEIGHT, USER_WEIGHT = 2.0, 4.0  # least weights of what is proposed; `decision_weight` has the scale
FEWEST_WORDS = 5  # fewer are meaningless outside their session: "Do not push."
# An agent that announces its next step decides nothing worth knowing in another session,
_NEXT_STEP = re.compile(
    r"(?:(?:ok|okay|now|next|first|then|great|good|perfect|alright|also|so|actually|wait)\b[\s,.:!–—-]*)*"
    r"(?:let me|let['’]s|let us|i['’]ll|i will|i['’]m going to|i am going to|i need to|i should|looking at)\b",
    re.IGNORECASE,
)
# and neither does one that describes the moment.
_FOR_NOW = re.compile(r"\b(?:yet|currently|right now|at the moment|so far|still|for now)\b", re.IGNORECASE)
# "I don't remember it" is a user's answer, not a preference.
_FOR_THEMSELVES = re.compile(
    r"\bI(?: (?:do|did|can|could|will|would|am|was|have) not| cannot|['’]m not| \w+n['’]t)\b"
    r"(?! (?:want|like|need|prefer|accept)\b)",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_WORD = re.compile(r"\w+")
ALIKE = 0.7  # two proposals of a turn count as equal if they share at least this part of their words
TURN_REACH = 400  # messages looked back for the beginning of the last turn
SESSIONS_ASKED = 12  # the latest, for what is proposed across sessions
DISMISSED = "dismissed proposals"  # the setting that holds their digests, the newest last
DISMISSED_KEPT = 2_000


class LearningProposals:
    """The use cases of proposed learnings."""

    def __init__(self, environment: Environment) -> None:
        self._environment, self._store = environment, environment.store
        self._found: dict[int, tuple[int, list[Proposal]]] = {}  # by session, at a version of it

    def of(self, session_id: str) -> list[Proposal]:
        """Return decisions and refusals of the last turn, if it used tools, that may be kept as learnings.

        Raises:
            NotFound: there is no such session.
        """
        with self._store.read():
            return self._open(self._proposed(self._store.sessions.get(session_id)))

    def recent(self) -> list[Proposal]:
        """Return the proposals of the most recently active sessions, the latest first; each text once."""
        with self._store.read():
            rows = self._store.sessions.all()[:SESSIONS_ASKED]
            found = self._open([one for row in rows for one in self._proposed(row)])
        self._found = {row.key: self._found[row.key] for row in rows if row.key in self._found}
        return list({one.text: one for one in reversed(found)}.values())[::-1]

    def dismiss(self, text: str) -> None:
        """Stop proposing this text."""
        self._dismiss(_digest(text), dismissed=True)

    def propose_again(self, text: str) -> None:
        """Undo a dismissal."""
        self._dismiss(_digest(text), dismissed=False)

    def _dismissed(self) -> list[str]:
        return list(self._store.small.fields(DISMISSED).get("digests", []))

    def _dismiss(self, digest: str, *, dismissed: bool) -> None:
        with self._store.write():
            digests = [one for one in self._dismissed() if one != digest] + [digest] * dismissed
            self._store.small.put_setting(DISMISSED, {"digests": digests[-DISMISSED_KEPT:]})
        self._environment.bus.publish(MemoriesChanged())

    def _open(self, proposals: list[Proposal]) -> list[Proposal]:
        """Return those that are neither stored nor dismissed yet."""
        if not proposals:
            return []
        kept = {row.text for row in self._store.memories.all(LEARNING)}
        dismissed = set(self._dismissed())
        return [p for p in proposals if p.text not in kept and _digest(p.text) not in dismissed]

    def _proposed(self, row: SessionRow) -> list[Proposal]:
        """Return the proposals of a session's last turn, found once for each version of it."""
        known = self._found.get(row.key)
        if known is not None and known[0] == row.version:
            return known[1]
        # A sub-agent's user is its parent agent: its orders apply to one task only.
        turn = [] if row.is_sub_agent else list(self._last_turn(row))
        found: list[tuple[float, str, MessageRow]] = []
        if any(message.calls for _, message in turn):
            for one, message in turn:
                found += [(weight, text, one) for weight, text in lasting(message)]
        best = _different(sorted(found, key=lambda one: -one[0]))[:PROPOSED]
        proposals = [
            Proposal(
                text=text,
                session_id=row.id,
                session_title=shown_title(row),
                message_id=message.mid,
                number=message.no,
                at=iso(message.at),
            )
            for _, text, message in best
        ]
        self._found[row.key] = row.version, proposals
        return proposals

    def _last_turn(self, row: SessionRow) -> Iterator[tuple[MessageRow, Message]]:
        rows = self._store.log.last_messages(row.key, row.next_no, TURN_REACH)
        if not rows:
            return
        turn = rows[-1].turn
        for one in rows:
            if one.turn == turn:
                for entry in self._store.log.entries_of(row.key, one):
                    yield one, entry.message


def lasting(message: Message) -> Iterator[tuple[float, str]]:
    """Yield the decisions, preferences and facts of a message that hold in other sessions too, with their weights."""
    if message.name == REMINDER:
        return  # the agent's program says it in the user's name
    is_user = message.role == "user"
    unfit = (_FOR_THEMSELVES.search,) if is_user else (_NEXT_STEP.match, _FOR_NOW.search)
    for weight, line in decisions([message]):
        text = _BULLET.sub("", line.partition(": ")[2])
        if weight < (USER_WEIGHT if is_user else AGENT_WEIGHT) or len(text.split()) < FEWEST_WORDS:
            continue
        if not any(found(text) for found in unfit):
            yield weight, text[:LONGEST]


def _different(found: list[tuple[float, str, MessageRow]]) -> list[tuple[float, str, MessageRow]]:
    """Return those that do not repeat most words of an earlier one."""
    kept: list[tuple[float, str, MessageRow]] = []
    seen: list[set[str]] = []
    for one in found:
        words = set(_WORD.findall(one[1].lower()))
        if all(len(words & other) < ALIKE * min(len(words), len(other)) for other in seen):
            kept.append(one)
            seen.append(words)
    return kept


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
