"""The words with which programs and services report a failure, in the languages of the rules of `scoring.history.cues`.

English, German, French, Spanish and Portuguese, Italian, Polish and Czech, Russian; Chinese, Japanese, Korean, Hindi.
`reports` finds a line that names an error and goes on with a colon or the like, anywhere in an output. `tells` finds a
sentence such as "Deployment rejected by the quota"; texts use such sentences, too, so only lines near the ends of an
output are asked for it.
"""

from __future__ import annotations

import re

TOLD_CHARS = 160  # of a line: a longer one is a paragraph

# One of these is in every line that either function finds, in lower case; the others only in texts beyond ASCII.
STEMS = (
    "reject", "declin", "refus", "denied", "fail", "abort", "not permitted", "not allowed", "not authori", "did not",
    "didn't", "unauthorized", "forbidden", "error", "fehler", "fehlge", "gescheitert", "konnte", "verweiger",
    "abgelehnt", "erreur", "impossible", "rejet", "n'a pas", "erro", "fallo", "fallaron", "falha", "falhou",
    "no se p", "no se h", "no fue", "denegad", "rechazad", "negad", "negat", "recusad",
    "rejeitad", "impossibil", "riuscit", "rifiutat",
    "fallit", "consentit", "autorizzat", "odmow", "odrzuc", "nieudan", "chyba", "nelze", "selhal",
)  # fmt: skip
STEMS_BEYOND_ASCII = (
    "nicht möglich", "échec", "échou", "refusé", "n’a pas", "falló", "não foi", "não pôde", "não conseg", "non è",
    "błąd", "nie uda", "nie można", "odmówi", "nepodař", "odepř", "zamít",
    "ошибк", "не уда", "сбой", "отказ", "запрещ", "отклон", "невозможно",
    "失败", "失敗", "错误", "錯誤", "出错", "出錯", "无法", "無法", "未能", "拒绝", "拒絕",
    "エラー", "ません", "拒否", "오류", "에러", "실패", "거부", "수 없", "त्रुटि", "विफल", "असफल", "अस्वीक",
)  # fmt: skip

_NOUN = r"(?:erreur|échec|\w*fehler|error|erro|fallo|falha|errore|błąd|chyba|ошибка|сбой)"
_REPORTED = re.compile(
    rf"(?:\[[^\]]*\]\s*)?(?:(?-i:[^\Wa-zà-ÿа-яё\d_])\w*\s)?{_NOUN}(?:\s\w+)?\s*(?:\[[^\]]*\]|\([^)]*\)|#?\d+)?\s*[:：!]",
    re.IGNORECASE,
)
_REPORTED_BEYOND_ASCII = re.compile(
    r"""(?:错误|錯誤|エラー|오류|에러|त्रुटि)(?:代码|代碼|码|碼|コード|코드)?\s*(?:[:：!！\]】]|(?:\()?\d{3,})
    | (?<!没有)(?<!沒有)(?<!无)(?<!無)(?:失败|失敗|실패)(?:了|しました|した|です|했습니다|하였습니다|했어요|함|됨)?
        \s*(?:[:：，,。.！!；;(（]|$)
    | に失敗|에\s실패|(?:发生|發生|出现|出現)了?\S{0,6}(?:错误|錯誤)|出[错錯]了|エラーが(?:発生|起き|出)
    | (?:오류|에러)가\s발생|(?:विफल|असफल)\s(?:रह|हु|हो)""",
    re.VERBOSE,
)
_PARTICIPLE = r"""(?:rejected|denied|refused|declined|failed|aborted|forbidden|unauthorized
    |not\s(?:permitted|allowed|authori[sz]ed|accepted)
    |fehlgeschlagen|gescheitert|verweigert|abgelehnt|nicht\smöglich
    |refusée?s?|rejetée?s?|échouée?s?|(?:deneg|rechaz)ad[oa]s?|(?:neg|recus|rejeit)ad[oa]s?|falhou|falló
    |(?:non\s)(?:riuscit|consentit|autorizzat)[oaie]|(?:fallit|rifiutat|negat)[oaie]
    |odrzucon[oaey]|odmówiono|nieudan[aey]|selhal[aoiy]?|odepřen[aoyí]?|zamítnut[aoyí]?
    |отказано|запрещ[её]н[оаы]?|отклон[её]н[оаы]?)"""
_FOLLOWING = r"""by|for|because|after|due|with|to|at|in|on|from|durch|von|für|wegen|nach|vom|par|pour|au|aux|à|de|du|por
    |para|pela|pelo|al?|da|dal|per|przez|do|dla|pro|při|в|на|из|для|при"""
# "Deployment rejected: ..."; a number behind the colon is a count.
_STATED = re.compile(
    rf"^[\w\s./'’#-]{{2,60}}?\s(?P<told>{_PARTICIPLE})\s?[:!—–]\s*(?!\d+(?:\s*$|\s*[,;|]|\s+\w+\s*[:=]))\S",
    re.IGNORECASE | re.VERBOSE,
)
# "Login failed for Ada.": begins like a sentence.
_TOLD = re.compile(
    rf"""^(?=[^\W\d_])(?-i:[^\Wa-zà-öø-ÿа-яё_])[\w'’./\#-]*(?:\s[\w'’./\#()-]+){{0,6}}?\s
        (?P<told>{_PARTICIPLE}(?=\s*(?:[.!,;(]|$)|\s(?:{_FOLLOWING})\b)
        |(?:rejected|denied|refused|declined)\s(?:the|your|this|our|my|access|to)\b
        |did\s?n[o']t\s(?:complete|finish|start|respond|become|succeed|work|pass)\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_OPENED = re.compile(
    rf"""[^\w"'`]*(?:\w+:\s)?(?:
        {_NOUN}\s(?:al?|aos?|de|del|do|da|du|des|en|em|no|na|beim|bei|im|in|lors|pendant|durante|nell\w*|dell\w*|di
            |podczas|przy|při|w|v|во?|при|во\sвремя|while|when|during|on|at|from|processing|connecting)\b
        |(?:échec|fallo|falha)\s(?:d[eu]\s|d['’])
        |no\sse\s(?:ha\s|han\s)?(?:pud|podid|pued)\w+|no\sfue\sposible|falló\b|fallaron\b
        |não\s(?:foi\spossível|pôde|conseguiu)|falhou\b
        |impossible\sd[e'’]|impossibile\s|(?:\w+\s){{1,3}}n['’]a\spas\s(?:pu|réussi)
        |non\s(?:è\sstat[oa]\spossibile|è\spossibile|riuscit\w)
        |nie\s(?:uda\wo|można)\b|odmowa\s|nepodařilo\sse|nelze\s
        |не\s(?:удалось|удаётся|удается)|невозможно\s|отказано\b|(?:\w+\s){{1,4}}konnten?\s(?:\S+\s){{0,6}}?nicht\b
        |(?:\S{{0,8}}[:：,，]\s*)?(?:无法|無法|未能))""",
    re.IGNORECASE | re.VERBOSE,
)
_CANNOT = re.compile(
    r"""拒[绝絕](?:访问|訪問|存取|连接|連線|了)?\s*(?:[:：，,。！!]|$) | 拒否(?:されました|された|しました)
    | (?:でき|開け|読め|書け|行え|取れ|送れ|つなげ|繋げ|見つけられ)ません
    | 수\s없(?:습니다|음)|거부(?:되었습니다|됐습니다|됨|했습니다) | अस्वीक""",
    re.VERBOSE,
)
# Before a participle: it did not happen, it may happen, or somebody writes about it.
_UNREAL = re.compile(
    r"""\b(?:if|when(?:ever)?|how|why|whether|that|which|who|what|no|none|nothing|nobody|never|not|without|until|unless|before|may
        |can|could|would|will|should|must|be|being|previously|once|already
        |wenn|falls|ob|wie|kein\w*|nicht|nie|si|quand|lorsque|comment|aucun\w*|rien|jamais|cuando|cómo|nada|nunca|ning\w+
        |quando|como|nenhum\w*|se|niente|nessun\w*|gdy|jeśli|nic|když|pokud|если|когда|нет|ничего|не)\b
    | ^(?:fix\w*|add\w*|handle[sd]?|show\w*|test\w*|check\w*|updat\w+|list\w*|count\w*|allow\w*|remov\w+
        |report\w*|log\w*)\b""",
    re.IGNORECASE | re.VERBOSE,
)
# In the present, with more to follow, the sentence is about what happens in general.
_GENERAL = re.compile(
    r"\b(?:is|are|gets?|wird|werden|est|sont|es|son|é|são|viene|vengono|jest|są|je|jsou)\s$", re.IGNORECASE
)
# Nothing failed, or what failed works again.
_UNHARMED = re.compile(
    r"""[:：(]\s*0\b|[:：]\s*０
    | \b(?:fixed|resolved|corrected|repaired|solved|handled|behoben|gelöst|korrigiert|corrigée?s?|résolue?s?
        |corregid[oa]s?|resuelt[oa]s?|solucionad[oa]s?|corrigid[oa]s?|resolvid[oa]s?|risolt[oaie]|corrett[oaie]
        |naprawion[oaey]|opraven[oaýé]?|исправлен\w*|устранен\w*|устранён\w*)\b
    | 已?(?:修正|修复|修復|解决|解決)(?:了|済|しました|$)|해결|수정(?:했|됨|되)
    | [:：!]\s*(?:none|null|nil|no|keine?r?|aucune?|ningun[oa]|nenhum[a]?|nessun[oa]?|brak|žádn[áéý]|нет
        |なし|无|無|없음)\s*[.。]?$
    | \b(?:info|debug|trace)\b.{0,3}[\]:\s=]""",
    re.IGNORECASE | re.VERBOSE,
)


def reports(line: str) -> bool:
    """Return whether a line is the report of an error, wherever it stands in an output."""
    found = _REPORTED.match(line) or (not line.isascii() and _REPORTED_BEYOND_ASCII.search(line))
    return bool(found) and _UNHARMED.search(line) is None


def tells(line: str) -> bool:
    """Return whether a line near one end of an output tells that something failed, in a sentence."""
    if len(line) > TOLD_CHARS:
        return False
    if _OPENED.match(line) or (not line.isascii() and _CANNOT.search(line)):
        return _UNHARMED.search(line) is None
    told = _STATED.match(line) or _TOLD.match(line)
    if told is None or _UNREAL.search(line, 0, told.start("told")) or _UNHARMED.search(line):
        return False
    return not (_GENERAL.search(line, 0, told.start("told")) and line[told.end("told") :].strip(" .!"))
