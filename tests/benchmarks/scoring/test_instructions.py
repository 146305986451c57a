"""IFEval's rules by hand-made answers that keep and break them."""

import pytest

from benchmarks.scoring.scorers.instruction_rules import RULES
from tests.benchmarks.scoring.scoring_one import score

ENGLISH = "this is a long enough english sentence about the weather in spring"
SENTENCES = "Dr. Smith left. Good!"
NTH = "length_constraints:nth_paragraph_first_word"
SECTIONS = "Section 1\na\nSection 2\nb"
AT_LEAST = "at least"
CASES = [
    ("keywords:existence", {"keywords": ["rain", "Sun"]}, "Sun and RAINBOW", "rain"),
    ("keywords:frequency", {"keyword": "a b", "frequency": 2, "relation": AT_LEAST}, "a b A B", "a b"),
    ("keywords:frequency", {"keyword": "x", "frequency": 2, "relation": "less than"}, "x", "x x"),
    ("keywords:forbidden_words", {"forbidden_words": ["rain"]}, "rainbow", "no Rain"),
    ("keywords:letter_frequency", {"letter": "Q", "let_frequency": 2, "let_relation": AT_LEAST}, "qQ", "q"),
    ("language:response_language", {"language": "fr"}, "Voici une phrase assez longue en français.", ENGLISH),
    ("length_constraints:number_sentences", {"num_sentences": 2, "relation": AT_LEAST}, SENTENCES, SENTENCES[:16]),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, "a\n***\nb", "a\n\nb"),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, "***a***b***", "a***   ***b"),
    ("length_constraints:number_words", {"num_words": 3, "relation": "less than"}, "one two", "one, two three"),
    (NTH, {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "Well"}, "a\n\n'well, b", "a\n\nwelled b"),
    ("detectable_content:number_placeholders", {"num_placeholders": 2}, "[a] [b c]", "[a"),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, "a\np. s. b", "PS b"),
    ("detectable_content:postscript", {"postscript_marker": "P.P.S"}, "P.P.S b", "P.S. b"),
    ("detectable_format:number_bullet_lists", {"num_bullets": 2}, "* a\n- b", "* a\n- b\n- c"),
    ("detectable_format:constrained_response", {}, "Well. My answer is maybe.", "maybe"),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 2}, "*a* and *b*", "*a* and * *"),
    ("detectable_format:multiple_sections", {"section_spliter": "Section", "num_sections": 2}, SECTIONS, "Section 1"),
    ("detectable_format:json_format", {}, '```json\n{"a": 1}\n```', "{a}"),
    ("detectable_format:title", {}, "<<Joy>>\ntext", "<< >> <Joy>"),
    ("combination:two_responses", {}, "a\n******\nb", "a ****** a"),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Say it."}, "say it. No.", "I say it."),
    ("startend:end_checker", {"end_phrase": "The end."}, '"So: the END."', "the end. Yes"),
    ("startend:quotation", {}, ' "a" ', "a"),
    ("change_case:capital_word_frequency", {"capital_frequency": 2, "capital_relation": AT_LEAST}, "AB c-d E-F", "A"),
    ("change_case:english_capital", {}, ENGLISH.upper(), ENGLISH),
    ("change_case:english_lowercase", {}, ENGLISH, "Une phrase assez longue en français.".lower()),
    ("punctuation:no_comma", {}, "a b", "a, b"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "kwargs", "kept", "broken"), CASES)
def test_rule_separates_kept_from_broken(name, kwargs, kept, broken):
    settings = {"instruction_id_list": [name], "kwargs": [{**kwargs, "unused": None}]}
    assert score("instructions", kept, [], settings).passed is True
    assert score("instructions", broken, [], settings).passed is False
    assert score("instructions", " ", [], settings).passed is False


def test_every_rule_of_ifeval_has_cases():
    assert {name for name, *_ in CASES} == set(RULES)
    assert len(RULES) == 25


def test_loose_mode_ignores_first_and_last_line_and_asterisks():
    rules = {
        "instruction_id_list": ["startend:quotation", "punctuation:no_comma", "keywords:existence"],
        "kwargs": [{}, {}, {"keywords": ["absent"]}],
    }
    text = 'Sure, here it is:\n**"quoted"**\nAnything else, sir?'
    strict, loose = (score("instructions", text, [], {**rules, "mode": mode}) for mode in ("strict", "loose"))
    assert (strict.value, strict.detail) == (0, "startend:quotation, punctuation:no_comma, keywords:existence")
    assert (loose.value, loose.passed, loose.detail) == (pytest.approx(2 / 3), False, "keywords:existence")
