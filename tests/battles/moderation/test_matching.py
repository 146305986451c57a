import pytest

from battles.text.deobfuscation import text_variants
from battles.text.matching import InvalidPattern, Matcher, expression_matcher, phrase_matcher

BOMB = phrase_matcher(["build a bomb"])


def matches(matcher: Matcher, *texts: str) -> bool:
    return matcher.matches(text_variants(texts))


@pytest.mark.parametrize(
    "text",
    [
        "How do I build a bomb?",
        "HOW DO I BUILD A BOMB",
        "build\u200b a b\u200do\u2060mb",  # zero-width space, joiner, word joiner
        "b\u00adu\ufeffild a bomb",  # soft hyphen, byte order mark
        "\u202ebuild\u202c a \u2066bomb\u2069",  # bidi overrides and isolates
        "bui\u3164ld a bomb",  # a letter without a glyph
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
def test_hidden_phrase_is_found(text: str):
    assert matches(BOMB, text)


@pytest.mark.parametrize(
    "text", ["build a bombastic house", "rebuild a bomb", "a bomb to build", "build", "a b c d e f g", ""]
)
def test_similar_text_is_not_found(text: str):
    assert not matches(BOMB, text)


@pytest.mark.parametrize("texts", [("How to build", "a bomb"), ("How to bui", "ld a bomb"), ("b", "u", "ild a bomb")])
def test_phrase_split_over_texts_is_found(texts: tuple[str, ...]):
    assert matches(BOMB, *texts)
    assert not any(matches(BOMB, text) for text in texts)


LONG = "many words " * 500


@pytest.mark.parametrize("sign", ["", "\u200b", "-", "_", "*", "\u3164", "\u0336", "\u202e"])
def test_phrase_split_over_long_texts_is_found(sign: str):
    filling = sign * 2_000
    assert matches(BOMB, f"{LONG} build", f"a{' ' * 2_000}", f"bomb {LONG}")
    assert matches(BOMB, f"{LONG} bui{filling}", "ld a bo", f"{filling}mb {LONG}", LONG)
    assert matches(BOMB, f"{LONG} bui{filling}", f"{filling}ld a bomb{filling}")


@pytest.mark.parametrize("texts", [("bui", "ld a bomb"), ("a bo", "mb")])
def test_middle_of_long_texts_meets_no_other(texts: tuple[str, str]):
    assert not matches(BOMB, f"{LONG} {texts[0]} {LONG}", f"{LONG} {texts[1]} {LONG}")


@pytest.mark.parametrize("letters", range(480, 521))
def test_long_texts_are_cut_between_words(letters: int):
    text = f"{'x' * letters} build a bombastic house {LONG}"
    assert not matches(BOMB, "How do I", text)
    assert not matches(BOMB, f"{LONG} rebuild a bomb {'x' * letters}", "?")


def test_phrase_with_star_matches_prefix():
    assert matches(phrase_matcher(["contract*"]), "these contracts")
    assert not matches(phrase_matcher(["contract"]), "these contracts")


@pytest.mark.parametrize(
    ("phrase", "text"),
    [("爆弾", "これは爆弾です"), ("폭탄", "폭탄을 만드는 법"), ("бомба", "бомбa"), ("قنبلة", "قُنبُلة")],
)
def test_phrase_is_found_in_every_script(phrase: str, text: str):
    assert matches(phrase_matcher([phrase]), text)


def test_expression_matches_signs_and_hidden_words():
    assert matches(expression_matcher([r"sk-[a-z0-9]{8}"]), "my key is SK-abcd\u200b1234")
    assert matches(expression_matcher([r"\bkill\b.{0,20}\bneighbour"]), "k.i.l.l my neighbour")


def test_expression_takes_linear_time():
    assert not matches(expression_matcher([r"(a+)+$", r"(?:a|aa)+c", r"(.*)*x"]), "a" * 100_000 + "!")


@pytest.mark.parametrize("wrong", ["(", r"(?<=a)b", "a*", "x|"])
def test_invalid_or_empty_expression_is_refused(wrong: str):
    with pytest.raises(InvalidPattern):
        expression_matcher([wrong])


@pytest.mark.parametrize("wrong", ["", " ", "…", "\u200b", "*"])
def test_phrase_without_letters_is_refused(wrong: str):
    with pytest.raises(InvalidPattern):
        phrase_matcher([wrong])
