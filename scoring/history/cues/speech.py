"""Cues of a message's words: rules, short answers, statements, and user messages that a program wrote.

A rule is a sentence of a user that restricts what is done later. Programs that let a model act through text pass
outputs and notices to it as user messages; those are machine-made.
"""

from __future__ import annotations

import re

from scoring.history.content.key_lines import may_hold

# The letters of `Cues.speech`.
MACHINE_MADE, RULE, STRICT, SHORT, STATEMENT = "m", "r", "R", "s", "w"
READ_CHARS = 20_000
SENTENCE_CHARS = 12, 600  # a rule is neither shorter nor longer
SHORT_CHARS, SHORT_WORDS = 60, 6  # a shorter answer is meaningless without its question
STATEMENT_CHARS = 60

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+|(?<=[。！？])")
# An order or a ban in any conversation: at the beginning of a clause, or addressed to "you".
_STRICT = re.compile(
    r"""(?:^|[,;:–—(-]\s*|\b(?:so|and|but|then|please)\s+)(?:please\s+)?(?:never|always|do\snot|don['’]t)\s+(?!you\b|know|think|see|want)\w+
    | \byou\s(?:must|may\snot|can(?:not|['’]t)\sever|should\s(?:never|always)|are\snot\sallowed|need\sto\salways)\b
    | \b(?:under\sno\scircumstances|from\snow\son|at\sall\stimes|no\smatter\swhat|as\sa\sstanding\srule)\b
    | \b(?:niemals|nie\swieder|auf\skeinen\sfall|ab\s(?:jetzt|sofort)|du\sdarfst
        |désormais|dorénavant|ne\s\w+\sjamais|de\sahora\sen\sadelante|bitte\s(?:nie|immer)|nimm\s(?:\w+\s)?nie|nunca\s\w+|(?:^|,\s*)siempre\s\w+)\b
    | 不要|千万|必须|禁止|绝不|一定要|不准|不许|从现在起|必ず|絶対|禁止|しないで|ないでください""",
    re.IGNORECASE | re.VERBOSE,
)
# Further words that set a rule when a user talks to an agent that works for them.
_RULE = re.compile(
    r"""\b(?:never|always|must(?:\s?n['o’]t|\snot)?|may\snot|mustn['’]t|no\slonger|not\sallowed|forbidden|prohibited|required\sto
        |nie|immer|unbedingt|darfst?|dürfen|musst?|müssen|verboten|jamais|toujours|dois|doit|interdit|siempre|debes?|prohibido|jamás
        |do\snot|don['’]?t|does(?:n['’]t|\snot)\sneed|should(?:n['’]t|\snot)|only|avoid|without|make\ssure|ensure|instead|stop
        |unless|except|refrain|leave\s\w+(?:\s\w+)?\s(?:alone|as)|rather\sthan|prefer|keep\sit|no\smore\sthan|at\smost|exactly
        |nur|kein\w*|ohne|statt|vermeide\w*|außer|stattdessen|bitte\snicht|achte|höchstens
        |sans|seulement|évite[rz]?|au\slieu|sauf|sin|solo|sólo|evita|en\svez|salvo|excepto)\b
    | 只能|除非|别|不能|以外|だけ|のみ|代わりに""",
    re.IGNORECASE | re.VERBOSE,
)
# Every match in ASCII letters has one of these words; most sentences have none.
_STRICT_WORDS = (
    "not", "n't", "never", "always", "must", "circumstances", "now", "times", "matter", "standing",
    "nie", "keinen", "jetzt", "sofort", "darfst", "immer", "jamais", "ahora", "nunca", "siempre",
)  # fmt: skip
_RULE_WORDS = (
    "not", "n't", "dont", "only", "never", "always", "must", "longer", "forbidden", "prohibited", "required", "avoid",
    "without", "sure", "instead", "stop", "unless", "except", "refrain", "leave", "rather", "prefer", "keep", "more",
    "most", "exactly",
    "nie", "immer", "unbedingt", "darf", "muss", "verboten", "nur", "kein", "ohne", "statt", "vermeide", "bitte",
    "achte", "jamais", "toujours", "dois", "doit", "interdit", "sans", "seulement", "lieu", "sauf",
    "siempre", "debe", "prohibido", "sin", "solo", "evita", "vez", "salvo",
)  # fmt: skip
_ASKED_BY_NOBODY = re.compile(
    r"""\s*(?:
        <(?:command-|local-command|system[-_]reminder|bash-|turn_aborted|environment_context|user-prompt-submit
           |skill|task-|returncode|output|observation|stdout|stderr|tool|result|function|response|error|exit|console
           |terminal|execution)[^>\n]*>
        | (?:observation|output|stdout|stderr|exit\s?code|return\s?code
            |(?:execution|command|exec|tool)\s?(?:output|result|response)s?)
          (?:\s*(?:of|from|for)\s[^\n:]{1,60}|\s*\([^)\n]*\)|\s*\[[^\]\n]*\])?\s*[:=]
        | \[(?:file|observation|output|request\sinterrupted|(?:execution|tool|command)\s(?:output|result)s?)\b
        | \((?:open\sfile|current\sdirectory)\b
        | (?:caveat:|here\sis\sa\sdemonstration|this\ssession\sis\sbeing\scontinued)
        | \#\s(?!readme|changelog|todo)[\w-]+\.md\b  # a project's instructions, which agents put first by their name
        | \$\s | ```\s*\n )""",
    re.IGNORECASE | re.VERBOSE,
)
# The last line is a prompt of a shell.
_PROMPT = re.compile(r"(?:^|\n)[\w@:~/.()\[\] -]{0,60}(?<!\d)\$\s*\Z|(?:^|\n)[\w.-]+@[\w.-]+:[^\n]*[#%]\s*\Z")


def cues_of_speech(role: str, said: str) -> str:
    """Return the letters for the cues in a message's words."""
    text = said.strip()
    if not text:
        return ""
    if role == "assistant":
        return STATEMENT if len(text) >= STATEMENT_CHARS else ""
    if role != "user":
        return ""
    if is_machine_made(text):
        return MACHINE_MADE
    found = ""
    if len(text) < SHORT_CHARS and len(text.split()) <= SHORT_WORDS:
        found = SHORT
    if binds := _binds(text):
        found += binds
    return found


def is_machine_made(text: str) -> bool:
    """Return whether a program wrote a user's message: an output, a notice, a demonstration."""
    return bool(_ASKED_BY_NOBODY.match(text)) or bool(len(text) > 1 and _PROMPT.search(text[-80:]))


def _binds(text: str) -> str:
    """Return the letters for the rules in a user's words, "" if there are none."""
    found = ""
    least, most = SENTENCE_CHARS
    for sentence in _SENTENCE.split(text[:READ_CHARS]):
        if (least <= len(sentence) or not sentence.isascii()) and len(sentence) <= most:
            if may_hold(sentence, _STRICT_WORDS) and _STRICT.search(sentence):
                return RULE + STRICT
            if not found and may_hold(sentence, _RULE_WORDS) and _RULE.search(sentence):
                found = RULE
    return found
