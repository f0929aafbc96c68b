"""Cues by which one statement replaces another: what it is about, and whether it tells an order or revises something.

A topic is a text with one character for each word, a hash of the word's beginning; two statements of one speaker that
share much of it are about the same. Words of revising are frequent, and mean something only in a statement that shares
its topic with an earlier one (`scoring.planning.replaced_statements`).
"""

from __future__ import annotations

import re
from zlib import crc32

from scoring.history.content.words import UNSPACED

# The letters of `Cues.speech`.
ORDERED, REVISING, PERMITTING = "n", "v", "p"
READ_CHARS = 500  # what a statement is about, and what it revises, is said at its beginning
WORD_CHARS = 4  # function words are shorter in most languages
STEM_CHARS = 6  # the beginning of a word, because endings differ by grammar
MOST_CODES = 48
LEAST_ORDERED = 2  # words for an order; one alone is said of many things
CODE_BLOCK = "```"

_UNSPACED_RUN = re.compile(f"[{UNSPACED}]+")
_WORD = re.compile(r"[^\W_]+")
# Chinese characters, Katakana, Korean and Thai; what is written in Hiragana is mostly grammar.
_TELLING_RUN = re.compile("[\u30a1-\u30ff\u3400-\u9fff\uac00-\ud7a3\u0e01-\u0eff]{2,}")
# The first two steps of a list, in one line or in lines that follow each other; records of a list have more lines. It
# begins with a letter that is searched for fast.
_STEPS = re.compile(r"1(?<![\w.]1)[.)、）]\s?[^\d\n][^\n]*?[\n ,;、，][ \t]*\(?2[.)、）]\s?\D")
_ARROWS = ("→", " -> ", " => ")
_ORDERED = frozenset(
    """
    first firstly second secondly third thirdly then next afterwards afterward finally lastly followed begin start
    erst zuerst zunächst erstens zweitens dann danach anschließend schließlich zuletzt schluss beginne starte
    primero segundo tercero después luego continuación finalmente último empiezo empezaré empezar comienzo
    premièrement abord deuxièmement ensuite puis enfin finalement commence commencer commencerai primeiro depois
    seguida seguir fim começo começar começarei prima poi dopo quindi infine comincio najpierw potem następnie
    wreszcie zacznę nejdřív nejprve potom pak nakonec začnu сначала сперва потом затем далее наконец начну конце
    """.split()  # noqa: SIM905
)
_ORDERED_UNSPACED = re.compile(
    "首先|先(?=[^前生进進])|接着|接著|然后|然後|随后|再(?=[^次度见見])|最后|最後|第[一二三四五]步"
    "|まず|最初に|初めに|はじめに|次に|その後|それから|続いて|먼저|우선|다음|그다음|그리고 나서|마지막"
)
_REVISING = frozenset(
    """
    actually actual wrong wrongly mistaken mistake incorrect incorrectly misread misunderstood misjudged
    misdiagnosed turns turned instead rather really real true truth earlier previous previously originally initially
    contrary reconsider reconsidered rethink rethinking revise revised revising revision correction retract scrap
    abandon abandoning dropping drop anymore longer unrelated innocent falsch irrtum geirrt irrte täuschte
    tatsächlich wirklich wirkliche wirklichen eigentlich eigentliche stattdessen doch frühere früheren früher
    bisherige bisherigen vorherige ursprünglich korrektur revidiere verwerfe überdenke lieber vielmehr sondern
    anderes anders realidad verdad verdadera verdadero equivoqué equivocado equivocada error errónea anterior antes
    originalmente corrección resulta sino prefiero abandono descarto otro otra pensándolo réalité réalite vrai vraie
    vraiment véritable trompé trompée erreur faux fausse précédente précédent antérieure initialement avère plutôt
    préfère abandonne renonce autre repensant verdade verdadeira verdadeiro realmente errado errada enganei erro
    anteriormente correção acontece senão prefiro desisto outra outro melhor realtà davvero vero vera sbagliato
    sbagliata errore precedente invece correzione piuttosto naprawdę błąd myliłem poprzednie wcześniejsze jednak
    zamiast ve skutečnosti mýlil předchozí chyba místo действительности деле действительно настоящая настоящий
    настоящее ошибался ошибалась ошибся ошиблась ошибка неверно прежнее прежний прежняя раньше оказалось оказывается
    отказываюсь иначе другой другая лучше вместо
    """.split()  # noqa: SIM905
)
_REVISING_UNSPACED = re.compile(
    "实际|實際|其实|其實|真正|事实|弄错|搞错|错了|錯了|不对|不成立|之前|原来|并非|不是|放弃|重新|换一|更正"
    "|実は|実際|本当|真の|間違|誤り|誤って|以前の|先ほど|ではなく|やはり|やめ|考え直|変えます|改め|訂正"
    "|사실|실제|진짜|틀렸|잘못|이전|아니라|정정|다시 생각|वास्तव|असल|ग़?लत|पहले"
)
_PERMITTING = frozenset(
    """
    fine okay free allowed permitted welcome ahead wherever whatever whenever anytime longer again lifted anymore
    over settled kannst könnt darfst dürft ruhig frei erlaubt wieder jederzeit egal ordnung freigegeben aufgehoben
    vorbei puedes puede pueden podéis libre adelante permitido permitida quieras momento nuevo peux pouvez possible
    veux voulez permis permise autorisé autorisée nouveau pode podes podem livre liberado liberada
    quiser tranquilo novo puoi potete libero libera permesso pure możesz możecie można wolno znowu můžeš můžete lze
    smíš zase можешь можете можно свободен свободна свободно снова разрешено разрешаю открыт открыта любое
    """.split()  # noqa: SIM905
)
_PERMITTING_UNSPACED = re.compile(
    "可以|随便|隨便|都行|随时|隨時|不用|恢复|恢復|开放|開放|允许|允許|没关系|構いません|かまいません|よいです|いいです"
    "|大丈夫|自由に|許可|再び|해도|괜찮|자유롭|허용|सकते|अनुमति"
)


# Permissions of several words, none of which is one alone. "Can you" asks for something.
_PERMISSIONS = (
    "you can ",
    "you may ",
    "leg los",
    "legt los",
    "vas-y",
    "allez-y",
    "vai em frente",
    "vá em frente",
)
# Codes below the first are those of words that are cues; from 0xD800 on there are no characters for a while.
_FIRST_CODE = 0x400
_CODES = 0xD800 - _FIRST_CODE
_CUES = {word: code for code, word in enumerate(sorted(_ORDERED | _REVISING | _PERMITTING), 1)}
_ORDERED_CODES, _REVISING_CODES, _PERMITTING_CODES = (
    frozenset(map(_CUES.__getitem__, words)) for words in (_ORDERED, _REVISING, _PERMITTING)
)


Codes = dict[int, None]  # an ordered set


class _CodeOf(dict[str, int]):
    """The codes of tokens by their longest words, those of words that are cues below all others; 0 for short words."""

    MOST = 1 << 16

    def __missing__(self, token: str) -> int:
        if len(self) >= self.MOST:
            self.clear()
        word = max(_WORD.findall(token), key=len, default="")
        code = _CUES.get(word, 0)
        if not code and (len(word) >= WORD_CHARS or not word.isascii()):
            code = _FIRST_CODE + crc32(word[:STEM_CHARS].encode("utf-8", "replace")) % _CODES
        self[token] = code
        return code


# Splitting at blanks and looking up is three times faster than finding words.
_code_of = _CodeOf().__getitem__


def cues_of_topic(said: str, kinds: str = "") -> tuple[str, str]:
    """Return those letters of `kinds` that are cues of a statement, and its topic: the codes of its words, in order.

    What has a block of code is more than a statement, and has neither.
    """
    if CODE_BLOCK in said:
        return "", ""
    text = said[:READ_CHARS].lower()
    unspaced = "" if text.isascii() else " ".join(_UNSPACED_RUN.findall(text))
    codes = dict.fromkeys(map(_code_of, (_UNSPACED_RUN.sub(" ", text) if unspaced else text).split()))
    letters = "".join([kind for kind in kinds if _FINDERS[kind](text, unspaced, codes)])
    for run in _TELLING_RUN.findall(unspaced) if unspaced else ():
        codes.update(dict.fromkeys([_code_of(run[at : at + 2]) for at in range(len(run) - 1)]))
    return letters, "".join([chr(code) for code in codes if code >= _FIRST_CODE][:MOST_CODES])


def _is_ordered(text: str, unspaced: str, codes: Codes) -> bool:
    """Return whether a text names steps in an order: a list, or words for one."""
    count = len(_ORDERED_CODES.intersection(codes))
    if unspaced:
        count += len(set(_ORDERED_UNSPACED.findall(unspaced)))
    if count >= LEAST_ORDERED or any(text.count(arrow) >= LEAST_ORDERED for arrow in _ARROWS):
        return True
    return _STEPS.search(text) is not None


def _is_revising(_: str, unspaced: str, codes: Codes) -> bool:
    """Return whether a text has a word of revising."""
    if not _REVISING_CODES.isdisjoint(codes):
        return True
    return bool(unspaced) and _REVISING_UNSPACED.search(unspaced) is not None


def _is_permitting(text: str, unspaced: str, codes: Codes) -> bool:
    """Return whether a text has a word of permitting."""
    if not _PERMITTING_CODES.isdisjoint(codes) or any(words in text for words in _PERMISSIONS):
        return True
    return bool(unspaced) and _PERMITTING_UNSPACED.search(unspaced) is not None


_FINDERS = {ORDERED: _is_ordered, REVISING: _is_revising, PERMITTING: _is_permitting}
