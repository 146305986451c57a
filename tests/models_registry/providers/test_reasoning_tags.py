"""Reasoning in content is told apart at every cut; a sentence that mentions a tag stays text."""

import pytest

from models_registry.providers.reading.reasoning_tags import ReasoningTags


def parse_pieces(pieces: list[str], *, is_cut: bool = False, may_begin_inside: bool = False) -> tuple[str, str]:
    """Return (text, reasoning)."""
    tags = ReasoningTags(may_begin_inside=may_begin_inside)
    text = reasoning = ""
    for number in range(len(pieces) + 1):
        is_over = number == len(pieces)
        more, thoughts = tags.rest(is_cut_by_length=is_cut) if is_over else tags.part(pieces[number])
        if tags.takes_back:
            tags.takes_back = False
            text, reasoning = "", text + reasoning
        text, reasoning = text + more, reasoning + thoughts
    return text, reasoning


def cuts_of(whole: str) -> list[list[str]]:
    return [[whole], list(whole), *([whole[:at], whole[at:]] for at in range(len(whole)))]


HARMONY = "<|channel|>analysis<|message|>so<|end|><|start|>assistant"
APART = [
    ("<think>so</think>yes", "yes", "so"),
    ("\n <think>\nso\n</think>\n\nyes\n", "yes\n", "\nso\n"),
    ("<think>a < b </thin </think>yes </think>", "yes </think>", "a < b </thin "),
    ("<think>never ends </thi", "", "never ends </thi"),
    ("<think></think>yes", "yes", ""),
    ("<think>\n\n</think>\n\nyes", "yes", "\n\n"),
    ("<think> okay, the user says hi.\nSo.</think>\n\nHi.", "Hi.", " okay, the user says hi.\nSo."),
    ("<think>I write `</think>` here.</think>yes", "yes", "I write `</think>` here."),
    # Spellings.
    ("<thinking>so</thinking>yes", "yes", "so"),
    ("<THINK>so</THINK>yes", "yes", "so"),
    ("<thought>so</thought>yes", "yes", "so"),
    ("<reasoning>so</reasoning>yes", "yes", "so"),
    ("<seed:think>so</seed:think>yes", "yes", "so"),
    ("<longcat_think>so</longcat_think>\nyes", "yes", "so"),
    ("[THINK]so[/THINK]yes", "yes", "so"),
    ("◁think▷so◁/think▷yes", "yes", "so"),
    ("<|begin_of_thought|>so<|end_of_thought|>\n<|begin_of_solution|>yes<|end_of_solution|>", "yes", "so"),
    ("<|START_THINKING|>so<|END_THINKING|><|START_RESPONSE|>yes<|END_RESPONSE|>", "yes", "so"),
    # Again after text.
    ("<think>so</think>The river <think>More.</think>flows.", "The river flows.", "soMore."),
    ("The river.\n<think>\nMore.\n</think>\nIt flows.", "The river.\n\nIt flows.", "\nMore.\n"),
    # The opening tag was in the prompt.
    ("Okay, a greeting.\n</think>\n\nyes", "yes", "Okay, a greeting.\n"),
    ("Okay, a greeting.</think>yes", "yes", "Okay, a greeting."),
    ("Okay, a greeting.</think> Yes", "Yes", "Okay, a greeting."),
    # Channels.
    (f"{HARMONY}<|channel|>final<|message|>yes", "yes", "so"),
    (f"{HARMONY}<|channel|>final<|message|>yes<|return|>", "yes", "so"),
    (f"{HARMONY}<|channel|>commentary to=f <|constrain|>json<|message|>[]<|call|>", "", "so[]"),
    ("<|start|>assistant<|channel|>final<|message|>yes", "yes", ""),
    ("<|channel>thought\nso\n<channel|>yes", "yes", "so\n"),
    ("analysisSo it is.assistantfinalyes", "yes", "So it is."),
    # Special tokens.
    ("yes.<|im_end|>", "yes.", ""),
    ("yes.<|eot_id|>\n", "yes.", ""),
    ("yes.</s>", "yes.", ""),
    ("yes.<｜end▁of▁sentence｜>", "yes.", ""),
]


@pytest.mark.parametrize(("whole", "text", "reasoning"), APART)
def test_reasoning_is_told_apart_at_every_cut(whole: str, text: str, reasoning: str):
    for pieces in cuts_of(whole):
        assert parse_pieces(pieces) == (text, reasoning), pieces


@pytest.mark.parametrize(
    "whole",
    [
        "",
        "  yes",
        "<b>",
        "<thi",
        "analysis of a river",
        "`<think>` is a tag that models use.",
        "<think> is a tag that models use.",
        "<think> and </think> are tags that models use.",
        "The tag </think> ends reasoning.",
        "Models write <think> before and </think> after it.",
        "Use `<think>` and `</think>`.\nDone.",
        'Write "<think>" first, then "</think>".',
        "Like so:\n```xml\n<think>\nhm\n</think>\n```\nend",
        "a < b and c > d, [link](x) <b>bold</b>, x<y",
        "[thinking] Hmm.",
        "<result>\n<reason>late</reason>\n</result>",
        "<s>old</s>",
        "The token <|im_end|> ends a turn.",
    ],
)
def test_mentioned_tag_stays_text_at_every_cut(whole: str):
    for pieces in cuts_of(whole):
        assert parse_pieces(pieces) == (whole, ""), pieces


def test_unclosed_tag_cut_by_length_is_reasoning():
    assert parse_pieces(["<think> is it so"], is_cut=True) == ("", " is it so")


@pytest.mark.parametrize(
    ("whole", "text", "reasoning"),
    [
        ("Hm. So\n</think>\n\nyes", "yes", "Hm. So\n"),
        ("yes <b>", "yes <b>", ""),
        ("<think>Hm</think>yes", "yes", "Hm"),
    ],
)
def test_text_is_held_back_if_a_tag_may_be_open(whole: str, text: str, reasoning: str):
    for pieces in cuts_of(whole):
        assert parse_pieces(pieces, may_begin_inside=True) == (text, reasoning), pieces
        tags = ReasoningTags(may_begin_inside=True)
        assert tags.part(whole[: whole.find("<")]) == ("", "")


@pytest.mark.parametrize("piece", ["<think>a ", "a <", "a</think>", "a```\n", "<|im_end|>a", "a " * 20])
def test_hostile_content_is_read_and_kept(piece: str):
    """20,000 pieces of it: a reader that began anew with each would take minutes."""
    text, reasoning = parse_pieces([piece] * 20_000)
    assert (text + reasoning).count("a") == 20_000 * piece.count("a")
