"""Encodings are recognized in short texts of many languages; binary content is no text."""

import pytest

from common.text.encodings import CODECS, Decoded, alternatives, decode

WESTERN = ["Windows-1252", "ISO-8859-15", "Mac Roman", "IBM850", "IBM437"]
CENTRAL = ["Windows-1250", "ISO-8859-2", "IBM852"]
CYRILLIC = ["Windows-1251", "IBM866", "ISO-8859-5", "Mac Cyrillic"]
GREEK = ["Windows-1253", "ISO-8859-7", "IBM737", "Mac Greek"]
TURKISH = ["Windows-1254", "IBM857", "Mac Turkish"]
# (encodings, a sentence, words and lines)
TEXTS = [
    (WESTERN, "Die Straße führt über die Brücke zum größten Gebäude der Stadt.",
     ["Übung", "für", "Größe;Länge\n1;2", "x = 1  # Zähler erhöhen", "Müller", "Bäcker", "schön"]),
    (WESTERN, "L’été dernier, nous avons mangé des crêpes près de la forêt.",
     ["déjà", "# gère les cas spéciaux", "élève;âge\nRené;12", "Noël", "français", "« Très bien », dit-elle."]),
    (WESTERN, "El niño pequeño comió una manzana en el jardín después de la lección.",
     ["¿Qué año?", "mañana", "corazón", "señor"]),
    (WESTERN, "La città è più bella perché c’è il sole.", ["perché", "Forlì", "caffè"]),
    (WESTERN, "Não há razão para a preocupação com a situação econômica.", ["coração", "São Paulo", "três"]),
    (WESTERN, "Blåbærsyltetøj på ærø er rødt og grønt.", ["København", "både"]),
    (WESTERN, "Åtta kor sov på ängen bredvid sjön.", ["människor", "Hyvää päivää, mitä kuuluu?"]),
    (CENTRAL, "Wszyscy ludzie rodzą się wolni i równi w swojej godności.",
     ["Zażółć gęślą jaźń.", "Łódź", "pytanie;odpowiedź\nStolica Polski?;Warszawa", "książka"]),
    (CENTRAL, "Všichni lidé se rodí svobodní a sobě rovní.", ["děkuji", "otázka", "město", "žluťoučký kůň"]),
    (CENTRAL, "Minden emberi lény szabadon születik és egyenlő méltósága van.", ["köszönöm", "kérdés", "főváros"]),
    (CENTRAL, "Sva ljudska bića rađaju se slobodna i jednaka u dostojanstvu.", ["što", "riječ"]),
    (TURKISH, "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar.",
     ["İstanbul şehri güzel", "teşekkürler", "soru;yanıt\nTürkiye'nin başkenti?;Ankara", "kış"]),
    (["Windows-1257"], "Visi žmonės gimsta laisvi ir lygūs savo orumu.", ["Kõik inimesed sünnivad vabadena."]),
    (CYRILLIC, "Все люди рождаются свободными и равными в своём достоинстве.", ["Привет, мир", "вопрос", "Москва"]),
    (["KOI8-R"], "Все люди рождаются свободными и равными.", ["Привет, мир", "вопрос", "Москва"]),
    (["Windows-1251", "KOI8-U"], "Всі люди народжуються вільними і рівними.", ["Київ є столицею України", "питання"]),
    (["Windows-1251", "IBM866"], "Всички хора се раждат свободни и равни по достойнство.", ["въпрос"]),
    (GREEK, "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι.", ["Γειά σου κόσμε", "ερώτηση"]),
    (["Windows-1255", "IBM862"], "כל בני האדם נולדו בני חורין ושווים בערכם", ["שלום עולם", "שאלה"]),
    (["Windows-1256", "ISO-8859-6"], "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق", ["مرحبا بالعالم"]),
    (["Windows-874"], "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกัน", ["สวัสดีชาวโลก"]),
    (["Shift-JIS", "EUC-JP", "ISO-2022-JP"], "すべての人間は、生まれながらにして自由であり、かつ平等である。",
     ["こんにちは、世界。カタカナ", "東京は日本の首都です。"]),
    (["GB18030"], "人人生而自由，在尊严和权利上一律平等。", ["你好世界", "问题", "姓名,年龄\n王小明,30"]),
    (["Big5"], "人人生而自由，在尊嚴和權利上一律平等。", ["問題與答案", "法國的首都是哪裡？"]),
    (["EUC-KR"], "모든 인간은 태어날 때부터 자유로우며 동등하다.",
     ["안녕하세요", "질문", "프랑스의 수도는 어디입니까?"]),
]  # fmt: skip


def is_right(text: str, encoding: str) -> bool:
    try:
        decoded = decode(text.encode(CODECS[encoding]))
    except UnicodeEncodeError:  # signs that the encoding lacks
        return True
    return decoded is not None and decoded.text == text


def test_encoding_of_a_sentence_is_recognized():
    wrong = [(name, text) for names, text, _words in TEXTS for name in names if not is_right(text, name)]
    assert wrong == []


def test_encoding_of_single_words_is_mostly_recognized():
    results = [is_right(word, name) for names, _text, words in TEXTS for name in names for word in words]
    assert sum(results) / len(results) > 0.9


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
@pytest.mark.parametrize("text", ["name;Größe\n1;2", "Москва, 2026\n", "{}", "hello"])
def test_unicode_is_read_without_assumption(encoding: str, text: str):
    decoded = decode(text.encode(encoding))
    assert decoded is not None
    assert (decoded.text, decoded.is_assumed, decoded.dropped, decoded.broken) == (text, False, 0, 0)


@pytest.mark.parametrize(("content", "expected"), [
    (b"one\x00two, three, four", Decoded("onetwo, three, four", "UTF-8", dropped=1)),
    (b"N\x08NAME\n_\x08o_\x08n", Decoded("NAME\non", "UTF-8")),
    (b"end of a DOS file\r\n\x1a", Decoded("end of a DOS file\r\n", "UTF-8")),
    (b"one\x0btwo\x0cthree", Decoded("one\ntwo\x0cthree", "UTF-8")),
    (b"\x1b[31mred\x1b[0m", Decoded("\x1b[31mred\x1b[0m", "UTF-8")),
    ("viele schöne Wörter für größere Bäume, süße Äpfel, öde Ämter, Öl".encode()[:-1] + b"\xc3",
     Decoded("viele schöne Wörter für größere Bäume, süße Äpfel, öde Ämter, Ö\ufffd", "UTF-8", broken=1)),
    ("schöner Tag\n".encode() + "größte Übung\n".encode("cp1252"),
     Decoded("schöner Tag\ngrößte Übung\n", "UTF-8", other_lines=1, other="Windows-1252")),
    (b"a line of a log before a crash\n" + bytes(50), Decoded("a line of a log before a crash\n", "UTF-8", dropped=50)),
    (b"\xff\xfe", Decoded("", "UTF-16LE")),
    (b'<?xml version="1.0" encoding="ISO-8859-7"?><a>\xc1\xe2</a>',
     Decoded('<?xml version="1.0" encoding="ISO-8859-7"?><a>Αβ</a>', "ISO-8859-7", is_assumed=True)),
    (b"the caf\xe9", Decoded("the café", "Windows-1252", is_assumed=True)),
])  # fmt: skip
def test_odd_bytes_of_a_text_are_named(content: bytes, expected: Decoded):
    assert decode(content) == expected


@pytest.mark.parametrize("content", [
    b"MZ\x90\x00\x03\x00\x00", bytes(100), bytes(range(256)), b"MZ" + bytes(60),
    b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\x00>\x00\x01",
    b"".join(number.to_bytes(4, "little") for number in range(300)), b"\xff\xfe" + bytes([0xD8, 0xDC] * 50),
    b"\x00\x00\x00\x01" * 40,
])  # fmt: skip
def test_binary_content_is_no_text(content: bytes):
    assert decode(content) is None


def test_likely_encodings_are_offered_with_their_lines():
    content = "name\npytanie o zażółć\n".encode("cp1250")
    found = dict(alternatives(content, "Windows-1250"))
    assert next(iter(found)) == "Windows-1250"
    assert (found["Windows-1250"], "ISO-8859-2" in found) == ("pytanie o zażółć", False)
    assert len(found) == len(set(found.values())) == 6


@pytest.mark.slow
@pytest.mark.parametrize(("encoding", "text"), [
    ("Windows-1250", "Zażółć gęślą jaźń. "), ("GB18030", "人人生而自由，在尊严和权利上一律平等。"),
])  # fmt: skip
def test_long_text_is_recognized_from_a_sample(encoding: str, text: str):
    decoded = decode((text * 500_000).encode(CODECS[encoding]))
    assert decoded is not None
    assert (decoded.encoding, len(decoded.text)) == (encoding, len(text) * 500_000)
