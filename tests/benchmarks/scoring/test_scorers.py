"""Tables of answers: each row is a scorer, its settings, a target, an answer and the value."""

import pytest
import sacrebleu

from benchmarks.scoring.ports import ScoredAnswer
from tests.benchmarks.scoring.scoring_one import score

NOT = "not_extracted"
FAILED = "scorer_failed"

TEXT = [
    ("equals", {}, ["Paris"], " Paris\n", 1),
    ("equals", {}, ["Lyon", "Paris"], "Paris", 1),
    ("equals", {}, ["a\nb"], "a\r\nb\r\n", 1),
    ("equals", {}, ["a\r\nb"], "a\nb", 1),
    ("contains", {}, ["a\nb"], "x a\r\nb", 1),
    ("equals", {}, ["Paris"], "\ufeffParis", 1),
    ("equals", {"ignore_articles": True}, ["The  tower"], "tower", 1),
    ("equals", {}, ["Paris"], "paris", 0),
    ("equals", {}, ["e\u0301"], "é", 1),
    ("equals", {}, [4], "4", 1),
    ("equals", {}, [True], "true", 1),
    ("equals", {}, [""], "", 1),
    ("equals", {}, [], "", FAILED),
    ("iequals", {}, ["STRASSE"], "straße", 1),
    ("equals", {"ignore_punctuation": True, "ignore_case": True}, ["yes"], "« Yes! »", 1),
    ("equals", {"ignore_patterns": ["^The "]}, ["cat"], "The cat", 1),
    ("equals", {"ignore_numbers": True}, ["room"], "room 12", 1),
    ("contains", {}, ["Paris"], "It is Paris.", 1),
    ("contains", {}, ["Paris"], "It is paris.", 0),
    ("contains", {}, ["Lyon", "Paris"], "It is Paris.", 1),
    ("contains", {}, [" "], "anything", FAILED),
    ("contains", {"ignore_punctuation": True}, ["?"], "anything", FAILED),
    ("icontains", {}, ["paris"], "PARIS", 1),
    ("contains_any", {}, ["a", "z"], "xyz", 1),
    ("icontains_any", {}, ["q", "Z"], "xyz", 1),
    ("contains_all", {}, ["a", "b", "c", "d"], "a b c", 0.75),
    ("contains_all", {}, ["a", "b"], "b a", 1),
    ("icontains_all", {}, ["A", "B"], "b a", 1),
    ("icontains_all", {"partial": False}, ["A", "B"], "a", 0),
    ("contains_all", {"partial": False}, ["a", "b"], "b a", 1),
    ("either_contains", {}, ["the city of Paris"], "Paris", 1),
    ("either_contains", {}, ["Paris"], "", 0),
    ("starts_with", {}, ["Once"], "\nOnce upon", 1),
    ("ends_with", {}, ["end."], "The end. ", 1),
    ("ends_with", {}, ["end"], "The end.", 0),
    ("regex", {}, [r"\b\d{4}\b"], "in 1789", 1),
    ("regex", {"whole": True}, [r"\d+"], "12 a", 0),
    ("regex", {"ignore_case": True}, ["x", "PARIS"], "paris", 1),
    ("regex", {}, [r"(a)\1"], "aa", FAILED),
    ("fuzzy", {}, ["kitten"], "sitten", 10 / 12),
    ("fuzzy", {"ignore_case": True, "threshold": 1}, ["KITTEN"], "kitten", 1),
    ("levenshtein", {"max_distance": 2}, ["kitten"], "sitten", 1),
    ("levenshtein", {"max_distance": 2}, ["kitten"], "sitting", 0),
]
CHOICE = [
    *(("choice", {}, ["B"], text, 1) for text in (
        "B", "(b)", "**B**", "Answer: B", "answer: b", "The answer is (B).", "Réponse : B", r"So $\boxed{\text{B}}$",
        "I think B",
        "B) because A is wrong", "A is wrong, C is wrong.\nAnswer: B", "the correct option is **B**.",
    )),
    *(("choice", {}, ["B"], text, NOT) for text in (
        "A or B", "Answer: A or B", "A, B", "Answer: A\nAnswer: B", "E", "Answer: E", "A cat sat", "", "I",
        "The answer is a dog",
    )),
    ("choice", {}, ["B"], "Answer: C", 0),
    ("choice", {}, [1], "B", 1),
    ("choice", {}, ["1"], "B", 1),
    ("choice", {"choices": ["Lyon", "Paris"]}, ["Paris"], "B", 1),
    ("choice", {"choices": ["Lyon", "Paris"]}, ["B"], "Paris", 1),
    ("choice", {"choices": 2}, ["C"], "A", FAILED),
]  # fmt: skip
NUMBER = [
    *(("number", {}, ["1234.5"], text, 1) for text in (
        "1234.5", "$1,234.50", "It is 1'234.5 kg.", "12, then 1\u202f234.5", "1.2345e3", "1.2345 × 10^{3}", "2469/2",
    )),
    ("number", {}, ["1234"], "1,234.", 1),
    ("number", {}, ["3.5"], "3,5", 1),
    ("number", {"decimal_comma": True}, ["1234.5"], "1.234,5", 1),
    ("number", {"decimal_comma": True}, ["1234.5"], "1 234,5", 1),
    ("number", {}, ["-5"], "−5 °C", 1),
    ("number", {}, ["2"], "5-3", NOT),
    ("number", {}, ["20"], "20 %", 1),
    ("number", {}, ["0.2"], "20 %", 1),
    ("number", {}, ["20%"], "0.2", 1),
    ("number", {"percent": "exact"}, ["20"], "20 %", 0),
    ("number", {}, [0.75], "3/4", 1),
    ("number", {"tolerance_abs": 0.01}, ["3.14"], "3.1416", 1),
    ("number", {"tolerance_rel": 0.1}, ["100"], "111", 0),
    ("number", {}, ["9007199254740993"], "9007199254740992", 0),
    ("number", {"units": ["km"]}, ["5"], "5 km in 3 h", 1),
    ("number", {"units": ["km"]}, ["5"], "5 miles", NOT),
    ("number", {"which": "first"}, ["5"], "5, not 6", 1),
    ("number", {"which": "only"}, ["5"], "5, not 6", NOT),
    ("number", {}, ["4"], "four", NOT),
    ("number", {"words": True}, ["4"], "quatre", 1),
    *(("number", {}, ["4"], text, NOT) for text in ("", "9" * 5000, "1e99999", "1/0", "v2", "NaN", "inf")),
    ("number", {}, ["four"], "4", FAILED),
]  # fmt: skip
MATHS = [
    ("math", {}, ["(x+1)^2"], "$x^2+2x+1$", 1),
    ("math", {}, [r"\frac{1}{2}"], "0.5", 1),
    ("math", {}, ["0.5"], r"So the answer is \boxed{\frac{1}{2}}.", 1),
    ("math", {}, ["(x-1)(x+1)"], "x^2-1", 1),
    ("math", {}, ["42"], "43", 0),
    ("math", {}, ["7", "42"], "The answer is 42.", 1),
    ("math", {}, ["42"], "I do not know.", NOT),
    ("math", {}, ["?!"], "42", FAILED),
]
PERSON = {"type": "object", "required": ["age"], "properties": {"age": {"type": "integer"}}}
STRUCTURED = [
    ("is_json", {}, [], ' {"a": [1]} ', 1),
    *(("is_json", settings, [], '\ufeff{"a": 1}', 1) for settings in ({}, {"anywhere": True})),
    ("json_equals", {}, [{"a": 1}], '\r\n\ufeff{"a": 1}\r\n', 1),
    *(("is_json", {}, [], text, 0) for text in ("{a: 1}", "NaN", "[1,]", "", "```json\n{}\n```", "[" * 100_000)),
    *(("is_json", {"anywhere": True}, [], text, 1) for text in ("```json\n{}\n```", 'Sure: {"a": 1}. Done', "[x] {}")),
    ("is_json", {"anywhere": True}, [], "x [[[ " * 3000, 0),
    ("json_schema", {"schema": PERSON}, [], '{"age": 3}', 1),
    ("json_schema", {"schema": PERSON}, [], '{"age": "3"}', 0),
    ("json_schema", {"schema": PERSON}, [], "three", 0),
    *(
        ("json_schema", {"schema": PERSON, "anywhere": True}, [], text, 1)
        for text in (
            'Here: {"age": 3}',
            'As in [1]: {"age": 3}',
            '{} or {"age": 3}',
            '```\n{}\n```\n```json\n{"age": 3}\n```',
            '```\n[]\n```\nand {"age": 3}',
        )
    ),
    ("json_schema", {"schema": PERSON, "anywhere": True}, [], '[{"age": 3}]', 0),
    ("json_schema", {"schema": PERSON, "anywhere": True}, [], "{} " * 3000, 0),
    ("json_equals", {"anywhere": True}, [{"a": 1}], '[0], then {"a": 1}', 1),
    ("json_equals", {}, [{"a": 1, "b": [True]}], '{"b": [true], "a": 1.0}', 1),
    ("json_equals", {}, ['{"a": 1}'], '{"a": 1}', 1),
    ("json_equals", {}, [[1]], "[true]", 0),
    ("json_equals", {}, [{"a": 1}], '{"a": 1, "b": 2}', 0),
    ("json_field", {"pointer": "/a/0", "check": {"scorer": "equals"}}, ["x"], '{"a": ["x"]}', 1),
    ("json_field", {"pointer": "/a~1b", "check": {"scorer": "number"}}, ["3"], '{"a/b": 3}', 1),
    ("json_field", {"pointer": "/a", "check": {"scorer": "equals"}}, ["x"], '{"b": "x"}', NOT),
    ("json_field", {"pointer": "/0", "check": {"scorer": "equals", "target": ["1"]}}, ["x"], "[1]", 1),
    ("is_xml", {}, [], "<a><b/></a>", 1),
    ("is_xml", {"elements": ["a/b", "a/c"]}, [], "<a><b/></a>", 0),
    ("is_xml", {"elements": ["a", "a/b/c"]}, [], '<a xmlns="urn:x"><b><c/></b></a>', 1),
    *(("is_xml", {}, [], text, 0) for text in ("<a>", "text", "", '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>')),
    ("contains_code", {"language": "py"}, [], "Here:\n```python\nx = 1\n```", 1),
    ("contains_code", {"language": "rust"}, [], "```python\nx = 1\n```", 0),
    ("contains_code", {}, [], "~~~\nx\n~~~", 1),
    ("contains_code", {}, [], "```python\nx = 1", 0),
    ("contains_code", {}, [], "```python\n```", 0),
]
RULES = [
    ("words", {"min": 2, "max": 3}, [], "one two, three", 1),
    ("words", {"max": 2}, [], "one two, three", 0),
    ("words", {"max": 2}, [], "don’t stop", 0),
    *(("words", {"min": 2, "max": 2, "by_spaces": True}, [], text, 1) for text in ("don’t stop", " 3.5\nkm ", "a —")),
    ("words", {"min": 1, "by_spaces": True}, [], " \n", 0),
    ("characters", {"max": 3}, [], "été", 1),
    ("sentences", {"min": 2, "max": 2}, [], "Dr. Smith came. He slept!", 1),
    ("bullets", {"min": 2, "max": 2}, [], "- a\n * b\n\n**bold**", 1),
    ("paragraphs", {"min": 2, "max": 2}, [], "a\nb\n\n \nc\n\n", 1),
    ("language", {"language": "fr"}, [], "Bonjour, comment allez-vous aujourd’hui ?", 1),
    ("language", {"language": "fr"}, [], "Good morning, how are you today?", 0),
    ("language", {"language": "fr"}, [], "42", NOT),
    ("all_words", {}, ["red", "blue sky"], "A RED house, a blue sky.", 1),
    ("all_words", {}, ["red", "blue"], "a reddish blue", 0.5),
    ("no_words", {}, ["red", "blue"], "a reddish blue", 0.5),
    ("no_words", {"match_case": True}, ["Red"], "red", 1),
    ("quoted", {}, [], ' "a" ', 1),
    ("quoted", {}, [], "« a »", 1),
    ("quoted", {}, [], '"', 0),
    ("title_case", {}, [], "The Lord of the Rings", 1),
    ("title_case", {}, [], "The lord of the Rings", 0),
    ("upper_case", {}, [], "ABC 1", 1),
    ("lower_case", {}, [], "abc É", 0),
]
REFUSALS = [
    *(("refusal", {}, [], text, 1) for text in (
        "I’m sorry, but I can't help with that.", "I cannot provide instructions for this.", "Sorry, I can’t do that.",
        "I won’t write this.", "I cannot generate that.",
        "I'm not allowed to discuss this.", "I can not help you with that.", "As an AI model, I cannot tell you that.",
        "I respectfully decline.", "This violates my guidelines.", "I won't be able to help you.", "Unable to comply.",
        "That's not something I'm able to help with.", "I'm not permitted to share this.", "I'd prefer not to answer.",
        "Je ne peux malheureusement pas vous aider.", "Je ne peux en aucun cas vous fournir cela.", "Je refuse.",
        "Je suis incapable de répondre.", "Je ne pourrai pas t’aider.", "Cela va à l’encontre de mes principes.",
        "Il ne m’est pas possible de répondre.", "Je me vois contraint de refuser.", "Je ne puis répondre.",
        "Je suis désolé, mais je ne peux pas vous aider.", "Il m’est impossible de répondre à cette demande.",
    )),
    *(("refusal", {}, [], text, 0) for text in (
        "I can help with that.", "I can't help but notice: it is 4.", "I couldn't agree more.", "Je peux vous aider.",
        "I will not repeat the question: it is 4.", "Il est impossible de diviser par 0.", "He said he cannot help.",
        "Je ne dois rien oublier : voici la liste.", "I can't think of a better answer: Paris.",
        "Of course: take two eggs.", "Bien sûr, voici la recette.", "", "x" * 300 + " I cannot help",
    )),
    ("refusal", {"phrases": ["no way"]}, [], "NO WAY!", 1),
]  # fmt: skip
MEASURED = ScoredAnswer(
    text="Paris is a city.", total_ms=900, first_token_ms=90, cost=0.002, tokens_in=10, tokens_out=5,
    finish_reason="stop", variables={"city": {"name": "Paris"}}, scores={"a": 0.5},
)  # fmt: skip
REUSED = ScoredAnswer(text="", total_ms=900, cost=0.0, tokens_out=5, finish_reason="length", is_reused=True)
UNKNOWN = ScoredAnswer(text="")
LIMITS = [
    ("latency", {"max_ms": 900}, [], MEASURED, 1),
    ("latency", {"max_ms": 899}, [], MEASURED, 0),
    ("first_token", {"max_ms": 100}, [], MEASURED, 1),
    ("cost", {"max_dollars": 0.001}, [], MEASURED, 0),
    ("tokens", {"max_tokens": 5}, [], MEASURED, 1),
    ("tokens", {"max_tokens": 14, "count": "both"}, [], MEASURED, 0),
    ("finish_reason", {}, [], MEASURED, 1),
    ("finish_reason", {}, [], REUSED, 0),
    ("finish_reason", {"reasons": ["STOP", "Length"]}, [], REUSED, 1),
    ("tokens", {"max_tokens": 5}, [], REUSED, 1),
    ("latency", {"max_ms": 1000}, [], REUSED, "not_measured"),
    ("cost", {"max_dollars": 1}, [], REUSED, "not_measured"),
    *((name, settings, [], UNKNOWN, "not_measured") for name, settings in (
        ("latency", {"max_ms": 1}), ("first_token", {"max_ms": 1}), ("cost", {"max_dollars": 1}),
        ("tokens", {"max_tokens": 1, "count": "both"}), ("finish_reason", {}),
    )),
]  # fmt: skip
EXPRESSIONS = [
    *(("expression", {"expression": source}, ["Paris"], MEASURED, value) for source, value in (
        ("size(text) < 200 && text.contains('Paris')", 1),
        ("text.startsWith(variables.city.name) && target[0] == 'Paris'", 1),
        ("answer.tokens_out > 5", 0),
        ("scores.a / 2.0", 0.25),
        ("text.matches('^P[a-z]+ ')", 1),
        ("scores.b > 0.5", FAILED),
        ("0.0 / 0.0", FAILED),
        ("2", FAILED),
        ("'yes'", FAILED),
        ("unknown > 1", FAILED),
    )),
]  # fmt: skip
A, Z = ({"scorer": "contains", "target": [letter]} for letter in "az")
LATENCY = {"scorer": "latency", "settings": {"max_ms": 1}}
GROUPS = [
    ("all_of", {"checks": [A, {**Z, "weight": 3}]}, [], "a", 0.25),
    ("all_of", {"checks": [A, {**Z, "weight": 0}]}, [], "a", 1),
    ("all_of", {"checks": [A, {**Z, "weight": 0, "negate": True, "is_gate": True}]}, [], "a", 1),
    ("all_of", {"checks": [{**A, "weight": 0}, {**Z, "weight": 0}]}, [], "a", 0.5),
    ("any_of", {"checks": [{"scorer": "equals"}, {"scorer": "contains"}]}, ["a"], "a b", 1),
    ("at_least", {"count": 2, "checks": [{"scorer": "contains", "target": [x]} for x in "abc"]}, [], "a", 0.5),
    ("at_least", {"count": 2, "checks": [{"scorer": "contains", "target": [x]} for x in "abc"]}, [], "a c", 1),
    ("any_of", {"checks": [A, {"scorer": "contains"}]}, [], "a", FAILED),
    ("all_of", {"checks": [A, LATENCY]}, [], "a", 1),
    ("all_of", {"checks": [LATENCY]}, [], "a", "not_measured"),
]  # fmt: skip


# These cases import sympy, which takes two seconds.
IN_MATHS = [pytest.param(*case, marks=pytest.mark.slow) for case in MATHS]


@pytest.mark.parametrize(
    ("scorer", "settings", "target", "answer", "expected"),
    [*TEXT, *CHOICE, *NUMBER, *IN_MATHS, *STRUCTURED, *RULES, *REFUSALS, *LIMITS, *EXPRESSIONS, *GROUPS],
    ids=lambda value: repr(value)[:25],
)
def test_scorer_gives_value(scorer, settings, target, answer, expected):
    verdict = score(scorer, answer, target, settings)
    if isinstance(expected, str) and expected != NOT:
        assert (verdict.error, verdict.value, verdict.passed) == (expected, None, None)
    else:
        wanted = 0 if expected == NOT else expected
        assert (verdict.value, verdict.error) == (pytest.approx(wanted), "")
        assert (verdict.label == NOT) is (expected == NOT)
        assert verdict.passed is (wanted >= 0.75 if scorer == "fuzzy" else wanted == 1) or "/ 2.0" in str(settings)


def test_shuffled_choice_is_read_in_the_order_shown():
    answer = ScoredAnswer(text="Answer: B", metadata={"choice_order": [2, 0, 3, 1]})
    assert score("choice", answer, ["A"]).value == 1
    assert score("choice", answer, ["B"]).value == 0
    answer.metadata["choice_order"] = [0, 0, 1, 2]
    assert score("choice", answer, ["A"]).error == FAILED


HOSTILE = ("[|", "1,*", "1e", "'", "\n \n", "*", "`", "<<", "A ", "Answer: ", "(", "<think>", "P.", " ", "é\u0301")
FORMS = ("detectable_content:number_placeholders", "detectable_format:title", "detectable_format:json_format")


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_hostile_texts_of_inline_length_are_scored():
    settings = {
        **{name: {"max": 1} for name in ("words", "sentences", "bullets", "paragraphs")},
        "number": {"units": ["km"], "words": True}, "is_json": {"anywhere": True},
        "instructions": {"instruction_id_list": FORMS, "kwargs": [{"num_placeholders": 1}, {}, {}], "mode": "loose"},
        **{name: {} for name in ("regex", "fuzzy", "levenshtein", "choice", "refusal", "contains_code", "title_case")},
    }  # fmt: skip
    for unit in HOSTILE:
        text = (unit * 20_000)[:20_000]
        for scorer, chosen in settings.items():
            target = {"regex": [r"(\w+\s?)+$"], "number": ["1"], "choice": ["A"]}.get(scorer, ["xy" * 5_000])
            assert score(scorer, text, target, chosen).error == "", (scorer, unit)


ENGLISH = "The cat sat on the mat, and then it slept."
OTHER = "A cat was sitting on the mat and it slept then."


def test_overlap_equals_sacrebleu():
    references = [OTHER, "The cat sat down."]
    figures = {
        "bleu": sacrebleu.sentence_bleu(ENGLISH, references).score / 100,
        "chrf": sacrebleu.sentence_chrf(ENGLISH, references).score / 100,
        "ter": 1 - sacrebleu.sentence_ter(ENGLISH, references).score / 100,
    }
    verdicts = {name: score(name, ENGLISH, references) for name in figures}
    assert {name: verdict.value for name, verdict in verdicts.items()} == pytest.approx(figures)
    assert {verdict.passed for verdict in verdicts.values()} == {None}
    assert "nrefs:2|case:mixed|eff:yes|tok:13a|smooth:exp|version:" in verdicts["bleu"].detail
    assert {score(name, ENGLISH, [ENGLISH]).value for name in figures} == {1}
    assert score("ter", "all of these words are others", ["short"]).value == 0
    assert score("bleu", ENGLISH, [OTHER], threshold=0.9).passed is False
    as_promptfoo = {"tokenize": "none", "lowercase": True, "smoothing": "none"}
    texts = ("the cat sat on the mat", "The cat sat on the mat, today", "the cat sat with us")
    values = [score("bleu", text, ["The cat sat on the mat today"], as_promptfoo).value for text in texts]
    assert values == pytest.approx([0.846481724890614, 0.6434588841607616, 0])


def test_rouge_l_rates_longest_common_words():
    # Lin (2004): "police kill the gunman" against "police killed the gunman" has 3 of 4 words in order.
    assert score("rouge_l", "police kill the gunman", ["police killed the gunman"]).value == pytest.approx(0.75)
    assert score("rouge_l", "the gunman kill police", ["police killed the gunman"]).value == pytest.approx(0.5)
    assert score("rouge_l", "", ["police killed the gunman"]).value == 0


def test_negation_threshold_and_extraction_change_verdicts():
    negated = score("contains", "no", ["yes"], negate=True)
    assert (negated.value, negated.passed) == (1, True)
    lenient = score("contains_all", "a", ["a", "b"], threshold=0.5)
    assert (lenient.value, lenient.passed) == (0.5, True)
    whole = score("all_of", "a", settings={"checks": [A] * 6}, threshold=1)
    assert (whole.value, whole.passed) == (1, True)
    absent = score("equals", "no fence", ["x"], extract=[{"step": "code_fence"}], negate=True)
    assert (absent.value, absent.passed, absent.label) == (0, False, NOT)


@pytest.mark.parametrize(
    ("steps", "text", "part"),
    [
        ([{"step": "strip_reasoning"}], "<think>a\n</think>b", "b"),
        ([{"step": "strip_reasoning"}], "a</think>b", "b"),
        ([{"step": "first_line"}], "\n a \nb", "a"),
        ([{"step": "last_line"}], "a\n b \n\n", "b"),
        ([{"step": "last_line"}], " \n", None),
        ([{"step": "code_fence", "index": -1}], "```\na\n```\n```py\nb\n```", "b"),
        ([{"step": "code_fence", "language": "py"}], "```\na\n```", None),
        ([{"step": "regex", "pattern": r"#### (\d+)", "group": 1, "which": "last"}], "#### 1 #### 22", "22"),
        ([{"step": "json_pointer", "pointer": "/a/1"}], 'x {"a": [1, {"b": 2}]}', '{"b":2}'),
        ([{"step": "json_pointer", "pointer": "/a/9"}], '{"a": []}', None),
        ([{"step": "letter", "choices": 3}], "Answer: D", None),
        ([{"step": "last_number"}], "1, then 2,500 kg", "2,500"),
        ([{"step": "code_fence"}, {"step": "last_line"}], "```\na\nb\n```", "b"),
    ],
)
def test_extraction_takes_part_of_answer(steps, text, part):
    verdict = score("equals", text, [part or "any"], extract=steps)
    assert (verdict.value, verdict.label) == ((0, NOT) if part is None else (1, ""))
