"""Cues of what is said in words."""

from __future__ import annotations

import pytest

from scoring.history.cues.speech import (
    ABOUT_ONESELF,
    CORRECTION,
    MACHINE_MADE,
    QUESTION,
    RULE,
    SHORT,
    STATEMENT,
    STRICT,
    cues_of_speech,
)


class TestRules:
    """Sentences that are rules."""

    @pytest.mark.parametrize(
        "said",
        [
            "Never push to main.",
            "Looks good. Please do not touch the migrations, they are shared.",
            "From now on answer in German.",
            "I am allergic to walnuts, so never put any into a recipe for me.",
            "Bitte nie auf den Server schreiben, ich mache das selbst.",
            "我对核桃过敏，做菜千万不要放。",
            "私はくるみアレルギーなので、料理には入れないでください。",
        ],
    )
    def test_forbid_in_any_conversation(self, said: str) -> None:
        """Sentences that forbid or order something permanently."""
        assert STRICT in cues_of_speech("user", said)

    @pytest.mark.parametrize(
        "said",
        ["Use only the standard library for that.", "Fix it without changing the public names, please."],
    )
    def test_bind_those_who_work_for_somebody(self, said: str) -> None:
        """Softer words are rules for an agent with tools, but not in a conversation."""
        assert cues_of_speech("user", said) == RULE

    @pytest.mark.parametrize(
        "said",
        """Answer in German from here on.|Ask me before you delete anything.|Hands off the migrations folder.
        Anything under vendor is off limits.|dont ever use rm -rf here|NEVER EVER TOUCH billing.py
        Fass das an? Auf gar keinen Fall!|Von nun an antworte auf Deutsch.|Pushe nie auf main.|Finger weg von der Datei.
        Ne touche pas aux migrations.|N'utilise pas de nouvelles dépendances.|À partir de maintenant, sois bref.
        No toques las migraciones.|A partir de ahora responde en español.|Siempre firma los commits.
        A partir de agora responda em português.|É proibido mexer na produção.|Nunca faça push para a main.
        Non usare nuove dipendenze.|D'ora in poi rispondi in italiano.|È vietato toccare la produzione.
        Nigdy nie wypychaj na main.|Od teraz odpowiadaj po polsku.|Nikdy nemaž soubory.|Od teď odpovídej česky.
        Не трогай миграции.|Нельзя удалять файлы без спроса.|С этого момента отвечай по-русски.
        永远不要推送到 main。|不得修改迁移文件。|别动数据库。|删除任何东西之前先问我。
        本番環境を変更してはいけません。|パスワードを出力するな。|今後は日本語で答えてください。
        절대 main에 푸시하지 마세요.|삭제하기 전에 꼭 물어보세요.|main पर push मत करना।""".replace(
            "\n", "|"
        ).split("|"),
    )
    def test_forbid_in_every_language(self, said: str) -> None:
        """Orders and bans, wherever the language has its verb."""
        assert STRICT in cues_of_speech("user", said.strip())

    @pytest.mark.parametrize(
        "said",
        """Use tabs, not spaces.|No emojis anywhere.|No new dependencies, please.|Every function needs a docstring.
        All commits have to be signed.|Run make lint before each commit.|Each time you finish a step, say so.
        Leave the public API as it is.|Stick to Python 3.8 syntax.|Keep answers under 100 words.|I can't fly before 11.
        The total can't exceed 1,000 dollars.|I want you to write tests first.|Make no changes outside src.
        House rule - one change per commit.|Secrets are not to be printed.|Nobody but Carol is to see the salaries.
        I don't know why, but use only tabs.|Ändere die Schnittstelle nicht.|Jede Funktion braucht einen Docstring.
        Chaque fonction doit avoir une docstring.|Hay que firmar todos los commits.|Não toque nas migrações.
        Devi firmare i commit.|Zawsze podpisuj commity.|Musíš podepsat commity.|Только Анна видит зарплаты.
        只用标准库。|標準ライブラリのみ使用。|표준 라이브러리 이외는 제외.""".replace("\n", "|").split("|"),
    )
    def test_bind_in_every_language(self, said: str) -> None:
        """Limits, conditions and conventions, also without a word that forbids."""
        assert RULE in cues_of_speech("user", said.strip())

    @pytest.mark.parametrize(
        "said",
        """The build failed again, can you look?|What does this function do, and why?|No problem, go on with the next.
        I would like to book a flight to Oslo.|No errors were found in the log.|Ich weiß es leider auch nicht.
        Je ne sais pas pourquoi.|No sé qué pasa ahora.|Não sei o que aconteceu.|Non lo so, davvero.
        我不知道为什么。|なぜ失敗するのか分かりません。""".replace("\n", "|").split("|"),
    )
    def test_are_more_than_a_negation(self, said: str) -> None:
        """Answers, questions and reports set no rule."""
        assert RULE not in cues_of_speech("user", said.strip())

    def test_are_not_what_users_lack(self) -> None:
        """Users who do not know something tell it, and forbid nothing; in a conversation, neither does disagreement."""
        assert (
            cues_of_speech("user", "I don't have the reservation number with me right now.") == ABOUT_ONESELF
        )
        assert STRICT not in cues_of_speech("user", "well, i don't agree with that at all, i always say so")

    def test_are_laid_down_by_users_alone(self) -> None:
        """The model's own words are not rules."""
        assert (
            cues_of_speech("assistant", "Never push to main, says the guide that I have read here, twice.")
            == STATEMENT
        )


class TestCorrections:
    """Users who take back what they said."""

    @pytest.mark.parametrize(
        "said",
        """Sorry, I gave you the wrong address.|Oops, a typo: it must be anna.maier@mail.example.|Scratch that, take B.
        On second thought, keep the old name.|I changed my mind, make it five.|No, I meant the second branch.
        The tenant is not t-90012, it is t-90021.|It is flight LH 401, not LH 410.|Correction: the limit is 250.
        ACTUALLY, I'D RATHER HAVE AN EXCHANGE.|Wait, that is incorrect, the port is 8081.
        Forget what I said about Tuesday.|Please disregard my last message.|I should have said 410.|Vergiss das wieder.
        Entschuldigung, die Adresse war falsch.|Ich habe mich vertippt.|Nimm doch lieber den späteren Zug.
        Der Mandant hat es sich anders überlegt, ich meinte Ziffer 9.|Richtig ist Eichenweg 98 in Fulda.
        Je me suis trompé de date.|On a changé d'avis.|Me equivoqué de dirección.|Cambié de idea.
        Eu me enganei, são cinco.|Mudei de ideia.|Mi sono sbagliato, sono cinque.|Ho cambiato idea.
        Pomyliłem się, to jest pięć.|Spletl jsem se.|Я ошибся, нужно пять.|Мы передумали.
        我说错了，是五个。|不是北京，是上海。|すみません、住所が間違っていました。|正しくは京都市です。
        주소를 잘못 적었어요.|두 개가 아니라 다섯 개예요.|मैंने पता गलत बताया था।""".replace("\n", "|").split(
            "|"
        ),
    )
    def test_are_recognised_in_every_language(self, said: str) -> None:
        """People take something back in words of their language, or by a contrast of two values."""
        assert CORRECTION in cues_of_speech("user", said.strip())

    @pytest.mark.parametrize(
        "said",
        """The build is wrong, can you look?|That's what I meant, thanks a lot.|No problem, go on with the next.
        Sorry for the wait, here is the file.|We are actually done with this part.|It is not a luxury, it is needed.
        Sorry, my mistake.|Use tabs, not spaces.|What is wrong with the second test?|Das ist leider noch nicht fertig.
        Je ne sais pas pourquoi.|No sé qué pasa ahora.|我不知道为什么。|なぜ失敗するのか分かりません。""".replace(
            "\n", "|"
        ).split("|"),
    )
    def test_are_more_than_a_complaint(self, said: str) -> None:
        """Reports of faults, thanks and rules take nothing back."""
        assert CORRECTION not in cues_of_speech("user", said.strip())

    def test_are_what_a_message_is_about(self) -> None:
        """A long message that takes something back among much else is no correction."""
        assert CORRECTION not in cues_of_speech(
            "user", f"I changed my mind. {'Now for the next room. ' * 30}"
        )

    def test_are_made_by_users_alone(self) -> None:
        """The model's statements are guarded for themselves."""
        assert CORRECTION not in cues_of_speech("assistant", "Sorry, I gave you the wrong address.")


class TestSpeakers:
    """Messages of role user: written by a person or by a program."""

    @pytest.mark.parametrize(
        "said",
        [
            "<returncode>0</returncode>\n<output>\nmain.py\n</output>",
            "OBSERVATION:\nmain.py",
            "Execution result of [ls]:\nmain.py",
            "[File: /repo/main.py (120 lines total)]\n1:import os",
            "main.py\n(Current directory: /repo)\nbash-$",
            "<system-reminder>The file was changed.</system-reminder>",
            "# AGENTS.md instructions for /repo\n\nUse tabs.",
            "# HOUSE-RULES.md\n\nUse tabs.",
        ],
    )
    def test_may_be_a_program(self, said: str) -> None:
        """Outputs, notices and a project's instructions arrive in the role of the user."""
        assert cues_of_speech("user", said) == MACHINE_MADE

    @pytest.mark.parametrize(
        "said",
        [
            "<pr_description>\nFix the parser.\n</pr_description>",
            "Error: the app shows a white page when I log in",
            "File upload is broken\nsince yesterday, on all machines",
            "# README.md\n\nMake this shorter.",
        ],
    )
    def test_are_users_otherwise(self, said: str) -> None:
        """Tasks in tags, pasted errors and documents are the user's."""
        assert MACHINE_MADE not in cues_of_speech("user", said)

    def test_answer_in_few_words(self) -> None:
        """A short answer is stored with its question, because it says nothing without it."""
        assert SHORT in cues_of_speech("user", "yes, the second one")
        assert SHORT not in cues_of_speech("user", "yes, take the second one and then send it to both")

    def test_are_short_by_their_words_in_writing_without_blanks(self) -> None:
        """Two characters count as a word, so that a whole sentence is no short answer."""
        assert SHORT in cues_of_speech("user", "好，第二个")
        assert SHORT in cues_of_speech("user", "네, 그렇게 하세요")
        assert SHORT not in cues_of_speech("user", "箱子现在改发到码头C9，请照这个办。")

    @pytest.mark.parametrize(
        "text",
        [
            "The freeze has ended, so merge it.", "You can deploy on Fridays again.", "Spanish is okay again.",
            "The ban on new packages is lifted.", "That rule no longer applies.", "The old limit is gone.",
            "Die Sperre ist aufgehoben.", "Du darfst die Tabelle wieder ändern.", "Die Regel gilt nicht mehr.",
            "Le blocage est levé, continue.", "La branche est de nouveau disponible.",
            "La restricción terminó ayer.", "El servidor está disponible otra vez.",
            "A proibição acabou ontem.", "O banco está liberado de novo.", "Il divieto è stato tolto.",
            "Zakaz został zniesiony.", "Zákaz byl zrušen.", "Запрет отменили, можно продолжать.",
            "限制已经取消了，继续吧。", "制限は解除されました。", "금지가 해제되었습니다.",
        ],
    )  # fmt: skip
    def test_lift_a_rule(self, text: str) -> None:
        """Without these words the rule would go on standing."""
        assert CORRECTION in cues_of_speech("user", text)

    @pytest.mark.parametrize(
        "text",
        [
            "The test fails again.", "You can try again now.", "Can you run it again?", "The block is over 100 lines.",
            "The rule in line 4 is wrong again?", "It hangs again after the second call.", "Lock the table first.",
            "The limit is 40 requests a second.", "Is the server free?", "Show me the rules of the linter.",
            "Der Test schlägt wieder fehl.", "Kannst du es noch einmal versuchen?", "Die Regel steht in Zeile 4.",
            "Le test échoue de nouveau.", "La prueba falla otra vez.", "O teste falhou de novo.", "又失败了。",
            "制限は一分に四十件です。", "Тест снова падает.",
        ],
    )  # fmt: skip
    def test_lift_no_rule(self, text: str) -> None:
        """Most of what happens again is no permission."""
        assert CORRECTION not in cues_of_speech("user", text)

    @pytest.mark.parametrize(
        "text", ["Shall I go on?", "要继续吗？", "هل أتابع؟", 'Which one ("a" or "b")?\n']
    )
    def test_of_the_model_end_with_a_question(self, text: str) -> None:
        """The user's next message answers it."""
        assert QUESTION in cues_of_speech("assistant", text)
        assert QUESTION not in cues_of_speech("assistant", f"{text} I go on until you say something else.")
        assert QUESTION not in cues_of_speech("user", text)


class TestWordsThatAreLookedForFirst:
    """The quick search for single words finds every sentence that the expressions find."""

    @pytest.mark.parametrize(
        "words",
        """you may not|you cannot ever|you can't ever|under no circumstances|from now on|at all times|no matter what
        as a standing rule|niemals|nie wieder|auf keinen Fall|ab jetzt|ab sofort|du darfst|ne pousse jamais
        de ahora en adelante|bitte immer|nunca toques|siempre usa""".replace("\n", "|").split("|"),
    )
    def test_find_what_binds_in_any_conversation(self, words: str) -> None:
        """Every order and ban is found, in capitals too."""
        assert STRICT in cues_of_speech("user", f"{words.strip().upper()} this there")

    @pytest.mark.parametrize(
        "words",
        """mustn't|no longer|not allowed|forbidden|prohibited|required to|unbedingt|darfst|musst|verboten|dois|doit
        toujours|interdit|debes|prohibido|dont|should not|only|avoid|without|make sure|ensure|instead|unless|except|stop
        refrain|leave it alone|rather than|prefer|keep it|no more than|at most|exactly|nur|keine|ohne|statt|vermeiden
        stattdessen|bitte nicht|achte|sans|seulement|au lieu|sauf|sin|solo|evita|en vez|salvo|excepto""".replace(
            "\n", "|"
        ).split("|"),
    )
    def test_find_what_binds_those_who_work(self, words: str) -> None:
        """Every softer rule is found, in capitals too."""
        assert RULE in cues_of_speech("user", f"Push {words.strip().upper()} this there")
