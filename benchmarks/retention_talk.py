"""The made-up chats of `retention_other_kinds`: facts, corrections, and small talk in four languages."""

from __future__ import annotations

from random import Random
from typing import Any

FACTS_ASKED = 4
CORRECTED, SAME_WORDS, OTHER_WORDS = 0, 2, 3  # the columns of the questions in the tables below
# fmt: off
# A fact | talk near it that does not answer | a question in its words | one in other words.
FACTS = {"English": """
Our dog is called Biscuit, after a recipe of my grandmother's.|The dog barked at the postman again.|What is our dog called?|Which name did we give the pet?
I am allergic to walnuts, so never put any into a recipe for me.|There was talk of allergies on the radio.|What am I allergic to?|Which food must not go into anything you cook for me?
The spare key is under the third flower pot, left of the door.|I should have another key cut some day.|Where is the spare key?|How would a neighbour get in while we are away?
My sister Johanna moved to Trondheim in spring.|My sister rang last night for an hour.|Where did my sister move to?|In which town does Johanna live these days?
The budget for the kitchen is 7400 euros, not a cent more.|The kitchen needs another coat of paint.|What is the budget for the kitchen?|How much may the renovation cost us?
We decided against the slate tiles because they scratch.|I saw tiles like that next door.|Why did we decide against the slate tiles?|What was wrong with the dark stone floor?""", "German": """
Unser Hund heißt Krümel, nach dem Kuchen meiner Großmutter.|Der Hund hat wieder den Briefträger angebellt.|Wie heißt unser Hund?|Welchen Namen haben wir dem Tier gegeben?
Ich vertrage keine Walnüsse, nimm also nie welche.|Im Radio ging es um Unverträglichkeiten.|Welche Nüsse vertrage ich nicht?|Was darf auf keinen Fall in mein Essen?
Der Ersatzschlüssel liegt unter dem dritten Blumentopf.|Ich sollte noch einen Schlüssel machen lassen.|Wo liegt der Ersatzschlüssel?|Wie kommt die Nachbarin ins Haus?
Für die Küche haben wir höchstens 7400 Euro eingeplant.|Die Küche müsste gestrichen werden.|Wie viel haben wir für die Küche eingeplant?|Was darf der Umbau kosten?""", "Japanese": """
うちの犬の名前はビスケットで、祖母のレシピから取りました。|今朝も犬が郵便屋さんに吠えていました。|うちの犬の名前は何ですか？|ペットを何と呼んでいますか？
私はくるみアレルギーなので、料理には入れないでください。|ラジオでアレルギーの話をしていました。|私は何のアレルギーですか？|私の食事に入れてはいけないものは？
合鍵はドアの左、三つ目の植木鉢の下にあります。|そのうち鍵をもう一本作らないといけません。|合鍵はどこにありますか？|留守のとき隣の人はどうやって入りますか？
台所の予算は七千四百ユーロで、それ以上は出しません。|台所の壁も塗り直したいです。|台所の予算はいくらですか？|改装にいくらまで使えますか？""", "Chinese": """
我们家的狗叫饼干，是用奶奶的食谱起的名字。|今天早上狗又对着邮递员叫了。|我们家的狗叫什么？|我们给宠物起了什么名字？
我对核桃过敏，做菜千万不要放。|今天电台里在讲过敏的事情。|我对什么过敏？|我的饭菜里不能有什么？
备用钥匙在门左边第三个花盆下面。|改天应该再配一把钥匙。|备用钥匙在哪里？|我们不在家时邻居怎么进门？
厨房的预算是七千四百欧元，一分也不能多。|厨房反正也该重新刷一遍了。|厨房的预算是多少？|装修最多能花多少钱？"""}  # noqa: E501
CHANGED = """
The dentist is on Thursday at half past four.|No, the dentist rang: it is Friday at ten now.|When is the dentist?
We meet at Helen's for the concert.|We meet for the concert at the north gate instead.|Where do we meet for the concert?
Please order the blue curtains for the study.|Not blue after all, order green curtains for the study.|Which curtains for the study?
Leo brings the tent to the lake.|Leo cannot, so Ruth brings the tent to the lake.|Who brings the tent to the lake?"""  # noqa: E501
# Small talk: by users, by models; then the places {p}, people {w} and things {t} in it.
TALK = {"English": """
I went to the {p} with {w} and we talked about the {t}.|{w} says the {t} is better than the one at the {p}.|Yesterday {w} forgot the {t} at the {p}.|I read that a {t} can last for years.
The {p} is a good place to talk about such things.|You could try a {t}, or ask {w} what is usual.|A note might begin with the {t} and end with an invitation to the {p}.|It depends; {w} would prefer a simple {t}.
market|library|harbour|park|station|theatre|museum
Anna|Tobias|Maria|Karim|Helen|Oscar|Priya
lamp|bicycle|jacket|soup|novel|camera|carpet|violin""", "German": """
Ich war mit {w} auf dem {p} und wir haben über die {t} gesprochen.|{w} meint, die {t} sei besser als die vom {p}.|Gestern hat {w} die {t} auf dem {p} vergessen.
Der {p} ist ein guter Ort für so etwas.|Probier es mit einer {t}, oder frag {w}, was üblich ist.|Ein Gruß könnte mit der {t} anfangen.
Markt|Bahnhof|Spielplatz|Dachboden|Balkon
Anna|Tobias|Maria|Karim|Helene|Oskar
Lampe|Jacke|Suppe|Kamera|Geige|Leiter""", "Japanese": """
{w}さんと{p}へ行って、{t}の話をしました。|{w}さんは{p}の{t}の方がよかったと言っています。|昨日{w}さんが{p}に{t}を忘れました。
{p}はそういう話にちょうどいい場所です。|{t}を試すか、{w}さんに聞いてみるといいでしょう。|お礼は{t}のことから始めるといいと思います。
市場|図書館|港|公園|駅|劇場
田中|佐藤|鈴木|マリア|山本
ランプ|自転車|上着|スープ|小説|絨毯""", "Chinese": """
我和{w}去了{p}，聊了聊{t}。|{w}说{t}比{p}的那个好。|昨天{w}把{t}忘在{p}了。
{p}很适合聊这些。|可以试试{t}，或者问问{w}的意见。|可以先写{t}，最后邀请他去{p}。
市场|图书馆|港口|公园|车站|剧院
小王|李娜|张伟|玛丽亚|陈静
台灯|自行车|外套|小说|相机|地毯"""}  # noqa: E501
# fmt: on


def chat(language: str, random: Random, asked: int) -> tuple[list[dict[str, Any]], list[tuple[str, int]]]:
    """Return a chat of 100 to 400 messages, and questions with the place of each answer.

    `asked` is the column of the question; if it is `CORRECTED`, facts are stated, and corrected later.
    """
    joint = "" if language in ("Japanese", "Chinese") else " "
    talk = [line.split("|") for line in TALK[language].strip().split("\n")]

    def said(who: int) -> str:
        lines = random.choices(talk[who], k=random.randint(1, 3 + who))
        return joint.join(
            one.format(**{k: random.choice(v) for k, v in zip("pwt", talk[2:], strict=True)}) for one in lines
        )

    texts = [said(n % 2) for n in range(random.randrange(100, 400, 2))]
    lines = (CHANGED if asked == CORRECTED else FACTS[language]).strip().split("\n")
    facts = [line.split("|") for line in random.sample(lines, FACTS_ASKED)]
    places = random.sample(range(len(texts) - 8), 2 * FACTS_ASKED)
    questions = []
    for n, fact in enumerate(facts):
        first, second = places[2 * n : 2 * n + 2]
        if asked == CORRECTED:
            first, second = max(first, second), min(first, second)
        answer, other = (fact[1], fact[0]) if asked == CORRECTED else (fact[0], fact[1])
        texts[first] = joint.join(random.sample([answer, texts[first]], 2))
        texts[second] = joint.join([texts[second], other])
        questions.append((fact[asked or SAME_WORDS], first))
    messages = [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(texts)]
    return messages, questions
