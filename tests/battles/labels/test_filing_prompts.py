"""What prompts are filed under, against what a person says."""

import pytest

from battles.text.classifier import classify
from battles.text.labels import Labels
from tests.battles.labels.labelled_prompts import SHORT, filed_by_hand, precision_and_recall, share_of_languages_found

SEEN, HELD_OUT = filed_by_hand()


def test_there_is_enough_to_judge_by():
    assert len(SEEN) >= 300
    assert len(HELD_OUT) >= 45
    assert len({row.language for row in SEEN}) >= 20


@pytest.mark.parametrize("category", SHORT.values())
def test_the_rules_do_what_they_were_written_for(category):
    precision, recall = precision_and_recall(SEEN, category)
    assert precision >= 0.95
    assert recall >= 0.75


def test_what_is_filed_of_unseen_prompts_belongs_there_and_half_of_it_is_found():
    precision, recall = precision_and_recall(HELD_OUT)
    assert precision >= 0.9
    assert recall >= 0.5


def test_nineteen_of_twenty_prompts_are_filed_under_their_language():
    assert share_of_languages_found(SEEN) >= 0.95
    assert share_of_languages_found(HELD_OUT) >= 0.9


def test_a_conversation_has_the_categories_of_all_its_prompts_and_is_one_of_several_turns():
    assert classify(["Write a poem about the sea", "Now write a Python function that prints it"]) == Labels(
        ("coding", "creative-writing", "multi-turn"), "en"
    )


def test_a_prompt_is_long_from_about_500_tokens_in_any_script():
    assert "long-prompt" not in classify(["word " * 399]).categories
    assert "long-prompt" in classify(["word " * 400]).categories
    assert "long-prompt" in classify(["海について" * 100]).categories


def test_the_language_is_the_one_around_the_code():
    code = "```python\nfor line in open('a file with English words in its name'):\n    print(line)\n```"
    assert classify([f"Pourquoi ce programme est-il si lent ?\n{code}"]).language == "fr"


def test_of_a_long_prompt_the_end_is_read_too():
    text = "The weather was fine and nobody complained about anything at all. " * 300
    assert "instruction-following" in classify([f"{text}\nSummarize this in exactly three sentences."]).categories


@pytest.mark.parametrize(
    "prompt", ["", " ", "\n\n", "🙂", "\x00", "﷽", "A\u0301" * 50, "\u202edlrow", "𝕳𝖊𝖑𝖑𝖔", "1" * 5000]
)
def test_odd_prompts_are_filed_too(prompt):
    assert isinstance(classify([prompt]), Labels)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "piece",
    ["[", "$", "`", "(", "<", " ", "\n", "x ", "1+", '"a"', "a.", "\\(", "if (", "```\n", "SELECT ", "write ", "error"],
)
def test_no_prompt_is_built_to_keep_the_classifier_busy(piece):
    """A rule that goes back over what it has read would take minutes for these."""
    assert isinstance(classify([(piece * 20_000)[:20_000]] * 10), Labels)
