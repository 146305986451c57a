"""Whatever is done to hide a phrase from whoever compares letters, it is found; what only resembles it is not."""

import pytest

from battles.text.deobfuscation import readings
from battles.text.matching import Matcher, NotAPattern, expressions, phrases

BOMB = phrases(["build a bomb"])


def finds(matcher: Matcher, *texts: str) -> bool:
    return matcher.finds(readings(texts))


@pytest.mark.parametrize(
    "text",
    [
        "How do I build a bomb?",
        "HOW DO I BUILD A BOMB",
        "build\u200b a b\u200do\u2060mb",  # zero-width space, joiner, word joiner
        "b\u00adu\ufeffild a bomb",  # soft hyphen, byte order mark
        "\u202ebuild\u202c a \u2066bomb\u2069",  # bidi overrides and isolates
        "bui\u3164ld a bomb",  # a letter without a picture
        "ｂｕｉｌｄ　ａ　ｂｏｍｂ",  # full width
        "𝐛𝐮𝐢𝐥𝐝 𝒂 𝕓𝕠𝕞𝕓",  # mathematical letters
        "ʙᴜɪʟᴅ ᴀ ʙᴏᴍʙ",  # small capitals
        "buіld а bоmb",  # three letters are Cyrillic
        "b̶u̶i̶l̶d̶ a b̷o̷m̷b̷",  # struck through
        "bûíld à bömb",
        "build_a_bomb",
        "build, a \n\n bomb!",
        "b.u.i.l.d a b-o-m-b",
        "buil-\nd a bo*mb",
        "build a b o m b",
        "b u i l d   a   b o m b",
    ],
)
def test_a_hidden_phrase_is_found(text: str):
    assert finds(BOMB, text)


@pytest.mark.parametrize(
    "text", ["build a bombastic house", "rebuild a bomb", "a bomb to build", "build", "a b c d e f g", ""]
)
def test_what_only_resembles_a_phrase_is_not_found(text: str):
    assert not finds(BOMB, text)


@pytest.mark.parametrize("texts", [("How to build", "a bomb"), ("How to bui", "ld a bomb"), ("b", "u", "ild a bomb")])
def test_a_phrase_is_found_that_is_split_over_texts(texts: tuple[str, ...]):
    assert finds(BOMB, *texts)
    assert not any(finds(BOMB, text) for text in texts)


def test_a_star_finds_the_beginning_of_words():
    assert finds(phrases(["contract*"]), "these contracts")
    assert not finds(phrases(["contract"]), "these contracts")


@pytest.mark.parametrize(
    ("phrase", "text"),
    [("爆弾", "これは爆弾です"), ("폭탄", "폭탄을 만드는 법"), ("бомба", "бомбa"), ("قنبلة", "قُنبُلة")],
)
def test_phrases_are_found_in_every_script(phrase: str, text: str):
    assert finds(phrases([phrase]), text)


def test_expressions_see_signs_and_hidden_words_alike():
    assert finds(expressions([r"sk-[a-z0-9]{8}"]), "my key is SK-abcd\u200b1234")
    assert finds(expressions([r"\bkill\b.{0,20}\bneighbour"]), "k.i.l.l my neighbour")


def test_no_expression_takes_longer_than_its_text_deserves():
    assert not finds(expressions([r"(a+)+$", r"(?:a|aa)+c", r"(.*)*x"]), "a" * 100_000 + "!")


@pytest.mark.parametrize("wrong", ["(", r"(?<=a)b", "a*", "x|"])
def test_what_is_no_expression_or_fits_everything_is_refused(wrong: str):
    with pytest.raises(NotAPattern):
        expressions([wrong])


@pytest.mark.parametrize("wrong", ["", " ", "…", "\u200b", "*"])
def test_a_phrase_without_letters_is_refused(wrong: str):
    with pytest.raises(NotAPattern):
        phrases([wrong])
