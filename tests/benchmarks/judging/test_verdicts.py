"""Twenty and more answers of judges, as models really write them."""

import pytest

from benchmarks.judging.rubrics import Criterion, Kind, Rubric
from benchmarks.judging.verdicts import read_pair, read_scores

REASONS = "A names the year, B does not."
PAIRS = {
    "object on the last line": (REASONS + '\n{"verdict": "A>B"}', "A>B"),
    "object alone": ('{"verdict": "B>>A"}', "B>>A"),
    "object with its reason": ('{"reason": "B is clearer", "verdict": "B>A"}', "B>A"),
    "object over several lines": (REASONS + '\n{\n  "verdict": "tie"\n}\n', "tie"),
    "fenced object": (REASONS + '\n\n```json\n{"verdict": "A>>B"}\n```', "A>>B"),
    "fenced over several lines": (REASONS + '\n```\n{\n  "verdict": "A>B"\n}\n```\n', "A>B"),
    "label in brackets": (REASONS + "\n[[A]]", "A>B"),
    "Arena-Hard's label": (REASONS + "\n\nMy final verdict is: [[A>>B]]", "A>>B"),
    "Arena-Hard's tie": (REASONS + "\n[[A=B]]", "tie"),
    "MT-Bench's tie": (REASONS + "\nFinal verdict: [[C]]", "tie"),
    "bare letter": (REASONS + "\nA", "A>B"),
    "bold letter": (REASONS + "\n\n**B**", "B>A"),
    "bold lead": (REASONS + "\n**Verdict:** B>A.", "B>A"),
    "typographic label": (REASONS + "\nB ≫ A", "B>>A"),
    "Chinese reasons": ("两个回答都提到了年份,但B没有给出来源。\n最终判决:[[A>B]]", "A>B"),
    "French reasons": ("La réponse B est plus précise ; A se trompe d’année.\n" + '{"verdict": "B>A"}', "B>A"),
    "thoughts before": ('<think>Perhaps {"verdict": "A>B"}?\nNo.</think>\nB is right.\n{"verdict": "B>A"}', "B>A"),
    "letters as headings": ("**A**\nIs short.\n**B**\nIs long.\n" + '{"verdict": "tie"}', "tie"),
    "quoted format in a sentence": ('I must end with {"verdict": …}.\n{"verdict": "A>B"}', "A>B"),
    "Windows' line ends": (REASONS + '\r\n{"verdict": "A>B"}\r\n', "A>B"),
    "prose after the object": ('{"verdict": "A>B"}\nI hope this helps!', None),
    "prose after the fence": ('```json\n{"verdict": "A>B"}\n```\nI hope this helps!', None),
    "two objects": ('{"verdict": "A>B"}\n{"verdict": "B>A"}', None),
    "two objects on a line": (REASONS + '\n{"verdict": "A>B"} {"verdict": "B>A"}', None),
    "two labels in brackets": ("[[A]]\nOn second thought:\n[[B]]", None),
    "two labels on a line": (REASONS + "\n[[A]] or [[B]]", None),
    "labels after a lead": (REASONS + "\nVerdict: A or B", None),
    "a lead above the end": ("Verdict: A\nBut seen as a whole:\nB", None),
    "two bare labels": ("A>B\nOn second thought:\nB>A", None),
    "two bare letters": ("A\nOn second thought:\nB", None),
    "a bare tie, then an object": ("tie\n" + '{"verdict": "A>B"}', None),
    "an object after a lead, then another": ('Verdict: {"verdict": "B>A"}\nNo:\n{"verdict": "A>B"}', None),
    "an object over lines, then another": ('{\n "verdict": "B>A"\n}\nNo, rather:\n{"verdict": "A>B"}', None),
    "another object in a sentence": ('I first had {"verdict": "B>A"} in mind.\n{"verdict": "A>B"}', None),
    "another label in a sentence": ("I first had [[A]] in mind.\n[[B]]", None),
    "the same object in a sentence": ('So it is {"verdict": "A>B"} then.\n{"verdict": "A>B"}', "A>B"),
    "another struck out": ("~~[[A]]~~\n[[B]]", None),
    "whole object in a thought that was cut off": ('<think>Perhaps\n{"verdict": "A>B"}', None),
    "thoughts of another dialect": ('<thinking>[[A]]?</thinking>\n{"verdict": "B>A"}', "B>A"),
    "right-to-left mark": ('\u202e{"verdict": "B>A"}', None),
    "full width": (REASONS + "\n\uff21\uff1e\uff22", None),
    "Cyrillic letters": ('{"verdict": "А>В"}', None),
    "lower case": ('{"verdict": "a>b"}', None),
    "trailing comma": ('{"verdict": "A>B",}', None),
    "nested": ('{"result": {"verdict": "A>B"}}', None),
    "Chinese refusal": ("抱歉，我无法比较这两个回答。", None),
    "boxed": (r"\boxed{A}", None),
    "verdict fenced with prose": ('```\nThe verdict:\n{"verdict": "A>B"}\n```', None),
    "one key twice": ('{"verdict": "A>B", "verdict": "B>A"}', None),
    "unknown key": ('{"verdict": "A>B", "winner": "B"}', None),
    "MT-Bench's tie in an object": ('{"verdict": "C"}', None),
    "much space": (" " * 200_000 + "x", None),
    "unknown label": ('{"verdict": "INCORRECT"}', None),
    "INCORRECT": ("INCORRECT", None),
    "CORRECT": ("The answer is CORRECT", None),
    "the worse one": (REASONS + "\nThe worse answer: B", None),
    "a sentence": ("Answer A is better because it names the year.", None),
    "a letter in a sentence": (REASONS + "\nI choose A", None),
    "an article": ("It is a draw of\na", None),
    "MT-Bench's tie without brackets": (REASONS + "\nC", None),
    "refusal": ("I'm sorry, but I can't compare these answers.", None),
    "cut off": (REASONS + '\n{"verdict": "A>', None),
    "cut off in thought": ('<think>A seems better.\n{"verdict": "A>B"', None),
    "Python's quotes": (REASONS + "\n{'verdict': 'A>B'}", None),
    "a number": ('{"verdict": NaN}', None),
    "a list": ('["A>B"]', None),
    "no text": ("", None),
    "deep": ('{"verdict": ' + "[" * 100_000, None),
}
RUBRIC = Rubric(
    kind=Kind.SCORES, criteria=[Criterion(name="facts", points=5, weight=3), Criterion(name="style", points=3)]
)
SCORES = {
    "object": ('Good.\n{"scores": {"facts": 3, "style": 3}}', {"facts": 3.0, "style": 3.0}),
    "fenced": ('```json\n{"scores": {"facts": 5, "style": 1.0}}\n```', {"facts": 5.0, "style": 1.0}),
    "nested over lines": ('Well.\n{\n "scores": {\n  "facts": 1,\n  "style": 2\n }\n}', {"facts": 1.0, "style": 2.0}),
    "too high": ('{"scores": {"facts": 6, "style": 3}}', None),
    "zero": ('{"scores": {"facts": 0, "style": 3}}', None),
    "between points": ('{"scores": {"facts": 3.5, "style": 3}}', None),
    "missing": ('{"scores": {"facts": 3}}', None),
    "invented": ('{"scores": {"facts": 3, "style": 3, "wit": 3}}', None),
    "NaN": ('{"scores": {"facts": NaN, "style": 3}}', None),
    "infinite": ('{"scores": {"facts": 1e999, "style": 3}}', None),
    "yes": ('{"scores": {"facts": true, "style": 3}}', None),
    "text": ('{"scores": {"facts": "3", "style": 3}}', None),
    "twice": ('{"scores": {"facts": 3, "style": 3}}\n{"scores": {"facts": 4, "style": 3}}', None),
    "huge": ('{"scores": {"facts": %s, "style": 3}}' % ("9" * 5_000), None),
    "nested number": ('{"scores": {"facts": {"score": 3}, "style": 3}}', None),
    "twice, in a sentence": (
        'First {"scores": {"facts": 2, "style": 3}} came to mind.\n{"scores": {"facts": 4, "style": 3}}',
        None,
    ),
    "twice, over lines": ('{\n"scores": {"facts": 2, "style": 3}\n}\nNo:\n{"scores": {"facts": 4, "style": 3}}', None),
    "a number for two criteria": ("Rating: [[3]]", None),
    "prose": ("Facts 3 of 5, style 2 of 3.", None),
}


@pytest.mark.parametrize("name", PAIRS)
def test_verdict_of_a_comparison_is_read_or_unparsed(name):
    text, label = PAIRS[name]
    verdict = read_pair(text)
    assert (verdict and verdict.label) == label


@pytest.mark.parametrize("name", SCORES)
def test_scores_are_read_or_unparsed(name):
    text, scores = SCORES[name]
    verdict = read_scores(text, RUBRIC)
    assert (verdict and verdict.scores) == scores


def test_verdict_has_outcome_and_reason():
    verdict = read_pair("Erst Gründe.\nNoch einer.\n" + '{"verdict": "B>>A"}')
    assert verdict is not None
    assert (verdict.outcome, verdict.label, verdict.reason) == (0.0, "B>>A", "Erst Gründe.\nNoch einer.")


def test_outcome_of_scores_is_their_weighted_share():
    verdict = read_scores('{"scores": {"facts": 3, "style": 3}}', RUBRIC)
    assert verdict is not None
    assert verdict.outcome == (3 * 0.5 + 1 * 1) / 4


@pytest.mark.parametrize(
    ("line", "score"),
    [
        ("Rating: [[4]]", 4.0), ("**5**", 5.0), ("4/5", None), ("11", None), ("[[3]]\nRather:\n[[4]]", None),
        ("3\nRather:\n4", None), ("I first had [[3]] in mind.\n[[4]]", None), ("4.5", None), ("-4", None), ("٤", None),
    ],
)  # fmt: skip
def test_one_criterion_is_read_from_a_bare_number(line, score):
    verdict = read_scores(f"Good.\n{line}", Rubric(kind=Kind.SCORES, criteria=[Criterion(name="all")]))
    assert (verdict and verdict.scores) == (score and {"all": score})


@pytest.mark.parametrize("weight", [0, -1, 1e308, 5e-324, float("nan"), float("inf")])
def test_weight_that_no_sum_holds_is_refused(weight):
    with pytest.raises(ValueError, match="bad weight"):
        Criterion(name="all", weight=weight)
