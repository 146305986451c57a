import pytest

from battles.text.classifier import classify
from battles.text.labels import Labels
from tests.battles.labels.labelled_prompts import (
    CATEGORY_CODES,
    language_accuracy,
    load_labelled_prompts,
    precision_and_recall,
)

SEEN, HELD_OUT = load_labelled_prompts()


def test_labelled_prompts_are_enough():
    assert len(SEEN) >= 300
    assert len(HELD_OUT) >= 45
    assert len({row.language for row in SEEN}) >= 20


@pytest.mark.parametrize("category", CATEGORY_CODES.values())
def test_known_prompts_meet_precision_and_recall(category):
    precision, recall = precision_and_recall(SEEN, category)
    assert precision >= 0.95
    assert recall >= 0.75


def test_held_out_prompts_meet_precision_and_recall():
    precision, recall = precision_and_recall(HELD_OUT)
    assert precision >= 0.9
    assert recall >= 0.5


def test_language_accuracy_is_95_percent():
    assert language_accuracy(SEEN) >= 0.95
    assert language_accuracy(HELD_OUT) >= 0.9


def test_conversation_has_categories_of_all_prompts():
    assert classify(["Write a poem about the sea", "Now write a Python function that prints it"]) == Labels(
        ("coding", "creative-writing", "multi-turn"), "en"
    )


def test_prompt_is_long_from_500_tokens_in_any_script():
    assert "long-prompt" not in classify(["word " * 399]).categories
    assert "long-prompt" in classify(["word " * 400]).categories
    assert "long-prompt" in classify(["海について" * 100]).categories


def test_language_ignores_code():
    code = "```python\nfor line in open('a file with English words in its name'):\n    print(line)\n```"
    assert classify([f"Pourquoi ce programme est-il si lent ?\n{code}"]).language == "fr"


def test_end_of_long_prompt_is_read():
    text = "The weather was fine and nobody complained about anything at all. " * 300
    assert "instruction-following" in classify([f"{text}\nSummarize this in exactly three sentences."]).categories


@pytest.mark.parametrize(
    "prompt", ["", " ", "\n\n", "🙂", "\x00", "﷽", "A\u0301" * 50, "\u202edlrow", "𝕳𝖊𝖑𝖑𝖔", "1" * 5000]
)
def test_odd_prompts_are_classified(prompt):
    assert isinstance(classify([prompt]), Labels)


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "piece",
    ["[", "$", "`", "(", "<", " ", "\n", "x ", "1+", '"a"', "a.", "\\(", "if (", "```\n", "SELECT ", "write ", "error"],
)
def test_hostile_prompt_takes_linear_time(piece):
    """A pattern with catastrophic backtracking would take minutes."""
    assert isinstance(classify([(piece * 20_000)[:20_000]] * 2), Labels)
