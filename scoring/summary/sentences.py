"""Decisions, refusals, announcements and open tasks, sentence by sentence in the speaker's own words.

A bare confirmation ("done", "file written successfully") carries no information and is never used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from scoring.messages import REMINDER, Message, Text, is_machine_made, own_words
from scoring.summary.task_lists import open_titles

SCANNED = 20_000  # characters of one text that are searched: its beginning and its end
LONGEST = 60  # words of one quoted sentence
USER, AGENT = "User: ", "Agent: "  # the author of a decision
REQUEST_WEIGHT = 0.5
_BREAK = re.compile(r"(?<=[.!?])\s+|(?<=[。！？।])\s*|\n+")
# Words that give a reason: English has its own, below; languages that put no blanks between words come apart.
_REASONS = (
    "weil|da sonst|parce que?|puisque|afin que|porque|ya que|perché|poiché|ponieważ|gdyż|żeby|protože|aby|"
    "потому что|чтобы"
)
_UNSPACED_REASONS = "因为|因為|以免|所以|理由|のため|ためです|क्योंकि|ताकि"
_BOLD = "**"  # Markdown's
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_DECISION = re.compile(
    r"\b(?:decid\w+|chose|chosen|choose|instead of|rather than|prefer\w*|must(?: not|n't)?|never|always|don't|do not|"
    r"should(?: not|n't)|won't|will not|refus\w+|reject\w*|declin\w+|not allowed|agreed?|settled? on|"
    r"decision|let's|go with|we(?:'ll| will) use|stick with|because|the reason|not an option|keep (?:it|the)|only use|"
    r"approv\w+|use \w+ (?:for|as))\b"
    # German, French, Spanish, Portuguese, Italian, Polish, Czech, Russian; Chinese, Japanese, Hindi
    r"|\b(?:entschieden|entscheidung|entscheide|stattdessen|(?:an)?statt|choisi\w*|décid\w+|préf[eè]r\w+|plutôt que|"
    r"au lieu de|en (?:lugar|vez) de|em vez de|prefier\w+|prefir\w+|elegid\w+|elegí|escolh\w+|deciso|invece di|"
    r"zdecydowa\w+|zamiast|wol[ęi]|rozhod\w+|místo|решил\w*|вместо)\b"
    rf"|\b(?:{_REASONS})\b|决定|決定|決めました|ことにし|代わりに|而不是|改为|फ़ैसला|के बजाय|{_UNSPACED_REASONS}",
    re.IGNORECASE,
)
# A line that calls itself a decision.
_NAMED = re.compile(
    r"^(?:User: |Agent: )?\W*(?:decision|decided|we decided|agreed|conclusion)\b", re.IGNORECASE
)
# An error message contains words such as "refused" but is not a decision.
_ERROR = re.compile(
    r"^\W*(?:[\w.]*\.)?(?:ERROR|FATAL|Error|[A-Z]\w*(?:Error|Exception))\b|\bconnection refused\b",
    re.MULTILINE,
)
_REFUSAL = re.compile(
    r"(?:^|User: )\s*no[,.!]|"
    r"\b(?:don't|do not|never|must not|mustn't|reject\w*|refus\w+|not allowed|stop|won't|will not)\b",
    re.IGNORECASE,
)
# Of the user alone: in an agent's words they mostly describe something.
_FORBIDS = re.compile(
    r"\b(?:nicht|kein\w*|niemals|nie|ne \w+ (?:pas|jamais)|n['’]\w+ (?:pas|jamais)|nunca|"
    r"no (?:uses|cambies|toques|borres|hagas|quiero)|não|не|нельзя)\b|不要|别|勿|しないで|ないでください|禁止|मत",
    re.IGNORECASE,
)
_REASON = re.compile(
    rf"\b(?:because|since|so that|due to|the reason|as it|otherwise|in order to|{_REASONS})\b|{_UNSPACED_REASONS}",
    re.IGNORECASE,
)
_REASON_OPENS = re.compile(
    r"^\s*(?:because|since|the reason|reason:|this is because|that is because|otherwise|it (?:would|breaks|is|was)|"
    r"this (?:way|would|breaks|avoids|keeps)|that (?:way|would))\b|^\s*(?:理由|因为|因為|क्योंकि)",
    re.IGNORECASE,
)
# An explanation of the agent in which nobody acts is not a decision.
_EXPLAINS = re.compile(r"^\W*because\b(?!.*\b(?:I|we|let's)\b)", re.IGNORECASE)
_NEXT = re.compile(
    r"\b(?:next steps?|next,|i(?:'ll| will) (?:now|then)?|now i(?:'ll| will)|let me|going to|then i|"
    r"follow(?:ing|ed) by|als nächstes|nächster schritt|ensuite|prochaine étape|siguiente paso|a continuación|"
    r"próximo passo|następnie|następny krok|dále|далее|следующий шаг)\b|下一步|接下来|接下來|次に|次は|अगला कदम",
    re.IGNORECASE,
)
# An announcement of the agent is not a decision, unless it gives a reason.
_ANNOUNCES = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|now|so|next|first|then|good|great|perfect|alright)\b[,.!:]?\s+)*"
    r"(?:let me|let's (?:check|look|see|try|run|start)|"
    r"i(?:'ll| will|'m going to| am going to| need to| should| can))\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"^\s*(?:[-*]\s*)?\[ \]\s*\S|\bTODO\b|\bnext steps?:|\b(?:still (?:needs?|have|has|to)|remains? to|remaining|"
    r"not yet|left to do|pending|needs? to be|unfinished|follow[- ]ups?)\b"
    r"|\b(?:offen (?:ist|sind|bleib)|noch (?:offen|zu|nicht (?:erledigt|fertig))|fehlt noch|es fehlen|steht noch aus|"
    r"il reste|reste à|reste encore|pas encore|queda\w* por|falta\w* por|pendiente|por hacer|falta fazer|da fare|"
    r"pozosta(?:je|ło)|zostało|do zrobienia|zbývá|осталось)\b|待办|還需要|还需要|尚未|未対応|残り(?:の|は)|बाकी",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^[-*•]\s+")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")  # Chinese and Japanese
_DONE = re.compile(r"^\s*(?:[-*]\s*)?\[[xX✓]\]")
_CONFIRMATION = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|done|success(?:ful(?:ly)?)?|yes|sure|great|thanks?|thank you|perfect|good|fine|got it|noted|"
    r"sounds good|completed?|finished|acknowledged|understood|all set|right|cool|nice)\W*)+$"
    r"|^\W*(?:the )?(?:file|changes?|command|edit|update|todos?)\b[^\n]{0,120}\b(?:success(?:ful)?ly|created|updated|"
    r"written|saved|applied|completed|been modified)[^\n]{0,80}$"
    r"|^\W*(?:exit code:? 0|no output|\(no output\)|null|true|none|\{\}|\[\])\W*$",
    re.IGNORECASE,
)


def is_confirmation(text: str) -> bool:
    """Return whether a text is a bare confirmation, with nothing that a summary could use."""
    return not text.strip() or (len(text) < 300 and _CONFIRMATION.match(text.strip()) is not None)


def sentences(text: str) -> list[str]:
    """Return the sentences and lines of a text without code blocks, blanks collapsed; of a long text only both ends."""
    found = (
        _without_unpaired_bold(" ".join(piece.split()))
        for piece in _BREAK.split(_FENCE.sub("\n", both_ends(text)))
    )
    return [piece for piece in found if piece]


def both_ends(text: str) -> str:
    """Return the part of a text that is searched: the beginning and the end of one that is too long."""
    return text if len(text) <= SCANNED else text[: SCANNED * 3 // 4] + "\n" + text[-SCANNED // 4 :]


def _without_unpaired_bold(piece: str) -> str:
    """Return a sentence from a bold passage without an unpaired `**`."""
    if piece.count(_BOLD) % 2 == 0:
        return piece
    if piece.startswith(_BOLD):
        return piece.removeprefix(_BOLD).lstrip()
    before, _, after = piece.rpartition(_BOLD)
    return before + after


def said_by(message: Message) -> list[str]:
    """Return the sentences of the user or the agent in a message, without tool outputs and what a program wrote."""
    if message.role not in ("user", "assistant") or message.name == REMINDER:
        return []
    text = own_words(text_of(message))
    if is_confirmation(text) or (message.role == "user" and is_machine_made(text)):
        return []
    return sentences(text)


def is_request(message: Message) -> bool:
    """Return whether a user asks or says something in a message."""
    return message.role == "user" and bool(said_by(message))


def text_of(message: Message) -> str:
    """Return the text parts of a message."""
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))


def decisions(messages: Sequence[Message]) -> Iterator[tuple[float, str]]:
    """Yield each decision or refusal with its reason and its weight, as `User: …` or `Agent: …`.

    The user's words, refusals, reasons and explicit decisions weigh more. A message of the user without any of these
    is yielded as a request, which weighs less than every decision.
    """
    for message in messages:
        spoken = said_by(message)
        if message.role == "user" and spoken and not any(map(_user_decides, spoken)):
            yield REQUEST_WEIGHT, f"{USER}{quoted_whole(spoken)}"
        said_already = -1
        for n, sentence in enumerate(spoken):
            if n == said_already or not _decides(sentence, message.role == "user"):
                continue
            announces = _ANNOUNCES.match(sentence) and not _REASON.search(sentence)
            if message.role != "user" and (announces or _ERROR.search(sentence) or _EXPLAINS.match(sentence)):
                continue
            sentence = _BULLET.sub("", sentence)  # noqa: PLW2901 - the heading of its list is not quoted
            after = spoken[n + 1] if n + 1 < len(spoken) else ""
            if not _REASON.search(sentence) and _REASON_OPENS.match(after):
                sentence = f"{sentence} {after}"  # noqa: PLW2901 - a sentence with its reason
                said_already = n + 1
            line = f"{USER if message.role == 'user' else AGENT}{quoted(sentence)}"
            yield decision_weight(line), line


def decision_weight(line: str) -> float:
    """Return the weight of one line of *Key Decisions*, from its words alone.

    So the lines of an earlier summary can be ranked among new ones. A line without a speaker was written by a model
    and counts as a decision.
    """
    users = line.startswith(USER)
    if users and not _user_decides(line):
        return REQUEST_WEIGHT
    reason = bool(_REASON.search(line) or _REASON_OPENS.search(line))
    return (
        1.0
        + 2.0 * users
        + 2.0 * bool(_NAMED.search(line))
        + bool(_REFUSAL.search(line) or (users and _FORBIDS.search(line)))
        + reason
    )


def _user_decides(text: str) -> bool:
    return bool(_DECISION.search(text) or _FORBIDS.search(text))


def _decides(sentence: str, users: bool) -> bool:
    words = len(sentence) // 2 if _UNSPACED.search(sentence) else len(sentence.split())
    decides = _user_decides(sentence) if users else bool(_DECISION.search(sentence))
    return decides and words >= 3 and not sentence.endswith(("?", "？"))


def next_steps(message: Message) -> list[str]:
    """Return the sentences in which the agent announces what it does next."""
    if message.role != "assistant":
        return []
    return [quoted(s.lstrip("-* ")) for s in said_by(message) if _NEXT.search(s)]


def open_tasks(messages: Sequence[Message]) -> Iterator[str]:
    """Yield open tasks: those of the agent's task list, then unchecked boxes, TODOs and what is said to be left."""
    spoken: dict[str, None] = {}
    for message in messages:
        for sentence in said_by(message):
            if _DONE.match(sentence):
                spoken.pop(_bare(sentence), None)
            elif _is_open(sentence, message.role):
                spoken[_bare(sentence)] = None
    yield from (quoted(title) for title in open_titles(messages))
    yield from reversed(spoken)


def _is_open(sentence: str, role: str) -> bool:
    """Return whether a sentence names an open task; a heading does not, nor does what the agent is about to do."""
    if sentence.endswith(":") or not _OPEN.search(sentence):
        return False
    return role == "user" or not _ANNOUNCES.match(sentence)


def quoted(sentence: str, most_words: int = LONGEST) -> str:
    """Return a sentence verbatim, or its first `most_words` words and an ellipsis if it has more."""
    words = sentence.split()
    return sentence if len(words) <= most_words else " ".join(words[:most_words]) + " …"


def quoted_whole(spoken: Sequence[str]) -> str:
    """Return the first sentences that have at most `LONGEST` words together, an ellipsis where more follow.

    A first sentence that is longer is cut between two words.
    """
    words = 0
    for n, sentence in enumerate(spoken):
        words += len(sentence.split())
        if words > LONGEST:
            return " ".join(spoken[:n]) + " …" if n else quoted(sentence)
    return " ".join(spoken)


def _bare(task: str) -> str:
    return quoted(re.sub(r"^\s*(?:[-*]\s*)?\[.\]\s*|^\s*[-*]\s+", "", task))
