"""Cues of a message's words: rules, corrections, short answers, statements, and user messages that a program wrote.

A rule is a sentence of a user that restricts what is done later. A correction takes back what the same user said
before, which stays wrong where it stands, or lifts a rule. Programs that let a model act through text pass outputs and
notices to it as user messages; those are machine-made.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from scoring.history.content.words import UNSPACED
from scoring.messages import is_machine_made

# The letters of `Cues.speech`.
MACHINE_MADE, RULE, STRICT, ABOUT_ONESELF, SHORT, CORRECTION = "m", "r", "R", "o", "s", "c"
STATEMENT, QUESTION = "w", "q"  # of the model
READ_CHARS = 20_000
SENTENCE_CHARS = 12, 600  # a rule is neither shorter nor longer
SHORT_CHARS, SHORT_WORDS = 60, 6  # a shorter answer is meaningless without its question
UNSPACED_CHARS = 2  # of a word in writing without blanks
STATEMENT_CHARS = 60
CORRECTION_CHARS = 600

_UNSPACED = re.compile(f"[{UNSPACED}]")
_ASKS = re.compile(r"[?？؟]\W*\Z")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+|(?<=[。！？])")
# The beginning of a clause: in most languages an order or a ban has its verb there.
_CLAUSE = r"(?:^\W*|[,;:–—(-]\s*|\b(?:so|and|but|then|please|bitte|und|aber|et|mais|pero|mas|ale|и|но)\s+)"
# An order or a ban in any conversation: at the beginning of a clause, or addressed to "you". In lower case: English,
# German, French, Spanish and Portuguese, Italian, Polish and Czech, Russian; Chinese, Japanese, Korean, Hindi.
_STRICT = re.compile(
    rf"""\b(?:you\s(?:must|may\snot|can(?:not|['’]t)\sever|should\s(?:never|always)|are\snot\sallowed|need\sto\salways)
        |under\sno\scircumstances|from\s(?:now|here)\son|at\sall\stimes|no\smatter\swhat|by\sno\smeans|as\sa\sstanding\srule
        |for\sthe\srest\sof\sth(?:is|e)\s(?:session|chat|conversation)|off[\s-]limits
        |(?:ask|check\swith|confirm\swith|consult)\s(?:me|us)\s(?:first|before)
        |niemals|nie\swieder|auf\s(?:gar\s)?keinen\sfall|unter\skeinen\sumständen|ab\s(?:jetzt|sofort|heute)|von\snun\san
        |du\s(?:darfst|sollst)|bitte\s(?:nie|immer|kein\w*)|nimm\s(?:\w+\s)?nie|finger\sweg|künftig
        |frage?\smich\s[^.]{{0,30}}(?:bevor|vorher|zuerst)
        |désormais|dorénavant|à\spartir\sde\smaintenant|ne\s\w+\sjamais|il\sne\sfaut|il\sfaut\stoujours
        |demande[zr]?-moi\s(?:d['’]abord|avant)
        |de\sahora\sen\sadelante|(?:de\sagora|daqui)\sem\sdiante|a\spartir\sde\sa(?:hora|gora)|nunca\s\w+
        |prohibid[oa]s?|proibid[oa]s?|pregúntame\santes|pergunte(?:-me)?\santes
        |d['’]ora\sin\s(?:poi|avanti)|vietat[oaie]|proibit[oaie]|non\s\w+\smai|chiedi(?:mi)?\sprima
        |nigdy\snie|nie\swolno|od\s(?:teraz|tej\spory)|zabronion\w+|nikdy\sne\w+|od\steď|odteď|nesmí(?:š|te)?|zakázáno
        |никогда\s(?:\w+\s)?не|нельзя|запрещ\w+|с\sэтого\sмомента|отныне|впредь)\b
    | {_CLAUSE}(?:
        (?:please\s+)?(?:(?:never|always|do\snot|don['’]?t)\s+(?!you\b|know|think|see|want)\w+|hands\soff\b)
        |(?:ne\s|n['’])(?:(?:me|le|la|les|lui|leur|y|en)\s)?\w+(?:\s\w+)?\s(?:pas|rien|jamais|plus|aucun\w*|personne)\b
        |(?:siempre|sempre|zawsze|vždy|всегда|immer)\s\w{{3}}
        |no\s(?:(?:me|lo|la|le|nos)\s)?\w{{2,}}[ea]s\s(?:el|l[ao]s?|un[ao]?s?|nada|nunca|ni|al|en|más|est[aeo]|eso|nuev[ao]s?)\b
        |non\s\w+(?:[aei]re|rre)(?:l[oaie]|mi)?\b|nie\s\w+(?:j|jcie)\b|ne\w{{3,}}(?:ej|uj|ejte|ujte)\b|не\s\w+(?:й|йте|ь|ьте)\b
        |(?!(?:ich|er|sie|es|wir|ihr|das|war|ist|hat|bin|hab|habe|hatte|noch|fast|wie|was|so|auch)\b)\w+\s(?:nie|immer)\s
        |(?:[请請])?[别別](?![的人]))
    | 不要|千万|必[须須]|禁止|[绝絕]不|一定要|不准|不[许許]
    | [从從][现現]在起|不得|切勿|[务務]必|永[远遠](?:不|要|用|别)|[严嚴]禁
    | 先[问問]我|(?:今后|今後|以后|以後)[请請都要，]
    | 必ず|絶対|しないで|ないでください|今後は|これからは|今から|[てで]は(?:いけ|なら|だめ|ダメ)
    | ないこと|なければなら|決して|るな[。！!]?$
    | 절대|지\s?(?:마|말)|앞으로|지금부터|반드시|항상|안\s?(?:됩|돼|된)|금지|꼭\s | मत\s|हमेशा|अब\sसे""",
    re.VERBOSE,
)
# Further words that set a rule when a user talks to an agent that works for them.
_RULE = re.compile(
    rf"""\b(?:never|always|must(?:\s?n[’'o]t)?|may\snot|no\slonger|not\sallowed|forbidden|prohibited|required\sto
        |do\snot|don['’]?t|does(?:n['’]t|\snot)\sneed|should(?:n['’]t|\snot)|only|avoid|without|make\s(?:sure|no)|ensure|instead|stop
        |unless|except|refrain|leave\s[^.]{{1,60}}\s(?:alone|as|untouched|unchanged)|rather\sthan|other\sthan|prefer
        |keep\s(?:it|to|your|all|every|each|in\smind|\w+\s(?:under|below|within|short))|no\smore\sthan|at\s(?:the\s)?most|at\sleast|exactly
        |stick\s(?:to|with)|adhere\sto|(?:limit|restrict)\s[^.]{{1,40}}\sto|(?:under|below|within)\s[$€£]?\d|as\slong\sas|regardless\sof
        |before\s(?:each|every|any|you\b(?!\s(?:said|did|were)))|(?:each|every)\stime|whenever|going\sforward|in\s(?:the\s)?future
        |(?:every|each|all|everything|nothing|nobody|no\sone)\b[^.;]{{0,40}}\b(?:needs?|ha(?:s|ve)\sto|goe?s?|may|must|should|(?:is|are)\sto|but)
        |(?:has|have|needs?)\s(?:not\s)?to\s(?:be|stay|remain|fit|match|cost)|(?:is|are)\snot\sto\sbe|can(?:not|['’]t)\sexceed|nothing\s(?:else|with)
        |(?:i|we)\s(?:can(?:['’]t|not)|won['’]t|will\snot|refuse\sto)\s(?!find|see|remember|recall|get|tell|believe|say|think|access|open|log
            |seem|wait|reproduce|understand|figure|connect|install|run|load|even|really)\w+
        |(?:want|like|need|expect)\syou\sto|you\s(?:should|shall)|you\sare\sto|(?:my|our|house|ground)\s(?:rule|polic|convention|budget)\w*
        |read[\s-]only|(?:is|are)\s(?:important|essential|crucial)|frozen|(?:use|write|answer|name|put|spell)\b[^.;]{{0,60}},\snot
        |nie|immer|unbedingt|darfst?|dürfen|musst?|müssen|verboten|nur|kein\w*|ohne|statt|vermeide\w*|außer|stattdessen|bitte\snicht
        |achte|höchstens|mindestens|grundsätzlich|in\szukunft|jede[rsnm]?\s\w+\s(?:braucht|muss|hat)|halte?\sdich|denke?\sdaran|sollst?
        |jamais|toujours|dois|doit|doivent|interdit|sans|seulement|uniquement|évite[rz]?|au\slieu|sauf|il\sfaut|aucune?|au\splus|au\smoins
        |personne\sd['’]autre|chaque\sfois|pas\sd(?:e\s|['’])\w+
        |siempre|debe[ns]?|jamás|s[oó]lo|solamente|únicamente|sin|evita|en\svez|en\slugar|salvo|excepto|hay\sque|tienen?s?\sque|nada\sde
        |cada\svez|como\smáximo|al\smenos
        |sempre|deve[ms]?|tem\sque|têm\sque|é\spreciso|sem|apenas|somente|evite|em\svez|exceto|no\smáximo|pelo\smenos|toda\svez
        |mai|dev[ei]|devono|senza|soltanto|invece|tranne|eccetto|al\smassimo|almeno|bisogna|occorre|ogni\svolta|nessun\w*
        |nigdy|zawsze|musi(?:sz|cie)?|należy|bez|tylko|chyba\sże|zamiast|unikaj|oprócz|co\snajmniej|najwyżej
        |nikdy|vždy|musí(?:š|te)?|pouze|jen|místo|kromě|alespoň|nejvýše
        |никогда|всегда|обязательно|должн\w+|только|без|вместо|кроме|если\sне|не\sболее)\b
    | {_CLAUSE}(?:
        no\s(?:more\s)?(?!problem|thank|worr|idea|longer|doubt|need|matter|way|luck|sign|error|issue|rush|hurr|clue|wonder|question|reason
            |difference|i\b|it\b|th[aeio]|but|we\b|you\b|s[eé]\b|not?\b)\w+
            (?![^.;]*\b(?:was|were|is|are|ha[sd]|have|found|failed|passed|yet|far)\b)
        |não\s(?!funciona|era|foi|est|há|tenh|sei|consig|precisa|lembr|entend|ach)\w+(?:[ae]s?|[ae]m)\b
        |remember\b|(?:rule|convention)\s?\d*:
        |(?!(?:ich|du|er|sie|es|wir|ihr|das|dies|der|die|den|ein|eine|mein|hier|da|dort|jetzt|heute|gestern|leider|warum|wieso|wer|wie|wo
            |was|wann|geht|ging|ist|war|sind|hat|hab|habe|kann|konnte|weiß|stimmt|wenn|ob|weil|nein|ja|danke|so|noch|schon|auch|vielleicht
            |klappt|läuft|passt|gibt|sieht|scheint|gar|warst|hast|bist|kannst|möchte|will)\b)\w+\s(?:\S+\s){{0,5}}nichts?\b)
    | 只[能用准]|除非|[别別]|不能|[仅僅]|以外|[总總]是|始[终終]|每次|最多|至少
    | 不超[过過]|だけ|のみ|代わりに|以内|ようにして|ずに|なしで|常に|毎回
    | 대신|없이|제외|최대|이내|केवल|सिर्फ|बिना""",
    re.VERBOSE,
)
# Words that take something back, in lower case, in the same languages as a ban.
_CORRECTION = re.compile(
    rf"""\b(?:changed?\s(?:my|our)\sminds?|on\ssecond\sthoughts?|scratch\sthat|my\s(?:mistake|error)\W+\w+|misspoke
        |i\s(?:was|am)\smistaken|i\sshould\shave\s(?:said|written)|vergiss\s(?:das|was)
        |(?<!['’]t\s)(?<!not\s)(?<!never\s)(?:forget|disregard|ignore)\s
            (?:that|what\s(?:i|we)|(?:my|the|our)\s(?:last|previous|earlier|first))\b
        |(?:gave|told|sent|typed|wrote|mentioned|entered)\s(?:you\s)?(?:the|an?|my|our)\s(?:wrong|incorrect|old)
        |(?:(?:sorry|w?oops|apolog(?:y|ies|i[sz]e))\b[^.!?]{{0,60}}|(?:actually|wait|no)[,:–—][^.!?]{{0,30}})\b
            (?:wrong|incorrect|(?:mistake[ns]?|typo)\W+\w+|mist(?:yped|ook)|misread|mixed\sup|swapped|instead|not\s[^,.!?]{{1,40}}\sbut)
        |actually,?\s(?:i|we)(?:['’]d|\swould)?\s(?:rather|prefer)
        |(?:is|are|was|were)(?:\snot|n['’]t)\s[^,.!?;]{{0,30}}\d[^,.!?;]{{0,20}}[,;]\s?(?:but|it)
        |(?:habe?|hatte)\s[^.!?]{{0,40}}(?:vertippt|verschrieben|vertan|geirrt|verwechselt|umentschieden|anders\süberlegt)
        |(?:ist|war|waren|sind|habe?n?|hatten?)\s[^.!?]{{0,40}}\bfalsch|tippfehler|mein\sfehler|ich\smeinte|gemeint\s(?:ist|war)
        |richtig\s(?:ist|wäre|lautet|heißt)|doch\s(?:lieber|besser)
        |je\s(?:me\ssuis\stromp\w+|voulais\sdire)|chang\w+\sd['’]avis|erreur\sde\sma\spart|faute\sde\sfrappe
        |me\s(?:equivoqu\w+|confund\w+)|quise\sdecir|cambi\w+\sde\s(?:opinión|idea)|error\smío
        |(?:me\s)?(?:enganei|equivoquei)(?:-me)?|quis\sdizer|mud\w+\sde\sidei?a|erro\smeu
        |(?:mi\ssono|ho)\ssbagliat\w|volevo\sdire|cambiato\sidea|errore\smio
        |pomylił\w+|miał[ea]m\sna\smyśli|zmieni\w+\szdanie|spletla?|rozmyslela?\sjsem|jsem\sse\srozmyslela?
        |ошибся|ошибл[аи]сь|опечатк\w+|перепутал\w*|передумал\w*|имел[аи]?\sв\sвиду)\b
    | {_CLAUSE}(?:i|we)\s(?:actually\s)?meant\b(?!\s(?:it|well|no)\b)
    | ,\snot\s(?:\w+\s){{0,2}}\S*\d\S*$
    | ^\W*(?:correction|korrektur|corrección|correção|correzione|korekta|oprava|исправление|поправка)\s?:
    | [说說写寫打弄搞记記][错錯]|更正|我的意思是|改(?:变)?主意|不是[^，。！？]{{1,20}}[，,]?(?:而)?是
    | 間違[えいっ]|訂正|正しくは|ではなく|じゃなく|やっぱり|やはり
    | 잘못\s?(?:말|적|썼|입력|알)|정정|오타|[이가]\s아니라|(?:마음|생각)이\s바뀌
    | ग़?लत\s(?:बता|लिख|दे|था|थी)|मेरी\sग़?लती""",
    re.VERBOSE,
)
# Words that lift a ban or a rule, in lower case, in the same languages: the ban would stand without them.
_LIFTED = re.compile(
    r"""\b(?:freeze|ban|lock(?:down)?|block|restriction|embargo|moratorium|hold|prohibition|limit(?:ation)?|rule|quarantine)s?\b
            [^.!?;]{0,30}(?:\s|['’])(?:is|are|was|were|has|have|s|ve|been|no)\s(?:now\s|been\s)?
            (?:over(?!\s(?:\d|the\b|an?\b))|ended|lifted|gone|expired|dropped|removed|longer|suspended|cancell?ed)\b
        |\b(?:is|are|['’]s|['’]re)\s(?:now\s)?(?:fine|ok|okay|allowed|free|open|yours|welcome|possible|permitted|available)
            \s(?:again|now|after\sall)\b
        |\b(?:you\s(?:can|may)|feel\sfree\sto)\s(?!(?:re)?(?:try|run|start|check|test|ask|look|see|send|open)\b)[^.!?;]{1,60}
            \b(?:again|after\sall)\b
        |\bno\slonger\s(?:appl|need|necessary|required|forbidden|prohibited|off[\s-]limits|holds?\b|counts?\b|valid)
        |\b(?:sperr|verbot|einschränkung|beschränkung|regel|stopp|freeze|vorgabe)\w*\s[^.!?;]{0,40}
            \b(?:vorbei|aufgehoben|weg|beendet|abgelaufen|entfällt|(?:gilt|gelten)\snicht\smehr)\b
        |\b(?:gilt|gelten)\snicht\smehr\b|\bwieder\s(?:frei|erlaubt|ok|okay|möglich|in\sordnung|zulässig)\b
        |\b(?:darfst|dürft|kannst|könnt)\s(?!es\b)[^.!?;]{1,40}\bwieder\b
        |\b(?:gel|interdiction|blocage|restriction|règle|limite|verrou)\s[^.!?;]{0,40}
            \b(?:terminée?|levée?|finie?|n['’]est\splus|ne\ss['’]applique\splus)\b
        |\b(?:est|sont)\s(?:de|à)\snouveau\s(?:à|autorisée?s?|libres?|permise?s?|possibles?|ouverte?s?|disponibles?)
        |\b(?:bloqueo|prohibición|veto|restricción|límite|regla|congelación)\s[^.!?;]{0,40}
            \b(?:termin[óa]\w*|acab[óa]\w*|levant\w+|ya\sno)\b
        |\b(?:está|están|es|son)\s(?:libres?|permitid[oa]s?|disponibles?|bien|abiert[oa]s?|posibles?)\s(?:otra\svez|de\snuevo)\b
        |\b(?:bloqueio|proibição|restrição|limite|regra|congelamento)\s[^.!?;]{0,40}
            \b(?:acabou|terminou|levantad\w+|caiu|já\snão|não\svale)\b
        |\b(?:está|estão|é|são)\s(?:livres?|permitid[oa]s?|disponív\w+|liberad[oa]s?|abert[oa]s?)\s(?:de\snovo|outra\svez|novamente)\b
        |\b(?:blocco|divieto|restrizione|limite|regola)\s[^.!?;]{0,40}
            \b(?:finit[oa]|terminat[oa]|tolt[oa]|revocat[oa]|scadut[oa]|non\svale\spiù)\b
        |\b(?:è|sono)\sdi\snuovo\s(?:liber[oaie]|permess[oaie]|possibil[ei]|disponibil[ei]|apert[oaie])\b
        |\b(?:blokad|zakaz|ograniczeni|zasad|zákaz|blokac|omezení|pravidl)\w*\s[^.!?;]{0,40}
            \b(?:znie[sś]i?o\w+|zakończ\w+|nie\sobowiązuj\w+|zruš\w+|skonči\w+|neplatí)\b
        |\b(?:блокировк|запрет|ограничени|лимит|правил|заморозк)\w*\s[^.!?;]{0,40}
            \b(?:снят\w*|снима\w+|отмен\w+|законч\w+|не\sдейству\w+)\b
        |\bснова\s(?:свобод\w+|можно|доступ\w+|разреш\w+)\b
    | (?:禁令|[锁鎖]定|[冻凍][结結]|限制|[规規]定)[^。！？]{0,20}(?:解除|取消|[结結]束|失效) | 又可以
    | 不再(?:禁止|需要|[适適]用)
    | (?:ロック|禁止|制限|凍結|ルール)[^。！？]{0,20}(?:解除|撤回|終わり|なくなり)
    | もう[^。！？]{0,15}(?:構いません|かまいません|大丈夫)
    | (?:금지|제한|잠금|동결)[^.!?]{0,20}(?:해제|풀렸|풀립|끝났) | (?:रोक|प्रतिबंध|पाबंदी)[^।!?]{0,20}(?:हट|समाप्त|ख़?त्म)""",
    re.VERBOSE,
)
# Users who cannot say something, or do not have it, set no rule with it.
_ABOUT_ONESELF = re.compile(
    r"\b(?:i|we)\s(?:(?:just|really|still|actually|also)\s)?(?:do\snot|don['’]?t|did\snot|didn['’]t)\s"
    r"(?:(?:really|quite|actually|even|currently)\s)?"
    r"(?:know|remember|recall|have|see|think|believe|understand|get|mind|care)\b"
)
# A sentence in ASCII letters without any of these words matches neither; looking for words is much faster.
_WORD = re.compile("[a-z']+")
_WORDS = frozenset(
    """
    ab achte adhere agora ahora all allowed almeno always apenas aucun aucune avoid before below bez
    bisogna bitte cada can't cannot chaque chiedi chiedimi circumstances convention conventions crucial
    d'ora darf darfst debe deben debes demande demandez denk denke deve devem deves devi devono diante
    do does doesn't dois doit doivent don't dont each ensure essential every everything evita evite
    exactly except excepto exceto expect faut finger forbidden forward frag frage from frozen future
    goes ground halt halte hands has have hay heute house il immer important in instead interdit invece
    jamais jede jeden jeder jedes jen jetzt keep kein keine keinem keinen keiner leave lieu like limit
    limits long longer lugar mai make massimo matter may me means menos mich mindestens moins most musi
    musicie musisz muss musst must mustn't my n'utilise nada ne need needs nessun nessuna nessuno never
    nicht nichts nie niemals nigdy nikdy nimm no nobody non not nothing nunca nur occorre od off ogni
    ohne only our pas personne plus pouze prefer prohibida prohibidas prohibido prohibidos prohibited
    proibida proibido proibita proibito read refrain refuse regardless remember required rest restrict
    rule rules salvo sans sauf sem sempre senza seulement shall should shouldn't siempre sin sofort
    solamente soll sollst solo somente statt stattdessen stick stop sure tem than tiene tienen tienes
    times toda toujours tranne tylko unbedingt under unikaj uniquement unless us verboten vermeide
    vermeiden vez vietata vietato von want whenever within without won't you zabronione zamiast zawsze
    zukunft
    """.split()  # noqa: SIM905
)
# The same for corrections; one of the words of each alternative is enough.
_CORRECTING_WORDS = frozenset(
    """
    actually after again aren't ban bans besser blocage blocco block blokada bloqueio bloqueo cambiado cambiato
    confundi correction correzione d'avis darfst disregard divieto embargo enganei equivoque equivoquei erreur erro
    error errore falsch faute fehler forget freeze geirrt gel gelten gemeint gilt hold holds idea ideia ignore
    incorrect instead interdiction isn't kannst korekta korrektur lieber limit limitation limitations limite limits
    lock lockdown locks longer meant meinte mind minds misread misspoke mistake mistaken mistakes mistook mistyped
    mixed moratorium not nouveau novamente novo now nuevo nuovo old oprava otra prohibition quarantine quis quise
    regel regeln regla regola regra restriction restrictions restrizione richtig rozmyslel rozmyslela rule rules
    said sbagliata sbagliato scratch second sperre spletl spletla stopp swapped tippfehler trompe typo
    umentschieden verbot vergiss verrou verschrieben vertan vertippt verwechselt veto volevo vorgabe vorgaben
    voulais wasn't weren't wieder written wrong zakaz zasada zdanie
    """.split()  # noqa: SIM905
)


def cues_of_speech(role: str, said: str) -> str:
    """Return the letters for the cues in a message's words."""
    text = said.strip()
    if not text:
        return ""
    if role == "assistant":
        said_much = STATEMENT if len(text) >= STATEMENT_CHARS else ""
        return said_much + (QUESTION if ends_with_question(text) else "")
    if role != "user":
        return ""
    if is_machine_made(text):
        return MACHINE_MADE
    is_short = len(text) < SHORT_CHARS and _count_words(text) <= SHORT_WORDS
    sentences = list(_sentences(text))
    # A longer message says much else, and would take the room of several corrections.
    corrects = len(text) <= CORRECTION_CHARS and any(_corrects(*one) for one in sentences)
    return (SHORT if is_short else "") + _rule_letters(sentences) + (CORRECTION if corrects else "")


def ends_with_question(text: str) -> bool:
    """Return whether a text ends with a question."""
    return _ASKS.search(text[-SHORT_CHARS:]) is not None


def _count_words(text: str) -> int:
    """Return the number of words of a short text, in writing without blanks, too."""
    unspaced = 0 if text.isascii() else len(_UNSPACED.findall(text))
    return max(len(text.split()), unspaced // UNSPACED_CHARS)


def _sentences(text: str) -> Iterator[tuple[str, Sequence[str] | None]]:
    """Yield the sentences of a user, in lower case, and their words if all letters are ASCII."""
    least, most = SENTENCE_CHARS
    for sentence in _SENTENCE.split(text[:READ_CHARS].lower()):
        plain = sentence.isascii()
        if len(sentence) <= most and not (plain and len(sentence) < least):
            yield sentence, _WORD.findall(sentence) if plain else None


def _corrects(sentence: str, words: Sequence[str] | None) -> bool:
    """Return whether a user takes something back in a sentence, or lifts a rule."""
    if words is not None and _CORRECTING_WORDS.isdisjoint(words):
        return False
    return _CORRECTION.search(sentence) is not None or _LIFTED.search(sentence) is not None


def _rule_letters(sentences: Iterable[tuple[str, Sequence[str] | None]]) -> str:
    """Return the letters for the rules in a user's words, "" if there are none."""
    found = ""
    for sentence, words in sentences:
        if words is not None and _WORDS.isdisjoint(words):
            continue
        binding = _ABOUT_ONESELF.sub(",", sentence)
        if _STRICT.search(binding):
            return RULE + STRICT
        if found != RULE and _RULE.search(binding):
            found = RULE
        elif not found and binding != sentence:
            found = ABOUT_ONESELF
    return found
