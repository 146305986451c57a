import pytest

from battles.text.self_identification import leaks_identity

NAMES = ["Wombat-9B Instruct", "wombat", "acme/wombat-9b-instruct:q4"]


def has_leak(text: str) -> bool:
    return leaks_identity(text, names=NAMES, organization="Acme Corp")


@pytest.mark.parametrize(
    "text",
    [
        "I am Wombat.",
        "Sure! As Wombat, I think so.",
        "WOMBAT 9B",
        "wombat9b",
        "wombat-9b-instruct:q4",
        "**Wom**bat here",
        "_Wombat_",
        "`Wombat`",
        "~~Wom~~bat",
        "W\\*ombat",
        "[Wom](http://x)bat",
        "<b>Wom</b>bat",
        "W&#111;mbat",
        "W\u200bo\u200bm\u200bb\u200ba\u200bt",
        "Wom\u00adbat",
        "Ｗｏｍｂａｔ",
        "W o m b a t",
        "W-o-m-b-a-t",
        "W.o.m.b.a.t",
        "Wómbát",
        "Wоmbаt with two Cyrillic letters",
        "**W**ＯM\u200b*b*at",
    ],
)
def test_own_name_is_detected_in_every_spelling(text):
    assert has_leak(text)


@pytest.mark.parametrize(
    "text",
    [
        "I'm ChatGPT, a large language model trained by OpenAI.",
        "My name is Claude.",
        "I was created by Anthropic.",
        "I’m Gemini!",
        "I am an AI called *Claude*",
        "I'm a language model trained by Acme Corp.",
        "I'm a helpful AI assistant named SmolLM, trained by Hugging Face.",
        "Je suis Claude, un assistant.",
        "Je suis un modèle de langage développé par Mistral AI.",
        "Ich bin ein von OpenAI entwickeltes Sprachmodell.",
        "Ich wurde von Google trainiert.",
        "Soy un modelo creado por OpenAI",
        "我是由OpenAI开发的",
        "私はGoogleによって",
        "Я — языковая модель от Google",
        "저는 OpenAI가 만든 언어 모델입니다",
        "أنا نموذج لغوي من Google",
    ],
)
def test_introduction_by_known_name_is_detected(text):
    assert has_leak(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ChatGPT and Claude are language models.",
        "Google was founded in 1998.",
        "This phone is made by Google.",
        "I am not sure whether Claude is better.",
        "You can use the OpenAI API.",
        "Wombats live in Australia.",
        "I'm happy to help you with the Gemini API.",
        "I am a language model.",
        "I am an AI assistant.",
        "A combat plan",
        "I cannot say who made me.",
        "Mistral is a wind. I am here to help.",
        "The llama is an animal.",
        "I was wondering about GPT-4.",
        "Je suis heureux de vous aider.",
    ],
)
def test_mention_of_others_is_no_leak(text):
    assert not has_leak(text)


def test_short_name_counts_only_in_introduction():
    assert not leaks_identity("Set o1 and o3 to zero.", names=["o1"])
    assert leaks_identity("I am o1.", names=["o1"])


def test_generic_first_word_is_no_introduction():
    assert not leaks_identity("I am a language model.", names=["Language Model 7"])


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", ["i am ", "я ", "i am a model by ", "[", "<", "](", "我是", "\u0301", "&#", "w "])
def test_hostile_answer_takes_linear_time(piece):
    assert not has_leak((piece * 64_000)[:64_000])


def test_model_path_matches_whole_and_last_part():
    for text in ("I run acme/wombat-9b.", "This is wombat 9b."):
        assert leaks_identity(text, names=["acme/wombat-9b"])
